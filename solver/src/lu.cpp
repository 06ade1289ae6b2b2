// The entry points of LU with partial pivoting, and the class made of them.
#include <trn/solver/lu.hpp>

#include "bounds.hpp"
#include "checks.hpp"
#include "copies.hpp"
#include "kernels/factorisations.hpp"
#include "norms.hpp"
#include "scalars.hpp"
#include "scaled_product.hpp"

namespace trn::solver {

namespace {

constexpr std::string_view kName = "lu";

template <class T> void check_factor(const char* operation, const Executor& executor, const MatrixView<T>& factor,
                                     const ConstPivots& pivots) {
  checks::input(operation, "the factor", executor, factor);
  checks::input(operation, "the pivot vector", executor, pivots);
  checks::square(operation, "the factor", factor);
  checks::size(operation, "the pivot vector", pivots, factor.rows());
  for (std::int64_t i = 0; executor.family() == Family::Host && i < pivots.size(); ++i) {
    const std::int64_t p = pivots.data()[i * pivots.stride()];
    require(p >= i && p < factor.rows(), "{}: pivot {} is {}; getrf's lie between {} and {}", operation, i, p, i,
            factor.rows() - 1);
  }
}

}  // namespace

template <Scalar T> Report getrf(const Executor& executor, const MatrixView<T>& a,
                                 const VectorView<std::int64_t>& pivots, const FactorOptions& options) {
  constexpr const char* operation = "solver.getrf";
  checks::output(operation, "A", executor, a);
  checks::output(operation, "the pivot vector", executor, pivots);
  checks::size(operation, "the pivot vector", pivots, std::min(a.rows(), a.columns()));
  checks::native(operation, executor, dtype_of<T>, options.precision);
  return reported<T>(pivots.size(), kName, [&](Report& report) {
    return dispatch(kGetrf<T>, executor, {a, pivots, &report});
  });
}

template <Scalar T> Report getrs(const Executor& executor, Op op, const ConstMatrix<T>& factor,
                                 const VectorView<const std::int64_t>& pivots, const MatrixView<T>& b) {
  constexpr const char* operation = "solver.getrs";
  checks::enumerators(operation, op);
  check_factor(operation, executor, factor, pivots);
  checks::output(operation, "B", executor, b);
  checks::rows(operation, "B", b, factor.rows());
  checks::apart(operation, "the factor", factor, "B", b);
  return reported<T>(3 * factor.rows(), kName, [&](Report& report) {
    return dispatch(kGetrs<T>, executor, {op, factor, pivots, b, &report});
  });
}

template <Scalar T>
Report getri(const Executor& executor, const MatrixView<T>& factor, const VectorView<const std::int64_t>& pivots) {
  check_factor("solver.getri", executor, factor, pivots);
  checks::output("solver.getri", "the factor", executor, factor);
  return reported<T>(factor.rows(), kName, [&](Report& report) {
    return dispatch(kGetri<T>, executor, {factor, pivots, &report});
  });
}

template <Scalar T>
Real<T> gecon(const Executor& executor, Norm which, const MatrixView<T>& factor, std::type_identity_t<Real<T>> norm) {
  checks::enumerators("solver.gecon", which);
  checks::input("solver.gecon", "the factor", executor, factor);
  checks::square("solver.gecon", "the factor", factor);
  require(norm >= 0, "solver.gecon: the norm of A is {}; it must be >= 0", norm);
  return dispatch(kGecon<T>, executor, ConditionArgs<T>{.factor = factor, .norm = norm, .which = which});
}

template <Scalar T> Lu<T>::Lu(const Executor& executor, const ConstMatrix<T>& a, const FactorOptions& options)
    : storage_(executor, (checks::input("solver.lu", "A", executor, a), a.columns()), a.rows()),
      pivots_(executor, {a.rows()}) {
  checks::square("solver.lu", "A", a);
  (void)kernel_of(kGetrf<T>, executor);  // before anything is read
  const MatrixView<T> own = storage_.view().transposed();
  copies::move(a, own);
  const auto set_norms = [this](const MatrixView<const T>& x) {
    norms_[0] = static_cast<Real<T>>(norm_of(x, Norm::One));
    norms_[1] = static_cast<Real<T>>(norm_of(x, Norm::Infinity));
  };
  if (executor.family() == Family::Host)
    set_norms(a);
  else
    set_norms(copies::on_host(MatrixView<const T>(a)).view());
  report_ = getrf(executor, own, VectorView<std::int64_t>(pivots_.view()), options);
}

template <Scalar T> VectorView<const std::int64_t> Lu<T>::pivots() const {
  return VectorView<std::int64_t>(pivots_.view());
}

template <Scalar T> Report Lu<T>::solve(const MatrixView<T>& b, Op op) const {
  constexpr const char* operation = "solver.lu.solve";
  checks::output(operation, "B", storage_.executor(), b);
  checks::rows(operation, "B", b, size());
  if (!report_.outcome.ok()) {
    copies::fill_nan(b);
    return report_;
  }
  return getrs<T>(storage_.executor(), op, factor(), pivots(), b);
}

template <Scalar T> Matrix<T> Lu<T>::inverse() const {
  Report report;
  return inverse(report);
}
template <Scalar T> Matrix<T> Lu<T>::inverse(Report& report) const {
  Matrix<T> inverse(storage_.executor(), size(), size());
  report = report_;
  if (report.outcome.ok()) {
    copies::move(factor(), inverse.view());
    report = getri(storage_.executor(), inverse.view(), pivots());
  }
  if (!report.outcome.ok()) copies::fill_nan(inverse.view());
  return inverse;
}

namespace {
template <class T>
ScaledProduct<T> signed_diagonal(const MatrixView<const T>& factor, const VectorView<const std::int64_t>& pivots) {
  ScaledProduct<T> product;
  const std::vector<T> values = copies::diagonal(factor);
  std::vector<std::int64_t> rows(values.size());
  if (!rows.empty()) {
    copy(View<const std::int64_t>(pivots), View<std::int64_t>(Executor::host(), rows.data(), {pivots.size()}));
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    product.multiply(values[i]);
    if (rows[i] != static_cast<std::int64_t>(i)) product.negate();
  }
  return product;
}
}  // namespace

template <Scalar T> T Lu<T>::determinant() const { return signed_diagonal(factor(), pivots()).value(); }
template <Scalar T> LogDeterminant<T> Lu<T>::log_determinant() const {
  if (report_.outcome.status == Status::NotFinite) return {host::not_a_number<T>(), host::not_a_number<Real<T>>()};
  return signed_diagonal(factor(), pivots()).logarithm();
}
template <Scalar T> double Lu<T>::condition(Norm which) const {
  checks::enumerators("solver.lu", which);
  if (!report_.outcome.ok()) return std::numeric_limits<double>::infinity();
  return condition_from(
      gecon(storage_.executor(), which, storage_.view().transposed(), norms_[which == Norm::One ? 0 : 1]));
}

#define TRN_LU(T)                                                                                                      \
  template Report getrf(const Executor&, const MatrixView<T>&, const VectorView<std::int64_t>&, const FactorOptions&); \
  template Report getrs(const Executor&, Op, const ConstMatrix<T>&, const VectorView<const std::int64_t>&,             \
                        const MatrixView<T>&);                                                                         \
  template Report getri(const Executor&, const MatrixView<T>&, const VectorView<const std::int64_t>&);                 \
  template Real<T> gecon(const Executor&, Norm, const MatrixView<T>&, std::type_identity_t<Real<T>>);                  \
  template class Lu<T>;
TRN_SOLVER_SCALARS(TRN_LU)
#undef TRN_LU

}  // namespace trn::solver
