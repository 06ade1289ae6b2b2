// Block conjugate gradients: one Krylov space for all right-hand sides.
//
//   Q = A P,  S = P^H Q,  alpha = S^-1 P^H R,  X += P alpha,  R -= Q alpha,  Z = M R,  P = orth(Z - P S^-1 Q^H Z)
//
// P is kept orthonormal and loses the directions that have become dependent (Ji and Li), so that equal right-hand sides
// and columns that converge early do no harm.
#include <trn/solver/cholesky.hpp>

#include "iterative/orthonormal.hpp"
#include "iterative/run.hpp"
#include "scalars.hpp"

namespace trn::solver {

namespace iterative {

template <class T> Outcome block_cg_loop(Run<T>& run, const void*) {
  const Block<T> z = run.block();
  const MatrixView<T> r = run.r.view();
  Norms size = norms<T>(r);
  run.precondition(r, z);
  Block<T> p = orthonormal<T>(z);
  while (run.first_active(size) >= 0) {
    if (p.columns() == 0) return {Status::Breakdown, run.first_active(size)};
    const Block<T> q = run.block(p.columns());
    run.product(p, q);
    const Small<T> s = inner<T>(p, q);
    const Cholesky<T> factor(Executor::host(), Uplo::Lower, s.view());
    if (!factor.report().outcome.ok()) {
      const bool finite = factor.report().outcome.status != Status::NotFinite;
      return finite ? Outcome{Status::NotPositiveDefinite, -1} : Outcome{Status::NotFinite, -1};
    }
    Small<T> alpha = inner<T>(p, r);
    factor.solve(alpha.view());
    add_product<T>(T(1), p, alpha, T(1), run.x);
    add_product<T>(T(-1), q, alpha, T(1), r);
    size = norms<T>(r);
    if (!run.step(size)) break;
    run.precondition(r, z);
    Small<T> beta = inner<T>(q, z);
    factor.solve(beta.view());
    add_product<T>(T(-1), p, beta, T(1), z.view());
    p = orthonormal<T>(z);
  }
  return run.left_off(size);
}

}  // namespace iterative

template <Scalar T> IterationReport block_cg(const AnyOperator<T>& a, const ConstMatrix<T>& b, const MatrixView<T>& x,
                                             const KrylovOptions& options, const AnyOperator<T>& m) {
  return iterative::iterate<T>({"solver.block_cg", "block cg"}, a, m, b, x, options, iterative::block_cg_loop<T>);
}

#define TRN_BLOCK_CG(T)                                                                                 \
  template IterationReport block_cg(const AnyOperator<T>&, const ConstMatrix<T>&, const MatrixView<T>&, \
                                    const KrylovOptions&, const AnyOperator<T>&);
TRN_SOLVER_SCALARS(TRN_BLOCK_CG)
#undef TRN_BLOCK_CG

}  // namespace trn::solver
