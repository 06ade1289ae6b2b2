// What a Cholesky factor on a device says about the norm of its matrix, which is not kept.
#pragma once

#include "device/operands.hpp"

namespace trn::solver::device {

// An estimate of ||A||_1, seldom less than a third of it.
template <class T>
[[nodiscard]] double norm_from_factor(const Executor& executor, Uplo uplo, const MatrixView<const T>& factor);

}  // namespace trn::solver::device
