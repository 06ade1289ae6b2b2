// Boxes: many small transforms over several axes, one in each lane of a vector.
//
// A block of `lanes` transforms is loaded by transposition into rows, one row of re and one of im vectors for each
// point; every axis is then transformed in place between rows, without a shuffle and with no line too short for a
// vector, and the block is stored by transposition. It wants as many transforms as lanes, lengths that passes can do,
// and a block that stays in the second cache; what does not fit is walked axis by axis (stages.hpp).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "../kernels.hpp"
#include "real_plan.hpp"

namespace trn::fft::host {

// One side of a box: runs of `points` evenly spaced points, which are consecutive rows of the block. Offsets and
// strides in reals.
struct BoxSide {
  struct Run {
    std::int64_t memory = 0, row = 0;
  };
  std::int64_t stride = 1, points = 1;
  std::vector<Run> runs;
};

// One axis of the rows: n rows `leg` apart, for every inner and outer position; `inner` positions are next to each
// other.
template <class T> struct BoxAxis {
  std::int64_t n = 1, inner = 1, outer = 1;
  Passes<T> passes;
};

// The halved axis of a real box is the innermost of its rows. Its real lines, `lines` of them, have a place of their
// own, n rows of one vector a line.
template <class T> struct BoxPlan {
  Kind kind = Kind::ComplexToComplex;
  BoxSide in, out;
  std::int64_t ahead_lines =
      // cache lines of either side to ask for at each butterfly; 0: boxes do not lie one behind the other, or are in
      // the third cache anyway
      0;
  std::vector<BoxAxis<T>> axes;   // complex ones, the innermost first
  std::int64_t rows = 1;          // of the complex box
  std::int64_t longest = 1;       // rows that a line needs in scratch
  std::int64_t n = 0, lines = 0;  // of the halved axis
  RealPasses<T> real_passes;      // of the halved axis
  [[nodiscard]] std::int64_t scratch_reals(std::int64_t lanes) const;
};

template <class T> struct BoxCall {
  T *in_re, *in_im, *out_re, *out_im;  // im of a real side: null
  const std::vector<LineBatch>* batch;
  T factor;
};

// Null if this problem is not one for boxes.
template <class T> [[nodiscard]] std::shared_ptr<const detail::Body> make_box_body(const Problem& problem);

}  // namespace trn::fft::host
