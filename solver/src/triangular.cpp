// The entry points for triangular matrices.
#include <trn/solver/triangular.hpp>

#include "bounds.hpp"
#include "checks.hpp"
#include "kernels/factorisations.hpp"
#include "scalars.hpp"

namespace trn::solver {

namespace {
constexpr std::string_view kName = "triangular";
}

template <Scalar T> Report trtri(const Executor& executor, Uplo uplo, Diag diag, const MatrixView<T>& a) {
  checks::enumerators("solver.trtri", uplo, diag);
  checks::output("solver.trtri", "A", executor, a);
  checks::square("solver.trtri", "A", a);
  return reported<T>(a.rows(), kName, [&](Report& report) {
    return dispatch(kTrtri<T>, executor, {uplo, diag, a, &report});
  });
}

template <Scalar T>
Report trtrs(const Executor& executor, Uplo uplo, Op op, Diag diag, const ConstMatrix<T>& a, const MatrixView<T>& b) {
  constexpr const char* operation = "solver.trtrs";
  checks::enumerators(operation, uplo, op, diag);
  checks::input(operation, "A", executor, a);
  checks::output(operation, "B", executor, b);
  checks::square(operation, "A", a);
  checks::rows(operation, "B", b, a.rows());
  checks::apart(operation, "A", a, "B", b);
  return reported<T>(a.rows(), kName, [&](Report& report) {
    return dispatch(kTrtrs<T>, executor, {uplo, op, diag, a, b, &report});
  });
}

template <Scalar T> Real<T> trcon(const Executor& executor, Norm which, Uplo uplo, Diag diag, const MatrixView<T>& a) {
  checks::enumerators("solver.trcon", which, uplo, diag);
  checks::input("solver.trcon", "A", executor, a);
  checks::square("solver.trcon", "A", a);
  return dispatch(kTrcon<T>, executor, ConditionArgs<T>{.factor = a, .which = which, .uplo = uplo, .diag = diag});
}

#define TRN_TRIANGULAR(T)                                                                              \
  template Report trtri(const Executor&, Uplo, Diag, const MatrixView<T>&);                            \
  template Report trtrs(const Executor&, Uplo, Op, Diag, const ConstMatrix<T>&, const MatrixView<T>&); \
  template Real<T> trcon(const Executor&, Norm, Uplo, Diag, const MatrixView<T>&);
TRN_SOLVER_SCALARS(TRN_TRIANGULAR)
#undef TRN_TRIANGULAR

}  // namespace trn::solver
