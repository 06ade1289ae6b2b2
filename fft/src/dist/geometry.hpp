// The steps of a distributed transform as geometry: which dimension is transformed in which layout. Nothing here
// communicates or computes, and every rank gets the same answer.
#pragma once

#include <optional>
#include <vector>

#include <trn/fft/dist_plan.hpp>

#include "exchange.hpp"

namespace trn::fft::dist_detail {

// Lines of `length` points along a dimension of an array, of which this rank has a box. A real transform's last
// dimension has another extent behind (before) it.
struct LineStep {
  std::size_t dimension = 0;
  std::int64_t length = 1;
  Kind kind = Kind::ComplexToComplex;
};
// Element (k1, j2) of the n1 x n2 matrix of a 1-D transform times w_n^(k1 j2).
struct TwiddleStep {
  std::int64_t n = 1;
};
// A layout, and what is done to the array there; between two stages lies an exchange unless their layouts are equal.
struct GeometryStage {
  Layout layout;                        // of the elements before the lines
  std::vector<dist::Boxes::Box> boxes;  // the same as one box a rank, on the complex side
  std::vector<LineStep> lines;
  std::optional<TwiddleStep> twiddle;  // after the lines
};
struct Geometry {
  dist::Boxes input, output;
  std::vector<GeometryStage> stages;
  Layout from, to;  // of the caller's arrays
  Layout last;      // of the array after the last stage
  std::int64_t n1 = 1, n2 = 1;
  [[nodiscard]] int exchanges() const;
};

// The shape of a side of the transform.
[[nodiscard]] Shape input_shape(const DistDescription& d);
[[nodiscard]] Shape output_shape(const DistDescription& d);

// Throws InvalidArgument that says what is wrong.
void check(const DistDescription& d);
// Without distributions: the ends that need no exchange.
[[nodiscard]] Geometry make_geometry(const DistDescription& d, int ranks, const dist::Boxes* input,
                                     const dist::Boxes* output);

}  // namespace trn::fft::dist_detail
