// Triangular solve with many right-hand sides: op(A) X = alpha B (Side::Left) or X op(A) = alpha B (Side::Right); X replaces B.
// alpha = 0 sets B to zero without reading A. The other triangle of A is never read, nor a Unit diagonal. No test for
// singularity. cuBLAS: cublasStrsm, ...
// The bound is on the residual: |alpha B - op(A) X|(i,j) <= bound * ||a_i|| ||x_j|| (columns of X for Left; rows for Right).
#pragma once

#include <trn/blas/types.hpp>

namespace trn::blas {

template <Scalar T>
Accuracy trsm(const Executor& executor, Side side, Uplo uplo, Op op, Diag diag, Number<T> alpha, const ConstMatrix<T>& a,
              const MatrixView<T>& b, const ProductOptions& options = {});

}  // namespace trn::blas
