// Rank-1 update of a general matrix: A = alpha x y^T + A (ger; geru for complex types), A = alpha x y^H + A (gerc).
// alpha = 0 returns at once. On the host a column (of a row-major A: a row) whose factor is zero is left alone, as in
// the reference, so that 0 times infinity does not arise; a device multiplies, and there it gives NaN.
#pragma once

#include <trn/blas/types.hpp>

namespace trn::blas {

template <Scalar T> void ger(const Executor& executor, Number<T> alpha, const ConstVector<T>& x,
                             const ConstVector<T>& y, const MatrixView<T>& a);
template <Scalar T> void gerc(const Executor& executor, Number<T> alpha, const ConstVector<T>& x,
                              const ConstVector<T>& y, const MatrixView<T>& a);

}  // namespace trn::blas
