// OpenBLAS's level 3 under one name for the four types. Hermitian forms exist for the complex ones.
#pragma once

#include <cblas.h>

#include <complex>

#include <trn/blas/storage.hpp>

namespace trn::blas::host {

inline CBLAS_ORDER cblas_order(Layout layout) { return layout == Layout::RowMajor ? CblasRowMajor : CblasColMajor; }
inline CBLAS_UPLO cblas_uplo(bool lower) { return lower ? CblasLower : CblasUpper; }
inline CBLAS_TRANSPOSE cblas_op(bool transposed, bool conjugated) {
  if (conjugated) return transposed ? CblasConjTrans : CblasConjNoTrans;
  return transposed ? CblasTrans : CblasNoTrans;
}

template <class T> struct OpenBlas;

// S(x): how a factor is passed, by value (real types) or by address (complex ones).
#define TRN_OPENBLAS(T, p, S)                                                                                          \
  static void symm(CBLAS_ORDER o, CBLAS_UPLO u, int m, int n, T alpha, const T* a, int lda, const T* b, int ldb,       \
                   T beta, T* c, int ldc) {                                                                            \
    cblas_##p##symm(o, CblasLeft, u, m, n, S(alpha), a, lda, b, ldb, S(beta), c, ldc);                                 \
  }                                                                                                                    \
  static void syrk(CBLAS_ORDER o, CBLAS_UPLO u, CBLAS_TRANSPOSE t, int n, int k, T alpha, const T* a, int lda, T beta, \
                   T* c, int ldc) {                                                                                    \
    cblas_##p##syrk(o, u, t, n, k, S(alpha), a, lda, S(beta), c, ldc);                                                 \
  }                                                                                                                    \
  static void syr2k(CBLAS_ORDER o, CBLAS_UPLO u, CBLAS_TRANSPOSE t, int n, int k, T alpha, const T* a, int lda,        \
                    const T* b, int ldb, T beta, T* c, int ldc) {                                                      \
    cblas_##p##syr2k(o, u, t, n, k, S(alpha), a, lda, b, ldb, S(beta), c, ldc);                                        \
  }                                                                                                                    \
  static void trmm(CBLAS_ORDER o, CBLAS_UPLO u, CBLAS_TRANSPOSE t, CBLAS_DIAG d, int m, int n, T alpha, const T* a,    \
                   int lda, T* b, int ldb) {                                                                           \
    cblas_##p##trmm(o, CblasLeft, u, t, d, m, n, S(alpha), a, lda, b, ldb);                                            \
  }                                                                                                                    \
  static void trsm(CBLAS_ORDER o, CBLAS_UPLO u, CBLAS_TRANSPOSE t, CBLAS_DIAG d, int m, int n, T alpha, const T* a,    \
                   int lda, T* b, int ldb) {                                                                           \
    cblas_##p##trsm(o, CblasLeft, u, t, d, m, n, S(alpha), a, lda, b, ldb);                                            \
  }
#define TRN_OPENBLAS_COMPLEX(T, p)                                                                                     \
  static void hemm(CBLAS_ORDER o, CBLAS_UPLO u, int m, int n, T alpha, const T* a, int lda, const T* b, int ldb,       \
                   T beta, T* c, int ldc) {                                                                            \
    cblas_##p##hemm(o, CblasLeft, u, m, n, &alpha, a, lda, b, ldb, &beta, c, ldc);                                     \
  }                                                                                                                    \
  static void herk(CBLAS_ORDER o, CBLAS_UPLO u, CBLAS_TRANSPOSE t, int n, int k, T alpha, const T* a, int lda, T beta, \
                   T* c, int ldc) {                                                                                    \
    cblas_##p##herk(o, u, t, n, k, alpha.real(), a, lda, beta.real(), c, ldc);                                         \
  }                                                                                                                    \
  static void her2k(CBLAS_ORDER o, CBLAS_UPLO u, CBLAS_TRANSPOSE t, int n, int k, T alpha, const T* a, int lda,        \
                    const T* b, int ldb, T beta, T* c, int ldc) {                                                      \
    cblas_##p##her2k(o, u, t, n, k, &alpha, a, lda, b, ldb, beta.real(), c, ldc);                                      \
  }                                                                                                                    \
  static void gemm3m(CBLAS_ORDER o, CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int m, int n, int k, T alpha, const T* a,  \
                     int lda, const T* b, int ldb, T beta, T* c, int ldc) {                                            \
    cblas_##p##gemm3m(o, ta, tb, m, n, k, &alpha, a, lda, b, ldb, &beta, c, ldc);                                      \
  }
#define TRN_BY_VALUE(x) x
#define TRN_BY_ADDRESS(x) &x

template <> struct OpenBlas<float> { TRN_OPENBLAS(float, s, TRN_BY_VALUE) };
template <> struct OpenBlas<double> { TRN_OPENBLAS(double, d, TRN_BY_VALUE) };
template <> struct OpenBlas<std::complex<float>> {
  TRN_OPENBLAS(std::complex<float>, c, TRN_BY_ADDRESS)
  TRN_OPENBLAS_COMPLEX(std::complex<float>, c)
};
template <> struct OpenBlas<std::complex<double>> {
  TRN_OPENBLAS(std::complex<double>, z, TRN_BY_ADDRESS)
  TRN_OPENBLAS_COMPLEX(std::complex<double>, z)
};
#undef TRN_OPENBLAS
#undef TRN_OPENBLAS_COMPLEX
#undef TRN_BY_VALUE
#undef TRN_BY_ADDRESS

}  // namespace trn::blas::host
