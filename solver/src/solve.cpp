// The entry point of solve: factor, solve, and an estimate of the error from an exact residual.
#include <trn/solver/solve.hpp>

#include <trn/blas/gemm.hpp>

#include "bounds.hpp"
#include "checks.hpp"
#include "kernels/factorisations.hpp"
#include "norms.hpp"
#include "scalars.hpp"
#include "system.hpp"

namespace trn::solver {

namespace {

constexpr const char* kOperation = "solver.solve";

// max over columns of ||A^-1|| ||b - A x|| / ||x||, all norms the infinity norm, ||A^-1|| = condition / ||A||. The
// residual is exact up to one rounding and what scaling dropped; the radius counts both.
template <class T> double forward_error(const Executor& executor, const host::Columns<T>& a, const host::Columns<T>& b,
                                        const host::Columns<T>& x, double condition) {
  host::Columns<T> r(b.view());
  host::Columns<double> radius(b.rows(), b.columns());
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

}  // namespace

template <Scalar T>
Report solve(const Executor& executor, const ConstMatrix<T>& a, const MatrixView<T>& b, const SolveOptions& options) {
  checks::input(kOperation, "A", executor, a);
  checks::output(kOperation, "B", executor, b);
  checks::square(kOperation, "A", a);
  checks::rows(kOperation, "B", b, a.rows());
  checks::apart(kOperation, "A", a.data(), "B", b.data());
  require(options.factor != Factor::Cholesky || options.structure == Structure::Positive,
          "{}: Factor::Cholesky needs Structure::Positive; take Auto, Lu or Qr", kOperation);
  (void)kernel_of(kGetrf<T>, executor);  // before anything is read
  Report report;
  report.accuracy.bound = std::numeric_limits<double>::infinity();
  report.outcome = finite_elements(a, options);
  if (report.outcome.ok()) report.outcome = host::finite(b);
  if (!report.outcome.ok()) {
    host::fill(b, host::not_a_number<T>());
    return report;
  }
  const host::Columns<T> full = written_out(a, options), start(b);
  const System<T> system(executor, full, options);
  report.outcome = system.outcome();
  report.algorithm = system.algorithm();
  host::Columns<T> x(start.view());
  if (report.outcome.ok()) report.outcome = system.solve(x.view());
  if (report.outcome.status == Status::NotFinite || !host::finite(x.view()).ok()) {
    if (report.outcome.ok()) report.outcome = {Status::Singular, -1};  // X overflowed
    host::fill(x.view(), host::not_a_number<T>());
  }
  if (report.outcome.ok()) {
    report.condition = system.condition();
    report.accuracy.bound = forward_error(executor, full, start, x, report.condition);
  }
  // A factorisation that failed left X as it was.
  if (!system.outcome().ok()) host::fill(x.view(), host::not_a_number<T>());
  host::copy_part(x.view(), b);
  return report;
}

#define TRN_SOLVE(T) \
  template Report solve(const Executor&, const ConstMatrix<T>&, const MatrixView<T>&, const SolveOptions&);
TRN_SOLVER_SCALARS(TRN_SOLVE)
#undef TRN_SOLVE

}  // namespace trn::solver
