// The entry point of solve: factor, solve, and then an estimate of the error, or refinement with exact residuals until
// a target is met or a bound is proved.
#include <trn/solver/solve.hpp>

#include <trn/blas/gemm.hpp>

#include "bounds.hpp"
#include "certify/refine.hpp"
#include "checks.hpp"
#include "copies.hpp"
#include "kernels/factorisations.hpp"
#include "norms.hpp"
#include "scalars.hpp"
#include "system.hpp"

namespace trn::solver {

namespace {

using certify::WideOf;
using host::Columns;
constexpr const char* kOperation = "solver.solve";
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// max over columns of ||A^-1|| ||b - A x|| / ||x||, all norms the infinity norm, ||A^-1|| = condition / ||A||. The
// residual is exact up to one rounding and what scaling dropped; the radius counts both.
template <class T> double forward_error(const Executor& executor, const Columns<T>& a, const Columns<T>& b,
                                        const Columns<T>& x, double condition) {
  Columns<T> r(b.view());
  Columns<double> radius(b.rows(), b.columns());
  blas::gemm(executor, Op::N, Op::N, T(-1), a.view(), x.view(), T(1), r.view(), {Mode::Exact, radius.view()});
  const double size = norm_of(a.view(), Norm::Infinity);
  double most = 0;
  for (std::int64_t j = 0; j < x.columns(); ++j) {
    double residual = 0, solution = 0;
    for (std::int64_t i = 0; i < x.rows(); ++i) {
      residual = std::max<double>(residual, std::abs(r(i, j)) + radius(i, j));
      solution = std::max<double>(solution, std::abs(x(i, j)));
    }
    if (residual > 0) most = std::max(most, condition / size * (residual / solution));
  }
  return most;
}

// The factorisation as a step of refinement. Columns are scaled to size 1: residuals may be tiny in the type.
template <class T> bool step(const System<T>& system, Columns<WideOf<T>>& z) {
  Columns<T> scaled(z.rows(), z.columns());
  std::vector<double> scale(static_cast<std::size_t>(z.columns()), 1);
  for (std::int64_t j = 0; j < z.columns(); ++j) {
    double most = 0;
    for (std::int64_t i = 0; i < z.rows(); ++i) most = std::max(most, std::abs(z(i, j)));
    double& s = scale[static_cast<std::size_t>(j)];
    if (most > 0 && std::isfinite(most)) s = std::ldexp(1.0, std::clamp(std::ilogb(most), -1000, 1000));
    for (std::int64_t i = 0; i < z.rows(); ++i) scaled(i, j) = T(z(i, j) / s);
  }
  if (!system.solve(scaled.view()).ok()) return false;
  for (std::int64_t j = 0; j < z.columns(); ++j) {
    for (std::int64_t i = 0; i < z.rows(); ++i) {
      z(i, j) = WideOf<T>(scaled(i, j)) * scale[static_cast<std::size_t>(j)];
    }
  }
  return true;
}

// x rounded to the type, in memory. GCC 12.2 at -O2 turns double -> float -> double of two neighbours (the parts of a
// complex number) into nothing, as if float held a double; volatile keeps the rounding.
template <class R> R stored(double x) {
  volatile R y = static_cast<R>(x);
  return y;
}
template <class T> T narrowed(const WideOf<T>& x) {
  if constexpr (blas::ComplexScalar<T>) {
    return T(stored<Real<T>>(x.real()), stored<Real<T>>(x.imag()));
  } else {
    return stored<T>(x);
  }
}

// Two words rounded to the type; `errors` grows by what that loses.
template <class T> Columns<T> rounded(const certify::Refined<WideOf<T>>& refined, Columns<double>& errors) {
  Columns<T> x(refined.high.rows(), refined.high.columns());
  for (std::int64_t j = 0; j < x.columns(); ++j) {
    for (std::int64_t i = 0; i < x.rows(); ++i) {
      x(i, j) = narrowed<T>(refined.high(i, j));
      const double lost = certify::size(refined.high(i, j) - WideOf<T>(x(i, j))) + certify::size(refined.low(i, j));
      errors(i, j) = certify::up(errors(i, j) + certify::up(lost, 4), 2);
    }
  }
  return x;
}
template <class T> double forward_bound(const Columns<T>& x, const Columns<double>& errors) {
  const Columns<WideOf<T>> wide(x.view());
  double most = 0;
  for (std::int64_t j = 0; j < x.columns(); ++j) {
    const double e = certify::relative_error(wide, errors, j);
    if (!(e <= most)) most = e;
  }
  return std::isnan(most) ? kInfinity : most;
}

// Refinement by the factorisation; where that does not converge, or where a proof is asked for, by a proved inverse.
// The guarantee, steps and levels go to the report. Empty: nothing could be proved.
template <class T> std::optional<certify::Refined<WideOf<T>>> refine(const Executor& executor, const Columns<T>& full,
                                                                     const Columns<T>& start, const System<T>& system,
                                                                     const SolveOptions& options, bool proof,
                                                                     Report& report) {
  using D = WideOf<T>;
  const double unit = unit_roundoff_of<T>();
  const double goal = options.target_error < 8 * unit ? unit / 16 : options.target_error / 2;
  const Columns<D> a(full.view()), b(start.view());
  if (!proof) {
    auto refined = certify::refine_estimated<D>(
        a, b, [&](Columns<D>& z) { return step(system, z); }, goal);
    report.iterations = refined.steps;
    if (refined.contracting) return refined;
  }
  const certify::InverseChain<D> chain(executor, a, options.max_levels);
  report.levels = chain.levels();
  if (!chain.proved()) return std::nullopt;
  auto refined = certify::refine_proved<D>(a, b, chain, goal);
  report.iterations = refined.steps;
  report.guarantee = Guarantee::Rigorous;
  return refined;
}

// The paths beside the plain one; X is the plain solution at first. A factorisation with a zero pivot is not a reason
// to give up: the proof may find that A is not singular.
template <class T> void refined_solve(const Executor& executor, const Columns<T>& full, const Columns<T>& start,
                                      const System<T>& system, const SolveOptions& options, Columns<T>& x,
                                      Report& report) {
  using D = WideOf<T>;
  const double target = options.target_error;
  const bool factored = system.outcome().ok();
  if (options.measure == ErrorMeasure::Backward) {
    const Columns<D> a(full.view()), b(start.view());
    const auto measured = [&](const Columns<T>& y) {
      return certify::backward_error<D>(executor, a, b, Columns<D>(y.view()));
    };
    if (factored) report.accuracy.bound = measured(x);
    if (!factored || (target > 0 && !(report.accuracy.bound <= target))) {
      const auto refined = refine(executor, full, start, system, options, !factored || system.doubtful(), report);
      if (!refined && !factored) {
        report.outcome = system.outcome();
        return;
      }
      if (refined) {
        Columns<double> errors = refined->error;
        const Columns<T> better = rounded<T>(*refined, errors);
        const double bound = measured(better);
        if (bound < report.accuracy.bound) x = better, report.accuracy.bound = bound;
      }
    }
    report.guarantee = Guarantee::Rigorous;
  } else {
    const bool proof = options.certify == Certify::Rigorous || !factored || system.doubtful();
    const auto refined = refine(executor, full, start, system, options, proof, report);
    if (!refined) {
      report.outcome = factored ? Outcome{Status::Singular, -1} : system.outcome();
      return;
    }
    Columns<double> errors = refined->error;
    x = rounded<T>(*refined, errors);
    if (!host::finite(x.view()).ok()) {  // beyond the type's range
      report.outcome = {Status::Singular, -1};
      return;
    }
    report.accuracy.bound = forward_bound(x, errors);
  }
  const double limit = target > 0 ? target : std::numeric_limits<double>::max();
  if (!(report.accuracy.bound <= limit)) report.outcome = {Status::TargetMissed, -1};
}

}  // namespace

namespace {
template <class T> Report solve_in_host_memory(const Executor& executor, const MatrixView<const T>& a,
                                               const MatrixView<T>& b, const SolveOptions& options);
}

template <Scalar T>
Report solve(const Executor& executor, const ConstMatrix<T>& a, const MatrixView<T>& b, const SolveOptions& options) {
  checks::enumerators(kOperation, options.uplo, options.diag, options.certify);
  operands::check_enumerator(kOperation, "Structure", options.structure, Structure::Triangular);
  operands::check_enumerator(kOperation, "Factor", options.factor, Factor::Cholesky);
  operands::check_enumerator(kOperation, "ErrorMeasure", options.measure, ErrorMeasure::Backward);
  checks::input(kOperation, "A", executor, a);
  checks::output(kOperation, "B", executor, b);
  checks::square(kOperation, "A", a);
  checks::rows(kOperation, "B", b, a.rows());
  checks::apart(kOperation, "A", a, "B", b);
  require(options.factor != Factor::Cholesky || options.structure == Structure::Positive,
          "{}: Factor::Cholesky needs Structure::Positive; take Auto, Lu or Qr", kOperation);
  require(options.target_error >= 0 && options.target_error < 1,
          "{}: the target error is {}; it must be 0 (none) or between 0 and 1", kOperation, options.target_error);
  require(options.max_levels >= 1, "{}: max_levels is {}; it must be at least 1", kOperation, options.max_levels);
  if (executor.family() == Family::Host) return solve_in_host_memory<T>(executor, a, b, options);
  const Matrix<T> here = copies::on_host(a), x = copies::on_host(b);
  const Report report = solve_in_host_memory<T>(executor, here.view(), x.view(), options);
  copies::move(MatrixView<const T>(x.view()), b);
  return report;
}

namespace {

// The operands are in host memory; factorisations, solves with them and Exact products are the executor's. On a device
// every solution is refined with exact residuals, and where that does not converge the proved chain takes over.
template <class T> Report solve_in_host_memory(const Executor& executor, const MatrixView<const T>& a,
                                               const MatrixView<T>& b, const SolveOptions& options) {
  Report report;
  report.accuracy.bound = kInfinity;
  report.outcome = finite_elements(a, options);
  if (report.outcome.ok()) report.outcome = host::finite(b);
  if (!report.outcome.ok()) {
    host::fill(b, host::not_a_number<T>());
    return report;
  }
  const Columns<T> full = written_out(a, options), start(b);
  const System<T> system(executor, full, options);
  report.algorithm = system.algorithm();
  const bool plain = executor.family() == Family::Host && options.target_error == 0 &&
                     options.certify == Certify::Estimate && options.measure == ErrorMeasure::Forward;
  const bool factored = system.outcome().ok();
  if (!factored && (plain || system.outcome().status != Status::Singular)) {
    report.outcome = system.outcome();
    host::fill(b, host::not_a_number<T>());
    return report;
  }
  Columns<T> x(start.view());
  const Outcome solved = factored ? system.solve(x.view()) : system.outcome();
  const bool finite = host::finite(x.view()).ok();
  report.condition = system.condition();
  if (plain) {
    report.outcome = finite || !solved.ok() ? solved : Outcome{Status::Singular, -1};  // X overflowed
    if (report.outcome.ok()) report.accuracy.bound = forward_error(executor, full, start, x, report.condition);
  } else {
    refined_solve(executor, full, start, system, options, x, report);
  }
  if (!host::finite(x.view()).ok() || (!plain && report.outcome.status == Status::Singular)) {
    if (report.outcome.ok()) report.outcome = {Status::Singular, -1};
    host::fill(x.view(), host::not_a_number<T>());
    report.accuracy.bound = kInfinity;
  }
  host::copy_part(x.view(), b);
  return report;
}

}  // namespace

#define TRN_SOLVE(T) \
  template Report solve(const Executor&, const ConstMatrix<T>&, const MatrixView<T>&, const SolveOptions&);
TRN_SOLVER_SCALARS(TRN_SOLVE)
#undef TRN_SOLVE

}  // namespace trn::solver
