// The polar factor of a rectangular matrix on a device, by the polynomials of sign_schedule.hpp.
#pragma once

#include "device/padded.hpp"

namespace trn::solver::device {

struct Polar {
  bool converged = false;
  int steps = 0;
  std::int64_t null = 0;  // singular values that are zero to working precision: U has no columns for them
};

// X <- U of X = U H, whose leading m x n part, m >= n, is meant; the rest is zero and stays so. Singular values far
// below the working precision stay where they are: then U^T U is a projector, and `null` is what its rank lacks.
[[nodiscard]] Polar polar_factor(const Executor& executor, Matrix<float>& x, std::int64_t n);

}  // namespace trn::solver::device
