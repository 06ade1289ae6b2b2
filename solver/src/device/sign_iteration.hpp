// The sign function of a symmetric matrix on a device, by the polynomials of sign_schedule.hpp: three symmetric
// products a step, nothing factored, nothing inverted. Up to 128 x 128 all steps are one program (sign_program.hpp).
#pragma once

#include "device/padded.hpp"
#include "device/sign_schedule.hpp"

namespace trn::solver::device {

struct Iterated {
  bool converged = false;
  int steps = 0;
  double size = 0;  // ||X||_2 at entry is at most this, and at least this over n^(1/4)
};

// X <- sign(X) for the symmetric X, whose leading k x k part is meant; the rest is zero and stays so. Stops at once,
// with X divided by a number, when X is no larger than `negligible`. Not converged: eigenvalues that are zero stay
// zero.
[[nodiscard]] Iterated sign(const Executor& executor, Matrix<float>& x, std::int64_t k, double negligible);

}  // namespace trn::solver::device
