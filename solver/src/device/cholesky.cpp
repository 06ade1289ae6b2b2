// Cholesky on devices. float: one program (potrf_program.hpp). double: recursion on halves with Exact products,
//
//   L11 = potrf(A11),  L21 = A21 L11^-T,  L22 = potrf(A22 - L21 L21^T)
//
// down to blocks of 64, which the host factors in 80-bit arithmetic, as trnblas does with the triangles of its Exact
// trsm. potrs is two solves of trnblas, potri the inverse of the factor and its product with itself.
#include "device/cholesky.hpp"

#include <trn/blas/syrk.hpp>
#include <trn/blas/trsm.hpp>
#include <trn/solver/potrf_program.hpp>
#include <trn/tile/launch.hpp>
#include <trn/tile/words.hpp>

#include "device/operands.hpp"
#include "kernels/factorisations.hpp"

namespace trn::solver::device {

namespace {

constexpr std::int64_t kHostBlock = 64;
template <class T> constexpr Mode kMode = std::same_as<T, double> ? Mode::Exact : Mode::Native;
template <class T> constexpr std::string_view kName =
    std::same_as<T, double> ? "blocked cholesky, exact products" : "blocked cholesky";

// The view whose lower triangle the factor fills: A itself, or its transpose.
template <class T> MatrixView<T> lower_view(const MatrixView<T>& a, Uplo uplo) {
  return uplo == Uplo::Lower ? a : a.transposed();
}
template <class T>
MatrixView<T> part(const MatrixView<T>& a, std::int64_t i, std::int64_t j, std::int64_t rows, std::int64_t columns) {
  return {a.executor(),     a.data() + i * a.row_stride() + j * a.column_stride(), rows, columns, a.row_stride(),
          a.column_stride()};
}

// The factor of a small block in 80 bits, rounded once; the pivot that is not positive, or -1.
std::int64_t factor_on_host(const MatrixView<double>& a) {
  const std::int64_t n = a.rows();
  const Matrix<double> block = on_host(a);
  std::vector<long double> l(static_cast<std::size_t>(n * n));
  const auto at = [&](std::int64_t i, std::int64_t j) -> long double& {
    return l[static_cast<std::size_t>(i * n + j)];
  };
  std::int64_t failed = -1;
  for (std::int64_t j = 0; j < n && failed < 0; ++j) {
    for (std::int64_t i = j; i < n; ++i) {
      long double sum = host::element(block.view(), i, j);
      for (std::int64_t k = 0; k < j; ++k) sum -= at(i, k) * at(j, k);
      if (i == j && !(sum > 0)) {
        failed = j;
        break;
      }
      at(i, j) = i == j ? std::sqrt(sum) : sum / at(j, j);
      host::element(block.view(), i, j) = static_cast<double>(at(i, j));
    }
  }
  store_part(block, a, Part::Lower);
  return failed;
}

struct Factored {
  std::int64_t failed = -1;
  double bound = 0;  // |A - L L^T|(i, j) <= bound ||l_i|| ||l_j||
};

// Leaf: roots and quotients of 80-bit sums, rounded once each: two roundings of the product's factors and a little.
Factored factor_exact(const Executor& executor, const MatrixView<double>& a) {
  constexpr double u = 0x1p-53;
  const std::int64_t n = a.rows();
  if (n <= kHostBlock) return {factor_on_host(a), 3 * u};
  const std::int64_t first = (n / 2 + kHostBlock - 1) / kHostBlock * kHostBlock, rest = n - first;
  const MatrixView<double> a11 = part(a, 0, 0, first, first), a21 = part(a, first, 0, rest, first),
                           a22 = part(a, first, first, rest, rest);
  Factored upper = factor_exact(executor, a11);
  if (upper.failed >= 0) return upper;
  const Accuracy solved =
      blas::trsm<double>(executor, Side::Right, Uplo::Lower, Op::T, Diag::NonUnit, 1.0, a11, a21, {Mode::Exact});
  // One rounding of A22 less the exact product: relative to |A22| + |L21||L21^T| <= 3 ||l_i|| ||l_j||, to first order.
  blas::syrk<double>(executor, Uplo::Lower, Op::N, -1.0, a21, 1.0, a22, {Mode::Exact});
  Factored lower = factor_exact(executor, a22);
  if (lower.failed >= 0) lower.failed += first;
  lower.bound = std::max({upper.bound, solved.bound, lower.bound + 3 * u});
  return lower;
}

Outcome factor(const Executor& executor, const TriangleArgs<double>& g) {
  const Factored done = factor_exact(executor, lower_view(g.a, g.uplo));
  if (g.report) g.report->accuracy = {Mode::Exact, 1, done.bound};
  if (done.failed >= 0) return {Status::NotPositiveDefinite, done.failed};
  return {};
}

Outcome factor(const Executor& executor, const TriangleArgs<float>& g) {
  const MatrixView<float> u = g.uplo == Uplo::Upper ? g.a : g.a.transposed();
  const std::int64_t n = u.rows();
  const Array<float> pivots(executor, {n});
  tile::launch(executor, potrf_program, PotrfShape{n, u.row_stride(), u.column_stride()},
               {{"a", u.data()}, {"u", u.data()}, {"pivots", pivots.data()}});
  if (g.report) g.report->accuracy = {Mode::Native, 1, cholesky_bound(n)};
  const std::vector<float> values = pivots.to_host();
  for (std::int64_t i = 0; i < n; ++i) {
    if (!(values[static_cast<std::size_t>(i)] > 0)) return {Status::NotPositiveDefinite, i};
  }
  return {};
}

template <class T> Outcome zero_on(const std::vector<T>& diagonal) {
  const auto zero = std::find(diagonal.begin(), diagonal.end(), T(0));
  return zero == diagonal.end() ? Outcome{} : Outcome{Status::Singular, zero - diagonal.begin()};
}
// The triangle without its diagonal is the triangle of a matrix one smaller.
template <class T> MatrixView<T> strict(const MatrixView<T>& a, Uplo uplo) {
  const bool lower = uplo == Uplo::Lower;
  return part(a, lower ? 1 : 0, lower ? 0 : 1, a.rows() - 1, a.rows() - 1);
}
template <class T>
Outcome finite_triangle(const Executor& executor, const MatrixView<const T>& a, Uplo uplo, Diag diag) {
  const Part triangle = host::part_of(uplo);
  if (diag == Diag::NonUnit || a.rows() == 0) return finite(executor, a, triangle);
  const std::int64_t n = a.rows() - 1;
  Outcome found = finite(executor, strict(a, uplo), triangle);
  if (found.ok()) return found;
  const std::int64_t i = found.index / n, j = found.index % n;
  found.index = uplo == Uplo::Lower ? (i + 1) * (n + 1) + j : i * (n + 1) + j + 1;
  return found;
}
// A triangle that can be divided by.
template <class T>
Outcome usable(const Executor& executor, const MatrixView<const T>& a, Uplo uplo, Diag diag = Diag::NonUnit) {
  if (const Outcome bad = finite_triangle(executor, a, uplo, diag); !bad.ok()) return bad;
  return diag == Diag::Unit ? Outcome{} : zero_on(diagonal(a));
}

// The inverse of a triangle: A X = I, column by column.
template <class T> Matrix<T> triangle_inverse(const Executor& executor, const MatrixView<const T>& a, Uplo uplo,
                                              Diag diag, double& bound) {
  Matrix<T> x = unit_matrix<T>(executor, a.rows());
  bound = blas::trsm<T>(executor, Side::Left, uplo, Op::N, diag, T(1), a, x.view(), {kMode<T>}).bound;
  return x;
}

template <class T> void say(Report* report, double bound) {
  if (!report) return;
  report->algorithm = kName<T>;
  report->accuracy = {kMode<T>, 1, bound};
}

}  // namespace

double cholesky_bound(std::int64_t n) {
  const tile::Words& words = tile::words_of(Mode::Native);
  constexpr double u = 0x1p-24;
  return tile::sum_error(words, n) + tile::sum_error(words, std::min<std::int64_t>(n, 128)) + (1 + 6 + 16 + 4 + 8) * u;
}

template <Scalar T> Outcome potrf(const Executor& executor, const TriangleArgs<T>& g) {
  if (g.report) g.report->algorithm = kName<T>;
  if (g.a.rows() == 0) return {};
  if (const Outcome bad = finite(executor, g.a, host::part_of(g.uplo)); !bad.ok()) {
    fill_nan(g.a, host::part_of(g.uplo));
    return bad;
  }
  return factor(executor, g);
}

template <Scalar T> Outcome potrs(const Executor& executor, const PotrsArgs<T>& g) {
  Outcome bad = finite(executor, g.factor, host::part_of(g.uplo));
  if (bad.ok()) bad = finite(executor, g.b);
  if (bad.ok()) bad = zero_on(diagonal(g.factor));
  say<T>(g.report, 0);
  if (!bad.ok()) {
    fill_nan(g.b);
    return bad;
  }
  if (g.b.rows() == 0 || g.b.columns() == 0) return {};
  double bound = std::same_as<T, double> ? 3 * 0x1p-53 : cholesky_bound(g.factor.rows());
  const Op first = g.uplo == Uplo::Lower ? Op::N : Op::T, second = g.uplo == Uplo::Lower ? Op::T : Op::N;
  for (const Op op : {first, second}) {
    bound += blas::trsm<T>(executor, Side::Left, g.uplo, op, Diag::NonUnit, T(1), g.factor, g.b, {kMode<T>}).bound;
  }
  say<T>(g.report, bound);
  return {};
}

template <Scalar T> Outcome potri(const Executor& executor, const TriangleArgs<T>& g) {
  say<T>(g.report, 0);
  const Part triangle = host::part_of(g.uplo);
  if (g.a.rows() == 0) return {};
  if (const Outcome bad = usable<T>(executor, g.a, g.uplo); !bad.ok()) {
    if (bad.status == Status::NotFinite) fill_nan(g.a, triangle);
    return bad;
  }
  double bound = 0;
  const Matrix<T> x = triangle_inverse<T>(executor, g.a, g.uplo, Diag::NonUnit, bound);
  const Accuracy product =
      blas::syrk<T>(executor, g.uplo, g.uplo == Uplo::Lower ? Op::T : Op::N, T(1), x.view(), T(0), g.a, {kMode<T>});
  say<T>(g.report, 2 * bound + product.bound);
  return finite(executor, g.a, triangle);
}

template <Scalar T> Outcome trtri(const Executor& executor, const TrtriArgs<T>& g) {
  if (g.report) g.report->accuracy = {kMode<T>, 1, 0};
  if (g.a.rows() == 0) return {};
  if (const Outcome bad = usable<T>(executor, g.a, g.uplo, g.diag); !bad.ok()) {
    if (bad.status == Status::NotFinite) fill_nan(g.a, host::part_of(g.uplo));  // with its diagonal, as on the host
    return bad;
  }
  double bound = 0;
  const Matrix<T> x = triangle_inverse<T>(executor, g.a, g.uplo, g.diag, bound);
  if (g.report) g.report->accuracy.bound = bound;
  if (g.diag == Diag::NonUnit) {
    copy_triangle(executor, x.view(), g.uplo, g.a, false);
  } else if (g.a.rows() > 1) {
    copy_triangle(executor, strict(MatrixView<const T>(x.view()), g.uplo), g.uplo, strict(g.a, g.uplo), false);
  }
  return finite_triangle<T>(executor, g.a, g.uplo, g.diag);
}

template <Scalar T> void copy_triangle(const Executor& executor, const CopyTriangleArgs<T>& g) {
  copy_triangle(executor, g.a, g.uplo, g.b, true);
}
template <Scalar T> void mirror(const Executor& executor, const TriangleArgs<T>& g) {
  const Matrix<T> copied = on(executor, g.a);
  copy_triangle(executor, copied.view().transposed(), host::other(g.uplo), g.a, false);
}

template <Scalar T> Outcome trtrs(const Executor& executor, const TrtrsArgs<T>& g) {
  Outcome bad = finite_triangle<T>(executor, g.a, g.uplo, g.diag);
  if (bad.ok()) bad = finite(executor, g.b);
  if (!bad.ok()) {
    fill_nan(g.b);
    return bad;
  }
  if (g.diag == Diag::NonUnit) bad = zero_on(diagonal(g.a));
  if (!bad.ok() || g.b.rows() == 0 || g.b.columns() == 0) return bad;
  const Accuracy solved = blas::trsm<T>(executor, Side::Left, g.uplo, g.op, g.diag, T(1), g.a, g.b, {kMode<T>});
  if (g.report) g.report->accuracy = solved;
  return {};
}

#define TRN_DEVICE_CHOLESKY(T)                                              \
  template void copy_triangle(const Executor&, const CopyTriangleArgs<T>&); \
  template void mirror(const Executor&, const TriangleArgs<T>&);            \
  template Outcome potrf(const Executor&, const TriangleArgs<T>&);          \
  template Outcome potrs(const Executor&, const PotrsArgs<T>&);             \
  template Outcome potri(const Executor&, const TriangleArgs<T>&);          \
  template Outcome trtri(const Executor&, const TrtriArgs<T>&);             \
  template Outcome trtrs(const Executor&, const TrtrsArgs<T>&);
TRN_DEVICE_CHOLESKY(float)
TRN_DEVICE_CHOLESKY(double)
#undef TRN_DEVICE_CHOLESKY

}  // namespace trn::solver::device
