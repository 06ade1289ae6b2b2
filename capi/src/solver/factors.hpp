// Cholesky, LU and QR.
#pragma once

#include <trn/solver/batched.hpp>
#include <trn/solver/cholesky.hpp>
#include <trn/solver/qr.hpp>
#include <trn/solver/triangular.hpp>

#include "lu.hpp"

namespace trn::capi::solver {

using blas::op_of, blas::side_of, blas::uplo_of;

template <class T> void potrf(Call& c, UploArg uplo, Int n, T* a, Int lda, int* info) {
  check_info(c, info);
  const auto m = c.matrix("A", a, n, n, lda);
  put_info(c, info, n == 0 ? 0 : info_of(ts::potrf<T>(c.executor, uplo_of(uplo), m).outcome, n));
}
template <class T> void potrs(Call& c, UploArg uplo, Int n, Int nrhs, const T* a, Int lda, T* b, Int ldb, int* info) {
  check_info(c, info);
  const auto factor = c.matrix("A", a, n, n, lda);
  const auto x = c.matrix("B", b, n, nrhs, ldb);
  if (n > 0 && nrhs > 0) (void)ts::potrs<T>(c.executor, uplo_of(uplo), factor, x);
  put_info(c, info, 0);
}
template <class T> void potri(Call& c, UploArg uplo, Int n, T* a, Int lda, int* info) {
  check_info(c, info);
  const auto m = c.matrix("A", a, n, n, lda);
  put_info(c, info, n == 0 ? 0 : info_of(ts::potri<T>(c.executor, uplo_of(uplo), m).outcome, n));
}

template <class T> void potrf_batched(Call& c, UploArg uplo, Int n, T** a, Int lda, int* info, Int count) {
  const auto list = batch_of(c, "Aarray", a, count, n, n, lda);
  check_info(c, info, count);
  if (count > 0)
    put_infos(c, ts::potrf_batched<T>(c.executor, uplo_of(uplo), ts::Batch<T>::listed({n, n, lda}, list)), n, info);
}
// cuSOLVER has it for one right-hand side, and one info for the batch.
template <class T>
void potrs_batched(Call& c, UploArg uplo, Int n, Int nrhs, T** a, Int lda, T** b, Int ldb, int* info, Int count) {
  check_info(c, info);
  const auto factors = batch_of(c, "Aarray", a, count, n, n, lda),
             right = batch_of(c, "Barray", b, count, n, nrhs, ldb);
  if (count > 0 && n > 0 && nrhs > 0)
    (void)ts::potrs_batched<T>(c.executor, uplo_of(uplo), ts::Batch<T>::listed({n, n, lda}, factors),
                               ts::Batch<T>::listed({n, nrhs, ldb}, right));
  put_info(c, info, 0);
}

template <class T> void geqrf(Call& c, Int m, Int n, T* a, Int lda, T* tau, int* info) {
  check_info(c, info);
  const auto matrix = c.matrix("A", a, m, n, lda);
  const auto factors = column(c, "TAU", tau, std::min(m, n));
  if (m > 0 && n > 0) (void)ts::geqrf<T>(c.executor, matrix, factors);
  put_info(c, info, 0);
}
template <class T> void orgqr(Call& c, Int m, Int n, Int k, T* a, Int lda, const T* tau, int* info) {
  check_info(c, info);
  require(n >= 0 && n <= m && k >= 0 && k <= n, "extents are m = {}, n = {}, k = {}; k <= n <= m", m, n, k);
  const auto matrix = c.matrix("A", a, m, n, lda);
  const auto factors = column(c, "tau", tau, k);
  if (n > 0) (void)ts::orgqr<T>(c.executor, matrix, factors);
  put_info(c, info, 0);
}
template <class T> void ormqr(Call& c, SideArg side, OpArg op, Int m, Int n, Int k, const T* a, Int lda, const T* tau,
                              T* b, Int ldb, int* info) {
  check_info(c, info);
  const auto where = side_of(side);
  const Int order = where == blas::Side::Left ? m : n;
  require(k >= 0 && k <= order, "k is {}; it must be between 0 and {}", k, order);
  const auto reflectors = c.matrix("A", a, order, k, lda);
  const auto factors = column(c, "tau", tau, k);
  const auto to = c.matrix("C", b, m, n, ldb);
  if (m > 0 && n > 0 && k > 0) (void)ts::ormqr<T>(c.executor, where, op_of(op), reflectors, factors, to);
  put_info(c, info, 0);
}

template <class T> void trtri(Call& c, UploArg uplo, DiagArg diag, Int n, T* a, Int lda, int* info) {
  check_info(c, info);
  const auto m = c.matrix("A", a, n, n, lda);
  put_info(c, info, n == 0 ? 0 : info_of(ts::trtri<T>(c.executor, uplo_of(uplo), blas::diag_of(diag), m).outcome, n));
}

}  // namespace trn::capi::solver
