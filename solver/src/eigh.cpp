// The entry points of Hermitian eigenproblems.
#include <trn/solver/eigh.hpp>

#include "bounds.hpp"
#include "certify/spectra.hpp"
#include "checks.hpp"
#include "copies.hpp"
#include "kernels/drivers.hpp"
#include "scalars.hpp"
#include "system.hpp"

namespace trn::solver {

namespace {

template <class T> EighReport eigh_report(Outcome outcome, std::int64_t n, std::string_view algorithm) {
  EighReport report;
  report.outcome = outcome;
  report.algorithm = algorithm;
  report.accuracy.bound =
      outcome.ok() ? 2 * static_cast<double>(n) * unit_roundoff_of<T>() : std::numeric_limits<double>::infinity();
  return report;
}

// eigh of the whole spectrum, then the proof; A receives the vectors when they are asked for. The proof's operands are
// the host's, its products the executor's.
template <class T> EighReport proved_eigh(const Executor& executor, const MatrixView<T>& a,
                                          const VectorView<Real<T>>& w, const EighOptions& options) {
  (void)kernel_of(kEigh<T>, executor);  // before anything is read
  const bool here = executor.family() == Family::Host;
  const Matrix<T> copied(here ? Matrix<T>(Executor::host(), 0, 0) : copies::on_host(a));
  const MatrixView<T> seen = here ? a : copied.view();
  const SolveOptions triangle{.structure = Structure::Hermitian, .uplo = options.uplo};
  const Outcome looked = finite_elements<T>(seen, triangle);  // names the place in the triangle that was given
  if (!looked.ok()) {
    EighOptions plain = options;
    plain.certify = Certify::Estimate;
    return eigh(executor, a, w, plain);
  }
  const host::Columns<T> full = written_out<T>(seen, triangle);
  host::Columns<T> v(full.view());
  EighReport report;
  if (here) {
    report = eigh(executor, v.view(), w, {.uplo = options.uplo});
    if (options.vectors == Vectors::Yes) host::copy_part(v.view(), a);
  } else {
    const Matrix<T> there = copies::on(executor, v.view());
    report = eigh(executor, there.view(), w, {.uplo = options.uplo});
    if (options.vectors == Vectors::Yes) copies::move(there.view(), a);
    copies::move(there.view(), v.view());
  }
  if (!report.outcome.ok()) return report;
  using D = certify::WideOf<T>;
  Matrix<Real<T>> found(Executor::host(), w.size(), 1);
  copies::move(MatrixView<Real<T>>(executor, w.data(), w.size(), 1, w.stride(), 1), found.view());
  std::vector<double> values;
  for (std::int64_t i = 0; i < w.size(); ++i) values.push_back(static_cast<double>(found.data()[i]));
  report.error_bounds =
      certify::eigenvalue_bounds(executor, host::Columns<D>(full.view()), host::Columns<D>(v.view()), values);
  report.guarantee = Guarantee::Rigorous;
  report.accuracy.bound = certify::relative_to_largest(report.error_bounds, values);
  return report;
}

}  // namespace

template <Scalar T> EighReport eigh(const Executor& executor, const MatrixView<T>& a, const VectorView<Real<T>>& w,
                                    const EighOptions& options) {
  constexpr const char* operation = "solver.eigh";
  checks::enumerators(operation, options.uplo, options.certify);
  operands::check_enumerator(operation, "Vectors", options.vectors, Vectors::No);
  operands::check_enumerator(operation, "Range::Kind", options.range.kind, Range::Kind::Indices);
  checks::output(operation, "A", executor, a);
  checks::output(operation, "w", executor, w);
  checks::square(operation, "A", a);
  checks::size(operation, "w", w, a.rows());
  checks::apart(operation, "A", a, "w", w);
  const Range& range = options.range;
  require(
      range.kind != Range::Kind::Indices || (range.first >= 0 && range.first <= range.last && range.last <= a.rows()),
      "{}: indices {} to {} of {} eigenvalues; 0 <= first <= last <= n must hold", operation, range.first, range.last,
      a.rows());
  require(range.kind != Range::Kind::Values || range.lo <= range.hi, "{}: values in ({}, {}]; lo <= hi must hold",
          operation, range.lo, range.hi);
  if (options.certify == Certify::Rigorous) {
    require(range.kind == Range::Kind::All, "{}: Certify::Rigorous proves whole spectra; ask for Range::all()",
            operation);
    return proved_eigh(executor, a, w, options);
  }
  std::int64_t found = 0;
  EighReport report = eigh_report<T>(
      {}, a.rows(), range.kind == Range::Kind::All ? "divide and conquer" : "relatively robust representations");
  report.outcome = dispatch(kEigh<T>, executor, {a, w, options, &found, &report});
  if (!report.outcome.ok()) report.accuracy.bound = std::numeric_limits<double>::infinity();
  report.found = found;
  return report;
}

template <Scalar T> EighReport eigh_generalized(const Executor& executor, const MatrixView<T>& a,
                                                const ConstMatrix<T>& b, const VectorView<Real<T>>& w,
                                                const GeneralizedOptions& options) {
  constexpr const char* operation = "solver.eigh_generalized";
  checks::enumerators(operation, options.uplo);
  operands::check_enumerator(operation, "Vectors", options.vectors, Vectors::No);
  operands::check_enumerator(operation, "GeneralizedForm", options.form, GeneralizedForm::BAxIsXLambda);
  checks::output(operation, "A", executor, a);
  checks::input(operation, "B", executor, b);
  checks::output(operation, "w", executor, w);
  checks::square(operation, "A", a);
  checks::shape(operation, "B", b, a.rows(), a.rows());
  checks::size(operation, "w", w, a.rows());
  checks::apart(operation, "B", b, "A", a);
  checks::apart(operation, "A", a, "w", w);
  checks::apart(operation, "B", b, "w", w);
  EighReport report = eigh_report<T>({}, a.rows(), "cholesky, divide and conquer");
  report.outcome = dispatch(kSygvd<T>, executor, {a, b, w, options, &report});
  if (!report.outcome.ok()) report.accuracy.bound = std::numeric_limits<double>::infinity();
  report.found = report.outcome.ok() ? a.rows() : 0;
  return report;
}

#define TRN_EIGH(T)                                                                                                \
  template EighReport eigh(const Executor&, const MatrixView<T>&, const VectorView<Real<T>>&, const EighOptions&); \
  template EighReport eigh_generalized(const Executor&, const MatrixView<T>&, const ConstMatrix<T>&,               \
                                       const VectorView<Real<T>>&, const GeneralizedOptions&);
TRN_SOLVER_SCALARS(TRN_EIGH)
#undef TRN_EIGH

}  // namespace trn::solver
