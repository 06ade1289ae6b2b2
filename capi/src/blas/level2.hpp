// Level 2: matrix and vector.
#pragma once

#include <trn/blas/gemv.hpp>
#include <trn/blas/ger.hpp>
#include <trn/blas/symv.hpp>
#include <trn/blas/syr.hpp>
#include <trn/blas/trmv.hpp>

#include "handle.hpp"

namespace trn::capi::blas {

using Int = std::int64_t;
using OpArg = trnblasOperation_t;
using UploArg = trnblasFillMode_t;
using DiagArg = trnblasDiagType_t;

inline void check_increment(const char* what, Int inc) { require(inc != 0, "the increment of {} is 0", what); }

template <class T> void gemv(Call& c, OpArg trans, Int m, Int n, const T* alpha, const T* a, Int lda, const T* x,
                             Int incx, const T* beta, T* y, Int incy) {
  const Op op = op_of(trans);
  check_increment("x", incx), check_increment("y", incy);
  c.keep(tb::gemv<T>(c.executor, op, c.read(alpha, "alpha"), c.matrix("A", a, m, n, lda),
                     c.vector("x", x, op == Op::N ? n : m, incx), c.read(beta, "beta"),
                     c.vector("y", y, op == Op::N ? m : n, incy), {c.precision<T>()}));
}
template <class T> void gbmv(Call& c, OpArg trans, Int m, Int n, Int kl, Int ku, const T* alpha, const T* a, Int lda,
                             const T* x, Int incx, const T* beta, T* y, Int incy) {
  const Op op = op_of(trans);
  check_increment("x", incx), check_increment("y", incy);
  tb::gbmv<T>(c.executor, op, c.read(alpha, "alpha"), c.band("A", a, m, n, kl, ku, lda),
              c.vector("x", x, op == Op::N ? n : m, incx), c.read(beta, "beta"),
              c.vector("y", y, op == Op::N ? m : n, incy));
}

#define TRN_TRIANGULAR(name)                                                                                \
  template <class T>                                                                                        \
  void name(Call& c, UploArg uplo, OpArg trans, DiagArg diag, Int n, const T* a, Int lda, T* x, Int incx) { \
    check_increment("x", incx);                                                                             \
    tb::name<T>(c.executor, uplo_of(uplo), op_of(trans), diag_of(diag), c.matrix("A", a, n, n, lda),        \
                c.vector("x", x, n, incx));                                                                 \
  }
#define TRN_TRIANGULAR_BAND(name)                                                                                  \
  template <class T>                                                                                               \
  void name(Call& c, UploArg uplo, OpArg trans, DiagArg diag, Int n, Int k, const T* a, Int lda, T* x, Int incx) { \
    check_increment("x", incx);                                                                                    \
    tb::name<T>(c.executor, uplo_of(uplo), op_of(trans), diag_of(diag),                                            \
                c.triangle_band("A", a, n, k, lda, uplo_of(uplo)), c.vector("x", x, n, incx));                     \
  }
#define TRN_TRIANGULAR_PACKED(name)                                                                                    \
  template <class T> void name(Call& c, UploArg uplo, OpArg trans, DiagArg diag, Int n, const T* ap, T* x, Int incx) { \
    check_increment("x", incx);                                                                                        \
    tb::name<T>(c.executor, op_of(trans), diag_of(diag), c.packed("AP", ap, n, uplo_of(uplo)),                         \
                c.vector("x", x, n, incx));                                                                            \
  }
TRN_TRIANGULAR(trmv)
TRN_TRIANGULAR(trsv)
TRN_TRIANGULAR_BAND(tbmv)
TRN_TRIANGULAR_BAND(tbsv)
TRN_TRIANGULAR_PACKED(tpmv)
TRN_TRIANGULAR_PACKED(tpsv)
#undef TRN_TRIANGULAR
#undef TRN_TRIANGULAR_BAND
#undef TRN_TRIANGULAR_PACKED

#define TRN_SYMMETRIC(name)                                                                                   \
  template <class T> void name(Call& c, UploArg uplo, Int n, const T* alpha, const T* a, Int lda, const T* x, \
                               Int incx, const T* beta, T* y, Int incy) {                                     \
    check_increment("x", incx), check_increment("y", incy);                                                   \
    tb::name<T>(c.executor, uplo_of(uplo), c.read(alpha, "alpha"), c.matrix("A", a, n, n, lda),               \
                c.vector("x", x, n, incx), c.read(beta, "beta"), c.vector("y", y, n, incy));                  \
  }
#define TRN_SYMMETRIC_BAND(name)                                                                                      \
  template <class T> void name(Call& c, UploArg uplo, Int n, Int k, const T* alpha, const T* a, Int lda, const T* x,  \
                               Int incx, const T* beta, T* y, Int incy) {                                             \
    check_increment("x", incx), check_increment("y", incy);                                                           \
    tb::name<T>(c.executor, uplo_of(uplo), c.read(alpha, "alpha"), c.triangle_band("A", a, n, k, lda, uplo_of(uplo)), \
                c.vector("x", x, n, incx), c.read(beta, "beta"), c.vector("y", y, n, incy));                          \
  }
#define TRN_SYMMETRIC_PACKED(name)                                                                                   \
  template <class T> void name(Call& c, UploArg uplo, Int n, const T* alpha, const T* ap, const T* x, Int incx,      \
                               const T* beta, T* y, Int incy) {                                                      \
    check_increment("x", incx), check_increment("y", incy);                                                          \
    tb::name<T>(c.executor, c.read(alpha, "alpha"), c.packed("AP", ap, n, uplo_of(uplo)), c.vector("x", x, n, incx), \
                c.read(beta, "beta"), c.vector("y", y, n, incy));                                                    \
  }
TRN_SYMMETRIC(symv)
TRN_SYMMETRIC(hemv)
TRN_SYMMETRIC_BAND(sbmv)
TRN_SYMMETRIC_BAND(hbmv)
TRN_SYMMETRIC_PACKED(spmv)
TRN_SYMMETRIC_PACKED(hpmv)
#undef TRN_SYMMETRIC
#undef TRN_SYMMETRIC_BAND
#undef TRN_SYMMETRIC_PACKED

#define TRN_RANK_ONE(name)                                                                                      \
  template <class T>                                                                                            \
  void name(Call& c, Int m, Int n, const T* alpha, const T* x, Int incx, const T* y, Int incy, T* a, Int lda) { \
    check_increment("x", incx), check_increment("y", incy);                                                     \
    tb::name<T>(c.executor, c.read(alpha, "alpha"), c.vector("x", x, m, incx), c.vector("y", y, n, incy),       \
                c.matrix("A", a, m, n, lda));                                                                   \
  }
TRN_RANK_ONE(ger)
TRN_RANK_ONE(gerc)
#undef TRN_RANK_ONE

// alpha of the Hermitian forms is real.
template <class T, class S>
void syr(Call& c, UploArg uplo, Int n, const S* alpha, const T* x, Int incx, T* a, Int lda) {
  check_increment("x", incx);
  tb::syr<T>(c.executor, uplo_of(uplo), c.read(alpha, "alpha"), c.vector("x", x, n, incx), c.matrix("A", a, n, n, lda));
}
template <class T> void her(Call& c, UploArg uplo, Int n, const Real<T>* alpha, const T* x, Int incx, T* a, Int lda) {
  check_increment("x", incx);
  tb::her<T>(c.executor, uplo_of(uplo), c.read(alpha, "alpha"), c.vector("x", x, n, incx), c.matrix("A", a, n, n, lda));
}
template <class T> void spr(Call& c, UploArg uplo, Int n, const T* alpha, const T* x, Int incx, T* ap) {
  check_increment("x", incx);
  tb::spr<T>(c.executor, c.read(alpha, "alpha"), c.vector("x", x, n, incx), c.packed("AP", ap, n, uplo_of(uplo)));
}
template <class T> void hpr(Call& c, UploArg uplo, Int n, const Real<T>* alpha, const T* x, Int incx, T* ap) {
  check_increment("x", incx);
  tb::hpr<T>(c.executor, c.read(alpha, "alpha"), c.vector("x", x, n, incx), c.packed("AP", ap, n, uplo_of(uplo)));
}
#define TRN_RANK_TWO(name)                                                                                             \
  template <class T>                                                                                                   \
  void name(Call& c, UploArg uplo, Int n, const T* alpha, const T* x, Int incx, const T* y, Int incy, T* a, Int lda) { \
    check_increment("x", incx), check_increment("y", incy);                                                            \
    tb::name<T>(c.executor, uplo_of(uplo), c.read(alpha, "alpha"), c.vector("x", x, n, incx),                          \
                c.vector("y", y, n, incy), c.matrix("A", a, n, n, lda));                                               \
  }
#define TRN_RANK_TWO_PACKED(name)                                                                              \
  template <class T>                                                                                           \
  void name(Call& c, UploArg uplo, Int n, const T* alpha, const T* x, Int incx, const T* y, Int incy, T* ap) { \
    check_increment("x", incx), check_increment("y", incy);                                                    \
    tb::name<T>(c.executor, c.read(alpha, "alpha"), c.vector("x", x, n, incx), c.vector("y", y, n, incy),      \
                c.packed("AP", ap, n, uplo_of(uplo)));                                                         \
  }
TRN_RANK_TWO(syr2)
TRN_RANK_TWO(her2)
TRN_RANK_TWO_PACKED(spr2)
TRN_RANK_TWO_PACKED(hpr2)
#undef TRN_RANK_TWO
#undef TRN_RANK_TWO_PACKED

}  // namespace trn::capi::blas
