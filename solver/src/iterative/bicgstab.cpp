// BiCGSTAB (van der Vorst), preconditioned from the right, and Chebyshev iteration.
#include "iterative/run.hpp"
#include "scalars.hpp"

namespace trn::solver {

namespace iterative {

// The first active column whose denominator is zero beside what it is made of; Ok without one.
template <class T>
Outcome nonzero(const Run<T>& run, const Norms& size, const Scalars<T>& numbers, const Norms& x, const Norms& y) {
  const double unit = std::numeric_limits<Real<T>>::epsilon();
  for (std::size_t j = 0; j < numbers.size(); ++j) {
    if (!run.active(size, static_cast<std::int64_t>(j))) continue;
    const double value = static_cast<double>(std::abs(numbers[j]));
    if (!std::isfinite(value)) return {Status::NotFinite, -1};
    if (value <= unit * unit * x[j] * y[j]) return {Status::Breakdown, static_cast<std::int64_t>(j)};
  }
  return {};
}

template <class T> Outcome bicgstab_loop(Run<T>& run, const void*) {
  const Block<T> shadow = run.block(), p = run.block(), v = run.block(), t = run.block(), hat = run.block();
  const MatrixView<T> r = run.r.view();
  assign<T>(r, shadow.view());
  assign<T>(r, p.view());
  Norms size = norms<T>(r);
  const Norms shadow_size = size;
  Scalars<T> rho = dots<T>(shadow, r);
  while (run.first_active(size) >= 0) {
    if (const Outcome o = nonzero(run, size, rho, shadow_size, size); !o.ok()) return o;
    run.precondition(p, hat);
    run.product(hat, v);
    const Scalars<T> sigma = dots<T>(shadow, v);
    if (const Outcome o = nonzero(run, size, sigma, shadow_size, norms<T>(v)); !o.ok()) return o;
    const Scalars<T> alpha = ratios(run, size, rho, sigma);
    add<T>(alpha, hat, run.x);
    add<T>(alpha, v, r, T(-1));  // s
    const Norms half = norms<T>(r);
    const std::int64_t left = run.first_active(half);
    if (left < 0) {
      size = half;
      (void)run.step(size);
      break;
    }
    run.precondition(r, hat);
    run.product(hat, t);
    const Norms length = norms<T>(t);
    Scalars<T> square(length.size());
    for (std::size_t j = 0; j < length.size(); ++j) square[j] = T(static_cast<Real<T>>(length[j] * length[j]));
    if (const Outcome o = nonzero(run, half, square, half, half); !o.ok()) return o;
    const Scalars<T> omega = ratios(run, half, dots<T>(t, r), square);
    add<T>(omega, hat, run.x);
    add<T>(omega, t, r, T(-1));
    const Norms now = norms<T>(r);
    const Scalars<T> next = dots<T>(shadow, r);
    if (!run.step(now)) {
      size = now;
      break;
    }
    Scalars<T> beta(next.size(), T(0)), minus_omega = omega;
    for (std::size_t j = 0; j < next.size(); ++j) {
      if (!run.active(now, static_cast<std::int64_t>(j))) continue;
      if (omega[j] == T(0)) return {Status::Breakdown, static_cast<std::int64_t>(j)};
      beta[j] = next[j] / rho[j] * (alpha[j] / omega[j]);
    }
    add<T>(omega, v, p.view(), T(-1));
    combine<T>(r, beta, p.view());
    rho = next, size = now;
  }
  return run.left_off(size);
}

// x_(k+1) = x_k + p_k, p_k = 1 / delta_k (2 z_k + ...): Saad, Iterative Methods, algorithm 12.1, with theta the centre
// and delta the half width of the spectrum.
template <class T> Outcome chebyshev_loop(Run<T>& run, const void* extra) {
  const auto& spectrum = *static_cast<const SpectrumBounds*>(extra);
  const double theta = (spectrum.hi + spectrum.lo) / 2, delta = (spectrum.hi - spectrum.lo) / 2;
  const auto everywhere = [&](double value) { return Scalars<T>(at(run.x.columns()), T(static_cast<Real<T>>(value))); };
  const Block<T> z = run.block(), p = run.block();
  const MatrixView<T> r = run.r.view();
  Norms size = norms<T>(r);
  double rho = 0;
  bool first = true;
  while (run.first_active(size) >= 0) {
    for (const double s : size) {
      if (!std::isfinite(s)) return {Status::NotFinite, -1};
    }
    run.precondition(r, z);
    if (first) {
      rho = delta / theta;
      scale(everywhere(1 / theta), z.view());
      assign<T>(z, p.view());
    } else {
      const double next = delta == 0 ? 0 : 1 / (2 * theta / delta - rho);
      scale(everywhere(delta == 0 ? 1 / theta : 2 * next / delta), z.view());
      combine<T>(z, everywhere(next * rho), p.view());
      rho = next;
    }
    first = false;
    add<T>(everywhere(1), p, run.x);
    ++run.products;
    run.a.apply(Op::N, T(-1), MatrixView<const T>(p), T(1), r);
    size = norms<T>(r);
    if (!run.step(size)) break;
  }
  return run.left_off(size);
}

}  // namespace iterative

template <Scalar T> IterationReport bicgstab(const AnyOperator<T>& a, const ConstMatrix<T>& b, const MatrixView<T>& x,
                                             const KrylovOptions& options, const AnyOperator<T>& m) {
  return iterative::iterate<T>({"solver.bicgstab", "bicgstab"}, a, m, b, x, options, iterative::bicgstab_loop<T>);
}
template <Scalar T> IterationReport chebyshev(const AnyOperator<T>& a, const ConstMatrix<T>& b, const MatrixView<T>& x,
                                              const SpectrumBounds& spectrum, const KrylovOptions& options,
                                              const AnyOperator<T>& m) {
  require(spectrum.lo > 0 && spectrum.lo <= spectrum.hi && std::isfinite(spectrum.hi),
          "solver.chebyshev: the spectrum is said to lie in [{}, {}]; 0 < lo <= hi must hold", spectrum.lo,
          spectrum.hi);
  return iterative::iterate<T>({"solver.chebyshev", "chebyshev"}, a, m, b, x, options, iterative::chebyshev_loop<T>,
                               &spectrum);
}

#define TRN_BICGSTAB(T)                                                                                  \
  template IterationReport bicgstab(const AnyOperator<T>&, const ConstMatrix<T>&, const MatrixView<T>&,  \
                                    const KrylovOptions&, const AnyOperator<T>&);                        \
  template IterationReport chebyshev(const AnyOperator<T>&, const ConstMatrix<T>&, const MatrixView<T>&, \
                                     const SpectrumBounds&, const KrylovOptions&, const AnyOperator<T>&);
TRN_SOLVER_SCALARS(TRN_BICGSTAB)
#undef TRN_BICGSTAB

}  // namespace trn::solver
