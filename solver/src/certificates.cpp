// The entry point of the proof of positive definiteness.
#include <trn/solver/certificates.hpp>

#include "certify/spectra.hpp"
#include "checks.hpp"
#include "host_only.hpp"
#include "scalars.hpp"
#include "system.hpp"

namespace trn::solver {

template <Scalar T>
double detail::smallest_eigenvalue_bound(const Executor& executor, Uplo uplo, const MatrixView<const T>& a) {
  constexpr const char* operation = "solver.smallest_eigenvalue_bound";
  checks::enumerators(operation, uplo);
  checks::input(operation, "A", executor, a);
  checks::square(operation, "A", a);
  on_host_only(operation, executor);
  const SolveOptions options{.structure = Structure::Positive, .uplo = uplo};
  if (!finite_elements(a, options).ok()) return -std::numeric_limits<double>::infinity();
  if (a.rows() == 0) return std::numeric_limits<double>::infinity();
  const host::Columns<T> full = written_out(a, options);
  return certify::smallest_eigenvalue_bound(executor, host::Columns<certify::WideOf<T>>(full.view()));
}

#define TRN_BOUND(T) \
  template double detail::smallest_eigenvalue_bound<T>(const Executor&, Uplo, const MatrixView<const T>&);
TRN_SOLVER_SCALARS(TRN_BOUND)
#undef TRN_BOUND

}  // namespace trn::solver
