// The polar decomposition, the sign function and inverse square roots.
#include <trn/solver/eigh.hpp>
#include <trn/solver/functions.hpp>
#include <trn/solver/lu.hpp>
#include <trn/solver/svd.hpp>

#include "functions/square.hpp"
#include "host_only.hpp"
#include "scalars.hpp"

namespace trn::solver {

namespace {

// What devices have for products of T.
template <class T> blas::GemmOptions exact_for_double() {
  blas::GemmOptions options;
  if (sizeof(Real<T>) == sizeof(double)) options.precision = Mode::Exact;
  return options;
}

// X = G G^H on the executor, Hermitian to the last bit, for a G of the host.
template <class T> void gram(const Executor& executor, const iterative::Small<T>& g, const MatrixView<T>& x) {
  const Matrix<T> there(executor, g.rows(), g.columns()), result(executor, g.rows(), g.rows());
  iterative::assign(g, there.view());
  blas::gemm(executor, Op::N, Op::C, T(1), there.view(), there.view(), T(0), result.view(), exact_for_double<T>());
  iterative::Small<T> whole = iterative::on_host<T>(result.view());
  mirror(whole.view(), Uplo::Lower, true);
  iterative::assign(whole, x);
}

// polar() where A is on a device: products there, the scaling of V by singular values on the host, O(n^2).
template <class T> Report device_polar(const Executor& executor, const MatrixView<const T>& a, const MatrixView<T>& u,
                                       const MatrixView<T>& h) {
  using namespace functions;
  const std::int64_t m = a.rows(), n = a.columns();
  const Matrix<T> w(executor, m, n), vh(executor, n, n);
  const Matrix<Real<T>> s(executor, n, 1);
  Report report = svd<T>(executor, a, VectorView<Real<T>>(executor, s.data(), n), w.view(), vh.view());
  report.algorithm = "svd";
  if (!report.outcome.ok()) {
    iterative::set_to(h, host::not_a_number<T>());
    iterative::set_to(u, host::not_a_number<T>());
    return report;
  }
  if (n == 0) return report;
  blas::gemm(executor, Op::N, Op::N, T(1), w.view(), vh.view(), T(0), u, exact_for_double<T>());
  const Small<T> rows = iterative::on_host<T>(vh.view());
  const Small<Real<T>> values = iterative::on_host<Real<T>>(s.view());
  Small<T> scaled(n, n);  // V S^(1/2)
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) scaled(j, i) = std::sqrt(values(i, 0)) * rows(i, j);
  }
  gram(executor, scaled, h);
  return report;
}

}  // namespace

template <Scalar T>
Report polar(const Executor& executor, const ConstMatrix<T>& a, const MatrixView<T>& u, const MatrixView<T>& h) {
  using namespace functions;
  constexpr const char* operation = "solver.polar";
  const std::int64_t m = a.rows(), n = a.columns();
  checks::input(operation, "A", executor, a);
  checks::output(operation, "U", executor, u);
  checks::output(operation, "H", executor, h);
  require(m >= n, "{}: A is {} x {}; m >= n must hold (give the conjugate transpose)", operation, m, n);
  checks::shape(operation, "U", u, m, n);
  checks::shape(operation, "H", h, n, n);
  checks::apart(operation, "A", a, "U", u);
  checks::apart(operation, "A", a, "H", h);
  checks::apart(operation, "U", u, "H", h);
  if constexpr (std::same_as<T, Real<T>>) {
    announce(operation, executor);
    if (executor.family() == Family::Device) return device_polar<T>(executor, a, u, h);
  } else {
    on_host_only(operation, executor);
  }
  Small<T> w(m, n), vh(n, n), scaled(n, n);
  std::vector<Real<T>> s(at(n));
  Report report = svd(executor, a, VectorView<Real<T>>(executor, s.data(), n), w.view(), vh.view());
  report.algorithm = "svd";
  if (!report.outcome.ok()) {
    host::fill(h, host::not_a_number<T>());
    return failed(report.outcome, report.algorithm, u);
  }
  blas::gemm(executor, Op::N, Op::N, T(1), w.view(), vh.view(), T(0), u);
  // H = G^H G with G = S^(1/2) V^H: Hermitian to the last bit but for the order of sums, so it is made so.
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) scaled(i, j) = std::sqrt(s[at(i)]) * vh(i, j);
  }
  blas::gemm(executor, Op::C, Op::N, T(1), scaled.view(), scaled.view(), T(0), h);
  for (std::int64_t i = 0; i < n; ++i) host::element(h, i, i) = T(std::real(host::element(h, i, i)));
  mirror(h, Uplo::Lower, true);
  return report;
}

template <Scalar T> Report signm(const Executor& executor, const ConstMatrix<T>& a, const MatrixView<T>& s) {
  using namespace functions;
  constexpr const char* operation = "solver.signm";
  const Operand<T> operand(operation, executor, a, s);
  on_host_only(operation, executor);
  Report report;
  report.algorithm = "newton";
  if (!operand.outcome.ok()) return failed(operand.outcome, report.algorithm, s);
  const std::int64_t n = a.rows();
  if (n == 0) return report;
  Small<T> x = operand.matrix;
  const double unit = std::numeric_limits<Real<T>>::epsilon(), least = 10 * static_cast<double>(n) * unit;
  double before = std::numeric_limits<double>::infinity();
  bool done = false;
  while (!done && report.iterations < 100) {
    const Lu<T> lu(executor, x.view());
    if (!lu.report().outcome.ok()) return failed(lu.report().outcome, report.algorithm, s);
    const Matrix<T> inverse = lu.inverse();
    // |det X|^(-1/n) brings the eigenvalues around the unit circle; near the end it only adds rounding.
    const double log_det = static_cast<double>(lu.log_determinant().log_absolute) / static_cast<double>(n);
    const auto g = static_cast<Real<T>>(before < 1e-2 ? 1 : std::exp(-log_det));
    Small<T> next(n, n), change(n, n);
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t i = 0; i < n; ++i) {
        next(i, j) = (g * x(i, j) + host::element(inverse.view(), i, j) / g) * Real<T>(0.5);
        change(i, j) = next(i, j) - x(i, j);
      }
    }
    ++report.iterations;
    const double moved = norm_of(change.view(), Norm::One) / norm_of(next.view(), Norm::One);
    if (!host::finite(next.view()).ok()) return failed({Status::Singular, -1}, report.algorithm, s);
    // Quadratic convergence: small, or no longer falling, means that rounding is left.
    done = moved <= least || (before < 1e-2 && moved > before / 2);
    before = moved;
    x = std::move(next);
  }
  report.accuracy.bound = before;
  if (!done) report.outcome = {Status::NotConverged, -1};
  iterative::assign(x, s);
  return report;
}

template <Scalar T> Report inv_sqrt_spd(const Executor& executor, const ConstMatrix<T>& a, const MatrixView<T>& x) {
  using namespace functions;
  constexpr const char* operation = "solver.inv_sqrt_spd";
  checks::input(operation, "A", executor, a);
  checks::output(operation, "X", executor, x);
  checks::square(operation, "A", a);
  checks::shape(operation, "X", x, a.rows(), a.rows());
  checks::apart(operation, "A", a, "X", x);
  announce(operation, executor);
  const bool here = executor.family() == Family::Host;
  const std::int64_t n = a.rows();
  Small<T> v(0, 0);
  std::vector<Real<T>> w(at(n));
  Report report;
  if (here) {
    v = Small<T>(a, host::Part::Lower);
    report = eigh(executor, v.view(), VectorView<Real<T>>(executor, w.data(), n));
  } else {
    const Matrix<T> vectors(executor, n, n);
    const Matrix<Real<T>> values(executor, n, 1);
    iterative::assign<T>(a, vectors.view());
    report = eigh(executor, vectors.view(), VectorView<Real<T>>(executor, values.data(), n));
    v = iterative::on_host<T>(vectors.view());
    w = values.to_host();
  }
  report.algorithm = "eigh";
  if (!report.outcome.ok()) return failed(report.outcome, report.algorithm, x);
  if (n == 0) return report;
  const double largest = std::max(std::abs(w.front()), std::abs(w.back()));
  const double least = static_cast<double>(n) * std::numeric_limits<Real<T>>::epsilon() * largest;
  std::int64_t bad = 0;
  while (bad < n && !(static_cast<double>(w[at(bad)]) > least)) ++bad;
  if (bad > 0) return failed({Status::NotPositiveDefinite, bad - 1}, report.algorithm, x);
  // X = G G^H, G = V W^(-1/4)
  for (std::int64_t j = 0; j < n; ++j) {
    const auto f = static_cast<Real<T>>(std::pow(static_cast<double>(w[at(j)]), -0.25));
    for (std::int64_t i = 0; i < n; ++i) v(i, j) *= f;
  }
  report.condition = largest / static_cast<double>(w.front());
  // Eigenvalues err by n eps ||A||; in the smallest that is n eps kappa of w^(-1/2).
  report.accuracy.bound = static_cast<double>(n) * std::numeric_limits<Real<T>>::epsilon() * report.condition;
  if (!here) {
    gram(executor, v, x);
    return report;
  }
  blas::gemm(executor, Op::N, Op::C, T(1), v.view(), v.view(), T(0), x);
  for (std::int64_t i = 0; i < n; ++i) host::element(x, i, i) = T(std::real(host::element(x, i, i)));
  mirror(x, Uplo::Lower, true);
  return report;
}

template <Scalar T> NewtonSchulzReport inv_sqrt_spd_ns(const Executor& executor, const ConstMatrix<T>& a,
                                                       const MatrixView<T>& x, const NewtonSchulzOptions& options) {
  using namespace functions;
  constexpr const char* operation = "solver.inv_sqrt_spd_ns";
  const Operand<T> operand(operation, executor, a, x);
  require(options.max_iterations >= 1 && options.tolerance >= 0 && options.tolerance < 1,
          "{}: max_iterations is {} and the tolerance {}; they must be >= 1, and in [0, 1)", operation,
          options.max_iterations, options.tolerance);
  NewtonSchulzReport report;
  report.algorithm = "newton-schulz";
  if (!operand.outcome.ok()) {
    static_cast<Report&>(report) = failed(operand.outcome, report.algorithm, x);
    return report;
  }
  const std::int64_t n = a.rows();
  if (n == 0) return report;
  const double root = std::sqrt(static_cast<double>(n)), unit = std::numeric_limits<Real<T>>::epsilon();
  const double tolerance = options.tolerance > 0 ? options.tolerance : static_cast<double>(n) * unit;
  const double c = std::min(norm_of(operand.matrix.view(), Norm::One), frobenius(operand.matrix));
  if (c == 0) {
    static_cast<Report&>(report) = failed({Status::NotPositiveDefinite, 0}, report.algorithm, x);
    return report;
  }
  Square<T> y(executor, operand.matrix), z = identity<T>(executor, n), w(executor, n), next(executor, n);
  const Square<T> one = identity<T>(executor, n);
  y.scale(T(static_cast<Real<T>>(1 / c)));
  double best = std::numeric_limits<double>::infinity();
  while (true) {
    (void)w.set_product(z, y);
    w.scale(T(-1));
    w.add(T(1), one);  // I - Z Y
    report.residual = w.norm() / root;
    if (report.residual <= tolerance || !std::isfinite(report.residual)) break;
    // Once it has been small and falls no more, rounding is left; a definite A never makes it grow much above 1.
    if (report.residual > 4 || (best < 0.1 && report.residual > best / 2)) break;
    if (report.iterations >= options.max_iterations) break;
    best = std::min(best, report.residual);
    w.scale(T(Real<T>(0.5)));
    w.add(T(1), one);  // (3 I - Z Y) / 2
    (void)next.set_product(y, w);
    std::swap(y, next);
    (void)next.set_product(w, z);
    std::swap(z, next);
    ++report.iterations;
  }
  if (!std::isfinite(report.residual)) {
    static_cast<Report&>(report) = failed({Status::NotConverged, -1}, report.algorithm, x);
    return report;
  }
  z.scale(T(static_cast<Real<T>>(1 / std::sqrt(c))));
  iterative::assign<T>(z.view(), x);
  report.accuracy.bound = report.residual;  // X A X - I is of this size
  if (!(report.residual <= tolerance)) report.outcome = {Status::NotConverged, -1};
  return report;
}

#define TRN_POLAR(T)                                                                                         \
  template Report polar(const Executor&, const ConstMatrix<T>&, const MatrixView<T>&, const MatrixView<T>&); \
  template Report signm(const Executor&, const ConstMatrix<T>&, const MatrixView<T>&);                       \
  template Report inv_sqrt_spd(const Executor&, const ConstMatrix<T>&, const MatrixView<T>&);                \
  template NewtonSchulzReport inv_sqrt_spd_ns(const Executor&, const ConstMatrix<T>&, const MatrixView<T>&,  \
                                              const NewtonSchulzOptions&);
TRN_SOLVER_SCALARS(TRN_POLAR)
#undef TRN_POLAR

}  // namespace trn::solver
