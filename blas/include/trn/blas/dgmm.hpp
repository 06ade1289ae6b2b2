// C = diag(x) A (Side::Left: row i times x_i) or A diag(x) (Side::Right). C may be A. cuBLAS: cublasSdgmm, ...
#pragma once

#include <trn/blas/types.hpp>

namespace trn::blas {

template <Scalar T> void dgmm(const Executor& executor, Side side, const ConstMatrix<T>& a, const ConstVector<T>& x,
                              const MatrixView<T>& c);

}  // namespace trn::blas
