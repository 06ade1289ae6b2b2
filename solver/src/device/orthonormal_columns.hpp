// Orthonormal columns on a device: CholeskyQR passes with shifts, for any number of columns, without R.
#pragma once

#include "device/padded.hpp"

namespace trn::solver::device {

// The first k columns of Y (the others are zero) become an orthonormal basis of what they span. A pass: G = Y^T Y =
// L L^T, Y <- Y L^-T. It is the last when G was near the identity. Where G has no Cholesky factor in float32, 20 u
// trace(G) is added to its diagonal, which at most divides the condition number by some 1e3. False when the columns are
// dependent to working precision.
[[nodiscard]] bool orthonormalise(const Executor& executor, const Matrix<float>& y, std::int64_t k);

}  // namespace trn::solver::device
