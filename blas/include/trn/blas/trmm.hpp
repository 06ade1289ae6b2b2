// Triangular times general: B = alpha op(A) B (Side::Left) or alpha B op(A) (Side::Right), in place, or into C.
// alpha = 0 sets the result to zero without reading A or B. The other triangle of A is never read, nor a Unit diagonal.
// On the host and in Exact sums run over the triangle alone, so an infinity in B stays in the rows that depend on it;
// on a device it spreads over the 128 rows of its diagonal block. The bound is gemm's, componentwise as for syrk. Exact
// on a device loads diagonal blocks whole (the other triangle's values do not matter, but must have been written).
// In the form with C, C is B itself (the same view) or does not overlap it. cuBLAS: cublasStrmm, ...
#pragma once

#include <trn/blas/gemm.hpp>

namespace trn::blas {

template <Scalar T> Accuracy trmm(const Executor& executor, Side side, Uplo uplo, Op op, Diag diag, Number<T> alpha,
                                  const ConstMatrix<T>& a, const MatrixView<T>& b, const GemmOptions& options = {});
template <Scalar T> Accuracy trmm(const Executor& executor, Side side, Uplo uplo, Op op, Diag diag, Number<T> alpha,
                                  const ConstMatrix<T>& a, const ConstMatrix<T>& b, const MatrixView<T>& c,
                                  const GemmOptions& options = {});

}  // namespace trn::blas
