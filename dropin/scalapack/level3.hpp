// Level 3 of PBLAS: gemm, syrk, herk and trsm of distributed matrices; in the others every rank works on its columns or
// rows of the result, with all of the operand that they share.
#pragma once

#include <complex>

#include <trn/blas/dist_gemm.hpp>
#include <trn/blas/dist_trsm.hpp>
#include <trn/blas/gemm.hpp>
#include <trn/blas/symm.hpp>
#include <trn/blas/syrk.hpp>
#include <trn/blas/trmm.hpp>

#include "../letters.hpp"
#include "operands.hpp"

namespace trn::dropin::scalapack {

template <class T> void gemm(const BlacsGrid& g, Op oa, Op ob, T alpha, const Operand<const T>& a,
                             const Operand<const T>& b, T beta, const Operand<T>& c) {
  const Squares<T> sa(g, a), sb(g, b), sc(g, reading(c));
  blas::gemm<T>(oa, ob, alpha, sa.matrix(), sb.matrix(), beta, sc.matrix(), {settings().products});
  give_back(g, sc.matrix(), c);
}

template <class T> void symm(const BlacsGrid& g, bool hermitian, Side side, Uplo uplo, T alpha,
                             const Operand<const T>& a, const Operand<const T>& b, T beta, const Operand<T>& c) {
  const Executor& executor = settings().executor;
  const blas::GemmOptions options{.precision = settings().products};
  const Cut by = side == Side::Left ? Cut::Columns : Cut::Rows;
  const Whole<T> wa(g, a);
  const Panels<T> pb(g, b, by), pc(g, reading(c), by);
  if constexpr (blas::ComplexScalar<T>) {
    if (hermitian) blas::hemm<T>(executor, side, uplo, alpha, wa.view(), pb.view(), beta, pc.view(), options);
  }
  if (!hermitian) blas::symm<T>(executor, side, uplo, alpha, wa.view(), pb.view(), beta, pc.view(), options);
  give_back(g, pc.matrix(), c);
}

// This rank's columns of a triangle: the block on the diagonal and the rows below or above it.
struct Trapezoid {
  std::int64_t begin, count, outside, outside_count;
};
template <class T> Trapezoid trapezoid_of(const BlacsGrid& g, const Panels<T>& c, Uplo uplo) {
  const std::int64_t n = c.matrix().columns(), count = c.view().columns();
  const std::int64_t begin = std::min(n, g.group.rank() * c.matrix().distribution().column_block), end = begin + count;
  return uplo == Uplo::Upper ? Trapezoid{begin, count, 0, begin} : Trapezoid{begin, count, end, n - end};
}
// Rows [begin, begin + count) of op(A).
template <class T>
MatrixView<const T> lines(const MatrixView<const T>& a, Op op, std::int64_t begin, std::int64_t count) {
  return op == Op::N ? a.block(begin, 0, count, a.columns()) : a.block(0, begin, a.rows(), count);
}

// beta of the Hermitian updates is real, alpha of herk too: their imaginary parts are 0.
template <class T> void syrk(const BlacsGrid& g, bool hermitian, Uplo uplo, Op op, T alpha, const Operand<const T>& a,
                             T beta, const Operand<T>& c) {
  const Squares<T> sa(g, a), sc(g, reading(c));
  if constexpr (blas::ComplexScalar<T>) {
    if (hermitian) blas::herk<T>(uplo, op, alpha.real(), sa.matrix(), beta.real(), sc.matrix(), {settings().products});
  }
  if (!hermitian) blas::syrk<T>(uplo, op, alpha, sa.matrix(), beta, sc.matrix(), {settings().products});
  give_back(g, sc.matrix(), c);
}

template <class T> void syr2k(const BlacsGrid& g, bool hermitian, Uplo uplo, Op op, T alpha, const Operand<const T>& a,
                              const Operand<const T>& b, T beta, const Operand<T>& c) {
  const Executor& executor = settings().executor;
  const blas::GemmOptions options{.precision = settings().products};
  const Whole<T> wa(g, a), wb(g, b);
  const Panels<T> pc(g, reading(c), Cut::Columns);
  const Trapezoid t = trapezoid_of(g, pc, uplo);
  if (t.count > 0) {
    const auto my_a = lines(wa.view(), op, t.begin, t.count), my_b = lines(wb.view(), op, t.begin, t.count);
    const auto diagonal = pc.view().block(t.begin, 0, t.count, t.count);
    T second = alpha;
    if constexpr (blas::ComplexScalar<T>) {
      if (hermitian) {
        second = std::conj(alpha);
        blas::her2k<T>(executor, uplo, op, alpha, my_a, my_b, beta.real(), diagonal, options);
      }
    }
    if (!hermitian) blas::syr2k<T>(executor, uplo, op, alpha, my_a, my_b, beta, diagonal, options);
    const Op other = op != Op::N ? Op::N : hermitian ? Op::C : Op::T;
    const auto outside = pc.view().block(t.outside, 0, t.outside_count, t.count);
    blas::gemm(executor, op, other, alpha, lines(wa.view(), op, t.outside, t.outside_count), my_b, beta, outside,
               options);
    blas::gemm(executor, op, other, second, lines(wb.view(), op, t.outside, t.outside_count), my_a, T(1), outside,
               options);
  }
  give_back(g, pc.matrix(), c);
}

template <class T> void trsm(const BlacsGrid& g, Side side, Uplo uplo, Op op, Diag diag, T alpha,
                             const Operand<const T>& a, const Operand<T>& b) {
  const Squares<T> sa(g, a), sb(g, reading(b));
  blas::trsm<T>(side, uplo, op, diag, alpha, sa.matrix(), sb.matrix(), {settings().products});
  give_back(g, sb.matrix(), b);
}

template <class T> void trmm(const BlacsGrid& g, Side side, Uplo uplo, Op op, Diag diag, T alpha,
                             const Operand<const T>& a, const Operand<T>& b) {
  const Whole<T> wa(g, a);
  const Panels<T> pb(g, reading(b), side == Side::Left ? Cut::Columns : Cut::Rows);
  blas::trmm<T>(settings().executor, side, uplo, op, diag, alpha, wa.view(), pb.view(),
                {.precision = settings().products});
  give_back(g, pb.matrix(), b);
}

// C = beta C + alpha A^T or alpha A^H: rows of A are columns of C. beta = 0 does not read C.
template <class T>
void tran(const BlacsGrid& g, bool conjugate, T alpha, const Operand<const T>& a, T beta, const Operand<T>& c) {
  // Numbers that are moved, by the host.
  const Panels<T> pa(g, a, Cut::Rows, Executor::host()), pc(g, reading(c), Cut::Columns, Executor::host());
  const std::int64_t rows = pc.view().rows(), columns = pc.view().columns();  // of A: columns, rows
  const T* from = pa.view().data();
  T* to = pc.view().data();
  for (std::int64_t j = 0; j < columns; ++j) {
    for (std::int64_t i = 0; i < rows; ++i) {
      T x = from[j + i * columns];
      if constexpr (blas::ComplexScalar<T>) x = conjugate ? std::conj(x) : x;
      T& y = to[i + j * rows];
      y = alpha * x + (beta == T(0) ? T(0) : beta * y);
    }
  }
  give_back(g, pc.matrix(), c);
}

}  // namespace trn::dropin::scalapack
