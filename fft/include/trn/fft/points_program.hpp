// The device kernels of trnfft that work point by point: chirps and zeros around a transform (Bluestein), and the last or first step of real transforms of even
// length, which are complex ones of half the length in the middle.
#pragma once

#include <trn/fft/lines_program.hpp>

namespace trn::fft {

// y_k = x_k t_k for the points both sides have, t_k the table where there is one and 1 otherwise; 0 for the points that only y has.
struct PointwiseShape {
  PointLayout in, out;
  std::vector<LineDim> lines;
  bool table = false;
  bool operator==(const PointwiseShape&) const = default;
};
// Tensors as in lines_program; "table" (points both sides have, 2).
[[nodiscard]] tile::Program pointwise_program(const PointwiseShape& shape, const tile::Machine& machine);

// What a transform of n points has to do with one of half as many, z_j = x_2j + i x_(2j+1), m = n/2. With a = x_k, b = conj x_(m-k) and a table t_k:
//
//   RealToHalf   m points to m + 1:  y_k = (a + b) - i t_k (a - b),  t_k = exp(-+ 2 pi i k/n), x_m = x_0: twice the half of a real transform from the whole of z's
//   HalfToReal   m + 1 points to m:  the same with the other sign: z's transform from half of a real one. Imaginary parts of points 0 and m are not used.
//   Expand       n/2 + 1 points of an odd n to n: y_(n-k) = conj x_k. The imaginary part of point 0 is not used.
enum class MirrorKind : std::uint8_t { RealToHalf, HalfToReal, Expand };
struct MirrorShape {
  MirrorKind kind = MirrorKind::RealToHalf;
  PointLayout in, out;
  std::vector<LineDim> lines;
  bool operator==(const MirrorShape&) const = default;
};
// Tensors as in lines_program; except for Expand "table" (m - 1, 2): the sign and t_k for k = 1 .. m - 1, when m > 1.
[[nodiscard]] tile::Program mirror_program(const MirrorShape& shape, const tile::Machine& machine);
[[nodiscard]] std::vector<Constant> mirror_constants(const MirrorShape& shape, Direction direction);

}  // namespace trn::fft
