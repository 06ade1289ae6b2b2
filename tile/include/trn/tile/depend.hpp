// depend: which earlier instruction an instruction must wait for. The same tracker serves the static pass, the timing
// model's semaphores and the shuffled order of the simulator.
//
// A region is a rectangle: partitions x bytes for tiles, rows x bytes for HBM tensors. Strided patterns are covered by
// their bounding rectangle, so an edge may be there without need, never missing.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <trn/tile/allocate.hpp>
#include <trn/tile/walk.hpp>

namespace trn::tile {

enum class Hazard : std::uint8_t { ReadAfterWrite, WriteAfterRead, WriteAfterWrite };
[[nodiscard]] std::string_view name(Hazard hazard);

// Half-open in both directions.
struct Region {
  std::int64_t row_begin = 0, row_end = 0, column_begin = 0, column_end = 0;
  [[nodiscard]] bool overlaps(const Region& o) const {
    return row_begin < o.row_end && o.row_begin < row_end && column_begin < o.column_end && o.column_begin < column_end;
  }
  [[nodiscard]] bool covers(const Region& o) const {
    return row_begin <= o.row_begin && o.row_end <= row_end && column_begin <= o.column_begin &&
           o.column_end <= column_end;
  }
};

// What one execution of an instruction touches.
struct Touch {
  std::int32_t memory = 0;  // one id per (tile, buffer) and per HBM tensor, and one for each engine's registers
  Region region;
  bool write = false;
  bool read = false;
};

// Turns accesses into touches; knows which memories overlap because their tiles share bytes.
class MemoryMap {
 public:
  // Who does not run dynamic loops iteration by iteration asks for regions that hold in every iteration.
  enum class Iterations { Known, Any };
  MemoryMap(const Program& program, const Allocation& allocation, Iterations iterations = Iterations::Known);
  [[nodiscard]] std::int32_t memories() const { return count_; }
  // Other memories that share bytes with this one.
  [[nodiscard]] const std::vector<std::int32_t>& aliases(std::int32_t memory) const {
    return aliases_[static_cast<std::size_t>(memory)];
  }
  // Fills `touches` for one execution of instruction `index` at `point`. Regions of aliased tiles are in physical
  // bytes.
  void touches(std::int32_t index, const Point& point, std::vector<Touch>& touches) const;
  // What a dynamic loop reads before it runs an iteration: its register.
  [[nodiscard]] Touch touch_of_loop(std::int32_t loop, const Point& point) const;

  // A memory is cut into strips about as thick as an average access, so that a touch is compared with its neighbourhood
  // only. Overlapping regions share a strip.
  struct Strips {
    std::int32_t first, last;
  };
  [[nodiscard]] std::int32_t strips() const { return strip_count_; }
  [[nodiscard]] Strips strips_of(std::int32_t memory, const Region& region) const {
    const Cut& c = cuts_[static_cast<std::size_t>(memory)];
    if (c.count == 1) return {c.first, c.first};
    const auto strip = [&](std::int64_t at) {
      return c.first + static_cast<std::int32_t>(std::clamp<std::int64_t>((at - c.begin) / c.step, 0, c.count - 1));
    };
    return c.by_rows ? Strips{strip(region.row_begin), strip(region.row_end - 1)}
                     : Strips{strip(region.column_begin), strip(region.column_end - 1)};
  }

 private:
  struct Cut {
    bool by_rows;
    std::int64_t begin, step;
    std::int32_t first, count;
  };
  [[nodiscard]] Region region_of(const Instruction& instruction, const Access& access, std::int64_t buffer,
                                 const Point& point) const;
  void touch_registers(const Instruction& instruction, const Point& point, std::vector<Touch>& touches) const;
  void cut_into_strips();

  const Program* program_;
  const Allocation* allocation_;
  Iterations iterations_;
  std::vector<std::int32_t> first_memory_of_tile_;
  std::int32_t first_tensor_ = 0;
  std::int32_t registers_ = 0;  // the Scalar Engine's; the Vector Engine's follow
  std::vector<std::int32_t>
      memory_tensor_;  // by tensor: itself, or for an input the output that continues it; -1: never written
  std::int32_t count_ = 0;
  std::vector<std::vector<std::int32_t>> aliases_;
  std::vector<Cut> cuts_;  // by memory
  std::int32_t strip_count_ = 0;
};

// Everything touched so far and not yet overwritten, by memory. Tags are the caller's names for executed instructions
// and must grow; queues are in-order streams, so a later touch from the same queue stands for the earlier ones it
// covers.
class DependencyTracker {
 public:
  explicit DependencyTracker(const MemoryMap& map) : map_(map), logs_(static_cast<std::size_t>(map.strips())) {}

  // Calls conflict(tag, hazard) for every logged touch this one must come after (more than once for one that spans
  // strips), then logs it.
  // A touch that is not certain to happen leaves the earlier ones it covers in the log.
  template <class Conflict>
  void touch(const Touch& t, std::int64_t tag, std::int32_t queue, Conflict conflict, bool certain = true) {
    compare(t.memory, t, conflict);
    for (const std::int32_t other : map_.aliases(t.memory)) compare(other, t, conflict);
    log(t, tag, queue, certain);
  }

 private:
  struct Record {
    Region region;
    std::int64_t tag;
    std::int32_t queue;
  };
  struct Log {
    std::vector<Record> writes, reads;
  };

  template <class Conflict> void compare(std::int32_t memory, const Touch& t, Conflict& conflict) const {
    const MemoryMap::Strips strips = map_.strips_of(memory, t.region);
    for (std::int32_t s = strips.first; s <= strips.last; ++s) {
      const Log& log = logs_[static_cast<std::size_t>(s)];
      for (const Record& w : log.writes) {
        if (w.region.overlaps(t.region)) conflict(w.tag, t.read ? Hazard::ReadAfterWrite : Hazard::WriteAfterWrite);
      }
      if (!t.write) continue;
      for (const Record& r : log.reads) {
        if (r.region.overlaps(t.region)) conflict(r.tag, Hazard::WriteAfterRead);
      }
    }
  }
  void log(const Touch& t, std::int64_t tag, std::int32_t queue, bool certain);

  const MemoryMap& map_;
  std::vector<Log> logs_;  // by strip; a record stands in every strip it touches
};

// One static edge of the program.
struct Dependency {
  std::int32_t from = 0, to = 0;  // instruction indices
  Hazard hazard = Hazard::ReadAfterWrite;
  bool carried = false;  // between different iterations of some loop
  bool operator==(const Dependency&) const = default;
};

// Every distinct (from, to, hazard, carried). Runs at most one iteration more per loop than the largest buffer count,
// enough for every rotation of buffers to meet itself.
[[nodiscard]] std::vector<Dependency> depend(const Program& program, const Machine& machine);

}  // namespace trn::tile
