// Products that fill one triangle of C; the other is neither read nor written. op(A), op(B) are n x k.
//
//   syrk    C = alpha op(A) op(A)^T + beta C                                  herk   C = alpha op(A) op(A)^H + beta C
//   syr2k   C = alpha (op(A) op(B)^T + op(B) op(A)^T) + beta C                her2k  C = alpha op(A) op(B)^H +
//     conj(alpha) op(B) op(A)^H + beta C
//   syrkx   C = alpha op(A) op(B)^T + beta C, the caller knows it symmetric   herkx  C = alpha op(A) op(B)^H + beta C,
//     known Hermitian
//
// op is N or T for the symmetric forms (C means T for real types, and is refused for complex ones), N or C for the
// Hermitian ones, which take a real beta (herk also a real alpha), set the diagonal's imaginary parts to zero and never
// read them. C must not overlap A or B. As in BLAS, nothing at all happens when beta = 1 and alpha = 0 or k = 0. The
// bound is gemm's, relative to |alpha| (||a_i|| ||b_j|| + ||b_i|| ||a_j||) + |beta c_ij| for syr2k and her2k.
// Componentwise bounds: of the triangle, in Exact and for double with a target on a device; NotImplemented elsewhere.
#pragma once

#include <trn/blas/gemm.hpp>

namespace trn::blas {

template <Scalar T> Accuracy syrk(const Executor& executor, Uplo uplo, Op op, Number<T> alpha, const ConstMatrix<T>& a,
                                  Number<T> beta, const MatrixView<T>& c, const GemmOptions& options = {});
template <ComplexScalar T> Accuracy herk(const Executor& executor, Uplo uplo, Op op, Real<T> alpha,
                                         const ConstMatrix<T>& a, Real<T> beta, const MatrixView<T>& c,
                                         const GemmOptions& options = {});
template <Scalar T> Accuracy syr2k(const Executor& executor, Uplo uplo, Op op, Number<T> alpha, const ConstMatrix<T>& a,
                                   const ConstMatrix<T>& b, Number<T> beta, const MatrixView<T>& c,
                                   const GemmOptions& options = {});
template <ComplexScalar T> Accuracy her2k(const Executor& executor, Uplo uplo, Op op, Number<T> alpha,
                                          const ConstMatrix<T>& a, const ConstMatrix<T>& b, Real<T> beta,
                                          const MatrixView<T>& c, const GemmOptions& options = {});
template <Scalar T> Accuracy syrkx(const Executor& executor, Uplo uplo, Op op, Number<T> alpha, const ConstMatrix<T>& a,
                                   const ConstMatrix<T>& b, Number<T> beta, const MatrixView<T>& c,
                                   const GemmOptions& options = {});
template <ComplexScalar T> Accuracy herkx(const Executor& executor, Uplo uplo, Op op, Number<T> alpha,
                                          const ConstMatrix<T>& a, const ConstMatrix<T>& b, Real<T> beta,
                                          const MatrixView<T>& c, const GemmOptions& options = {});

}  // namespace trn::blas
