// The entry points of the singular value decomposition.
#include <trn/solver/svd.hpp>

#include "bounds.hpp"
#include "certify/spectra.hpp"
#include "checks.hpp"
#include "copies.hpp"
#include "kernels/drivers.hpp"
#include "scalars.hpp"

namespace trn::solver {

namespace {

constexpr const char* kOperation = "solver.svd";

// What is said of the host's kernel, then what a device's says.
template <class T> SvdReport run(const Executor& executor, const MatrixView<const T>& a, const VectorView<Real<T>>& s,
                                 const MatrixView<T>* u, const MatrixView<T>* vh) {
  SvdReport report;
  report.algorithm = "divide and conquer";
  report.accuracy.bound = 2 * static_cast<double>(std::max(a.rows(), a.columns())) * unit_roundoff_of<T>();
  report.outcome = dispatch(kSvd<T>, executor, {a, s, u, vh, &report});
  if (!report.outcome.ok()) report.accuracy.bound = std::numeric_limits<double>::infinity();
  return report;
}
// In host memory: the view itself, or a copy that `kept` holds.
template <class T> MatrixView<T> seen(const MatrixView<T>& a, Matrix<std::remove_const_t<T>>& kept) {
  if (a.executor().family() == Family::Host) return a;
  kept = copies::on_host(a);
  return kept.view();
}

template <class D> host::Columns<D> adjoint(const host::Columns<D>& a) {
  host::Columns<D> t(a.columns(), a.rows());
  for (std::int64_t j = 0; j < a.columns(); ++j) {
    for (std::int64_t i = 0; i < a.rows(); ++i) {
      if constexpr (blas::ComplexScalar<D>) {
        t(j, i) = std::conj(a(i, j));
      } else {
        t(j, i) = a(i, j);
      }
    }
  }
  return t;
}

// The proof takes A with at least as many rows as columns; A^H = V S U^H otherwise. Its operands are the host's, its
// products the executor's.
template <class T> void prove(const Executor& executor, const MatrixView<const T>& given, const VectorView<Real<T>>& s,
                              const MatrixView<T>& given_u, const MatrixView<T>& given_vh, SvdReport& report) {
  using D = certify::WideOf<T>;
  const std::int64_t m = given.rows(), n = given.columns(), k = std::min(m, n);
  Matrix<T> kept_a(Executor::host(), 0, 0), kept_u(Executor::host(), 0, 0), kept_vh(Executor::host(), 0, 0);
  const MatrixView<const T> a = seen(given, kept_a), u = seen(MatrixView<const T>(given_u), kept_u),
                            vh = seen(MatrixView<const T>(given_vh), kept_vh);
  Matrix<Real<T>> found(Executor::host(), k, 1);
  copies::move(MatrixView<Real<T>>(s.executor(), s.data(), k, 1, s.stride(), 1), found.view());
  std::vector<double> values;
  for (std::int64_t i = 0; i < k; ++i) values.push_back(static_cast<double>(found.data()[i]));
  const host::Columns<D> wide(a), left(u.block(0, 0, m, k)), right = adjoint(host::Columns<D>(vh.block(0, 0, k, n)));
  report.error_bounds = m >= n ? certify::singular_value_bounds(executor, wide, left, values, right)
                               : certify::singular_value_bounds(executor, adjoint(wide), right, values, left);
  report.guarantee = Guarantee::Rigorous;
  report.accuracy.bound = certify::relative_to_largest(report.error_bounds, values);
}

}  // namespace

template <Scalar T> SvdReport svd(const Executor& executor, const ConstMatrix<T>& a, const VectorView<Real<T>>& s,
                                  const MatrixView<T>& u, const MatrixView<T>& vh, const SvdOptions& options) {
  const std::int64_t m = a.rows(), n = a.columns(), k = std::min(m, n);
  checks::enumerators(kOperation, options.certify);
  checks::input(kOperation, "A", executor, a);
  checks::output(kOperation, "s", executor, s);
  checks::output(kOperation, "U", executor, u);
  checks::output(kOperation, "V^H", executor, vh);
  checks::size(kOperation, "s", s, k);
  const bool thin = u.rows() == m && u.columns() == k && vh.rows() == k && vh.columns() == n;
  const bool full = u.rows() == m && u.columns() == m && vh.rows() == n && vh.columns() == n;
  require(thin || full,
          "{}: A is {} x {}, U {} x {}, V^H {} x {}; they must be {} x {} and {} x {} (thin) or {} x {} and {} x {} "
          "(full)",
          kOperation, m, n, u.rows(), u.columns(), vh.rows(), vh.columns(), m, k, k, n, m, m, n, n);
  checks::apart(kOperation, "A", a, "s", s);
  checks::apart(kOperation, "A", a, "U", u);
  checks::apart(kOperation, "A", a, "V^H", vh);
  checks::apart(kOperation, "U", u, "V^H", vh);
  checks::apart(kOperation, "U", u, "s", s);
  checks::apart(kOperation, "V^H", vh, "s", s);
  SvdReport report = run<T>(executor, a, s, &u, &vh);
  if (options.certify == Certify::Rigorous && report.outcome.ok()) prove<T>(executor, a, s, u, vh, report);
  return report;
}

template <Scalar T>
Report detail::singular_values(const Executor& executor, const MatrixView<const T>& a, const VectorView<Real<T>>& s) {
  checks::input(kOperation, "A", executor, a);
  checks::output(kOperation, "s", executor, s);
  checks::size(kOperation, "s", s, std::min(a.rows(), a.columns()));
  checks::apart(kOperation, "A", a, "s", s);
  return run<T>(executor, a, s, nullptr, nullptr);
}

#define TRN_SVD(T)                                                                                                 \
  template SvdReport svd(const Executor&, const ConstMatrix<T>&, const VectorView<Real<T>>&, const MatrixView<T>&, \
                         const MatrixView<T>&, const SvdOptions&);                                                 \
  template Report detail::singular_values<T>(const Executor&, const MatrixView<const T>&, const VectorView<Real<T>>&);
TRN_SOLVER_SCALARS(TRN_SVD)
#undef TRN_SVD

}  // namespace trn::solver
