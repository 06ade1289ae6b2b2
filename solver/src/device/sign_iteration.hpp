// The sign function of a symmetric matrix that SBUF has no room for, by the polynomials of sign_schedule.hpp: three
// symmetric products a step, nothing factored, nothing inverted. Smaller ones: resident_sign.hpp.
#pragma once

#include "device/padded.hpp"
#include "device/sign_schedule.hpp"

namespace trn::solver::device {

struct Iterated {
  bool converged = false;
  int steps = 0;
};

// X <- sign(X) for the symmetric X, whose leading k x k part is meant; the rest is zero and stays so. Not converged:
// eigenvalues that are zero stay zero.
[[nodiscard]] Iterated sign(const Executor& executor, Matrix<float>& x, std::int64_t k);

}  // namespace trn::solver::device
