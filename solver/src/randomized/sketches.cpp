// Traces, sketched Rayleigh-Ritz and least squares with a sketched preconditioner.
#include <algorithm>
#include <numeric>

#include <trn/blas/trsm.hpp>
#include <trn/solver/eig.hpp>
#include <trn/solver/least_squares.hpp>
#include <trn/solver/qr.hpp>
#include <trn/solver/randomized.hpp>

#include "checks.hpp"
#include "iterative/orthonormal.hpp"
#include "iterative/sketch.hpp"
#include "scalars.hpp"

namespace trn::solver {

namespace sketches {

using namespace iterative;

// Random signs: those of standard normal numbers.
template <class T> Small<T> signs(std::int64_t n, std::int64_t k, std::uint64_t seed, std::uint64_t stream) {
  Small<T> x = gaussian<T>(n, k, seed, stream);
  for (std::int64_t j = 0; j < k; ++j) {
    for (std::int64_t i = 0; i < n; ++i) x(i, j) = T(real_part(x(i, j)) < 0 ? -1 : 1);
  }
  return x;
}
template <class T>
void check(const char* operation, const OperatorRef<T>& a, std::int64_t samples, std::int64_t least) {
  require(static_cast<bool>(a), "{}: there is no operator A; give one", operation);
  require(a.rows() == a.columns(), "{}: A is {} x {}; it must be square", operation, a.rows(), a.columns());
  require(samples >= least, "{}: {} samples; give at least {}", operation, samples, least);
}

// Mean and standard error of the quadratic forms g^H A g with random signs g, the span of q taken off before and after.
template <class T> void sample(const OperatorRef<T>& a, std::int64_t samples, std::uint64_t seed, std::uint64_t stream,
                               const MatrixView<const T>* q, TraceEstimate<T>& estimate) {
  const std::int64_t n = a.rows();
  std::vector<std::complex<double>> values;
  for (std::int64_t first = 0; first < samples; first += 128) {
    const std::int64_t width = std::min<std::int64_t>(128, samples - first);
    const Block<T> g(a.executor(), n, width), y(a.executor(), n, width);
    assign(signs<T>(n, width, seed, stream + static_cast<std::uint64_t>(first)), g.view());
    if (q) add_product<T>(T(-1), *q, inner<T>(*q, g), T(1), g.view());
    a.apply(Op::N, T(1), MatrixView<const T>(g), T(0), y.view());
    estimate.products += width;
    for (const T& value : dots<T>(g, y)) values.emplace_back(std::complex<double>(value));
  }
  const double count = static_cast<double>(samples);
  std::complex<double> mean = 0;
  double spread = 0;
  for (const auto& v : values) mean += v / count;
  for (const auto& v : values) spread += std::norm(v - mean);
  if constexpr (ComplexScalar<T>) {
    estimate.value += T(mean);
  } else {
    estimate.value += static_cast<T>(mean.real());
  }
  estimate.standard_error = std::sqrt(spread / (count - 1) / count);
  if (!std::isfinite(std::abs(mean))) estimate.outcome = {Status::NotFinite, -1};
}

// x -> A R^-1 x and y -> R^-H A^H y, with a triangle on the executor.
template <class T> class Whitened {
 public:
  Whitened(const MatrixView<const T>& a, const MatrixView<const T>& r) : a_(a), r_(r) {}
  [[nodiscard]] std::int64_t rows() const { return a_.rows(); }
  [[nodiscard]] std::int64_t columns() const { return a_.columns(); }
  [[nodiscard]] const Executor& executor() const { return a_.executor(); }
  // z = R^-1 z or R^-H z.
  void solve(Op op, const MatrixView<T>& z) const {
    blas::trsm(executor(), Side::Left, Uplo::Upper, op, Diag::NonUnit, T(1), r_, z);
  }
  void apply(Op op, T alpha, const MatrixView<const T>& x, T beta, const MatrixView<T>& y) const {
    const Block<T> z(executor(), columns(), x.columns());
    if (op == Op::N) {
      assign<T>(x, z.view());
      solve(Op::N, z.view());
      blas::gemm(executor(), Op::N, Op::N, alpha, a_, z.view(), beta, y);
    } else {
      blas::gemm(executor(), Op::C, Op::N, alpha, a_, x, T(0), z.view());
      solve(Op::C, z.view());
      for (std::int64_t j = 0; j < y.columns(); ++j) {
        if (beta == T(0)) {
          blas::copy(executor(), z.view().column(j), y.column(j));
        } else {
          blas::scal(executor(), beta, y.column(j));
          blas::axpy(executor(), T(1), z.view().column(j), y.column(j));
        }
      }
    }
  }

 private:
  MatrixView<const T> a_, r_;
};

}  // namespace sketches

template <Scalar T>
TraceEstimate<T> trace_hutchinson(const OperatorRef<T>& a, std::int64_t samples, std::uint64_t seed) {
  sketches::check<T>("solver.trace_hutchinson", a, samples, 2);
  TraceEstimate<T> estimate;
  if (a.rows() > 0) sketches::sample<T>(a, samples, seed, 1, nullptr, estimate);
  return estimate;
}

template <Scalar T> TraceEstimate<T> trace_hutchpp(const OperatorRef<T>& a, std::int64_t samples, std::uint64_t seed) {
  using namespace sketches;
  check<T>("solver.trace_hutchpp", a, samples, 6);
  TraceEstimate<T> estimate;
  const std::int64_t n = a.rows(), third = samples / 3;
  if (n == 0) return estimate;
  const std::int64_t k = std::min(third, n);
  const Block<T> g(a.executor(), n, k), y(a.executor(), n, k);
  assign(gaussian<T>(n, k, seed), g.view());  // square matrices of signs are too often singular
  a.apply(Op::N, T(1), MatrixView<const T>(g), T(0), y.view());
  const Block<T> q = orthonormal<T>(y);
  estimate.products = k + q.columns();
  if (q.columns() > 0) {
    const Block<T> image(a.executor(), n, q.columns());
    a.apply(Op::N, T(1), MatrixView<const T>(q), T(0), image.view());
    for (const T& value : dots<T>(q, image)) estimate.value += value;
  }
  if (!host::is_finite(estimate.value)) estimate.outcome = {Status::NotFinite, -1};
  if (q.columns() < n && estimate.outcome.ok()) {
    const MatrixView<const T> held = q;
    sample<T>(a, samples - 2 * third, seed, 1, &held, estimate);
  }
  return estimate;
}

template <Scalar T>
SketchedRitz<T> sketched_rayleigh_ritz(const OperatorRef<T>& a, std::int64_t k, const SketchedRitzOptions& options) {
  using namespace sketches;
  using C = std::complex<Real<T>>;
  constexpr const char* operation = "solver.sketched_rayleigh_ritz";
  check<T>(operation, a, 1, 1);
  const std::int64_t n = a.rows();
  require(k >= 0 && k <= n, "{}: {} eigenvalues of an operator of order {}", operation, k, n);
  require(options.truncation >= 1 && options.basis >= 0 && (options.basis == 0 || options.basis >= k),
          "{}: a basis of {} and a truncation of {} for {} eigenvalues; basis >= k (or 0), truncation >= 1", operation,
          options.basis, options.truncation, k);
  SketchedRitz<T> result{std::vector<C>(at(k)), Matrix<C>(Executor::host(), n, k), {}, {}};
  result.report.algorithm = "sketched rayleigh-ritz";
  if (k == 0) return result;
  const std::int64_t d = std::min(n, options.basis > 0 ? options.basis : 2 * k + 20);
  const Block<T> basis(a.executor(), n, d), image(a.executor(), n, d), next(a.executor(), n, 1);
  assign(gaussian<T>(n, 1, options.seed), next.view());
  std::int64_t made = 0;
  for (; made < d; ++made) {
    const std::int64_t first = std::max<std::int64_t>(0, made - options.truncation);
    const MatrixView<const T> recent = basis.columns(first, made - first);
    const double before = norms<T>(next)[0];
    for (int pass = 0; pass < 2 && made > 0; ++pass) {
      add_product<T>(T(-1), recent, inner<T>(recent, next), T(1), next.view());
    }
    const double length = norms<T>(next)[0];
    if (!std::isfinite(length) || length <= 8 * std::numeric_limits<Real<T>>::epsilon() * before) break;
    scale<T>({T(static_cast<Real<T>>(1 / length))}, next.view());
    assign<T>(next, basis.columns(made, 1));
    a.apply(Op::N, T(1), MatrixView<const T>(next), T(0), image.columns(made, 1));
    assign<T>(image.columns(made, 1), next.view());
  }
  const auto give_up = [&](Outcome outcome) {
    result.report.outcome = outcome;
    result.report.accuracy.bound = std::numeric_limits<double>::infinity();
    host::fill(result.x.view(), C(host::not_a_number<C>()));
    std::fill(result.w.begin(), result.w.end(), host::not_a_number<C>());
    result.residuals.assign(at(k), std::numeric_limits<double>::quiet_NaN());
    return std::move(result);
  };
  if (!looked_at<T>(image.columns(0, made)).ok()) return give_up({Status::NotFinite, -1});
  if (made < k) return give_up({Status::NotConverged, made});  // the Krylov space has no more dimensions
  // min ||S B M - S A B||: M's eigenvalues are the sketched Ritz values. A square sketch is the problem itself.
  const std::int64_t rows = std::min(n, 2 * (made + 1));
  Small<T> sb(n, made), sab(n, made);
  if (rows == n) {
    sb = on_host<T>(basis.columns(0, made)), sab = on_host<T>(image.columns(0, made));
  } else {
    const Block<T> s(a.executor(), n, rows);
    assign(gaussian<T>(n, rows, options.seed, 1), s.view());
    sb = inner<T>(s, basis.columns(0, made)), sab = inner<T>(s, image.columns(0, made));
  }
  Small<T> m(made, made);
  if (!lstsq<T>(Executor::host(), sb.view(), sab.view(), m.view()).outcome.ok())
    return give_up({Status::NotFinite, -1});
  std::vector<C> w(at(made));
  Small<C> y(made, made);
  const Report eigen = eig(Executor::host(), m.view(), VectorView<C>(Executor::host(), w.data(), made),
                           EigVectors<T>{.right = y.view()});
  if (!eigen.outcome.ok()) return give_up(eigen.outcome);
  std::vector<std::int64_t> order(at(made));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::int64_t i, std::int64_t j) { return std::abs(w[at(i)]) > std::abs(w[at(j)]); });
  const Small<T> b = on_host<T>(basis.columns(0, made)), ab = on_host<T>(image.columns(0, made));
  for (std::int64_t j = 0; j < k; ++j) {
    const std::int64_t from = order[at(j)];
    result.w[at(j)] = w[at(from)];
    double length = 0, residual = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      C x = 0, ax = 0;
      for (std::int64_t l = 0; l < made; ++l) x += y(l, from) * b(i, l), ax += y(l, from) * ab(i, l);
      host::element(result.x.view(), i, j) = x;
      length = std::hypot(length, std::abs(std::complex<double>(x)));
      residual = std::hypot(residual, std::abs(std::complex<double>(ax - w[at(from)] * x)));
    }
    for (std::int64_t i = 0; i < n; ++i) host::element(result.x.view(), i, j) /= static_cast<Real<T>>(length);
    result.residuals.push_back(residual / length);
    const double size = std::abs(std::complex<double>(w[at(order[0])]));
    result.report.accuracy.bound =
        std::max(result.report.accuracy.bound, size > 0 ? result.residuals.back() / size : 0);
  }
  return result;
}

template <Scalar T> LsqrReport lstsq_sketched(const Executor& executor, const ConstMatrix<T>& a,
                                              const ConstMatrix<T>& b, const MatrixView<T>& x,
                                              const SketchedLstsqOptions& options) {
  using namespace sketches;
  constexpr const char* operation = "solver.lstsq_sketched";
  const std::int64_t m = a.rows(), n = a.columns();
  checks::input(operation, "A", executor, a);
  checks::input(operation, "B", executor, b);
  checks::output(operation, "X", executor, x);
  checks::rows(operation, "B", b, m);
  checks::shape(operation, "X", x, n, b.columns());
  checks::apart(operation, "A", a, "X", x);
  checks::apart(operation, "B", b, "X", x);
  require(m >= n, "{}: A is {} x {}; a sketch pays for tall matrices, lstsq() takes any shape", operation, m, n);
  require(options.tolerance >= 0 && options.tolerance < 1, "{}: the tolerance is {}; it must lie in [0, 1)", operation,
          options.tolerance);
  LsqrReport report;
  report.algorithm = "sketch and precondition";
  if (n == 0 || b.columns() == 0) return report;
  const auto failed = [&](Outcome outcome) {
    report.outcome = outcome;
    report.accuracy.bound = std::numeric_limits<double>::infinity();
    set_to(x, host::not_a_number<T>());
    return report;
  };
  Outcome seen = looked_at<T>(a);
  if (seen.ok()) seen = looked_at<T>(b);
  if (!seen.ok()) return failed(seen);
  const std::int64_t rows = std::min(m, 2 * n + 20);
  Small<T> sketched(0, 0);
  if (rows == m) {
    sketched = on_host<T>(a);
  } else {
    const Block<T> s(executor, m, rows);
    assign(gaussian<T>(m, rows, options.seed), s.view());
    sketched = inner<T>(s, a);
  }
  const Qr<T> qr(Executor::host(), sketched.view());
  const Matrix<T> r = qr.r();
  for (std::int64_t j = 0; j < n; ++j) {
    if (host::element(r.view(), j, j) == T(0)) return failed({Status::Singular, j});
  }
  const Matrix<T> triangle = r.to(executor);
  const Whitened<T> op(a, triangle.view());
  const double unit = std::numeric_limits<Real<T>>::epsilon();
  const double tolerance = options.tolerance > 0 ? options.tolerance : std::sqrt(static_cast<double>(m)) * unit;
  double whole = 0;
  for (const double size : norms<T>(a)) whole = std::hypot(whole, size);
  const Norms b_norms = norms<T>(b);
  const Block<T> residual(executor, m, b.columns()), slope(executor, n, b.columns()), y(executor, n, b.columns());
  report.condition = qr.condition();
  report.residuals.assign(at(b.columns()), 0.0), report.normal_residuals = report.residuals;
  zero(x);
  double before = std::numeric_limits<double>::infinity();
  while (true) {
    assign<T>(b, residual.view());
    blas::gemm(executor, Op::N, Op::N, T(-1), a, x, T(1), residual.view());
    blas::gemm(executor, Op::C, Op::N, T(1), a, residual.view(), T(0), slope.view());
    report.products += 2;
    const Norms size = norms<T>(residual), steep = norms<T>(slope), length = norms<T>(MatrixView<const T>(x));
    report.accuracy.bound = 0;
    report.outcome = {};
    for (std::size_t j = 0; j < size.size(); ++j) {
      report.residuals[j] = b_norms[j] > 0 ? size[j] / b_norms[j] : 0;
      const double below = whole * (size[j] + whole * length[j]);
      report.normal_residuals[j] = below > 0 ? steep[j] / below : 0;
      if (!std::isfinite(report.normal_residuals[j])) return failed({Status::NotFinite, -1});
      report.accuracy.bound = std::max(report.accuracy.bound, report.normal_residuals[j]);
      if (report.normal_residuals[j] > tolerance && report.outcome.ok()) {
        report.outcome = {Status::NotConverged, static_cast<std::int64_t>(j)};
      }
    }
    if (report.outcome.ok() || !(report.accuracy.bound <= before / 2)) return report;
    before = report.accuracy.bound;
    const KrylovOptions inner_options{.tolerance = std::sqrt(unit) / 8, .max_iterations = 100};
    const LsqrReport inner_report = lsqr<T>(op, MatrixView<const T>(residual), y.view(), inner_options);
    report.iterations += inner_report.iterations, report.products += inner_report.products;
    if (inner_report.outcome.status == Status::NotFinite) return failed(inner_report.outcome);
    op.solve(Op::N, y.view());
    add<T>(Scalars<T>(at(b.columns()), T(1)), y, x);
  }
}

#define TRN_SKETCHES(T)                                                                                             \
  template TraceEstimate<T> trace_hutchinson(const OperatorRef<T>&, std::int64_t, std::uint64_t);                   \
  template TraceEstimate<T> trace_hutchpp(const OperatorRef<T>&, std::int64_t, std::uint64_t);                      \
  template SketchedRitz<T> sketched_rayleigh_ritz(const OperatorRef<T>&, std::int64_t, const SketchedRitzOptions&); \
  template LsqrReport lstsq_sketched(const Executor&, const ConstMatrix<T>&, const ConstMatrix<T>&,                 \
                                     const MatrixView<T>&, const SketchedLstsqOptions&);
TRN_SOLVER_SCALARS(TRN_SKETCHES)
#undef TRN_SKETCHES

}  // namespace trn::solver
