// Tridiagonal and bidiagonal form, and their unitary matrices. The host has them; a device answers NOT_SUPPORTED.
#pragma once

#include <trn/solver/reductions.hpp>

#include "outcome.hpp"

namespace trn::capi::solver {

[[nodiscard]] inline Int before(Int n) { return std::max<Int>(n - 1, 0); }

template <class T> void sytrd(Call& c, UploArg uplo, Int n, T* a, Int lda, Real<T>* d, Real<T>* e, T* tau, int* info) {
  check_info(c, info);
  const auto matrix = c.matrix("A", a, n, n, lda);
  const auto diagonal = column(c, "d", d, n), beside = column(c, "e", e, before(n));
  const auto factors = column(c, "tau", tau, before(n));
  const auto triangle = blas::uplo_of(uplo);
  if (n > 0) (void)ts::sytrd<T>(c.executor, triangle, matrix, diagonal, beside, factors);
  put_info(c, info, 0);
}
template <class T> void orgtr(Call& c, UploArg uplo, Int n, T* a, Int lda, const T* tau, int* info) {
  check_info(c, info);
  const auto matrix = c.matrix("A", a, n, n, lda);
  const auto factors = column(c, "tau", tau, before(n));
  const auto triangle = blas::uplo_of(uplo);
  if (n > 0) (void)ts::orgtr<T>(c.executor, triangle, matrix, factors);
  put_info(c, info, 0);
}
template <class T> void ormtr(Call& c, SideArg side, UploArg uplo, OpArg op, Int m, Int n, T* a, Int lda, T* tau, T* b,
                              Int ldb, int* info) {
  check_info(c, info);
  const auto where = blas::side_of(side);
  const auto triangle = blas::uplo_of(uplo);
  const auto turned = blas::op_of(op);
  const Int order = where == blas::Side::Left ? m : n;
  const auto reflectors = c.matrix("A", a, order, order, lda);
  const auto factors = column(c, "tau", tau, before(order));
  const auto to = c.matrix("C", b, m, n, ldb);
  if (m > 0 && n > 0) (void)ts::ormtr<T>(c.executor, where, triangle, turned, reflectors, factors, to);
  put_info(c, info, 0);
}
template <class T>
void gebrd(Call& c, Int m, Int n, T* a, Int lda, Real<T>* d, Real<T>* e, T* tau_q, T* tau_p, int* info) {
  check_info(c, info);
  const auto matrix = c.matrix("A", a, m, n, lda);
  const Int k = std::min(m, n);
  const auto diagonal = column(c, "D", d, k), beside = column(c, "E", e, before(k));
  const auto left = column(c, "TAUQ", tau_q, k), right = column(c, "TAUP", tau_p, k);
  if (k > 0) (void)ts::gebrd<T>(c.executor, matrix, diagonal, beside, left, right);
  put_info(c, info, 0);
}
// The side says which of the two: Q stands left of the bidiagonal matrix, P^H right of it.
template <class T> void orgbr(Call& c, SideArg side, Int m, Int n, Int k, T* a, Int lda, const T* tau, int* info) {
  check_info(c, info);
  const bool left = blas::side_of(side) == blas::Side::Left;
  require(k >= 0, "k is {}; it must be >= 0", k);
  const auto matrix = c.matrix("A", a, m, n, lda);
  const auto factors = column(c, "tau", tau, std::min(left ? m : n, k));
  if (m > 0 && n > 0)
    (void)ts::orgbr<T>(c.executor, left ? ts::BidiagonalFactor::Q : ts::BidiagonalFactor::P, k, matrix, factors);
  put_info(c, info, 0);
}

}  // namespace trn::capi::solver
