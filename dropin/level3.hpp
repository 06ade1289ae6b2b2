// Level 3 as the reference BLAS has it: argument checks with the reference's positions, then the entry points of
// trnblas on the chosen executor. As the standard has it, alpha = 0 and k = 0 read neither A nor B, which may then be
// any address, null included. For a row-major caller the checks see the transposed problem, as in Netlib's CBLAS: A and
// B exchanged in gemm, m and n in all.
#pragma once

#include <trn/blas/gemm.hpp>
#include <trn/blas/symm.hpp>
#include <trn/blas/syrk.hpp>
#include <trn/blas/trmm.hpp>
#include <trn/blas/trsm.hpp>

#include "direct.hpp"
#include "errors.hpp"
#include "letters.hpp"
#include "operands.hpp"

namespace trn::dropin {

using blas::Real;

// The stored lines of a rows x columns matrix that op makes: how long each must be.
inline int line(const Caller& who, Op op, int rows, int columns) {
  return (op == Op::N) == (who.layout == Layout::ColumnMajor) ? rows : columns;
}

// C = beta C.
template <class T> void scale(const Caller& who, int m, int n, T beta, T* c, int ldc) {
  on_executor(Level::Three, [&](const Executor& e, Precision p) {
    General<T> mc(e, c, m, n, ldc, who.layout);
    blas::gemm(e, Op::N, Op::N, T(0), MatrixView<const T>(e, nullptr, m, 0, 1, 1),
               MatrixView<const T>(e, nullptr, 0, n, 1, 1), beta, mc.view(), {p});
    mc.commit();
  });
}

template <class T> void gemm(const Caller& who, char ta, char tb, int m, int n, int k, T alpha, const T* a, int lda,
                             const T* b, int ldb, T beta, T* c, int ldc) {
  const bool rows = who.layout == Layout::RowMajor;
  const Op oa = op_of(ta), ob = op_of(tb);
  const bool bad_lda = lda < at_least_one(line(who, oa, m, k)), bad_ldb = ldb < at_least_one(line(who, ob, k, n));
  if (const int info =
          first_wrong(Check{!is_op(rows ? tb : ta), 1}, Check{!is_op(rows ? ta : tb), 2}, Check{(rows ? n : m) < 0, 3},
                      Check{(rows ? m : n) < 0, 4}, Check{k < 0, 5}, Check{rows ? bad_ldb : bad_lda, 8},
                      Check{rows ? bad_lda : bad_ldb, 10}, Check{ldc < at_least_one(rows ? n : m), 13})) {
    return complain(who, info);
  }
  if (m == 0 || n == 0 || ((alpha == T(0) || k == 0) && beta == T(1))) return;
  if (alpha == T(0) || k == 0) return scale(who, m, n, beta, c, ldc);
  const auto range = [&](const T* x, Op op, int r, int s, int ld) {  // of the r x s matrix that op makes
    const int length = line(who, op, r, s);
    return direct::matrix_range(x, r + s - length, length, ld);
  };
  const direct::Range written = range(c, Op::N, m, n, ldc);
  if (a && b && c && apart(range(a, oa, m, k, lda), written) && apart(range(b, ob, k, n, ldb), written) &&
      direct::serves(Level::Three)) {
    return direct::gemm(who, oa, ob, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
  }
  on_executor(Level::Three, [&](const Executor& e, Precision p) {
    const General<const T> ma(e, a, oa == Op::N ? m : k, oa == Op::N ? k : m, lda, who.layout);
    const General<const T> mb(e, b, ob == Op::N ? k : n, ob == Op::N ? n : k, ldb, who.layout);
    General<T> mc(e, c, m, n, ldc, who.layout);
    blas::gemm(e, oa, ob, alpha, ma.view(), mb.view(), beta, mc.view(), {p});
    mc.commit();
  });
}

template <class T> void symm(const Caller& who, bool hermitian, char side, char letter, int m, int n, T alpha,
                             const T* a, int lda, const T* b, int ldb, T beta, T* c, int ldc) {
  const bool rows = who.layout == Layout::RowMajor;
  const int order = side_of(side) == Side::Left ? m : n, fm = rows ? n : m;
  if (const int info = first_wrong(Check{!is_side(side), 1}, Check{!is_uplo(letter), 2}, Check{fm < 0, 3},
                                   Check{(rows ? m : n) < 0, 4}, Check{lda < at_least_one(order), 7},
                                   Check{ldb < at_least_one(fm), 9}, Check{ldc < at_least_one(fm), 12})) {
    return complain(who, info);
  }
  if (m == 0 || n == 0 || (alpha == T(0) && beta == T(1))) return;
  if (alpha == T(0)) return scale(who, m, n, beta, c, ldc);
  const Uplo uplo = uplo_of(letter);
  on_executor(Level::Three, [&](const Executor& e, Precision p) {
    const General<const T> ma(e, a, order, order, lda, who.layout), mb(e, b, m, n, ldb, who.layout);
    General<T> mc(e, c, m, n, ldc, who.layout);
    if constexpr (blas::ComplexScalar<T>) {
      if (hermitian) blas::hemm(e, side_of(side), uplo, alpha, ma.view(), mb.view(), beta, mc.view(), {p});
    }
    if (!hermitian) blas::symm(e, side_of(side), uplo, alpha, ma.view(), mb.view(), beta, mc.view(), {p});
    mc.commit();
  });
}

// syrk takes N and T (and C for real types), herk N and C.
template <class T> bool is_rank_op(char trans, bool hermitian) {
  if (!is_op(trans)) return false;
  return capital(trans) == 'N' || blas::RealScalar<T> || (capital(trans) == 'C') == hermitian;
}

// alpha of herk is real: its imaginary part is 0.
template <class T> void syrk(const Caller& who, bool hermitian, char letter, char trans, int n, int k, T alpha,
                             const T* a, int lda, T beta, T* c, int ldc) {
  const Op op = op_of(trans);
  if (const int info = first_wrong(Check{!is_uplo(letter), 1}, Check{!is_rank_op<T>(trans, hermitian), 2},
                                   Check{n < 0, 3}, Check{k < 0, 4}, Check{lda < at_least_one(line(who, op, n, k)), 7},
                                   Check{ldc < at_least_one(n), 10})) {
    return complain(who, info);
  }
  if (n == 0 || ((alpha == T(0) || k == 0) && beta == T(1))) return;
  const Uplo uplo = uplo_of(letter);
  on_executor(Level::Three, [&](const Executor& e, Precision p) {
    const int depth = alpha == T(0) ? 0 : k;
    const General<const T> ma(e, a, op == Op::N ? n : depth, op == Op::N ? depth : n, lda, who.layout);
    General<T> mc(e, c, n, n, ldc, who.layout);
    if constexpr (blas::ComplexScalar<T>) {
      if (hermitian) blas::herk(e, uplo, op, alpha.real(), ma.view(), beta.real(), mc.view(), {p});
    }
    if (!hermitian) blas::syrk(e, uplo, op, alpha, ma.view(), beta, mc.view(), {p});
    mc.commit(uplo);
  });
}

template <class T> void syr2k(const Caller& who, bool hermitian, char letter, char trans, int n, int k, T alpha,
                              const T* a, int lda, const T* b, int ldb, T beta, T* c, int ldc) {
  const Op op = op_of(trans);
  const int longest = at_least_one(line(who, op, n, k));
  if (const int info = first_wrong(Check{!is_uplo(letter), 1}, Check{!is_rank_op<T>(trans, hermitian), 2},
                                   Check{n < 0, 3}, Check{k < 0, 4}, Check{lda < longest, 7}, Check{ldb < longest, 9},
                                   Check{ldc < at_least_one(n), 12})) {
    return complain(who, info);
  }
  if (n == 0 || ((alpha == T(0) || k == 0) && beta == T(1))) return;
  const Uplo uplo = uplo_of(letter);
  on_executor(Level::Three, [&](const Executor& e, Precision p) {
    const int depth = alpha == T(0) ? 0 : k, ar = op == Op::N ? n : depth, ac = op == Op::N ? depth : n;
    const General<const T> ma(e, a, ar, ac, lda, who.layout), mb(e, b, ar, ac, ldb, who.layout);
    General<T> mc(e, c, n, n, ldc, who.layout);
    if constexpr (blas::ComplexScalar<T>) {
      if (hermitian) blas::her2k(e, uplo, op, alpha, ma.view(), mb.view(), beta.real(), mc.view(), {p});
    }
    if (!hermitian) blas::syr2k(e, uplo, op, alpha, ma.view(), mb.view(), beta, mc.view(), {p});
    mc.commit(uplo);
  });
}

template <class T> void trmm(const Caller& who, bool solve, char side, char letter, char trans, char unit, int m, int n,
                             T alpha, const T* a, int lda, T* b, int ldb) {
  const bool rows = who.layout == Layout::RowMajor;
  const int order = side_of(side) == Side::Left ? m : n, fm = rows ? n : m;
  if (const int info = first_wrong(Check{!is_side(side), 1}, Check{!is_uplo(letter), 2}, Check{!is_op(trans), 3},
                                   Check{!is_diag(unit), 4}, Check{fm < 0, 5}, Check{(rows ? m : n) < 0, 6},
                                   Check{lda < at_least_one(order), 9}, Check{ldb < at_least_one(fm), 11})) {
    return complain(who, info);
  }
  if (m == 0 || n == 0) return;
  if (alpha == T(0)) return scale(who, m, n, T(0), b, ldb);
  on_executor(Level::Three, [&](const Executor& e, Precision p) {
    const General<const T> ma(e, a, order, order, lda, who.layout);
    General<T> mb(e, b, m, n, ldb, who.layout);
    const Side s = side_of(side);
    const Uplo u = uplo_of(letter);
    const Op op = op_of(trans);
    const Diag d = diag_of(unit);
    if (solve) {
      blas::trsm<T>(e, s, u, op, d, alpha, ma.view(), mb.view(), {p});
    } else {
      blas::trmm<T>(e, s, u, op, d, alpha, ma.view(), mb.view(), {p});
    }
    mb.commit();
  });
}

}  // namespace trn::dropin
