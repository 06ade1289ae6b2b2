// The frame around every Krylov loop.
#include "iterative/run.hpp"

#include <algorithm>

#include "checks.hpp"
#include "scalars.hpp"

namespace trn::solver::iterative {

template <Scalar T> std::int64_t Run<T>::first_active(const Norms& size) const {
  for (std::int64_t j = 0; j < static_cast<std::int64_t>(size.size()); ++j) {
    if (active(size, j)) return j;
  }
  return -1;
}

template <Scalar T> bool Run<T>::step(const Norms& size) {
  ++iterations;
  if (monitor && *monitor) {
    Norms relative = size;
    for (std::size_t j = 0; j < size.size(); ++j) relative[j] = b_norms[j] > 0 ? size[j] / b_norms[j] : 0;
    if (!(*monitor)(iterations, relative)) return false;
  }
  return iterations < max_iterations;
}

template <Scalar T> Outcome Run<T>::left_off(const Norms& size) const {
  for (const double s : size) {
    if (!std::isfinite(s)) return {Status::NotFinite, -1};
  }
  const std::int64_t column = first_active(size);
  return column < 0 ? Outcome{} : Outcome{Status::NotConverged, column};
}

template <Scalar T> void check_system(const char* operation, const OperatorRef<T>& a, const MatrixView<const T>& b,
                                      const MatrixView<T>& x, const KrylovOptions& options) {
  operands::check_enumerator(operation, "Guess", options.guess, Guess::InX);
  require(static_cast<bool>(a), "{}: there is no operator A; give one", operation);
  checks::input(operation, "B", a.executor(), b);
  checks::output(operation, "X", a.executor(), x);
  checks::rows(operation, "B", b, a.rows());
  checks::shape(operation, "X", x, a.columns(), b.columns());
  checks::apart(operation, "B", b, "X", x);
  require(options.tolerance > 0 && options.tolerance < 1, "{}: the tolerance is {}; it must lie between 0 and 1",
          operation, options.tolerance);
  require(options.max_iterations >= 0, "{}: max_iterations is {}; it must be >= 0, 0 for the default", operation,
          options.max_iterations);
  require(options.restart >= 1, "{}: restart is {}; it must be >= 1", operation, options.restart);
}

namespace {

// Powers of two that bring the columns of b near 1, where a norm lies outside 2^-e .. 2^e with e a quarter of the
// largest exponent: the recurrences square norms, and divide squares. Empty when none does.
template <class T> Scalars<T> scales(const Norms& b_norms) {
  constexpr int kMost = std::numeric_limits<Real<T>>::max_exponent - 2, kEnough = kMost / 4;
  Scalars<T> result(b_norms.size(), T(1));
  bool needed = false;
  for (std::size_t j = 0; j < b_norms.size(); ++j) {
    if (!(b_norms[j] > 0) || !std::isfinite(b_norms[j])) continue;
    const int exponent = std::ilogb(b_norms[j]);
    if (std::abs(exponent) <= kEnough) continue;
    needed = true;
    result[j] = T(std::ldexp(Real<T>(1), std::clamp(-exponent, -kMost, kMost)));
  }
  if (!needed) result.clear();
  return result;
}

// y_j = s_j x_j.
template <class T> void scale_columns(const Scalars<T>& s, const MatrixView<const T>& x, const MatrixView<T>& y) {
  zero(y);
  add<T>(s, x, y);
}

}  // namespace

template <Scalar T> IterationReport iterate(const Method& method, const OperatorRef<T>& a, const OperatorRef<T>& m,
                                            const MatrixView<const T>& b, const MatrixView<T>& x,
                                            const KrylovOptions& options, Loop<T> loop, const void* extra,
                                            Guessed<T> guessed) {
  const char* operation = method.operation;
  require(!a || a.rows() == a.columns(), "{}: A is {} x {}; it must be square", operation, a.rows(), a.columns());
  check_system(operation, a, b, x, options);
  if (m) {
    require(m.rows() == a.rows() && m.columns() == a.rows(), "{}: the preconditioner is {} x {}; A has {} rows",
            operation, m.rows(), m.columns(), a.rows());
    require(m.executor() == a.executor(), "{}: the preconditioner is on '{}', A on '{}'; they must share an executor",
            operation, m.executor().name(), a.executor().name());
  }
  IterationReport report;
  report.algorithm = method.name;
  report.residuals.assign(at(b.columns()), 0.0);
  if (b.rows() == 0 || b.columns() == 0) return report;

  const auto not_finite = [&](const Outcome& outcome) {
    report.outcome = outcome;
    set_to(x, host::not_a_number<T>());
    report.residuals.assign(at(b.columns()), std::numeric_limits<double>::quiet_NaN());
    report.accuracy.bound = std::numeric_limits<double>::infinity();
    return report;
  };
  Outcome seen = looked_at(b);
  if (seen.ok() && options.guess == Guess::InX) seen = looked_at<T>(x);
  if (!seen.ok()) return not_finite(seen);

  if (const Scalars<T> factors = scales<T>(norms<T>(b)); !factors.empty()) {
    const Block<T> scaled_b(b.executor(), b.rows(), b.columns()), scaled_x(x.executor(), x.rows(), x.columns());
    scale_columns<T>(factors, b, scaled_b.view());
    if (options.guess == Guess::InX) scale_columns<T>(factors, MatrixView<const T>(x), scaled_x.view());
    report = iterate<T>(method, a, m, scaled_b, scaled_x.view(), options, loop, extra, guessed);
    if (report.outcome.status == Status::NotFinite) return not_finite(report.outcome);
    Scalars<T> back = factors;
    for (T& factor : back) factor = T(1) / factor;
    scale_columns<T>(back, scaled_x, x);
    if (!looked_at<T>(x).ok()) return not_finite({Status::NotFinite, -1});
    Run<T> check(a, m, b, x);  // x may have lost digits at the lower end of the range
    check.b_norms = norms<T>(b);
    for (const double size : check.b_norms) check.limits.push_back(options.tolerance * size);
    const Norms left = check.residual();
    if (report.outcome.ok()) report.outcome = check.left_off(left);
    report.accuracy.bound = 0;
    for (std::size_t j = 0; j < left.size(); ++j) {
      report.residuals[j] = check.b_norms[j] > 0 ? left[j] / check.b_norms[j] : 0;
      report.accuracy.bound = std::max(report.accuracy.bound, report.residuals[j]);
    }
    return report;
  }

  Run<T> run(a, m, b, x);
  run.restart = std::min(options.restart, b.rows());
  run.max_iterations = options.max_iterations > 0 ? options.max_iterations : std::max<std::int64_t>(100, 10 * b.rows());
  run.monitor = &options.monitor;
  run.b_norms = norms<T>(b);
  for (const double size : run.b_norms) run.limits.push_back(options.tolerance * size);
  for (std::int64_t j = 0; j < b.columns(); ++j) {
    const bool zeros = run.b_norms[at(j)] == 0 || options.guess == Guess::Zero;
    if (zeros) zero(x.block(0, j, x.rows(), 1));
  }
  if (guessed && options.guess == Guess::InX) guessed(x, extra);
  Norms size = run.residual();
  Outcome outcome = run.left_off(size);
  while (outcome.status == Status::NotConverged && run.iterations < run.max_iterations) {
    outcome = loop(run, extra);
    const Norms now = run.residual();  // from x, whatever the loop believes
    if (outcome.ok()) {
      outcome = run.left_off(now);
      bool better = true;  // every column that is not done yet has at least halved
      for (std::size_t j = 0; j < now.size(); ++j) {
        if (run.active(now, static_cast<std::int64_t>(j)) && !(now[j] <= size[j] / 2)) better = false;
      }
      size = now;
      if (better) continue;
    }
    size = now;
    break;
  }
  if (outcome.status != Status::NotFinite && run.left_off(size).status == Status::NotFinite) {
    outcome = {Status::NotFinite, -1};
  }
  report.iterations = static_cast<int>(run.iterations);
  report.products = run.products;
  if (outcome.status == Status::NotFinite) return not_finite(outcome);
  report.outcome = run.first_active(size) < 0 ? Outcome{} : outcome;
  for (std::size_t j = 0; j < size.size(); ++j) {
    report.residuals[j] = run.b_norms[j] > 0 ? size[j] / run.b_norms[j] : 0;
    report.accuracy.bound = std::max(report.accuracy.bound, report.residuals[j]);
  }
  return report;
}

#define TRN_RUN(T)                                                                                                  \
  template class Run<T>;                                                                                            \
  template IterationReport iterate(const Method&, const OperatorRef<T>&, const OperatorRef<T>&,                     \
                                   const MatrixView<const T>&, const MatrixView<T>&, const KrylovOptions&, Loop<T>, \
                                   const void*, Guessed<T>);                                                        \
  template void check_system(const char*, const OperatorRef<T>&, const MatrixView<const T>&, const MatrixView<T>&,  \
                             const KrylovOptions&);
TRN_SOLVER_SCALARS(TRN_RUN)
#undef TRN_RUN

}  // namespace trn::solver::iterative
