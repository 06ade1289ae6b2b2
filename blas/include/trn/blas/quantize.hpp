// A float matrix in 8-bit floats and scales: the operands of scaled_gemm.hpp.
//
//   scale(g) = the smallest power of two with max |x| over the group g <= scale(g) * largest number of the format
//   q = x / scale(g), rounded to nearest, ties to even
//
// The groups are what the extents of `scale` say: 1 x 1 is one scale for the matrix, rows x 1 one for each row, and
// rows x ceil(columns / 128) one for each 128 neighbours of a row. For B of a product give the transposed views: groups
// then lie along its columns. Of an empty x nothing is written.
//
// Dividing by a power of two is exact, so that one rounding remains:
//   |x - scale q| <= max(u |x|, scale eta / 2),   u = 2^-4, eta = 2^-9 for both e4m3,  u = 2^-3, eta = 2^-16 for e5m2.
// Scales lie between 2^-126 and 2^126: groups of smaller numbers than 2^-126 keep that one and have the second bound. A
// group that holds an infinity or a NaN has NaN as its scale, so nothing that is computed from it looks finite.
// Every executor gives the same bits. float8_e4m3fn needs trn3 on devices.
#pragma once

#include <trn/blas/scaled_gemm.hpp>

namespace trn::blas {

// Of a format: the largest number, half a unit of the last place of 1, the smallest number above zero.
struct Float8Limits {
  double largest, roundoff, smallest;
};
[[nodiscard]] Float8Limits float8_limits(DType dtype);  // throws InvalidArgument for other types

namespace detail {
void quantize(const Executor& executor, const MatrixView<const float>& x, const TypedMatrix& q,
              const MatrixView<float>& scale);
}

template <Element X, Float8 Q>
requires std::same_as < std::remove_const_t<X>,
float > &&(!std::is_const_v<Q>)void quantize(const Executor& executor, const MatrixView<X>& x, const MatrixView<Q>& q,
                                             const MatrixView<float>& scale) {
  detail::quantize(executor, x, q, scale);
}

}  // namespace trn::blas
