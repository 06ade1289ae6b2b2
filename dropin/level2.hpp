// Level 2 as the reference BLAS has it: argument checks with the reference's positions, then the entry points of
// trnblas. Sizes and letters are the caller's own, of the matrix in its own layout; for a row-major caller the checks
// see the transposed problem, as in Netlib's CBLAS.
#pragma once

#include <trn/blas/gemv.hpp>
#include <trn/blas/ger.hpp>
#include <trn/blas/symv.hpp>
#include <trn/blas/syr.hpp>
#include <trn/blas/trmv.hpp>

#include "direct.hpp"
#include "errors.hpp"
#include "letters.hpp"
#include "operands.hpp"

namespace trn::dropin {

using blas::Real;

// y = beta y: what alpha = 0 leaves, without a look at A or x.
template <class T> void scale(int n, T beta, T* y, int incy) {
  on_host(Level::Two, [&](const Executor&) {
    T* v = first(y, n, incy);
    for (std::int64_t i = 0; i < n; ++i) v[i * incy] = beta == T(0) ? T(0) : beta * v[i * incy];
  });
}

template <class T> void gemv(const Caller& who, char trans, int m, int n, T alpha, const T* a, int lda, const T* x,
                             int incx, T beta, T* y, int incy) {
  const bool rows = who.layout == Layout::RowMajor;
  const int fm = rows ? n : m, fn = rows ? m : n;
  if (const int info = first_wrong(Check{!is_op(trans), 1}, Check{fm < 0, 2}, Check{fn < 0, 3},
                                   Check{lda < at_least_one(fm), 6}, Check{incx == 0, 8}, Check{incy == 0, 11})) {
    return complain(who, info);
  }
  if (m == 0 || n == 0 || (alpha == T(0) && beta == T(1))) return;
  const Op op = op_of(trans);
  const int to = op == Op::N ? m : n, from = op == Op::N ? n : m;
  if (alpha == T(0)) return scale(to, beta, y, incy);
  if (a && direct::plain(x, incx, y, incy)) {
    const direct::Range written = direct::vector_range(y, to, incy);
    if (apart(direct::matrix_range(a, fn, fm, lda), written) && apart(direct::vector_range(x, from, incx), written) &&
        direct::serves(Level::Two)) {
      return direct::gemv(who, op, m, n, alpha, a, lda, x, incx, beta, y, incy);
    }
  }
  on_executor(
      Level::Two,
      [&](const Executor& e, Precision p) {
        const General<const T> ma(e, a, m, n, lda, who.layout);
        const Vector<const T> vx(e, x, from, incx);
        Vector<T> vy(e, y, to, incy);
        blas::gemv(e, op, alpha, ma.view(), vx.view(), beta, vy.view(), {p});
        vy.commit();
      },
      &Environment::sums);
}

template <class T> void gbmv(const Caller& who, char trans, int m, int n, int kl, int ku, T alpha, const T* a, int lda,
                             const T* x, int incx, T beta, T* y, int incy) {
  const bool rows = who.layout == Layout::RowMajor;
  if (const int info = first_wrong(Check{!is_op(trans), 1}, Check{(rows ? n : m) < 0, 2}, Check{(rows ? m : n) < 0, 3},
                                   Check{(rows ? ku : kl) < 0, 4}, Check{(rows ? kl : ku) < 0, 5},
                                   Check{lda < kl + ku + 1, 8}, Check{incx == 0, 10}, Check{incy == 0, 13})) {
    return complain(who, info);
  }
  if (m == 0 || n == 0 || (alpha == T(0) && beta == T(1))) return;
  const Op op = op_of(trans);
  if (alpha == T(0)) return scale(op == Op::N ? m : n, beta, y, incy);
  on_host(Level::Two, [&](const Executor& e) {
    const Vector<const T> vx(e, x, op == Op::N ? n : m, incx);
    const Vector<T> vy(e, y, op == Op::N ? m : n, incy);
    blas::gbmv(e, op, alpha, blas::BandView<const T>(e, a, m, n, kl, ku, lda, who.layout), vx.view(), beta, vy.view());
  });
}

// The reference leaves a column alone when its element of y is zero, whatever x holds (row-major: a row, by its element
// of x). A device multiplies by that zero; what it made of such a column is not copied back.
template <class T> void ger(const Caller& who, bool conj, int m, int n, T alpha, const T* x, int incx, const T* y,
                            int incy, T* a, int lda) {
  const bool rows = who.layout == Layout::RowMajor;
  const int fm = rows ? n : m, fn = rows ? m : n;
  if (const int info = first_wrong(Check{fm < 0, 1}, Check{fn < 0, 2}, Check{(rows ? incy : incx) == 0, 5},
                                   Check{(rows ? incx : incy) == 0, 7}, Check{lda < at_least_one(fm), 9})) {
    return complain(who, info);
  }
  if (m == 0 || n == 0 || alpha == T(0)) return;
  on_executor(Level::Two, [&](const Executor& e, Precision) {
    const Vector<const T> vx(e, x, m, incx), vy(e, y, n, incy);
    General<T> ma(e, a, m, n, lda, who.layout);
    conj ? blas::gerc(e, alpha, vx.view(), vy.view(), ma.view()) : blas::ger(e, alpha, vx.view(), vy.view(), ma.view());
    std::vector<bool> row(static_cast<std::size_t>(m), true), column(static_cast<std::size_t>(n), true);
    for (std::int64_t i = 0; rows && i < m; ++i) row[static_cast<std::size_t>(i)] = first(x, m, incx)[i * incx] != T(0);
    for (std::int64_t j = 0; !rows && j < n; ++j)
      column[static_cast<std::size_t>(j)] = first(y, n, incy)[j * incy] != T(0);
    ma.commit(row, column);
  });
}

// One triangle stored: Full with lda, Packed, Band with k diagonals and lda.
enum class Stored { Full, Packed, Band };

template <class T>
blas::BandView<const T> band(const Executor& e, const Caller& who, Uplo uplo, int n, int k, const T* a, int lda) {
  return {e, a, n, n, uplo == Uplo::Upper ? 0 : k, uplo == Uplo::Upper ? k : 0, lda, who.layout};
}

// symv, hemv: (uplo, n, alpha, a, lda, x, incx, beta, y, incy); packed without lda; band with k behind n.
template <class T> void symv(const Caller& who, Stored stored, bool hermitian, char letter, int n, int k, T alpha,
                             const T* a, int lda, const T* x, int incx, T beta, T* y, int incy) {
  const bool full = stored == Stored::Full, banded = stored == Stored::Band;
  const int at_x = full ? 7 : banded ? 8 : 6, at_y = full ? 10 : banded ? 11 : 9;
  if (const int info = first_wrong(Check{!is_uplo(letter), 1}, Check{n < 0, 2}, Check{banded && k < 0, 3},
                                   Check{full && lda < at_least_one(n), 5}, Check{banded && lda < k + 1, 6},
                                   Check{incx == 0, at_x}, Check{incy == 0, at_y})) {
    return complain(who, info);
  }
  if (n == 0 || (alpha == T(0) && beta == T(1))) return;
  if (alpha == T(0)) return scale(n, beta, y, incy);
  const Uplo uplo = uplo_of(letter);
  on_host(Level::Two, [&](const Executor& e) {
    const Vector<const T> u(e, x, n, incx);
    const Vector<T> v(e, y, n, incy);
    const auto apply = [&](auto symmetric, auto hermitian_form) {
      if constexpr (blas::ComplexScalar<T>) {
        if (hermitian) return hermitian_form();
      }
      symmetric();
    };
    if (full) {
      const General<const T> m(e, a, n, n, lda, who.layout);
      apply([&] { blas::symv(e, uplo, alpha, m.view(), u.view(), beta, v.view()); },
            [&] {
              if constexpr (blas::ComplexScalar<T>) blas::hemv(e, uplo, alpha, m.view(), u.view(), beta, v.view());
            });
    } else if (banded) {
      const auto m = band(e, who, uplo, n, k, a, lda);
      apply([&] { blas::sbmv(e, uplo, alpha, m, u.view(), beta, v.view()); },
            [&] {
              if constexpr (blas::ComplexScalar<T>) blas::hbmv(e, uplo, alpha, m, u.view(), beta, v.view());
            });
    } else {
      const blas::PackedView<const T> m(e, a, n, uplo, who.layout);
      apply([&] { blas::spmv(e, alpha, m, u.view(), beta, v.view()); },
            [&] {
              if constexpr (blas::ComplexScalar<T>) blas::hpmv(e, alpha, m, u.view(), beta, v.view());
            });
    }
  });
}

// syr, her, spr, hpr: (uplo, n, alpha, x, incx, a[, lda]).
template <class T> void syr(const Caller& who, Stored stored, bool hermitian, char letter, int n, T alpha, const T* x,
                            int incx, T* a, int lda) {
  const bool full = stored == Stored::Full;
  if (const int info = first_wrong(Check{!is_uplo(letter), 1}, Check{n < 0, 2}, Check{incx == 0, 5},
                                   Check{full && lda < at_least_one(n), 7})) {
    return complain(who, info);
  }
  if (n == 0 || alpha == T(0)) return;
  const Uplo uplo = uplo_of(letter);
  on_host(Level::Two, [&](const Executor& e) {
    const Vector<const T> u(e, x, n, incx);
    const General<T> m(e, a, full ? n : 0, full ? n : 0, full ? lda : 1, who.layout);
    const blas::PackedView<T> packed(e, a, n, uplo, who.layout);
    if constexpr (blas::ComplexScalar<T>) {
      if (hermitian)
        return full ? blas::her(e, uplo, alpha.real(), u.view(), m.view())
                    : blas::hpr(e, alpha.real(), u.view(), packed);
    }
    full ? blas::syr(e, uplo, alpha, u.view(), m.view()) : blas::spr(e, alpha, u.view(), packed);
  });
}

// syr2, her2, spr2, hpr2: (uplo, n, alpha, x, incx, y, incy, a[, lda]). A row-major Hermitian update is the transposed
// one with x and y exchanged.
template <class T> void syr2(const Caller& who, Stored stored, bool hermitian, char letter, int n, T alpha, const T* x,
                             int incx, const T* y, int incy, T* a, int lda) {
  const bool full = stored == Stored::Full, exchanged = hermitian && who.layout == Layout::RowMajor;
  if (const int info =
          first_wrong(Check{!is_uplo(letter), 1}, Check{n < 0, 2}, Check{(exchanged ? incy : incx) == 0, 5},
                      Check{(exchanged ? incx : incy) == 0, 7}, Check{full && lda < at_least_one(n), 9})) {
    return complain(who, info);
  }
  if (n == 0 || alpha == T(0)) return;
  const Uplo uplo = uplo_of(letter);
  on_host(Level::Two, [&](const Executor& e) {
    const Vector<const T> u(e, x, n, incx), v(e, y, n, incy);
    const General<T> m(e, a, full ? n : 0, full ? n : 0, full ? lda : 1, who.layout);
    const blas::PackedView<T> packed(e, a, n, uplo, who.layout);
    if constexpr (blas::ComplexScalar<T>) {
      if (hermitian)
        return full ? blas::her2(e, uplo, alpha, u.view(), v.view(), m.view())
                    : blas::hpr2(e, alpha, u.view(), v.view(), packed);
    }
    full ? blas::syr2(e, uplo, alpha, u.view(), v.view(), m.view()) : blas::spr2(e, alpha, u.view(), v.view(), packed);
  });
}

// trmv, trsv: (uplo, trans, diag, n, a, lda, x, incx); packed without lda; band with k behind n.
template <class T> void trmv(const Caller& who, Stored stored, bool solve, char letter, char trans, char unit, int n,
                             int k, const T* a, int lda, T* x, int incx) {
  const bool full = stored == Stored::Full, banded = stored == Stored::Band;
  if (const int info = first_wrong(Check{!is_uplo(letter), 1}, Check{!is_op(trans), 2}, Check{!is_diag(unit), 3},
                                   Check{n < 0, 4}, Check{banded && k < 0, 5}, Check{full && lda < at_least_one(n), 6},
                                   Check{banded && lda < k + 1, 7},
                                   Check{incx == 0, full     ? 8
                                                    : banded ? 9
                                                             : 7})) {
    return complain(who, info);
  }
  if (n == 0) return;
  const Uplo uplo = uplo_of(letter);
  const Op op = op_of(trans);
  const Diag diag = diag_of(unit);
  on_host(Level::Two, [&](const Executor& e) {
    const Vector<T> v(e, x, n, incx);
    if (full) {
      const General<const T> m(e, a, n, n, lda, who.layout);
      solve ? blas::trsv(e, uplo, op, diag, m.view(), v.view()) : blas::trmv(e, uplo, op, diag, m.view(), v.view());
    } else if (banded) {
      const auto m = band(e, who, uplo, n, k, a, lda);
      solve ? blas::tbsv(e, uplo, op, diag, m, v.view()) : blas::tbmv(e, uplo, op, diag, m, v.view());
    } else {
      const blas::PackedView<const T> m(e, a, n, uplo, who.layout);
      solve ? blas::tpsv(e, op, diag, m, v.view()) : blas::tpmv(e, op, diag, m, v.view());
    }
  });
}

}  // namespace trn::dropin
