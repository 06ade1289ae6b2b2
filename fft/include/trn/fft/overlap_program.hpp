// The device kernel that adds overlapping frames to a signal, as a value, for tools that print, emit, profile or
// estimate it.
#pragma once

#include <trn/fft/lines_program.hpp>

namespace trn::fft {

// y_p = f_p sum over t of w_j x_(t, j), j = p + shift - t hop, for frames t that hold the point, 0 <= j < points. Frame
// t of signal b is row b rows + first_row + t of x; rows that the sums read beyond the first and the last frame are
// there and are zeros (overlap_rows).
struct OverlapShape {
  std::int64_t signals = 1, count = 1;  // of signals, of frames each
  std::int64_t points = 1, hop = 1;     // of a frame
  std::int64_t shift = 0;               // points of the first frame before the signal begins
  std::int64_t length = 1, parts = 1;   // of a signal; reals of a point: 1, or 2 for pairs
  std::int64_t frame_step = 1;          // reals from point to point of a frame: at least parts
  bool window = false;                  // without one w = 1
  bool operator==(const OverlapShape&) const = default;
};
struct OverlapRows {
  std::int64_t rows = 1, first_row = 0;
};
[[nodiscard]] OverlapRows overlap_rows(const OverlapShape& shape);

// Tensors "x" (signals, rows, points, frame_step), "factor" (length), "window" (points), "y" (signals, length, parts),
// float32.
[[nodiscard]] tile::Program overlap_program(const OverlapShape& shape, const tile::Machine& machine);

}  // namespace trn::fft
