// The device kernels of trnfft that work point by point: chirps and zeros around a transform (Bluestein), and the first
// step of a long complex-to-real transform.
#pragma once

#include <complex>
#include <trn/fft/lines_program.hpp>

namespace trn::fft {

// y_k = x_k t_k for the points both sides have, t_k the table where there is one and 1 otherwise; 0 for the points that
// only y has.
struct PointwiseShape {
  PointLayout in, out;
  std::vector<LineDim> lines;
  bool table = false;
  bool in_place = false;  // as in LinesShape
  bool operator==(const PointwiseShape&) const = default;
};
// Tensors as in lines_program; "table" (points both sides have, 2).
[[nodiscard]] tile::Program pointwise_program(const PointwiseShape& shape, const tile::Machine& machine);

// The same in mode exact: interleaved tensors "x_hi", "x_mid", "x_lo", "y_hi" and so on as in lines_program, and always
// a table of numbers of magnitude at most 1, made by exact_pointwise_table.
[[nodiscard]] tile::Program exact_pointwise_program(const PointwiseShape& shape, const tile::Machine& machine);
[[nodiscard]] Constant exact_pointwise_table(const std::vector<std::complex<long double>>& table);

// Half of a line of n points whose other half is its mirror image, as a whole line with the same real transform: with
// X_(n-k) = conj X_k,
//
//   sum over all k of X_k w^(jk) = Re sum over k <= n/2 of g_k X_k w^(jk),   g_k = 2, but 1 for points that are their
//     own mirror image
//
// so y_k = g_k x_k for k <= n/2 and 0 beyond; imaginary parts of points that are their own mirror image are not used. n
// = out.points, in.points = n/2 + 1.
struct HalfLineShape {
  PointLayout in, out;
  std::vector<LineDim> lines;
  std::int64_t length = 0;  // n where it is not the points of `out`, which may be fewer: the zeros behind the half line
  bool operator==(const HalfLineShape&) const = default;
};
[[nodiscard]] tile::Program half_line_program(const HalfLineShape& shape, const tile::Machine& machine);

}  // namespace trn::fft
