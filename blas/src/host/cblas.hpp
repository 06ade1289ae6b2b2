// OpenBLAS's routines of levels 1 and 2 by one name for the four element types: axpy(n, alpha, x, incx, y, incy)
// instead of cblas_saxpy, cblas_daxpy, cblas_caxpy and cblas_zaxpy, factors always by value. The complex symmetric
// routines, which CBLAS lacks, are the Fortran ones that OpenBLAS has under LAPACK's names; they know column-major
// matrices only.
#pragma once

#include <cblas.h>

#include <complex>
#include <trn/blas/types.hpp>

extern "C" {
#define TRN_SYMMETRIC(p, T)                                                                                          \
  void p##symv_(const char*, const int*, const T*, const T*, const int*, const T*, const int*, const T*, T*,         \
                const int*);                                                                                         \
  void p##spmv_(const char*, const int*, const T*, const T*, const T*, const int*, const T*, T*, const int*);        \
  void p##sbmv_(const char*, const int*, const int*, const T*, const T*, const int*, const T*, const int*, const T*, \
                T*, const int*);                                                                                     \
  void p##syr_(const char*, const int*, const T*, const T*, const int*, T*, const int*);                             \
  void p##spr_(const char*, const int*, const T*, const T*, const int*, T*);                                         \
  void p##syr2_(const char*, const int*, const T*, const T*, const int*, const T*, const int*, T*, const int*);      \
  void p##spr2_(const char*, const int*, const T*, const T*, const int*, const T*, const int*, T*);
// With C linkage the parameters are plain addresses; the header f77blas.h declares them in terms of its own types.
TRN_SYMMETRIC(c, std::complex<float>)
TRN_SYMMETRIC(z, std::complex<double>)
#undef TRN_SYMMETRIC
}

namespace trn::blas::host::cb {

using C32 = std::complex<float>;
using C64 = std::complex<double>;

inline CBLAS_UPLO code(Uplo uplo) { return uplo == Uplo::Upper ? CblasUpper : CblasLower; }
inline CBLAS_DIAG code(Diag diag) { return diag == Diag::Unit ? CblasUnit : CblasNonUnit; }
inline CBLAS_TRANSPOSE code(Op op) { return op == Op::N ? CblasNoTrans : op == Op::T ? CblasTrans : CblasConjTrans; }
inline char letter(Uplo uplo) { return uplo == Uplo::Upper ? 'U' : 'L'; }

// R(p, T): real types; X(p, T): complex types.
#define TRN_BOTH_REAL(R) R(s, float) R(d, double)
#define TRN_BOTH_COMPLEX(X) X(c, C32) X(z, C64)

#define TRN_LEVEL1(p, T)                                                                                  \
  inline void copy(int n, const T* x, int incx, T* y, int incy) { cblas_##p##copy(n, x, incx, y, incy); } \
  inline void swap(int n, T* x, int incx, T* y, int incy) { cblas_##p##swap(n, x, incx, y, incy); }
TRN_BOTH_REAL(TRN_LEVEL1)
TRN_BOTH_COMPLEX(TRN_LEVEL1)
#undef TRN_LEVEL1

#define TRN_REAL(p, T)                                                                                                 \
  inline void axpy(int n, T alpha, const T* x, int incx, T* y, int incy) {                                             \
    cblas_##p##axpy(n, alpha, x, incx, y, incy);                                                                       \
  }                                                                                                                    \
  inline void scal(int n, T alpha, T* x, int incx) { cblas_##p##scal(n, alpha, x, incx); }                             \
  inline void rot(int n, T* x, int incx, T* y, int incy, T c, T s) { cblas_##p##rot(n, x, incx, y, incy, c, s); }      \
  inline void rotm(int n, T* x, int incx, T* y, int incy, const T* h) { cblas_##p##rotm(n, x, incx, y, incy, h); }     \
  inline T asum(int n, const T* x, int incx) { return cblas_##p##asum(n, x, incx); }                                   \
  inline T dot(int n, const T* x, int incx, const T* y, int incy, bool) {                                              \
    return cblas_##p##dot(n, x, incx, y, incy);                                                                        \
  }                                                                                                                    \
  inline void gemv(CBLAS_ORDER o, CBLAS_TRANSPOSE t, int m, int n, T alpha, const T* a, int lda, const T* x, int incx, \
                   T beta, T* y, int incy) {                                                                           \
    cblas_##p##gemv(o, t, m, n, alpha, a, lda, x, incx, beta, y, incy);                                                \
  }                                                                                                                    \
  inline void gbmv(CBLAS_ORDER o, CBLAS_TRANSPOSE t, int m, int n, int kl, int ku, T alpha, const T* a, int lda,       \
                   const T* x, int incx, T beta, T* y, int incy) {                                                     \
    cblas_##p##gbmv(o, t, m, n, kl, ku, alpha, a, lda, x, incx, beta, y, incy);                                        \
  }                                                                                                                    \
  inline void ger(CBLAS_ORDER o, int m, int n, T alpha, const T* x, int incx, const T* y, int incy, bool, T* a,        \
                  int lda) {                                                                                           \
    cblas_##p##ger(o, m, n, alpha, x, incx, y, incy, a, lda);                                                          \
  }                                                                                                                    \
  inline void symv(CBLAS_ORDER o, CBLAS_UPLO u, int n, T alpha, const T* a, int lda, const T* x, int incx, T beta,     \
                   T* y, int incy) {                                                                                   \
    cblas_##p##symv(o, u, n, alpha, a, lda, x, incx, beta, y, incy);                                                   \
  }                                                                                                                    \
  inline void spmv(CBLAS_ORDER o, CBLAS_UPLO u, int n, T alpha, const T* a, const T* x, int incx, T beta, T* y,        \
                   int incy) {                                                                                         \
    cblas_##p##spmv(o, u, n, alpha, a, x, incx, beta, y, incy);                                                        \
  }                                                                                                                    \
  inline void sbmv(CBLAS_ORDER o, CBLAS_UPLO u, int n, int k, T alpha, const T* a, int lda, const T* x, int incx,      \
                   T beta, T* y, int incy) {                                                                           \
    cblas_##p##sbmv(o, u, n, k, alpha, a, lda, x, incx, beta, y, incy);                                                \
  }                                                                                                                    \
  inline void syr(CBLAS_ORDER o, CBLAS_UPLO u, int n, T alpha, const T* x, int incx, T* a, int lda) {                  \
    cblas_##p##syr(o, u, n, alpha, x, incx, a, lda);                                                                   \
  }                                                                                                                    \
  inline void spr(CBLAS_ORDER o, CBLAS_UPLO u, int n, T alpha, const T* x, int incx, T* a) {                           \
    cblas_##p##spr(o, u, n, alpha, x, incx, a);                                                                        \
  }                                                                                                                    \
  inline void syr2(CBLAS_ORDER o, CBLAS_UPLO u, int n, T alpha, const T* x, int incx, const T* y, int incy, T* a,      \
                   int lda) {                                                                                          \
    cblas_##p##syr2(o, u, n, alpha, x, incx, y, incy, a, lda);                                                         \
  }                                                                                                                    \
  inline void spr2(CBLAS_ORDER o, CBLAS_UPLO u, int n, T alpha, const T* x, int incx, const T* y, int incy, T* a) {    \
    cblas_##p##spr2(o, u, n, alpha, x, incx, y, incy, a);                                                              \
  }
TRN_BOTH_REAL(TRN_REAL)
#undef TRN_REAL

// Column-major memory of one triangle is row-major memory of the other, and a symmetric matrix does not care.
inline Uplo column_major(CBLAS_ORDER o, CBLAS_UPLO u) {
  return (u == CblasUpper) == (o == CblasColMajor) ? Uplo::Upper : Uplo::Lower;
}

#define TRN_COMPLEX(p, T)                                                                                              \
  inline void axpy(int n, T alpha, const T* x, int incx, T* y, int incy) {                                             \
    cblas_##p##axpy(n, &alpha, x, incx, y, incy);                                                                      \
  }                                                                                                                    \
  inline void scal(int n, T alpha, T* x, int incx) { cblas_##p##scal(n, &alpha, x, incx); }                            \
  inline T dot(int n, const T* x, int incx, const T* y, int incy, bool conj) {                                         \
    T result;                                                                                                          \
    if (conj) {                                                                                                        \
      cblas_##p##dotc_sub(n, x, incx, y, incy, &result);                                                               \
    } else {                                                                                                           \
      cblas_##p##dotu_sub(n, x, incx, y, incy, &result);                                                               \
    }                                                                                                                  \
    return result;                                                                                                     \
  }                                                                                                                    \
  inline void gemv(CBLAS_ORDER o, CBLAS_TRANSPOSE t, int m, int n, T alpha, const T* a, int lda, const T* x, int incx, \
                   T beta, T* y, int incy) {                                                                           \
    cblas_##p##gemv(o, t, m, n, &alpha, a, lda, x, incx, &beta, y, incy);                                              \
  }                                                                                                                    \
  inline void gbmv(CBLAS_ORDER o, CBLAS_TRANSPOSE t, int m, int n, int kl, int ku, T alpha, const T* a, int lda,       \
                   const T* x, int incx, T beta, T* y, int incy) {                                                     \
    cblas_##p##gbmv(o, t, m, n, kl, ku, &alpha, a, lda, x, incx, &beta, y, incy);                                      \
  }                                                                                                                    \
  inline void ger(CBLAS_ORDER o, int m, int n, T alpha, const T* x, int incx, const T* y, int incy, bool conj, T* a,   \
                  int lda) {                                                                                           \
    if (conj) {                                                                                                        \
      cblas_##p##gerc(o, m, n, &alpha, x, incx, y, incy, a, lda);                                                      \
    } else {                                                                                                           \
      cblas_##p##geru(o, m, n, &alpha, x, incx, y, incy, a, lda);                                                      \
    }                                                                                                                  \
  }                                                                                                                    \
  inline void symv(CBLAS_ORDER o, CBLAS_UPLO u, int n, T alpha, const T* a, int lda, const T* x, int incx, T beta,     \
                   T* y, int incy) {                                                                                   \
    const char uplo = letter(column_major(o, u));                                                                      \
    p##symv_(&uplo, &n, &alpha, a, &lda, x, &incx, &beta, y, &incy);                                                   \
  }                                                                                                                    \
  inline void spmv(CBLAS_ORDER o, CBLAS_UPLO u, int n, T alpha, const T* a, const T* x, int incx, T beta, T* y,        \
                   int incy) {                                                                                         \
    const char uplo = letter(column_major(o, u));                                                                      \
    p##spmv_(&uplo, &n, &alpha, a, x, &incx, &beta, y, &incy);                                                         \
  }                                                                                                                    \
  inline void sbmv(CBLAS_ORDER o, CBLAS_UPLO u, int n, int k, T alpha, const T* a, int lda, const T* x, int incx,      \
                   T beta, T* y, int incy) {                                                                           \
    const char uplo = letter(column_major(o, u));                                                                      \
    p##sbmv_(&uplo, &n, &k, &alpha, a, &lda, x, &incx, &beta, y, &incy);                                               \
  }                                                                                                                    \
  inline void syr(CBLAS_ORDER o, CBLAS_UPLO u, int n, T alpha, const T* x, int incx, T* a, int lda) {                  \
    const char uplo = letter(column_major(o, u));                                                                      \
    p##syr_(&uplo, &n, &alpha, x, &incx, a, &lda);                                                                     \
  }                                                                                                                    \
  inline void spr(CBLAS_ORDER o, CBLAS_UPLO u, int n, T alpha, const T* x, int incx, T* a) {                           \
    const char uplo = letter(column_major(o, u));                                                                      \
    p##spr_(&uplo, &n, &alpha, x, &incx, a);                                                                           \
  }                                                                                                                    \
  inline void syr2(CBLAS_ORDER o, CBLAS_UPLO u, int n, T alpha, const T* x, int incx, const T* y, int incy, T* a,      \
                   int lda) {                                                                                          \
    const char uplo = letter(column_major(o, u));                                                                      \
    p##syr2_(&uplo, &n, &alpha, x, &incx, y, &incy, a, &lda);                                                          \
  }                                                                                                                    \
  inline void spr2(CBLAS_ORDER o, CBLAS_UPLO u, int n, T alpha, const T* x, int incx, const T* y, int incy, T* a) {    \
    const char uplo = letter(column_major(o, u));                                                                      \
    p##spr2_(&uplo, &n, &alpha, x, &incx, y, &incy, a);                                                                \
  }                                                                                                                    \
  inline void hemv(CBLAS_ORDER o, CBLAS_UPLO u, int n, T alpha, const T* a, int lda, const T* x, int incx, T beta,     \
                   T* y, int incy) {                                                                                   \
    cblas_##p##hemv(o, u, n, &alpha, a, lda, x, incx, &beta, y, incy);                                                 \
  }                                                                                                                    \
  inline void hpmv(CBLAS_ORDER o, CBLAS_UPLO u, int n, T alpha, const T* a, const T* x, int incx, T beta, T* y,        \
                   int incy) {                                                                                         \
    cblas_##p##hpmv(o, u, n, &alpha, a, x, incx, &beta, y, incy);                                                      \
  }                                                                                                                    \
  inline void hbmv(CBLAS_ORDER o, CBLAS_UPLO u, int n, int k, T alpha, const T* a, int lda, const T* x, int incx,      \
                   T beta, T* y, int incy) {                                                                           \
    cblas_##p##hbmv(o, u, n, k, &alpha, a, lda, x, incx, &beta, y, incy);                                              \
  }                                                                                                                    \
  inline void her(CBLAS_ORDER o, CBLAS_UPLO u, int n, Real<T> alpha, const T* x, int incx, T* a, int lda) {            \
    cblas_##p##her(o, u, n, alpha, x, incx, a, lda);                                                                   \
  }                                                                                                                    \
  inline void hpr(CBLAS_ORDER o, CBLAS_UPLO u, int n, Real<T> alpha, const T* x, int incx, T* a) {                     \
    cblas_##p##hpr(o, u, n, alpha, x, incx, a);                                                                        \
  }                                                                                                                    \
  inline void her2(CBLAS_ORDER o, CBLAS_UPLO u, int n, T alpha, const T* x, int incx, const T* y, int incy, T* a,      \
                   int lda) {                                                                                          \
    cblas_##p##her2(o, u, n, &alpha, x, incx, y, incy, a, lda);                                                        \
  }                                                                                                                    \
  inline void hpr2(CBLAS_ORDER o, CBLAS_UPLO u, int n, T alpha, const T* x, int incx, const T* y, int incy, T* a) {    \
    cblas_##p##hpr2(o, u, n, &alpha, x, incx, y, incy, a);                                                             \
  }
TRN_BOTH_COMPLEX(TRN_COMPLEX)
#undef TRN_COMPLEX

inline void scal_real(int n, float alpha, C32* x, int incx) { cblas_csscal(n, alpha, x, incx); }
inline void scal_real(int n, double alpha, C64* x, int incx) { cblas_zdscal(n, alpha, x, incx); }
inline void rot(int n, C32* x, int incx, C32* y, int incy, float c, float s) { cblas_csrot(n, x, incx, y, incy, c, s); }
inline void rot(int n, C64* x, int incx, C64* y, int incy, double c, double s) {
  cblas_zdrot(n, x, incx, y, incy, c, s);
}

#define TRN_TRIANGULAR(p, T)                                                                                          \
  inline void trmv(CBLAS_ORDER o, CBLAS_UPLO u, CBLAS_TRANSPOSE t, CBLAS_DIAG d, int n, const T* a, int lda, T* x,    \
                   int incx) {                                                                                        \
    cblas_##p##trmv(o, u, t, d, n, a, lda, x, incx);                                                                  \
  }                                                                                                                   \
  inline void trsv(CBLAS_ORDER o, CBLAS_UPLO u, CBLAS_TRANSPOSE t, CBLAS_DIAG d, int n, const T* a, int lda, T* x,    \
                   int incx) {                                                                                        \
    cblas_##p##trsv(o, u, t, d, n, a, lda, x, incx);                                                                  \
  }                                                                                                                   \
  inline void tpmv(CBLAS_ORDER o, CBLAS_UPLO u, CBLAS_TRANSPOSE t, CBLAS_DIAG d, int n, const T* a, T* x, int incx) { \
    cblas_##p##tpmv(o, u, t, d, n, a, x, incx);                                                                       \
  }                                                                                                                   \
  inline void tpsv(CBLAS_ORDER o, CBLAS_UPLO u, CBLAS_TRANSPOSE t, CBLAS_DIAG d, int n, const T* a, T* x, int incx) { \
    cblas_##p##tpsv(o, u, t, d, n, a, x, incx);                                                                       \
  }                                                                                                                   \
  inline void tbmv(CBLAS_ORDER o, CBLAS_UPLO u, CBLAS_TRANSPOSE t, CBLAS_DIAG d, int n, int k, const T* a, int lda,   \
                   T* x, int incx) {                                                                                  \
    cblas_##p##tbmv(o, u, t, d, n, k, a, lda, x, incx);                                                               \
  }                                                                                                                   \
  inline void tbsv(CBLAS_ORDER o, CBLAS_UPLO u, CBLAS_TRANSPOSE t, CBLAS_DIAG d, int n, int k, const T* a, int lda,   \
                   T* x, int incx) {                                                                                  \
    cblas_##p##tbsv(o, u, t, d, n, k, a, lda, x, incx);                                                               \
  }
TRN_BOTH_REAL(TRN_TRIANGULAR)
TRN_BOTH_COMPLEX(TRN_TRIANGULAR)
#undef TRN_TRIANGULAR
#undef TRN_BOTH_REAL
#undef TRN_BOTH_COMPLEX

}  // namespace trn::blas::host::cb
