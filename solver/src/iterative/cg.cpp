// Conjugate gradients, column by column and pipelined.
//
//   q = A p, alpha = (r, z) / (p, q), x += alpha p, r -= alpha q, z = M r, beta = (r, z)_new / (r, z), p = z + beta p
#include "iterative/run.hpp"
#include "iterative/stored.hpp"
#include "scalars.hpp"

namespace trn::solver {

namespace iterative {

// The first active column whose number is not positive; Ok without one.
template <class T> Outcome all_positive(const Run<T>& run, const Norms& size, const Scalars<T>& numbers) {
  for (std::int64_t j = 0; j < static_cast<std::int64_t>(numbers.size()); ++j) {
    if (!run.active(size, j)) continue;
    const Real<T> value = real_part(numbers[at(j)]);
    if (!std::isfinite(value)) return {Status::NotFinite, -1};
    if (!(value > 0)) return {Status::NotPositiveDefinite, j};
  }
  return {};
}

// `extra` is a StoreRounding for vectors that are stored in a narrow format, or null.
template <class T> Outcome cg_loop(Run<T>& run, const void* extra) {
  const auto* rounding = static_cast<const StoreRounding*>(extra);
  const auto store = [&](const MatrixView<T>& v) {
    if (rounding) rounding->round(v);
  };
  const Block<T> z = run.block(), p = run.block(), q = run.block();
  const MatrixView<T> r = run.r.view(), x = run.x;
  store(r);
  Norms size = norms<T>(r);
  run.precondition(r, z);
  assign<T>(z, p.view());
  Scalars<T> rho = dots<T>(r, z);
  while (run.first_active(size) >= 0) {
    if (const Outcome o = all_positive(run, size, rho); !o.ok()) return o;
    run.product(p, q);
    const Scalars<T> sigma = dots<T>(p, q);
    if (const Outcome o = all_positive(run, size, sigma); !o.ok()) return o;
    const Scalars<T> alpha = ratios(run, size, rho, sigma);
    add<T>(alpha, p, x);
    add<T>(alpha, q, r, T(-1));
    store(x), store(r);
    size = norms<T>(r);
    if (!run.step(size)) break;
    run.precondition(r, z);
    const Scalars<T> next = dots<T>(r, z);
    combine<T>(z, ratios(run, size, next, rho), p.view());
    store(p.view());
    rho = next;
  }
  return run.left_off(size);
}

// Ghysels and Vanroose: u = M r, w = A u, m = M w, n = A m; z, q, s, p follow n, m, w, u by the same recurrence.
template <class T> Outcome pipelined_loop(Run<T>& run, const void*) {
  const Block<T> u = run.block(), w = run.block(), m = run.block(), n = run.block();
  const Block<T> z = run.block(), q = run.block(), s = run.block(), p = run.block();
  const MatrixView<T> r = run.r.view();
  run.precondition(r, u);
  run.product(u, w);
  Norms size = norms<T>(r);
  Scalars<T> gamma_before, alpha_before;
  while (run.first_active(size) >= 0) {
    const Scalars<T> gamma = dots<T>(r, u), delta = dots<T>(w, u);
    run.precondition(w, m);
    run.product(m, n);
    if (const Outcome o = all_positive(run, size, gamma); !o.ok()) return o;
    Scalars<T> alpha(gamma.size(), T(0)), beta(gamma.size(), T(0)), denominator = delta;
    for (std::size_t j = 0; j < gamma.size(); ++j) {
      if (!run.active(size, static_cast<std::int64_t>(j)) || gamma_before.empty()) continue;
      beta[j] = gamma[j] / gamma_before[j];
      denominator[j] = delta[j] - beta[j] * gamma[j] / alpha_before[j];
    }
    if (const Outcome o = all_positive(run, size, denominator); !o.ok()) {  // (p, A p) by the recurrence, and itself
      if (o.status == Status::NotFinite) return o;
      combine<T>(u, beta, p.view());
      run.product(p, s);
      return all_positive(run, size, dots<T>(p, s));  // Ok: rounding spoilt the recurrence, the frame starts again
    }
    alpha = ratios(run, size, gamma, denominator);
    combine<T>(n, beta, z.view()), combine<T>(m, beta, q.view());
    combine<T>(w, beta, s.view()), combine<T>(u, beta, p.view());
    add<T>(alpha, p, run.x);
    add<T>(alpha, s, r, T(-1)), add<T>(alpha, q, u.view(), T(-1)), add<T>(alpha, z, w.view(), T(-1));
    gamma_before = gamma, alpha_before = alpha;
    size = norms<T>(r);
    if (!run.step(size)) break;
  }
  return run.left_off(size);
}

}  // namespace iterative

template <Scalar T> IterationReport cg(const AnyOperator<T>& a, const ConstMatrix<T>& b, const MatrixView<T>& x,
                                       const KrylovOptions& options, const AnyOperator<T>& m) {
  return iterative::iterate<T>({"solver.cg", "cg"}, a, m, b, x, options, iterative::cg_loop<T>);
}
template <Scalar T> IterationReport pipelined_cg(const AnyOperator<T>& a, const ConstMatrix<T>& b,
                                                 const MatrixView<T>& x, const KrylovOptions& options,
                                                 const AnyOperator<T>& m) {
  return iterative::iterate<T>({"solver.pipelined_cg", "pipelined cg"}, a, m, b, x, options,
                               iterative::pipelined_loop<T>);
}

#define TRN_CG(T)                                                                                           \
  template Outcome iterative::cg_loop(iterative::Run<T>&, const void*);                                     \
  template IterationReport cg(const AnyOperator<T>&, const ConstMatrix<T>&, const MatrixView<T>&,           \
                              const KrylovOptions&, const AnyOperator<T>&);                                 \
  template IterationReport pipelined_cg(const AnyOperator<T>&, const ConstMatrix<T>&, const MatrixView<T>&, \
                                        const KrylovOptions&, const AnyOperator<T>&);
TRN_SOLVER_SCALARS(TRN_CG)
#undef TRN_CG

}  // namespace trn::solver
