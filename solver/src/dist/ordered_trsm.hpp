// Triangular solves on the host whose bits do not depend on the number of right-hand sides: each goes through the same
// operations in the same order, wherever the edges of a call lie. Blocks of a few rows are substituted, what is around
// them is ordered_gemm.
#pragma once

#include <algorithm>
#include <complex>

#include <trn/blas/ordered_gemm.hpp>
#include <trn/solver/types.hpp>

namespace trn::solver::dist_host {

inline constexpr std::int64_t kTriangle = 16;

// X L^H = B for rows whose elements are `rs` apart, `cs` between columns; L is `n` x n at l(i, p).
template <class T, class L>
void substitute(std::int64_t m, std::int64_t n, const L& l, T* x, std::int64_t rs, std::int64_t cs) {
  for (std::int64_t j = 0; j < n; ++j) {
    T* to = x + j * cs;
    for (std::int64_t p = 0; p < j; ++p) {
      const T* from = x + p * cs;
      T factor = l(j, p);
      if constexpr (blas::ComplexScalar<T>) factor = std::conj(factor);
      if (rs == 1) {
        for (std::int64_t i = 0; i < m; ++i) to[i] -= from[i] * factor;
      } else {
        for (std::int64_t i = 0; i < m; ++i) to[i * rs] -= from[i * rs] * factor;
      }
    }
    const Real<T> pivot = std::real(l(j, j));
    for (std::int64_t i = 0; i < m; ++i) to[i * rs] /= pivot;
  }
}

// X L^H = B; X replaces B, whose columns or rows have unit stride. L is lower; its diagonal is real.
template <class T> void solve_right(const MatrixView<const T>& l, const MatrixView<T>& b) {
  const Executor& host = b.executor();
  const std::int64_t n = l.rows(), m = b.rows(), rs = b.row_stride(), cs = b.column_stride();
  constexpr std::int64_t kRows = 128;  // that stay in the first level of cache
  for (std::int64_t j0 = 0; j0 < n; j0 += kTriangle) {
    const std::int64_t width = std::min(kTriangle, n - j0);
    if (j0 > 0)
      blas::ordered_gemm<T>(host, Op::N, Op::C, T(-1), b.block(0, 0, m, j0), l.block(j0, 0, width, j0), T(1),
                            b.block(0, j0, m, width));
    const auto at = [&](std::int64_t i, std::int64_t p) {
      return l.data()[(j0 + i) * l.row_stride() + (j0 + p) * l.column_stride()];
    };
    for (std::int64_t i = 0; i < m; i += kRows)
      substitute<T>(std::min(kRows, m - i), width, at, b.data() + i * rs + j0 * cs, rs, cs);
  }
}

// L X = B for a unit lower L; X replaces B, column-major.
template <class T> void solve_left_unit(const MatrixView<const T>& l, const MatrixView<T>& b) {
  const Executor& host = b.executor();
  const std::int64_t m = l.rows(), n = b.columns();
  for (std::int64_t i0 = 0; i0 < m; i0 += kTriangle) {
    const std::int64_t high = std::min(kTriangle, m - i0);
    const MatrixView<T> x = b.block(i0, 0, high, n);
    if (i0 > 0)
      blas::ordered_gemm<T>(host, Op::N, Op::N, T(-1), l.block(i0, 0, high, i0), b.block(0, 0, i0, n), T(1), x);
    for (std::int64_t j = 0; j < n; ++j) {
      T* to = x.data() + j * b.column_stride();
      for (std::int64_t p = 0; p < high; ++p) {
        const T* factors = l.data() + i0 * l.row_stride() + (i0 + p) * l.column_stride();
        for (std::int64_t i = p + 1; i < high; ++i) to[i] -= factors[i * l.row_stride()] * to[p];
      }
    }
  }
}

}  // namespace trn::solver::dist_host
