// The device kernel of short linear transforms as a value: many lines times one real matrix, for tools that print,
// emit, profile or estimate it. Cosine and sine transforms of up to 128 points and the windowed frames of short-time
// transforms are such lines.
#pragma once

#include <trn/fft/lines_program.hpp>

namespace trn::fft {

// Points of `parts` neighbouring reals (1: real, 2: pairs), `stride` reals apart.
struct MatrixSide {
  std::int64_t points = 1, parts = 1, stride = 1;
  bool operator==(const MatrixSide&) const = default;
};
// y_(o, q) = sum over j, p of matrix(p, j, o, q) x_(j, p) for every line. Lines of x may overlap.
struct MatrixShape {
  MatrixSide in, out;          // at most 128 points each
  std::vector<LineDim> lines;  // at least one; the last dimension is blocked
  Mode mode = Mode::Native;    // how the products are done; not Exact
  bool operator==(const MatrixShape&) const = default;
};
// Tensors "x" (lines..., points, parts) and "y" likewise; "matrix" (parts in, points in, points out, parts out),
// float32 in every mode: words are made on the device. Throws InvalidArgument for more points than the machine has
// partitions.
[[nodiscard]] tile::Program matrix_program(const MatrixShape& shape, const tile::Machine& machine);

// What the words of a mode cost (trn/tile/words.hpp): a product of two float32 numbers errs by `error` relative before
// it is summed, and every sum is rounded `products` times more than it has terms: once per product of words, Native
// five times.
struct ProductError {
  double error = 0;
  std::int64_t products = 1;
};
[[nodiscard]] ProductError product_error(Mode mode);
// || y - exact ||_2 <= bound * || y ||_2 for matrices of n points that keep norms up to a factor of 2, 2 ((n + sqrt(n)
//   + P + 1) u +
// E (1 + sqrt(n))), P products with error E, rounding of the matrix included: see src/device/matrix.cpp.
[[nodiscard]] double matrix_error_bound(std::int64_t points, Mode mode);

// y_p = x_(points - 1 - p) for every line of reals: what mirrors, without a backward stride, which NKI has not.
struct MirrorShape {
  std::int64_t points = 1, in_stride = 1, out_stride = 1;
  std::vector<LineDim> lines;
  bool operator==(const MirrorShape&) const = default;
};
// Tensors "x" and "y" (lines..., points).
[[nodiscard]] tile::Program mirror_program(const MirrorShape& shape, const tile::Machine& machine);

}  // namespace trn::fft
