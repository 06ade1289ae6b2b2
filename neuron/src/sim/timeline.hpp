// The clock half of the simulator: in-order queues, semaphores from the dependency tracker, DMA rings that share the
// DMA engines, and the Tensor Engine's rate limiter. It sees only which instruction comes next, so it also runs alone.
#pragma once

#include <array>
#include <deque>
#include <trn/neuron/report.hpp>
#include <trn/tile/depend.hpp>
#include <vector>

namespace trn::neuron::sim {

// The DMA engines of one core as one work-conserving resource: a request takes the earliest free time after it may
// start, in pieces if need be.
class DmaCalendar {
 public:
  // Reserves `duration` not before `earliest`; returns when the last byte has moved.
  double reserve(double earliest, double duration);

 private:
  struct Busy {
    double begin, end;
  };
  std::vector<Busy> busy_;  // sorted, disjoint
  double horizon_ = 0;      // everything before counts as busy
};

// The dI/dt limiter: tumbling windows; see Timing.
class RateLimiter {
 public:
  explicit RateLimiter(const tile::Timing& timing) : timing_(timing) {}
  // When a pass of `seconds` at full rate, starting at `start` and lighting `share` of the array, ends. Passes may
  // overlap; none starts before the one asked for last.
  double run(double start, double seconds, double share);
  [[nodiscard]] double cold_seconds() const { return cold_seconds_; }

 private:
  void advance(double time);
  const tile::Timing& timing_;
  bool idle_ = true;  // nothing ran yet
  bool hot_ = false;
  double window_begin_ = 0, cold_seconds_ = 0;
  std::deque<double> use_;  // of the window at window_begin_ and of those after it, as far as passes reach
};

// The Tensor Engine's array in quarters of its rows and columns: when those that a matmul uses are free.
class ArrayCalendar {
 public:
  struct Part {
    std::int64_t row = 0, column = 0, rows = kSide, columns = kSide;
  };
  static constexpr std::int64_t kSide = 4;  // quarters of the array in both directions
  [[nodiscard]] double free(const Part& part) const;
  void take(const Part& part, double until);

 private:
  std::array<std::array<double, kSide>, kSide> free_{};
};

class Timeline {
 public:
  // `program` is scheduled; all three outlive the timeline.
  Timeline(const tile::Program& program, const tile::Machine& machine, const tile::Allocation& allocation,
           const ReportOptions& options);
  void execute(std::int32_t instruction, const tile::Point& point);
  // Before iteration k of a dynamic loop, and once when it ends: every queue takes the branch. It waits for the
  // register where the loop reads it: before the first iteration of a Counted loop, before each of a While loop.
  void branch(std::int32_t loop, std::int64_t k, const tile::Point& point);
  [[nodiscard]] RunReport finish();

 private:
  // What is the same for every execution of an instruction.
  struct Plan {
    std::int32_t lane = 0;
    std::int32_t queue = 0;  // in-order stream of completions: the lane, but a queue of its own for software-made DMAs
    std::int32_t issuer = -1;  // DMA: the engine in whose instruction stream its trigger stands; -1: none that computes
    double seconds = 0;        // engine time at full rate, or DMA transfer
    double ring_seconds = 0;
    double start_seconds = 0;                           // DMA: from the trigger to the first byte
    tile::ActFunction table = tile::ActFunction::Copy;  // that an activation needs
    double row_share = 1;                               // Tensor Engine: fraction of the array that works
    tile::isa::ArrayTile array_tile = {};               // the part it uses
    bool is_dma = false, touches_psum = false;
    bool sync_triggers = false;                    // DMA: by the Sync Engine, in order with the others it triggers
    std::int64_t read_bytes = 0, write_bytes = 0;  // HBM
    double flops = 0;
  };
  struct Done {
    std::int32_t queue;
    double end, visible;
  };

  std::int32_t lane_of(const tile::Instruction& instruction);
  Plan plan(const tile::Instruction& instruction);
  double earliest_start(std::int32_t index, const tile::Point& point, std::int64_t tag);
  Done execute_dma(const Plan& plan, double start);
  Done execute_engine(const Plan& plan, double start, const tile::Point& point);
  [[nodiscard]] ArrayCalendar::Part part_of(const Plan& plan, const tile::Point& point) const;
  void load_table(tile::ActFunction function);
  void keep(std::int32_t lane, std::int32_t instruction, double begin, double end);

  const tile::Program& program_;
  const tile::Machine& machine_;
  ReportOptions options_;
  tile::MemoryMap map_;
  tile::DependencyTracker tracker_;
  RunReport report_;
  std::vector<Plan> plans_;
  std::vector<std::int32_t> lane_of_ring_;
  std::int32_t sync_lane_ = -1;  // there when the program has registers
  std::vector<double> lane_free_;
  double sync_free_ = 0;  // when the Sync Engine can trigger the next DMA, whatever its ring
  std::vector<double> lane_shown_until_;
  std::vector<Done> done_;  // by tag
  std::vector<tile::Touch> touches_;
  DmaCalendar calendar_;
  RateLimiter limiter_;
  ArrayCalendar array_;
  std::vector<std::pair<double, double>> transfers_;
  double end_ = 0;
  double sbuf_port_free_ = 0, psum_port_free_ = 0;  // trn1: shared by two engines
  tile::ActFunction loaded_table_ = tile::ActFunction::Copy;
};

}  // namespace trn::neuron::sim
