// MINRES: Lanczos in the inner product of the preconditioner, and a QR factorisation of its tridiagonal matrix by plane
// rotations, updated step by step (Paige and Saunders).
//
//   beta_(k+1) v_(k+1) = A z_k - alpha_k v_k - beta_k v_(k-1),  z = M v,  (v_k, z_k) = 1
//
// The residual itself, whose norm decides, follows from r_k = s^2 r_(k-1) - c phi v_(k+1).
#include "iterative/run.hpp"
#include "scalars.hpp"

namespace trn::solver {

namespace iterative {

// sqrt((v, M v)), or an outcome: M must be positive definite.
template <class T> Outcome lengths(const Run<T>& run, const Norms& size, const Scalars<T>& squares, Norms& beta) {
  for (std::size_t j = 0; j < squares.size(); ++j) {
    const auto square = static_cast<double>(real_part(squares[j]));
    if (!run.active(size, static_cast<std::int64_t>(j))) {
      beta[j] = 0;
      continue;
    }
    if (!std::isfinite(square)) return {Status::NotFinite, -1};
    if (square < 0) return {Status::NotPositiveDefinite, static_cast<std::int64_t>(j)};
    beta[j] = std::sqrt(square);
  }
  return {};
}
template <class T> Scalars<T> reciprocals(const Norms& beta) {
  Scalars<T> result(beta.size(), T(0));
  for (std::size_t j = 0; j < beta.size(); ++j) {
    if (beta[j] > 0) result[j] = T(static_cast<Real<T>>(1 / beta[j]));
  }
  return result;
}

template <class T> Outcome minres_loop(Run<T>& run, const void*) {
  const auto scalar = [](double v) { return T(static_cast<Real<T>>(v)); };
  const std::size_t k = at(run.x.columns());
  Block<T> v_before = run.block(), v = run.block(), next = run.block(), z = run.block();
  Block<T> w_before = run.block(), w = run.block(), w_next = run.block();
  const MatrixView<T> r = run.r.view();
  for (const Block<T>* block : {&v_before, &w_before, &w}) zero(block->view());
  assign<T>(r, v.view());
  run.precondition(v, z);
  Norms size = norms<T>(r), beta(k), beta_next(k), phi(k), c_before(k, 1), s_before(k, 0), c(k, 1), s(k, 0);
  if (const Outcome o = lengths(run, size, dots<T>(v, z), beta); !o.ok()) return o;
  scale(reciprocals<T>(beta), v.view()), scale(reciprocals<T>(beta), z.view());
  phi = beta;
  beta.assign(k, 0);
  while (run.first_active(size) >= 0) {
    run.product(z, next);
    const Scalars<T> alpha = dots<T>(z, next);
    add<T>(alpha, v, next.view(), T(-1));
    Scalars<T> factor(k);
    for (std::size_t j = 0; j < k; ++j) factor[j] = scalar(beta[j]);
    add<T>(factor, v_before, next.view(), T(-1));
    // The direction's recurrence begins before z is overwritten.
    assign<T>(z, w_next.view());
    run.precondition(next, z);
    if (const Outcome o = lengths(run, size, dots<T>(next, z), beta_next); !o.ok()) return o;
    Scalars<T> epsilon(k), delta(k), inverse_gamma(k), step(k), shrink(k, T(1)), forward(k);
    for (std::size_t j = 0; j < k; ++j) {
      if (!run.active(size, static_cast<std::int64_t>(j))) continue;
      // Column k of the tridiagonal matrix (beta_k, alpha_k, beta_(k+1)) under the two rotations before, then its own.
      const double a = static_cast<double>(real_part(alpha[j]));
      const double eps = s_before[j] * beta[j], bar = c_before[j] * beta[j];
      const double dlt = c[j] * bar + s[j] * a, gamma_bar = c[j] * a - s[j] * bar;
      const double gamma = std::hypot(gamma_bar, beta_next[j]);
      if (gamma == 0) return {Status::Breakdown, static_cast<std::int64_t>(j)};
      const double cn = gamma_bar / gamma, sn = beta_next[j] / gamma;
      epsilon[j] = scalar(eps), delta[j] = scalar(dlt), inverse_gamma[j] = scalar(1 / gamma);
      step[j] = scalar(cn * phi[j]);
      shrink[j] = scalar(sn * sn), forward[j] = scalar(-cn * sn * phi[j]);
      phi[j] *= -sn;
      c_before[j] = c[j], s_before[j] = s[j], c[j] = cn, s[j] = sn;
    }
    add<T>(epsilon, w_before, w_next.view(), T(-1)), add<T>(delta, w, w_next.view(), T(-1));
    scale(inverse_gamma, w_next.view());
    add<T>(step, w_next, run.x);
    scale(reciprocals<T>(beta_next), next.view()), scale(reciprocals<T>(beta_next), z.view());
    scale(shrink, r), add<T>(forward, next, r);
    std::swap(v_before, v), std::swap(v, next);
    std::swap(w_before, w), std::swap(w, w_next);
    beta = beta_next;
    size = norms<T>(r);
    if (!run.step(size)) break;
  }
  return run.left_off(size);
}

}  // namespace iterative

template <Scalar T> IterationReport minres(const AnyOperator<T>& a, const ConstMatrix<T>& b, const MatrixView<T>& x,
                                           const KrylovOptions& options, const AnyOperator<T>& m) {
  return iterative::iterate<T>({"solver.minres", "minres"}, a, m, b, x, options, iterative::minres_loop<T>);
}

#define TRN_MINRES(T)                                                                                 \
  template IterationReport minres(const AnyOperator<T>&, const ConstMatrix<T>&, const MatrixView<T>&, \
                                  const KrylovOptions&, const AnyOperator<T>&);
TRN_SOLVER_SCALARS(TRN_MINRES)
#undef TRN_MINRES

}  // namespace trn::solver
