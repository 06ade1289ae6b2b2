// The frame of the partial eigensolvers.
#include "spectra/support.hpp"

#include <algorithm>
#include <numeric>

#include "checks.hpp"
#include "scalars.hpp"

namespace trn::solver::spectra {

template <Scalar T> Search<T> checked(const char* operation, const OperatorRef<T>& a, const VectorView<Real<T>>& w,
                                      const MatrixView<T>& v, const SpectrumOptions& options) {
  operands::check_enumerator(operation, "End", options.end, End::Largest);
  require(static_cast<bool>(a), "{}: there is no operator A; give one", operation);
  require(a.rows() == a.columns(), "{}: A is {} x {}; it must be square", operation, a.rows(), a.columns());
  checks::output(operation, "w", Executor::host(), w);
  checks::output(operation, "V", a.executor(), v);
  checks::shape(operation, "V", v, a.rows(), w.size());
  require(w.size() <= a.rows(), "{}: {} eigenvalues of a matrix of order {}; ask for at most the order", operation,
          w.size(), a.rows());
  require(options.tolerance >= 0 && options.tolerance < 1, "{}: the tolerance is {}; it must be >= 0 and below 1",
          operation, options.tolerance);
  require(options.max_iterations >= 0 && options.degree >= 1 && options.basis >= 0,
          "{}: max_iterations is {}, the degree {}, the basis {}; they must be >= 0, 1, 0", operation,
          options.max_iterations, options.degree, options.basis);
  const double root = std::sqrt(static_cast<double>(std::numeric_limits<Real<T>>::epsilon()));
  return {a,
          T(options.end == End::Smallest ? 1 : -1),
          w.size(),
          options.tolerance > 0 ? options.tolerance : root,
          options.max_iterations > 0 ? options.max_iterations : 300,
          options.seed};
}

template <Scalar T> SpectrumReport finish(Search<T>& search, std::string_view algorithm, Outcome outcome,
                                          int iterations, const MatrixView<const T>& x, const VectorView<Real<T>>& w,
                                          const MatrixView<T>& v) {
  SpectrumReport report;
  report.algorithm = algorithm;
  report.iterations = iterations;
  const std::int64_t k = search.k;
  report.found = k;
  if (k == 0) return report;
  const auto give_up = [&] {
    report.outcome = {Status::NotFinite, -1};
    report.accuracy.bound = std::numeric_limits<double>::infinity();
    report.residuals.assign(at(k), std::numeric_limits<double>::quiet_NaN());
    host::fill(w, host::not_a_number<Real<T>>());
    iterative::set_to(v, host::not_a_number<T>());
    return report;
  };
  if (outcome.status == Status::NotFinite) return give_up();
  // Rayleigh quotients and residuals of the vectors as they are.
  const Block<T> ax = search.block(k), r = search.block(k);
  search.product(x, ax);
  const iterative::Scalars<T> theta = iterative::dots<T>(x, ax);
  assign<T>(ax, r.view());
  iterative::add<T>(theta, x, r.view(), T(-1));
  const Norms rho = norms<T>(r);
  std::vector<std::int64_t> order(at(k));
  std::iota(order.begin(), order.end(), 0);
  const auto value = [&](std::int64_t j) { return std::real(search.sign * theta[at(j)]); };
  std::sort(order.begin(), order.end(), [&](std::int64_t i, std::int64_t j) { return value(i) < value(j); });
  report.outcome = outcome;
  bool all = true;
  for (std::int64_t j = 0; j < k; ++j) {
    if (!std::isfinite(rho[at(order[at(j)])])) return give_up();
    w.data()[j * w.stride()] = value(order[at(j)]);
    blas::copy(v.executor(), x.column(order[at(j)]), v.column(j));
    report.residuals.push_back(rho[at(order[at(j)])]);
    const double relative = search.norm > 0 ? report.residuals.back() / search.norm : report.residuals.back();
    report.accuracy.bound = std::max(report.accuracy.bound, relative);
    if (!(relative <= search.tolerance) && all) {
      all = false;
      report.outcome = {Status::NotConverged, j};
    }
  }
  if (all) report.outcome = {};
  report.products = search.products;
  return report;
}

#define TRN_SUPPORT(T)                                                                                             \
  template Search<T> checked(const char*, const OperatorRef<T>&, const VectorView<Real<T>>&, const MatrixView<T>&, \
                             const SpectrumOptions&);                                                              \
  template SpectrumReport finish(Search<T>&, std::string_view, Outcome, int, const MatrixView<const T>&,           \
                                 const VectorView<Real<T>>&, const MatrixView<T>&);
TRN_SOLVER_SCALARS(TRN_SUPPORT)
#undef TRN_SUPPORT

}  // namespace trn::solver::spectra
