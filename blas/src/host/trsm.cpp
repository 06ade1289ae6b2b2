// trsm on the host. Native: 128 rows (64 complex ones) at a time in B's layout, each block of rows solved by OpenBLAS
// and then subtracted from the rows that wait for it, one gemm. A triangle or a B without unit stride is copied. The
// modes of words (float32, complex64): 64 rows at a time in a copy, B_i = alpha B_i - A_i X_before by one gemm of the
// mode, then the diagonal block by OpenBLAS in the type itself. Exact: exact_trsm.cpp.
//
// Residual of Native, m > 128, with s = ceil(m / 128) blocks: a product of A's blocks before the diagonal is summed
// with at most 127 others in any order and then subtracted up to s times, 128 + s roundings; alpha b is multiplied and
// subtracted from, s + 1, and |alpha b| <=
// |A||X| to first order; the diagonal block is 128 + 5 (trsm_error_bound). Together (128 + 2 s + 6) u |A||X|, not the m
//   + 5 of one long sum.
// Complex: 64 for 128, and 2 sqrt(2) times that with three roundings more.
//
// Where the X of Native is not finite, its bound is not either.
//
// The modes' residual is measured: alpha B - A X in double, where the products of float32 numbers are exact and m sums
// err by 2^-53 each, at most (m + 3) 2^-53 (|alpha B| + |A||X|), complex 2 sqrt(2) times that.
#include <cmath>
#include <limits>
#include <vector>

#include "../gemm_accuracy.hpp"
#include "../kernels.hpp"
#include "../trsm_block.hpp"
#include "openblas.hpp"
#include "products.hpp"

namespace trn::blas::host {

namespace {

constexpr std::int64_t kBlock = 64;

template <Scalar T> void solve_block(const TrsmArgs& t, const Strided<T>& b, const Placement& place) {
  const auto a = operand(strided<T>(t.a, t.m, t.m, t.am, t.an));
  const bool transposed = a.layout != place.layout;
  OpenBlas<T>::trsm(cblas_order(place.layout), cblas_uplo(t.lower != transposed), cblas_op(transposed, t.conj_a),
                    t.unit ? CblasUnit : CblasNonUnit, narrow("blas.trsm", "m", t.m), narrow("blas.trsm", "n", t.n),
                    factor<T>(t.alpha), a.data, narrow("blas.trsm", "lda", a.ld), b.data,
                    narrow("blas.trsm", "ldb", place.ld));
}

// Blocks of trsm_block rows; b lies as `place` says.
template <Scalar T>
void in_place(const Executor& executor, const TrsmArgs& t, const Strided<T>& b, const Placement& place) {
  const std::int64_t height = trsm_block(t.dtype), blocks = (t.m + height - 1) / height;
  if (blocks == 1) return solve_block(t, b, place);
  const auto a = strided<T>(t.a, t.m, t.m, t.am, t.an);
  for (std::int64_t step = 0; step < blocks; ++step) {
    const std::int64_t i0 = (t.lower ? step : blocks - 1 - step) * height, rows = std::min(height, t.m - i0),
                       i1 = i0 + rows;
    TrsmArgs diagonal = t;
    diagonal.m = rows, diagonal.a = &a.at(i0, i0);
    if (step > 0) diagonal.alpha = 1;
    const auto block = b.block(i0, 0, rows, t.n);
    solve_block(diagonal, block, place);
    const std::int64_t k0 = t.lower ? i1 : 0, rest = t.lower ? t.m - i1 : i0;  // the rows that wait
    if (rest == 0) continue;
    gemm(executor, {t.dtype, t.dtype, rest, t.n, rows, &a.at(k0, i0), t.am, t.an, block.data, b.row_stride,
                    b.column_stride, &b.at(k0, 0), b.row_stride, b.column_stride, -1, diagonal.alpha, t.conj_a});
  }
}

// The bound of a solution x of `t` with right side b, both dense, measured in double.
template <Scalar T> double measured_bound(const Executor& executor, const TrsmArgs& t, const Strided<const T>& a,
                                          const Strided<const T>& b, const Strided<const T>& x) {
  using Double = std::conditional_t<ComplexScalar<T>, std::complex<double>, double>;
  const auto widened = [](const Strided<const T>& from) {
    Owned<Double> to(from.rows, from.columns);
    for (std::int64_t i = 0; i < from.rows; ++i) {
      for (std::int64_t j = 0; j < from.columns; ++j) to.view.at(i, j) = Double(from.at(i, j));
    }
    return to;
  };
  Owned<Double> left = widened(a);
  for (std::int64_t i = 0; t.unit && i < t.m; ++i) left.view.at(i, i) = 1;
  const Owned<Double> right = widened(x), rest = widened(b);
  product<Double>(executor, Mode::Native, Double(-1), left.view, right.view, factor<Double>(t.alpha), rest.view);
  const auto norms = [](const Strided<Double>& m, bool rows) {
    std::vector<double> sums(static_cast<std::size_t>(rows ? m.rows : m.columns));
    for (std::int64_t i = 0; i < m.rows; ++i) {
      for (std::int64_t j = 0; j < m.columns; ++j)
        sums[static_cast<std::size_t>(rows ? i : j)] += std::norm(m.at(i, j));
    }
    for (double& s : sums) s = std::sqrt(s);
    return sums;
  };
  const auto of_a = norms(left.view, true), of_x = norms(right.view, false);
  double worst = 0;
  for (std::int64_t i = 0; i < t.m; ++i) {
    for (std::int64_t j = 0; j < t.n; ++j) {
      const double error = std::abs(rest.view.at(i, j)),
                   scale = of_a[static_cast<std::size_t>(i)] * of_x[static_cast<std::size_t>(j)];
      const double share = error == 0 && scale == 0 ? 0 : error / scale;
      if (!(share <= worst)) worst = std::isfinite(share) ? share : std::numeric_limits<double>::infinity();
    }
  }
  const double unit = (is_complex(t.dtype) ? 2 * std::sqrt(2.0) : 1) * static_cast<double>(t.m + 3) * 0x1p-53;
  return worst * (1 + 0x1p-40) + 2.1 * unit * (1 + worst);  // |alpha b| <= (1 + worst) ||a_i|| ||x_j||
}

template <Scalar T> void by_products(const Executor& executor, const TrsmArgs& t, const Strided<T>& b) {
  const Owned<T> a = dense_copy(strided<T>(t.a, t.m, t.m, t.am, t.an), Layout::RowMajor,
                                t.lower ? Part::Lower : Part::Upper, t.conj_a);
  const Owned<T> x = dense_copy<T>(b, Layout::RowMajor);
  const std::int64_t blocks = (t.m + kBlock - 1) / kBlock;
  for (std::int64_t step = 0; step < blocks; ++step) {
    const std::int64_t i0 = (t.lower ? step : blocks - 1 - step) * kBlock, rows = std::min(kBlock, t.m - i0),
                       i1 = i0 + rows;
    const std::int64_t k0 = t.lower ? 0 : i1, k = t.lower ? i0 : t.m - i1;
    const auto block = x.view.block(i0, 0, rows, t.n);
    (void)product<T>(executor, t.precision, T(-1), a.view.block(i0, k0, rows, k), x.view.block(k0, 0, k, t.n),
                     factor<T>(t.alpha), block);
    TrsmArgs diagonal = t;
    diagonal.m = rows, diagonal.a = &a.view.at(i0, i0), diagonal.am = a.view.row_stride, diagonal.an = 1,
    diagonal.conj_a = false;
    diagonal.alpha = 1;
    solve_block(diagonal, block, {Layout::RowMajor, t.n});
  }
  *t.accuracy = {t.precision.mode(), passes_of(t.precision.mode()), measured_bound<T>(executor, t, a.view, b, x.view)};
  copy_elements<T>(x.view, b);
}

// x - x is 0, or NaN where x is not finite; counted, not returned at once, so that the loop becomes vectors.
template <RealScalar R> bool all_finite(const R* x, std::int64_t n, std::int64_t stride) {
  std::int32_t others = 0;
  if (stride == 1) {
    for (std::int64_t i = 0; i < n; ++i) others |= x[i] - x[i] != R(0);
  } else {
    for (std::int64_t i = 0; i < n; ++i) others |= x[i * stride] - x[i * stride] != R(0);
  }
  return others == 0;
}

// Line by line along the shorter stride.
template <Scalar T> bool all_finite(const Strided<T>& x) {
  const bool by_rows = std::abs(x.column_stride) <= std::abs(x.row_stride);
  const std::int64_t lines = by_rows ? x.rows : x.columns, points = by_rows ? x.columns : x.rows,
                     stride = by_rows ? x.column_stride : x.row_stride;
  for (std::int64_t i = 0; i < lines; ++i) {
    const auto* line = reinterpret_cast<const Real<T>*>(by_rows ? &x.at(i, 0) : &x.at(0, i));
    if constexpr (ComplexScalar<T>) {
      const bool finite = stride == 1
                              ? all_finite(line, 2 * points, 1)
                              : all_finite(line, points, 2 * stride) && all_finite(line + 1, points, 2 * stride);
      if (!finite) return false;
    } else if (!all_finite(line, points, stride)) {
      return false;
    }
  }
  return true;
}

template <Scalar T> void run_native(const Executor& executor, const TrsmArgs& t, const Strided<T>& b) {
  if (const auto place = placement(b)) {
    in_place(executor, t, b, *place);
  } else {
    const Owned<T> dense = dense_copy<T>(b, Layout::RowMajor);
    in_place(executor, t, dense.view, {Layout::RowMajor, t.n});
    copy_elements<T>(dense.view, b);
  }
  if (t.accuracy != nullptr && !all_finite(b)) t.accuracy->bound = std::numeric_limits<double>::infinity();
}

template <Scalar T> void run(const Executor& executor, const TrsmArgs& t) {
  const auto b = strided<T>(t.b, t.m, t.n, t.bm, t.bn);
  if (t.alpha == 0.0) {
    for (std::int64_t i = 0; i < t.m; ++i) {
      for (std::int64_t j = 0; j < t.n; ++j) b.at(i, j) = T(0);
    }
    return;
  }
  if (!is_native(t.precision)) return by_products(executor, t, b);
  run_native(executor, t, b);
}

}  // namespace

void trsm(const Executor& executor, const TrsmArgs& args) {
  with_scalar(args.dtype, [&]<class T>(T) { run<T>(executor, args); });
}

}  // namespace trn::blas::host
