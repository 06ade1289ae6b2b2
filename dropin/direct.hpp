// The shortest way to the host's kernels: where the host serves a call in native precision and trnblas would hand its
// operands to OpenBLAS as they are, the drop-in does so itself. A product of 4 x 4 matrices takes 40 ns; views, checks
// that cannot fail here and a dispatch would take five times as long.
//
// Only routines whose kernel on the host is OpenBLAS's routine (blas/src/host): dot, axpy, copy, swap, scal by a factor
// that is not 0, gemv and gemm. The callers keep what is special out: increments below 1, null addresses, memory that
// operands share. OpenBLAS is the one inside this library, by its private names (rename.sh).
#pragma once

#include <complex>
#include <cstdint>

#include "environment.hpp"
#include "errors.hpp"
#include "letters.hpp"

#define TRN_DIRECT_REAL(p, T)                                                                        \
  T trn_private_cblas_##p##dot(int, const T*, int, const T*, int);                                   \
  void trn_private_cblas_##p##axpy(int, T, const T*, int, T*, int);                                  \
  void trn_private_cblas_##p##scal(int, T, T*, int);                                                 \
  void trn_private_cblas_##p##copy(int, const T*, int, T*, int);                                     \
  void trn_private_cblas_##p##swap(int, T*, int, T*, int);                                           \
  void trn_private_cblas_##p##gemv(int, int, int, int, T, const T*, int, const T*, int, T, T*, int); \
  void trn_private_cblas_##p##gemm(int, int, int, int, int, int, T, const T*, int, const T*, int, T, T*, int);
#define TRN_DIRECT_COMPLEX(p)                                                                                        \
  void trn_private_cblas_##p##dotu_sub(int, const void*, int, const void*, int, void*);                              \
  void trn_private_cblas_##p##dotc_sub(int, const void*, int, const void*, int, void*);                              \
  void trn_private_cblas_##p##axpy(int, const void*, const void*, int, void*, int);                                  \
  void trn_private_cblas_##p##scal(int, const void*, void*, int);                                                    \
  void trn_private_cblas_##p##copy(int, const void*, int, void*, int);                                               \
  void trn_private_cblas_##p##swap(int, void*, int, void*, int);                                                     \
  void trn_private_cblas_##p##gemv(int, int, int, int, const void*, const void*, int, const void*, int, const void*, \
                                   void*, int);                                                                      \
  void trn_private_cblas_##p##gemm(int, int, int, int, int, int, const void*, const void*, int, const void*, int,    \
                                   const void*, void*, int);
extern "C" {
TRN_DIRECT_REAL(s, float)
TRN_DIRECT_REAL(d, double)
TRN_DIRECT_COMPLEX(c)
TRN_DIRECT_COMPLEX(z)
}
#undef TRN_DIRECT_REAL
#undef TRN_DIRECT_COMPLEX

namespace trn::dropin::direct {

// CBLAS's numbers.
inline int order(const Caller& who) { return who.layout == Layout::RowMajor ? 101 : 102; }
inline int code(Op op) { return op == Op::N ? 111 : op == Op::T ? 112 : 113; }

#define TRN_DIRECT_ALL(p, T, factor)                                                                                   \
  inline void axpy(int n, T alpha, const T* x, int incx, T* y, int incy) {                                             \
    trn_private_cblas_##p##axpy(n, factor(alpha), x, incx, y, incy);                                                   \
  }                                                                                                                    \
  inline void scal(int n, T alpha, T* x, int incx) { trn_private_cblas_##p##scal(n, factor(alpha), x, incx); }         \
  inline void copy(int n, const T* x, int incx, T* y, int incy) { trn_private_cblas_##p##copy(n, x, incx, y, incy); }  \
  inline void swap(int n, T* x, int incx, T* y, int incy) { trn_private_cblas_##p##swap(n, x, incx, y, incy); }        \
  inline void gemv(const Caller& who, Op op, int m, int n, T alpha, const T* a, int lda, const T* x, int incx, T beta, \
                   T* y, int incy) {                                                                                   \
    trn_private_cblas_##p##gemv(order(who), code(op), m, n, factor(alpha), a, lda, x, incx, factor(beta), y, incy);    \
  }                                                                                                                    \
  inline void gemm(const Caller& who, Op oa, Op ob, int m, int n, int k, T alpha, const T* a, int lda, const T* b,     \
                   int ldb, T beta, T* c, int ldc) {                                                                   \
    trn_private_cblas_##p##gemm(order(who), code(oa), code(ob), m, n, k, factor(alpha), a, lda, b, ldb, factor(beta),  \
                                c, ldc);                                                                               \
  }
#define TRN_DIRECT_REAL(p, T)                                             \
  TRN_DIRECT_ALL(p, T, )                                                  \
  inline T dot(int n, const T* x, int incx, const T* y, int incy, bool) { \
    return trn_private_cblas_##p##dot(n, x, incx, y, incy);               \
  }
#define TRN_DIRECT_COMPLEX(p, T)                                                                              \
  TRN_DIRECT_ALL(p, T, &)                                                                                     \
  inline T dot(int n, const T* x, int incx, const T* y, int incy, bool conj) {                                \
    T result;                                                                                                 \
    (conj ? trn_private_cblas_##p##dotc_sub : trn_private_cblas_##p##dotu_sub)(n, x, incx, y, incy, &result); \
    return result;                                                                                            \
  }
TRN_DIRECT_REAL(s, float)
TRN_DIRECT_REAL(d, double)
TRN_DIRECT_COMPLEX(c, std::complex<float>)
TRN_DIRECT_COMPLEX(z, std::complex<double>)
#undef TRN_DIRECT_ALL
#undef TRN_DIRECT_REAL
#undef TRN_DIRECT_COMPLEX

// Whether the host serves the call in native precision; then it is counted.
inline bool serves(Level level) {
  const Environment& env = environment();
  if (!env.plain) return false;
  if (env.report) count(level, true);
  return true;
}

// Vectors that OpenBLAS takes as they are.
inline bool plain(const void* x, int incx) { return x && incx > 0; }
inline bool plain(const void* x, int incx, const void* y, int incy) { return x && y && incx > 0 && incy > 0; }

// The memory of an operand: from its first element to behind its last one. Operands whose ranges meet may still be
// apart; the entry points of trnblas look closer.
struct Range {
  std::uintptr_t begin, end;
  friend bool apart(Range x, Range y) { return x.end <= y.begin || y.end <= x.begin; }
};
template <class T> Range vector_range(const T* x, std::int64_t n, std::int64_t inc) {
  const auto begin = reinterpret_cast<std::uintptr_t>(x);
  return {begin, begin + static_cast<std::uintptr_t>((n - 1) * inc + 1) * sizeof(T)};
}
// `lines` lines of `length` elements, ld apart.
template <class T> Range matrix_range(const T* a, std::int64_t lines, std::int64_t length, std::int64_t ld) {
  const auto begin = reinterpret_cast<std::uintptr_t>(a);
  return {begin, begin + static_cast<std::uintptr_t>((lines - 1) * ld + length) * sizeof(T)};
}

}  // namespace trn::dropin::direct
