// IDR(s) with biorthogonal residuals (van Gijzen and Sonneveld 2011, the prototype of section 3): residuals are forced
// into spaces G_j of shrinking dimension, s + 1 products for each.
//
// The shadow space P is s orthonormal directions, the same for all columns of B; every column has its own M = P^H G.
#include "iterative/orthonormal.hpp"
#include "iterative/run.hpp"
#include "iterative/sketch.hpp"
#include "scalars.hpp"

namespace trn::solver {

namespace iterative {

template <class T> Outcome idr_loop(Run<T>& run, const void* extra) {
  const auto& options = *static_cast<const IdrOptions*>(extra);
  const std::int64_t n = run.x.rows(), k = run.x.columns();
  const Block<T> drawn = run.block(std::min(options.s, n));
  assign(gaussian<T>(n, drawn.columns(), options.seed), drawn.view());
  const Block<T> shadow = orthonormal<T>(drawn);
  const std::int64_t s = shadow.columns();
  std::vector<Block<T>> g, u;
  for (std::int64_t i = 0; i < s; ++i) {
    g.push_back(run.block()), u.push_back(run.block());
    zero(g.back().view()), zero(u.back().view());
  }
  std::vector<Small<T>> m(at(k), Small<T>(s, s));
  for (auto& small : m) {
    for (std::int64_t i = 0; i < s; ++i) small(i, i) = T(1);
  }
  const Block<T> v = run.block(), hat = run.block();
  const MatrixView<T> r = run.r.view();
  Scalars<T> omega(at(k), T(1));
  Norms size = norms<T>(r);
  while (run.first_active(size) >= 0) {
    Small<T> f = inner<T>(shadow, r);  // s x k
    for (std::int64_t l = 0; l < s; ++l) {
      // M(l.., l..) c = f(l..), v = r - G c, u_l = U c + omega M^-1 v
      std::vector<Scalars<T>> c(at(s), Scalars<T>(at(k), T(0)));
      for (std::int64_t j = 0; j < k; ++j) {
        if (!run.active(size, j)) continue;
        for (std::int64_t i = l; i < s; ++i) {
          T sum = f(i, j);
          for (std::int64_t t = l; t < i; ++t) sum -= m[at(j)](i, t) * c[at(t)][at(j)];
          c[at(i)][at(j)] = sum / m[at(j)](i, i);
        }
      }
      assign<T>(r, v.view());
      for (std::int64_t i = l; i < s; ++i) add<T>(c[at(i)], g[at(i)], v.view(), T(-1));
      run.precondition(v, hat);
      scale(omega, hat.view());
      for (std::int64_t i = l; i < s; ++i) add<T>(c[at(i)], u[at(i)], hat.view());
      assign<T>(hat, u[at(l)].view());
      run.product(u[at(l)], g[at(l)]);
      // Biorthogonal to the directions before.
      for (std::int64_t i = 0; i < l; ++i) {
        Scalars<T> alpha(at(k), T(0));
        for (std::int64_t j = 0; j < k; ++j) {
          const VectorView<const T> direction = MatrixView<const T>(shadow).column(i);
          alpha[at(j)] = blas::dotc(r.executor(), direction, g[at(l)].view().column(j)) / m[at(j)](i, i);
          if (!run.active(size, j)) alpha[at(j)] = T(0);
        }
        add<T>(alpha, g[at(i)], g[at(l)].view(), T(-1));
        add<T>(alpha, u[at(i)], u[at(l)].view(), T(-1));
      }
      const Small<T> column = inner<T>(shadow, g[at(l)]);
      Scalars<T> beta(at(k), T(0));
      for (std::int64_t j = 0; j < k; ++j) {
        if (!run.active(size, j)) continue;
        for (std::int64_t i = l; i < s; ++i) m[at(j)](i, l) = column(i, j);
        if (!host::is_finite(column(l, j))) return {Status::NotFinite, -1};
        if (column(l, j) == T(0)) return {Status::Breakdown, j};
        beta[at(j)] = f(l, j) / column(l, j);
        for (std::int64_t i = l + 1; i < s; ++i) f(i, j) -= beta[at(j)] * column(i, j);
      }
      add<T>(beta, g[at(l)], r, T(-1));
      add<T>(beta, u[at(l)], run.x);
      size = norms<T>(r);
      if (!run.step(size) || run.first_active(size) < 0) return run.left_off(size);
    }
    // The next space: r -= omega A M^-1 r, omega as minimal residual unless t and r are nearly orthogonal (0.7).
    run.precondition(r, v);
    run.product(v, hat);
    const Norms t_size = norms<T>(hat);
    const Scalars<T> tr = dots<T>(hat, r);
    Scalars<T> step(at(k), T(0));
    for (std::int64_t j = 0; j < k; ++j) {
      if (!run.active(size, j)) continue;
      if (!(t_size[at(j)] > 0) || tr[at(j)] == T(0)) return {Status::Breakdown, j};
      T w = tr[at(j)] / static_cast<Real<T>>(t_size[at(j)] * t_size[at(j)]);
      const double angle = static_cast<double>(std::abs(tr[at(j)])) / (t_size[at(j)] * size[at(j)]);
      if (angle < 0.7) w *= static_cast<Real<T>>(0.7 / angle);
      step[at(j)] = omega[at(j)] = w;
    }
    add<T>(step, hat, r, T(-1));
    add<T>(step, v, run.x);
    size = norms<T>(r);
    if (!run.step(size)) break;
  }
  return run.left_off(size);
}

}  // namespace iterative

template <Scalar T> IterationReport idr(const AnyOperator<T>& a, const ConstMatrix<T>& b, const MatrixView<T>& x,
                                        const IdrOptions& options, const AnyOperator<T>& m) {
  require(options.s >= 1, "solver.idr: s is {}; it must be >= 1", options.s);
  return iterative::iterate<T>({"solver.idr", "idr"}, a, m, b, x, options, iterative::idr_loop<T>, &options);
}

#define TRN_IDR(T)                                                                                                    \
  template IterationReport idr(const AnyOperator<T>&, const ConstMatrix<T>&, const MatrixView<T>&, const IdrOptions&, \
                               const AnyOperator<T>&);
TRN_SOLVER_SCALARS(TRN_IDR)
#undef TRN_IDR

}  // namespace trn::solver
