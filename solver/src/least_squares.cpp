// The entry point of least squares.
#include <trn/solver/least_squares.hpp>

#include "bounds.hpp"
#include "checks.hpp"
#include "kernels/drivers.hpp"
#include "scalars.hpp"

namespace trn::solver {

template <Scalar T> LeastSquaresReport<T> lstsq(const Executor& executor, const ConstMatrix<T>& a,
                                                const ConstMatrix<T>& b, const MatrixView<T>& x,
                                                const LeastSquaresOptions& options) {
  constexpr const char* operation = "solver.lstsq";
  operands::check_enumerator(operation, "LeastSquaresMethod", options.method, LeastSquaresMethod::Qr);
  checks::input(operation, "A", executor, a);
  checks::input(operation, "B", executor, b);
  checks::output(operation, "X", executor, x);
  checks::rows(operation, "B", b, a.rows());
  checks::shape(operation, "X", x, a.columns(), b.columns());
  checks::apart(operation, "A", a, "X", x);
  require(options.rank_tolerance < 1, "{}: the rank tolerance is {}; it must be below 1, negative for the default",
          operation, options.rank_tolerance);
  LeastSquaresReport<T> report;
  const Outcome outcome = dispatch(kLstsq<T>, executor, {a, b, x, options, &report});
  static_cast<Report&>(report) =
      report_of<T>(outcome, std::max(a.rows(), a.columns()), options.method == LeastSquaresMethod::Svd ? "svd" : "qr");
  if (executor.family() == Family::Device && sizeof(Real<T>) == sizeof(double)) report.accuracy.mode = Mode::Exact;
  return report;
}

#define TRN_LSTSQ(T)                                                                                  \
  template LeastSquaresReport<T> lstsq(const Executor&, const ConstMatrix<T>&, const ConstMatrix<T>&, \
                                       const MatrixView<T>&, const LeastSquaresOptions&);
TRN_SOLVER_SCALARS(TRN_LSTSQ)
#undef TRN_LSTSQ

}  // namespace trn::solver
