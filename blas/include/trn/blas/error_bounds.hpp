// Bounds of the operations whose elements are rounded one by one, for real types with unit roundoff u:
//
//   |result - exact| <= bound * (sum of the magnitudes of its terms)
//
// with the terms alpha x and y of axpy, alpha x of scal, c x and s y of rot, a and alpha x y of ger, on hosts and on
// devices, barring overflow and underflow. A term that passes k roundings errs by at most (1 + u)^k - 1 of itself; a
// fused multiply-add leaves one of them out. copy, swap, amax and amin do not round: their results are exact.
#pragma once

#include <cstdint>

#include <trn/core/dtype.hpp>

namespace trn::blas {

[[nodiscard]] constexpr double rounded_times(int k, double u) {
  double growth = 1;
  for (int i = 0; i < k; ++i) growth *= 1 + u;
  return growth - 1;
}
[[nodiscard]] constexpr double scal_error_bound(double u) { return rounded_times(1, u); }
[[nodiscard]] constexpr double axpy_error_bound(double u) { return rounded_times(2, u); }  // product, sum
[[nodiscard]] constexpr double rot_error_bound(double u) { return rounded_times(2, u); }   // product, sum
[[nodiscard]] constexpr double ger_error_bound(double u) { return rounded_times(3, u); }   // two products, sum

// Batched triangular solves on the host, of m rows each: |alpha B - op(A) X| <= bound (|A||X|)_ij, as trsm keeps it.
// Devices measure no residual of a batch and state no bound.
[[nodiscard]] double trsm_batched_error_bound(DType dtype, std::int64_t m);

}  // namespace trn::blas
