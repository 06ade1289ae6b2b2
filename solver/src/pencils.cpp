// The entry points of general eigenproblems of two matrices.
#include <trn/solver/pencils.hpp>

#include "bounds.hpp"
#include "checks.hpp"
#include "kernels/drivers.hpp"
#include "scalars.hpp"

namespace trn::solver {

namespace {

// Every operand that is written: its name, its place, and that it lies apart from those before it.
class Outputs {
 public:
  Outputs(const char* operation, const Executor& executor, std::int64_t n)
      : operation_(operation), executor_(executor), n_(n) {}
  template <class T> void input(const char* name, const MatrixView<T>& x) {
    checks::input(operation_, name, executor_, x);
    checks::square(operation_, name, x);
    checks::shape(operation_, name, x, n_, n_);
    there_.emplace_back(name, checks::extent(x));
  }
  template <class T> void matrix(const char* name, const MatrixView<T>& x) {
    checks::output(operation_, name, executor_, x);
    checks::shape(operation_, name, x, n_, n_);
    add(name, checks::extent(x));
  }
  template <class T> void vector(const char* name, const VectorView<T>& x) {
    checks::output(operation_, name, executor_, x);
    checks::size(operation_, name, x, n_);
    add(name, checks::extent(x));
  }

 private:
  void add(const char* name, const checks::Extent& x) {
    for (const auto& [other, extent] : there_) checks::apart(operation_, other, extent.region(), name, x.region());
    there_.emplace_back(name, x);
  }

  const char* operation_;
  const Executor& executor_;
  std::int64_t n_;
  std::vector<std::pair<const char*, checks::Extent>> there_;
};

template <class T> Report pencil_report(const Outcome& outcome, std::int64_t n) {
  Report report;
  report.outcome = outcome;
  report.algorithm = "qz iteration";
  report.accuracy.bound =
      outcome.ok() ? 2 * static_cast<double>(n) * unit_roundoff_of<T>() : std::numeric_limits<double>::infinity();
  return report;
}

}  // namespace

template <Scalar T> Report detail::eig_generalized(const Executor& executor, const MatrixView<const T>& a,
                                                   const MatrixView<const T>& b, const VectorView<ComplexOf<T>>& alpha,
                                                   const VectorView<Real<T>>& beta, const EigVectors<T>& vectors) {
  Outputs all("solver.eig_generalized", executor, a.rows());
  all.input("A", a), all.input("B", b);
  all.vector("alpha", alpha), all.vector("beta", beta);
  if (vectors.right) all.matrix("the right vectors", *vectors.right);
  if (vectors.left) all.matrix("the left vectors", *vectors.left);
  return pencil_report<T>(dispatch(kEigGeneralized<T>, executor, {a, b, alpha, beta, vectors}), a.rows());
}

template <Scalar T> Report schur_generalized(const Executor& executor, const MatrixView<T>& a, const MatrixView<T>& b,
                                             const VectorView<ComplexOf<T>>& alpha, const VectorView<Real<T>>& beta,
                                             const SchurVectors<std::type_identity_t<T>>& vectors) {
  constexpr const char* operation = "solver.schur_generalized";
  Outputs all(operation, executor, a.rows());
  checks::input(operation, "A", executor, a);
  checks::square(operation, "A", a);
  all.matrix("A", a), all.matrix("B", b);
  all.vector("alpha", alpha), all.vector("beta", beta);
  if (vectors.q) all.matrix("Q", *vectors.q);
  if (vectors.z) all.matrix("Z", *vectors.z);
  return pencil_report<T>(dispatch(kSchurGeneralized<T>, executor, {a, b, alpha, beta, vectors}), a.rows());
}

#define TRN_PENCILS(T)                                                                                                \
  template Report detail::eig_generalized<T>(const Executor&, const MatrixView<const T>&, const MatrixView<const T>&, \
                                             const VectorView<ComplexOf<T>>&, const VectorView<Real<T>>&,             \
                                             const EigVectors<T>&);                                                   \
  template Report schur_generalized(const Executor&, const MatrixView<T>&, const MatrixView<T>&,                      \
                                    const VectorView<ComplexOf<T>>&, const VectorView<Real<T>>&,                      \
                                    const SchurVectors<std::type_identity_t<T>>&);
TRN_SOLVER_SCALARS(TRN_PENCILS)
#undef TRN_PENCILS

}  // namespace trn::solver
