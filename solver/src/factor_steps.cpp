// The entry points of the steps inside of factorisations.
#include <trn/solver/factor_steps.hpp>

#include "bounds.hpp"
#include "checks.hpp"
#include "kernels/factor_steps.hpp"
#include "scalars.hpp"

namespace trn::solver {

template <Scalar T> Report laswp(const Executor& executor, const MatrixView<T>& a, std::int64_t first,
                                 const VectorView<const std::int64_t>& pivots, Exchanges exchanges) {
  constexpr const char* operation = "solver.laswp";
  operands::check_enumerator(operation, "Exchanges", exchanges, Exchanges::Backward);
  checks::output(operation, "A", executor, a);
  checks::input(operation, "pivots", executor, pivots);
  checks::apart(operation, "A", a, "pivots", pivots);
  const std::int64_t count = pivots.size();
  require(first >= 0 && first <= a.rows() && count <= a.rows() - first,
          "{}: rows {} to {} are to be exchanged; A has {}", operation, first, first + count - 1, a.rows());
  Report report = reported<T>(a.rows(), "exchanges of rows", [&](Report&) {
    return dispatch(kLaswp<T>, executor, {a, first, pivots, exchanges});
  });
  report.accuracy.bound = 0;
  return report;
}

template <Scalar T> Report lauum(const Executor& executor, Uplo uplo, const MatrixView<T>& a) {
  constexpr const char* operation = "solver.lauum";
  checks::enumerators(operation, uplo);
  checks::output(operation, "A", executor, a);
  checks::square(operation, "A", a);
  return reported<T>(a.rows(), "triangle times adjoint", [&](Report&) {
    return dispatch(kLauum<T>, executor, {uplo, a});
  });
}

template <Scalar T> Report larft(const Executor& executor, ReflectionOrder order, ReflectionStorage storage,
                                 const ConstMatrix<T>& v, const blas::ConstVector<T>& tau, const MatrixView<T>& t) {
  constexpr const char* operation = "solver.larft";
  operands::check_enumerator(operation, "ReflectionOrder", order, ReflectionOrder::Backward);
  operands::check_enumerator(operation, "ReflectionStorage", storage, ReflectionStorage::Rows);
  checks::input(operation, "V", executor, v);
  checks::input(operation, "tau", executor, tau);
  checks::output(operation, "T", executor, t);
  const bool columns = storage == ReflectionStorage::Columns;
  const std::int64_t n = columns ? v.rows() : v.columns(), k = columns ? v.columns() : v.rows();
  require(k <= n, "{}: {} reflections of {} elements; there may be at most as many as elements", operation, k, n);
  checks::size(operation, "tau", tau, k);
  checks::shape(operation, "T", t, k, k);
  checks::apart(operation, "V", v, "T", t), checks::apart(operation, "tau", tau, "T", t);
  Report report = reported<T>(n, "triangular factor of reflections", [&](Report&) {
    return dispatch(kLarft<T>, executor, {order, storage, v, tau, t});
  });
  report.accuracy.bound *= 6 * static_cast<double>(std::max<std::int64_t>(k, 1));
  return report;
}

#define TRN_FACTOR_STEPS(T)                                                                                            \
  template Report laswp<T>(const Executor&, const MatrixView<T>&, std::int64_t, const VectorView<const std::int64_t>&, \
                           Exchanges);                                                                                 \
  template Report lauum<T>(const Executor&, Uplo, const MatrixView<T>&);                                               \
  template Report larft<T>(const Executor&, ReflectionOrder, ReflectionStorage, const ConstMatrix<T>&,                 \
                           const blas::ConstVector<T>&, const MatrixView<T>&);
TRN_SOLVER_SCALARS(TRN_FACTOR_STEPS)
#undef TRN_FACTOR_STEPS

}  // namespace trn::solver
