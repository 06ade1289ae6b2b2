// Rank-1 update of a general matrix: A = alpha x y^T + A (ger; geru for complex types), A = alpha x y^H + A (gerc).
#pragma once

#include <trn/blas/types.hpp>

namespace trn::blas {

template <Scalar T>
void ger(const Executor& executor, Number<T> alpha, const ConstVector<T>& x, const ConstVector<T>& y, const MatrixView<T>& a);
template <Scalar T>
void gerc(const Executor& executor, Number<T> alpha, const ConstVector<T>& x, const ConstVector<T>& y, const MatrixView<T>& a);

}  // namespace trn::blas
