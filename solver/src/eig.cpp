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

#define TRN_EIG(T)                                                                                             \
  template Report detail::eig<T>(const Executor&, const MatrixView<const T>&, const VectorView<ComplexOf<T>>&, \
                                 const EigVectors<T>&);                                                        \
  template Report schur(const Executor&, const MatrixView<T>&, const VectorView<ComplexOf<T>>&,                \
                        const std::optional<std::type_identity_t<MatrixView<T>>>&);
TRN_SOLVER_SCALARS(TRN_EIG)
#undef TRN_EIG

}  // namespace trn::solver
