// C = alpha op(A) + beta op(B). C may be A when op(A) is N, or B when op(B) is N (in place), otherwise it overlaps
// neither. alpha = 0 does not read A, beta = 0 does not read B. cuBLAS: cublasSgeam, ...
#pragma once

#include <trn/blas/types.hpp>

namespace trn::blas {

template <Scalar T> void geam(const Executor& executor, Op op_a, Op op_b, Number<T> alpha, const ConstMatrix<T>& a,
                              Number<T> beta, const ConstMatrix<T>& b, const MatrixView<T>& c);

}  // namespace trn::blas
