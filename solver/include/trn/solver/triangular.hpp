// Triangular matrices: inverse, solve with a test for singularity, condition. LAPACK: trtri, trtrs, trcon.
// cuSOLVER: cusolverDnXtrtri. trsm without the test is trnblas's.
//
// Only the triangle that `uplo` names is read and written, and no Unit diagonal. Row-major views are used in place.
// Bound of trtri: |A X - I| <= bound |A||X| elementwise or the same for X A; of trtrs: trsm's, on the residual. A
// priori. On devices (doubles in Exact) both are trsm's measured bound, relative to ||a_i|| ||x_j||.
#pragma once

#include <trn/solver/report.hpp>
#include <trn/solver/types.hpp>

namespace trn::solver {

// A^-1 replaces A. Singular at the first zero on the diagonal: A is as it was.
template <Scalar T> Report trtri(const Executor& executor, Uplo uplo, Diag diag, const MatrixView<T>& a);

// X with op(A) X = B replaces B. Singular at the first zero on the diagonal: B is as it was. NotFinite: B becomes NaN.
template <Scalar T>
Report trtrs(const Executor& executor, Uplo uplo, Op op, Diag diag, const ConstMatrix<T>& a, const MatrixView<T>& b);

// The reciprocal condition number, estimated; 0 where the diagonal has a zero, NaN where what is read has NaN or
// infinity.
template <Scalar T> Real<T> trcon(const Executor& executor, Norm which, Uplo uplo, Diag diag, const MatrixView<T>& a);

}  // namespace trn::solver
