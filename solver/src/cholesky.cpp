// The entry points of Cholesky's factorisation, and the class made of them.
#include <trn/solver/cholesky.hpp>

#include "bounds.hpp"
#include "checks.hpp"
#include "copies.hpp"
#include "kernels/factorisations.hpp"
#include "norms.hpp"
#include "scalars.hpp"
#include "scaled_product.hpp"

namespace trn::solver {

namespace {
constexpr std::string_view kName = "cholesky";
}

template <Scalar T>
Report potrf(const Executor& executor, Uplo uplo, const MatrixView<T>& a, const FactorOptions& options) {
  checks::enumerators("solver.potrf", uplo);
  checks::output("solver.potrf", "A", executor, a);
  checks::square("solver.potrf", "A", a);
  checks::native("solver.potrf", executor, dtype_of<T>, options.precision);
  return reported<T>(a.rows(), kName, [&](Report& report) {
    return dispatch(kPotrf<T>, executor, {uplo, a, &report});
  });
}

template <Scalar T>
Report potrs(const Executor& executor, Uplo uplo, const ConstMatrix<T>& factor, const MatrixView<T>& b) {
  constexpr const char* operation = "solver.potrs";
  checks::enumerators(operation, uplo);
  checks::input(operation, "the factor", executor, factor);
  checks::output(operation, "B", executor, b);
  checks::square(operation, "the factor", factor);
  checks::rows(operation, "B", b, factor.rows());
  checks::apart(operation, "the factor", factor, "B", b);
  return reported<T>(3 * factor.rows(), kName, [&](Report& report) {
    return dispatch(kPotrs<T>, executor, {uplo, factor, b, &report});
  });
}

template <Scalar T> Report potri(const Executor& executor, Uplo uplo, const MatrixView<T>& factor) {
  checks::enumerators("solver.potri", uplo);
  checks::output("solver.potri", "the factor", executor, factor);
  checks::square("solver.potri", "the factor", factor);
  return reported<T>(factor.rows(), kName, [&](Report& report) {
    return dispatch(kPotri<T>, executor, {uplo, factor, &report});
  });
}

template <Scalar T>
Real<T> pocon(const Executor& executor, Uplo uplo, const MatrixView<T>& factor, std::type_identity_t<Real<T>> norm) {
  checks::enumerators("solver.pocon", uplo);
  checks::input("solver.pocon", "the factor", executor, factor);
  checks::square("solver.pocon", "the factor", factor);
  require(norm >= 0, "solver.pocon: the norm of A is {}; it must be >= 0", norm);
  return dispatch(kPocon<T>, executor, ConditionArgs<T>{.factor = factor, .norm = norm, .uplo = uplo});
}

template <Scalar T>
Cholesky<T>::Cholesky(const Executor& executor, Uplo uplo, const ConstMatrix<T>& a, const FactorOptions& options)
    : factor_(executor, (checks::input("solver.cholesky", "A", executor, a), a.rows()), a.columns()), uplo_(uplo) {
  checks::enumerators("solver.cholesky", uplo);
  checks::square("solver.cholesky", "A", a);
  (void)kernel_of(kPotrf<T>, executor);  // before anything is read
  if (executor.family() == Family::Host) norm_ = static_cast<Real<T>>(symmetric_norm_of(a, uplo));
  dispatch(kCopyTriangle<T>, executor, {uplo, a, factor_.view()});
  report_ = potrf(executor, uplo, factor_.view(), options);
}

template <Scalar T> Report Cholesky<T>::solve(const MatrixView<T>& b) const {
  constexpr const char* operation = "solver.cholesky.solve";
  checks::output(operation, "B", factor_.executor(), b);
  checks::rows(operation, "B", b, size());
  if (!report_.outcome.ok()) {
    copies::fill_nan(b);
    return report_;
  }
  return potrs<T>(factor_.executor(), uplo_, factor_.view(), b);
}

template <Scalar T> Matrix<T> Cholesky<T>::inverse() const {
  Report report;
  return inverse(report);
}
template <Scalar T> Matrix<T> Cholesky<T>::inverse(Report& report) const {
  const Executor& executor = factor_.executor();
  Matrix<T> inverse = factor_.to(executor);
  report = report_.outcome.ok() ? potri(executor, uplo_, inverse.view()) : report_;
  if (!report.outcome.ok()) {
    copies::fill_nan(inverse.view());
  } else {
    dispatch(kMirror<T>, executor, {uplo_, inverse.view()});
  }
  return inverse;
}

namespace {
template <class T> ScaledProduct<T> squared_diagonal(const MatrixView<const T>& factor) {
  ScaledProduct<T> product;
  for (const T& x : copies::diagonal(factor)) {
    product.multiply(x);
    product.multiply(x);
  }
  return product;
}
}  // namespace

template <Scalar T> T Cholesky<T>::determinant() const {
  return report_.outcome.ok() ? squared_diagonal(factor()).value() : host::not_a_number<T>();
}
template <Scalar T> LogDeterminant<T> Cholesky<T>::log_determinant() const {
  if (!report_.outcome.ok()) return {host::not_a_number<T>(), host::not_a_number<Real<T>>()};
  return squared_diagonal(factor()).logarithm();
}
template <Scalar T> double Cholesky<T>::condition() const {
  if (!report_.outcome.ok()) return std::numeric_limits<double>::infinity();
  const Real<T> norm = dispatch(kFactoredNorm<T>, factor_.executor(),
                                ConditionArgs<T>{.factor = factor_.view(), .norm = norm_, .uplo = uplo_});
  return condition_from(pocon(factor_.executor(), uplo_, factor_.view(), norm));
}

#define TRN_CHOLESKY(T)                                                                               \
  template Report potrf(const Executor&, Uplo, const MatrixView<T>&, const FactorOptions&);           \
  template Report potrs(const Executor&, Uplo, const ConstMatrix<T>&, const MatrixView<T>&);          \
  template Report potri(const Executor&, Uplo, const MatrixView<T>&);                                 \
  template Real<T> pocon(const Executor&, Uplo, const MatrixView<T>&, std::type_identity_t<Real<T>>); \
  template class Cholesky<T>;
TRN_SOLVER_SCALARS(TRN_CHOLESKY)
#undef TRN_CHOLESKY

}  // namespace trn::solver
