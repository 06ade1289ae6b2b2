// Stages: how the host walks a transform over several axes. Pure geometry, no arithmetic.
//
// A transform over d axes is d passes of 1-D lines. Passes over data that is in the cache are cheap, passes over memory
// are not, so a stage is a sequence of passes over one block that fits, repeated for every block. When the whole
// transform fits, one stage holds all axes and its blocks are batch entries; otherwise the first stage (the last for
// ComplexToReal) holds the axes of smallest stride that fit together, and each other axis is a stage of its own, in
// which the engine sees all lines at once and takes those at unit distance in its lanes.
#pragma once

#include <cstdint>
#include <vector>

#include "../kernels.hpp"
#include "lines.hpp"

namespace trn::fft::host {

// Where the points of a pass lie. Work holds interleaved pairs.
enum class Place : std::uint8_t { Input, Output, Work };

// A dimension of the walk; strides in reals at each place.
struct WalkDim {
  std::int64_t extent = 1;  // on complex sides, so n/2 + 1 for a halved axis
  std::int64_t stride[3] = {0, 0, 0};
};

struct Pass {
  std::size_t axis = 0;  // of Problem::axes
  EngineKind kind = EngineKind::Complex;
  Place from = Place::Input, to = Place::Output;
  std::int64_t from_stride = 0, to_stride = 0;
  std::vector<LineBatch> batch;  // whole, but for `chunked`
  std::size_t chunked = kNone;   // the entry of `batch` whose count is that of the block's chunk,
  std::int64_t per_chunk = 1;    // times this
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
};

struct Stage {
  std::vector<Pass> passes;
  std::vector<WalkDim> loops;  // every combination of these
  WalkDim chunk;               // and every `chunk_size` of this
  std::int64_t chunk_size = 1;
  std::int64_t work_reals = 0;  // of one block, when the block has work of its own
  [[nodiscard]] std::int64_t blocks() const;
};

struct Walk {
  std::vector<Stage> stages;
  // ComplexToReal with several stages: repeated for each combination of these, so that work holds only one of them.
  std::vector<WalkDim> units;
  std::int64_t unit_work_reals = 0;  // shared by the stages of a unit; 0: stages have their own or none
};

// ComplexToReal over several axes leaves its input alone and needs work of its own, unless input and output are the
// same memory.
enum class Working : std::uint8_t { Apart, InPlace };
[[nodiscard]] bool works_in_place(const Problem& problem);  // whether that makes another walk

// `block_bytes`: what one core's cache holds comfortably; `unit_bytes`: the work of a unit, if more than one transform
// is to share it.
[[nodiscard]] Walk plan_walk(const Problem& problem, std::int64_t block_bytes, std::int64_t unit_bytes,
                             Working working);

}  // namespace trn::fft::host
