// The entry points of general eigenproblems.
#include <trn/solver/eig.hpp>

#include "bounds.hpp"
#include "checks.hpp"
#include "kernels/drivers.hpp"
#include "scalars.hpp"

namespace trn::solver {

namespace {

template <class T> Report eig_report(Outcome outcome, std::int64_t n) {
  Report report;
  report.outcome = outcome;
  report.algorithm = "qr iteration";
  report.accuracy.bound =
      outcome.ok() ? 2 * static_cast<double>(n) * unit_roundoff_of<T>() : std::numeric_limits<double>::infinity();
  return report;
}

}  // namespace

template <Scalar T> Report detail::eig(const Executor& executor, const MatrixView<const T>& a,
                                       const VectorView<ComplexOf<T>>& w, const EigVectors<T>& vectors) {
  constexpr const char* operation = "solver.eig";
  const std::int64_t n = a.rows();
  checks::input(operation, "A", executor, a);
  checks::output(operation, "w", executor, w);
  checks::square(operation, "A", a);
  checks::size(operation, "w", w, n);
  checks::apart(operation, "A", a, "w", w);
  for (const auto* v : {&vectors.right, &vectors.left}) {
    if (!*v) continue;
    const char* name = v == &vectors.right ? "the right vectors" : "the left vectors";
    checks::output(operation, name, executor, **v);
    checks::shape(operation, name, **v, n, n);
    checks::apart(operation, "A", a, name, **v);
    checks::apart(operation, "w", w, name, **v);
  }
  if (vectors.right && vectors.left) {
    checks::apart(operation, "the right vectors", *vectors.right, "the left vectors", *vectors.left);
  }
  return eig_report<T>(dispatch(kEig<T>, executor, {a, w, vectors}), n);
}

template <Scalar T> Report schur(const Executor& executor, const MatrixView<T>& a, const VectorView<ComplexOf<T>>& w,
                                 const std::optional<std::type_identity_t<MatrixView<T>>>& z) {
  constexpr const char* operation = "solver.schur";
  checks::output(operation, "A", executor, a);
  checks::output(operation, "w", executor, w);
  checks::square(operation, "A", a);
  checks::size(operation, "w", w, a.rows());
  checks::apart(operation, "A", a, "w", w);
  if (z) {
    checks::output(operation, "Z", executor, *z);
    checks::shape(operation, "Z", *z, a.rows(), a.rows());
    checks::apart(operation, "A", a, "Z", *z);
    checks::apart(operation, "w", w, "Z", *z);
  }
  return eig_report<T>(dispatch(kSchur<T>, executor, {a, w, z}), a.rows());
}

template <Scalar T> EigConditionsReport detail::eig_conditions(const Executor& executor, const MatrixView<const T>& a,
                                                               const VectorView<ComplexOf<T>>& w,
                                                               const MatrixView<ComplexOf<T>>& right,
                                                               const MatrixView<ComplexOf<T>>& left,
                                                               const EigConditions<T>& conditions, Balance balance) {
  constexpr const char* operation = "solver.eig_conditions";
  const std::int64_t n = a.rows();
  operands::check_enumerator(operation, "Balance", balance, Balance::Both);
  checks::input(operation, "A", executor, a);
  checks::square(operation, "A", a);
  const auto vector = [&](const char* name, const auto& x) {
    checks::output(operation, name, executor, x);
    checks::size(operation, name, x, n);
    checks::apart(operation, "A", a, name, x);
  };
  const auto matrix = [&](const char* name, const auto& x) {
    checks::output(operation, name, executor, x);
    checks::shape(operation, name, x, n, n);
    checks::apart(operation, "A", a, name, x);
  };
  vector("w", w), vector("the eigenvalues' conditions", conditions.eigenvalues);
  vector("the vectors' conditions", conditions.vectors);
  matrix("the right vectors", right), matrix("the left vectors", left);
  const auto apart = [&](const char* x_name, const auto& x, const char* y_name, const auto& y) {
    checks::apart(operation, x_name, x, y_name, y);
  };
  apart("the right vectors", right, "the left vectors", left), apart("w", w, "the right vectors", right);
  apart("w", w, "the left vectors", left);
  for (const auto& c : {conditions.eigenvalues, conditions.vectors}) {
    apart("the conditions", c, "w", w), apart("the conditions", c, "the right vectors", right);
    apart("the conditions", c, "the left vectors", left);
  }
  apart("the eigenvalues' conditions", conditions.eigenvalues, "the vectors' conditions", conditions.vectors);
  EigConditionsReport report;
  const Outcome outcome = dispatch(kEigConditions<T>, executor, {a, w, right, left, conditions, balance, &report});
  static_cast<Report&>(report) = eig_report<T>(outcome, n);
  return report;
}

template <Scalar T> Report schur_vectors(const Executor& executor, const ConstMatrix<T>& t,
                                         const EigVectors<T>& vectors,
                                         const std::optional<std::type_identity_t<MatrixView<const T>>>& z) {
  constexpr const char* operation = "solver.schur_vectors";
  const std::int64_t n = t.rows();
  checks::input(operation, "T", executor, t);
  checks::square(operation, "T", t);
  if (z) {
    checks::input(operation, "Z", executor, *z);
    checks::shape(operation, "Z", *z, n, n);
  }
  for (const auto* v : {&vectors.right, &vectors.left}) {
    if (!*v) continue;
    const char* name = v == &vectors.right ? "the right vectors" : "the left vectors";
    checks::output(operation, name, executor, **v);
    checks::shape(operation, name, **v, n, n);
    checks::apart(operation, "T", t, name, **v);
    if (z) checks::apart(operation, "Z", *z, name, **v);
  }
  if (vectors.right && vectors.left) {
    checks::apart(operation, "the right vectors", *vectors.right, "the left vectors", *vectors.left);
  }
  Report report = eig_report<T>(dispatch(kSchurVectors<T>, executor, {t, vectors, z}), n);
  report.algorithm = "back substitution";
  return report;
}

#define TRN_EIG(T)                                                                                                   \
  template Report detail::eig<T>(const Executor&, const MatrixView<const T>&, const VectorView<ComplexOf<T>>&,       \
                                 const EigVectors<T>&);                                                              \
  template Report schur(const Executor&, const MatrixView<T>&, const VectorView<ComplexOf<T>>&,                      \
                        const std::optional<std::type_identity_t<MatrixView<T>>>&);                                  \
  template EigConditionsReport detail::eig_conditions<T>(                                                            \
      const Executor&, const MatrixView<const T>&, const VectorView<ComplexOf<T>>&, const MatrixView<ComplexOf<T>>&, \
      const MatrixView<ComplexOf<T>>&, const EigConditions<T>&, Balance);                                            \
  template Report schur_vectors(const Executor&, const ConstMatrix<T>&, const EigVectors<T>&,                        \
                                const std::optional<std::type_identity_t<MatrixView<const T>>>&);
TRN_SOLVER_SCALARS(TRN_EIG)
#undef TRN_EIG

}  // namespace trn::solver
