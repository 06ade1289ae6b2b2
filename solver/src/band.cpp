// The entry points of band and tridiagonal systems.
#include <trn/solver/band.hpp>

#include "bounds.hpp"
#include "checks.hpp"
#include "kernels/drivers.hpp"
#include "scalars.hpp"

namespace trn::solver {

namespace {

template <class T> void check_band(const char* operation, const Executor& executor, const blas::BandView<const T>& a,
                                   const MatrixView<T>& b) {
  operands::check_enumerator(operation, "Layout", a.layout(), blas::Layout::RowMajor);
  checks::executor_of(operation, "A", executor, a.executor());
  checks::countable(operation, "A", a.rows(), a.columns());
  checks::countable(operation, "A's band", 2 * a.kl() + a.ku() + 1, a.ld());
  checks::address_of(operation, "A", a.data(), a.rows() == 0);
  require(a.rows() == a.columns(), "{}: A is {} x {}; it must be square", operation, a.rows(), a.columns());
  checks::output(operation, "B", executor, b);
  checks::rows(operation, "B", b, a.rows());
  const checks::Extent band{a.data(), sizeof(T), {{a.kl() + a.ku() + 1, 1}, {a.rows(), a.ld()}}};
  checks::apart(operation, "A", band.region(), "B", checks::extent(b).region());
}

}  // namespace

template <Scalar T> Report gbsv(const Executor& executor, const ConstBand<T>& a, const MatrixView<T>& b) {
  check_band("solver.gbsv", executor, a, b);
  return report_of<T>(dispatch(kGbsv<T>, executor, {a, b}), 3 * (2 * a.kl() + a.ku() + 1), "band lu");
}

template <Scalar T> Report pbsv(const Executor& executor, const ConstBand<T>& a, const MatrixView<T>& b) {
  check_band("solver.pbsv", executor, a, b);
  require(a.kl() == 0 || a.ku() == 0,
          "solver.pbsv: A has {} lower and {} upper diagonals; one triangle is stored, so one of them must be 0",
          a.kl(), a.ku());
  return report_of<T>(dispatch(kPbsv<T>, executor, {a, b}), 3 * (a.kl() + a.ku() + 1), "band cholesky");
}

template <Scalar T> Report gtsv(const Executor& executor, const ConstVector<T>& lower, const ConstVector<T>& diagonal,
                                const ConstVector<T>& upper, const MatrixView<T>& b) {
  constexpr const char* operation = "solver.gtsv";
  const std::int64_t n = diagonal.size(), off = std::max<std::int64_t>(n - 1, 0);
  checks::input(operation, "the lower diagonal", executor, lower);
  checks::input(operation, "the diagonal", executor, diagonal);
  checks::input(operation, "the upper diagonal", executor, upper);
  checks::output(operation, "B", executor, b);
  checks::size(operation, "the lower diagonal", lower, off);
  checks::size(operation, "the upper diagonal", upper, off);
  checks::rows(operation, "B", b, n);
  return report_of<T>(dispatch(kGtsv<T>, executor, {lower, diagonal, upper, b}), 12, "tridiagonal lu");
}

template <Scalar T> Report ptsv(const Executor& executor, const ConstVector<Real<T>>& diagonal,
                                const ConstVector<T>& lower, const MatrixView<T>& b) {
  constexpr const char* operation = "solver.ptsv";
  const std::int64_t n = diagonal.size();
  checks::input(operation, "the diagonal", executor, diagonal);
  checks::input(operation, "the lower diagonal", executor, lower);
  checks::output(operation, "B", executor, b);
  checks::size(operation, "the lower diagonal", lower, std::max<std::int64_t>(n - 1, 0));
  checks::rows(operation, "B", b, n);
  return report_of<T>(dispatch(kPtsv<T>, executor, {diagonal, lower, b}), 9, "tridiagonal cholesky");
}

#define TRN_BAND(T)                                                                                          \
  template Report gbsv(const Executor&, const ConstBand<T>&, const MatrixView<T>&);                          \
  template Report pbsv(const Executor&, const ConstBand<T>&, const MatrixView<T>&);                          \
  template Report gtsv(const Executor&, const ConstVector<T>&, const ConstVector<T>&, const ConstVector<T>&, \
                       const MatrixView<T>&);                                                                \
  template Report ptsv(const Executor&, const ConstVector<Real<T>>&, const ConstVector<T>&, const MatrixView<T>&);
TRN_SOLVER_SCALARS(TRN_BAND)
#undef TRN_BAND

}  // namespace trn::solver
