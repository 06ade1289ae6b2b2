// Cholesky on devices. float: one program (potrf_program.hpp). The other types: recursion on halves with products of
// the device, exact ones for double and complex<double> (composed.hpp),
//
//   L11 = potrf(A11),  L21^H = L11^-1 A21^H,  L22 = potrf(A22 - L21 L21^H)
//
// down to blocks of 16, which the host factors in wider arithmetic. potrs is two solves of trnblas, potri the inverse
// of the factor and its product with itself.
#include "device/cholesky.hpp"

#include <trn/blas/syrk.hpp>
#include <trn/blas/trsm.hpp>
#include <trn/solver/potrf_program.hpp>
#include <trn/tile/launch.hpp>
#include <trn/tile/words.hpp>

#include "bounds.hpp"
#include "device/composed.hpp"
#include "device/operands.hpp"
#include "kernels/factorisations.hpp"

namespace trn::solver::device {

namespace {

template <class T> constexpr Mode kMode = kModeOf<T>;
template <class T> constexpr std::string_view kName = kMode<T> == Mode::Exact  ? "blocked cholesky, exact products"
                                                      : blas::ComplexScalar<T> ? "recursive cholesky"
                                                                               : "blocked cholesky";

template <class T>
MatrixView<T> part(const MatrixView<T>& a, std::int64_t i, std::int64_t j, std::int64_t rows, std::int64_t columns) {
  return {a.executor(),     a.data() + i * a.row_stride() + j * a.column_stride(), rows, columns, a.row_stride(),
          a.column_stride()};
}

// to = conj(from), or -1 times a matrix's imaginary parts in place: the host's, O(n^2) numbers.
template <class T> void conjugate_into(const MatrixView<T>& from, const MatrixView<T>& to) {
  const Matrix<T> x = on_host(from);
  for (std::int64_t i = 0; i < x.rows() * x.columns(); ++i) x.data()[i] = std::conj(x.data()[i]);
  move(x.view(), to);
}

// The factor L of a small block with A = L L^H, or U = L^H for the upper triangle, rounded once; the pivot that is not
// positive, or -1. The imaginary parts of the diagonal are not read.
template <class T> std::int64_t factor_on_host(Uplo uplo, const MatrixView<T>& a) {
  const bool lower = uplo == Uplo::Lower;
  const std::int64_t n = a.rows();
  const Matrix<T> block = on_host(a);
  LeafBlock<T> l(n, n);
  const auto given = [&](std::int64_t i, std::int64_t j) -> T& {
    return lower ? host::element(block.view(), i, j) : host::element(block.view(), j, i);
  };
  const auto turned = [&](const Leaf<T>& x) { return lower ? x : conjugate(x); };
  std::int64_t failed = -1;
  for (std::int64_t j = 0; j < n && failed < 0; ++j) {
    for (std::int64_t i = j; i < n; ++i) {
      Leaf<T> sum = turned(Leaf<T>(given(i, j)));
      for (std::int64_t k = 0; k < j; ++k) sum -= product(l(i, k), conjugate(l(j, k)));
      if (i == j && !(std::real(sum) > 0)) {
        failed = j;
        break;
      }
      l(i, j) = i == j ? Leaf<T>(std::sqrt(std::real(sum))) : sum / std::real(l(j, j));
      given(i, j) = T(turned(l(i, j)));
    }
  }
  store_part(block, a, host::part_of(uplo));
  return failed;
}

struct Factored {
  std::int64_t failed = -1;
  double bound = 0;  // |A - L L^H|(i, j) <= bound ||l_i|| ||l_j||
};

// Leaf: roots and quotients of wider sums, rounded once each: two roundings of the product's factors and a little.
template <Composed T> Factored factor_halves(const Executor& executor, Uplo uplo, const MatrixView<T>& a) {
  constexpr double u = static_cast<double>(std::numeric_limits<Real<T>>::epsilon()) / 2;
  const bool lower = uplo == Uplo::Lower;
  const std::int64_t n = a.rows();
  if (n <= kComposedLeaf) return {factor_on_host(uplo, a), (blas::ComplexScalar<T> ? 6 : 3) * u};
  const std::int64_t first = (n / 2 + kComposedLeaf - 1) / kComposedLeaf * kComposedLeaf, rest = n - first;
  const MatrixView<T> a11 = part(a, 0, 0, first, first), a22 = part(a, first, first, rest, rest);
  Factored upper = factor_halves(executor, uplo, a11);
  if (upper.failed >= 0) return upper;
  double solved = 0, update = 0;
  MatrixView<T> off = lower ? part(a, first, 0, rest, first) : part(a, 0, first, first, rest);
  if (!lower) {  // U11^H U12 = A12
    solved = composed_divide<T>(executor, uplo, kAdjoint<T>, Diag::NonUnit, a11, off);
  } else if constexpr (!blas::ComplexScalar<T>) {  // L11 L21^T = A21^T
    solved = composed_divide<T>(executor, uplo, Op::N, Diag::NonUnit, a11, off.transposed());
  } else {  // L11 L21^H = A21^H; no view conjugates
    const Matrix<T> adjoint(executor, first, rest);
    conjugate_into(off.transposed(), adjoint.view());
    solved = composed_divide<T>(executor, uplo, Op::N, Diag::NonUnit, a11, adjoint.view());
    conjugate_into(adjoint.view().transposed(), off);
  }
  // One rounding of A22 less the exact product: relative to |A22| + |L21||L21|^H <= 3 ||l_i|| ||l_j||, to first order.
  const blas::GemmOptions mode{.precision = {kMode<T>}};
  if constexpr (blas::ComplexScalar<T>) {
    update = blas::herk<T>(executor, uplo, lower ? Op::N : Op::C, Real<T>(-1), off, Real<T>(1), a22, mode).bound;
  } else {
    update = blas::syrk<T>(executor, uplo, lower ? Op::N : Op::T, T(-1), off, T(1), a22, mode).bound;
  }
  Factored last = factor_halves(executor, uplo, a22);
  if (last.failed >= 0) last.failed += first;
  last.bound = std::max({upper.bound, solved, last.bound + 3 * update});
  return last;
}

template <Composed T> Outcome factor(const Executor& executor, const TriangleArgs<T>& g) {
  const Factored done = factor_halves(executor, g.uplo, g.a);
  if (g.report) g.report->accuracy = {kMode<T>, 1, done.bound};
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
  double bound = std::same_as<T, float> ? cholesky_bound(g.factor.rows()) : 6 * unit_roundoff_of<T>();
  const Op first = g.uplo == Uplo::Lower ? Op::N : kAdjoint<T>, second = g.uplo == Uplo::Lower ? kAdjoint<T> : Op::N;
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
  const Op op = g.uplo == Uplo::Lower ? kAdjoint<T> : Op::N;
  double squared = 0;
  if constexpr (blas::ComplexScalar<T>) {
    squared =
        blas::herk<T>(executor, g.uplo, op, Real<T>(1), x.view(), Real<T>(0), g.a, {.precision = {kMode<T>}}).bound;
  } else {
    squared = blas::syrk<T>(executor, g.uplo, op, T(1), x.view(), T(0), g.a, {.precision = {kMode<T>}}).bound;
  }
  say<T>(g.report, 2 * bound + squared);
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
    copy_triangle(executor, MatrixView<const T>(x.view()), g.uplo, g.a, false);
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
  if constexpr (blas::ComplexScalar<T>) conjugate_into(copied.view(), copied.view());
  copy_triangle(executor, MatrixView<const T>(copied.view().transposed()), host::other(g.uplo), g.a, false);
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
TRN_DEVICE_CHOLESKY(std::complex<float>)
TRN_DEVICE_CHOLESKY(std::complex<double>)
#undef TRN_DEVICE_CHOLESKY

}  // namespace trn::solver::device
