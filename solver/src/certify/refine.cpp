// Refinement in two words with exact residuals.
#include "certify/refine.hpp"

#include <trn/blas/gemm.hpp>
#include <trn/core/eft.hpp>

namespace trn::solver::certify {

namespace {

constexpr int kMostSteps = 60;

// (high, low) += z, up to 2^-104 times the larger of |high| before and after: the only rounding is that of
// s.error + low, and both are at most 2^-53 of their sums.
void add_to(double& high, double& low, double z) {
  const auto s = two_sum(high, z);
  const auto t = two_sum(s.sum, s.error + low);
  high = t.sum, low = t.error;
}
void add_to(std::complex<double>& high, std::complex<double>& low, const std::complex<double>& z) {
  double re = high.real(), re_low = low.real(), im = high.imag(), im_low = low.imag();
  add_to(re, re_low, z.real());
  add_to(im, im_low, z.imag());
  high = {re, im}, low = {re_low, im_low};
}

template <class D> void add_all(Refined<D>& x, const Columns<D>& z) {
  for (std::int64_t j = 0; j < z.columns(); ++j) {
    for (std::int64_t i = 0; i < z.rows(); ++i) add_to(x.high(i, j), x.low(i, j), z(i, j));
  }
}

template <class D> double largest(const Columns<D>& a, std::int64_t j) {
  double most = 0;
  for (std::int64_t i = 0; i < a.rows(); ++i) {
    const double x = size(a(i, j));
    if (!(x <= most)) most = x;
  }
  return most;
}

template <class D> double worst(const Refined<D>& x) {
  double most = 0;
  for (std::int64_t j = 0; j < x.high.columns(); ++j) {
    const double e = relative_error(x.high, x.error, j);
    if (!(e <= most)) most = e;
  }
  return most;
}

}  // namespace

template <Wide D> double relative_error(const Columns<D>& x, const Columns<double>& errors, std::int64_t j) {
  const double error = largest(errors, j), most = largest(x, j);
  if (error == 0) return 0;
  const double solution = down(most, 8) - error;  // at most max|x*|; 8 covers a second word of x that is left out
  return solution > 0 ? up(error / solution, 8) : std::numeric_limits<double>::infinity();
}

template <Wide D>
Refined<D> refine_proved(const Columns<D>& a, const Columns<D>& b, const InverseChain<D>& chain, double goal) {
  const std::int64_t n = b.rows(), columns = b.columns();
  Refined<D> x(n, columns);
  host::fill(x.error.view(), std::numeric_limits<double>::infinity());
  const double factor = up(chain.beta() / down(1 - chain.beta(), 1), 2);
  double before = std::numeric_limits<double>::infinity();
  for (x.steps = 1; x.steps <= kMostSteps; ++x.steps) {
    const TwoWords<D> z = chain.apply(exact_residual(a, b, x.high, x.low));
    Refined<D> next = x;
    add_all(next, z.high);  // the low word stays out, and is part of the error
    for (std::int64_t j = 0; j < columns; ++j) {
      double most = 0;
      for (std::int64_t i = 0; i < n; ++i) {
        const double all = up(size(z.high(i, j)) + size(z.low(i, j)) + z.radius(i, j), 2);
        if (!(all <= most)) most = all;
      }
      const double spread = up(factor * most, 2);
      for (std::int64_t i = 0; i < n; ++i) {
        const double words = 0x1p-98 * (size(x.high(i, j)) + size(next.high(i, j)));
        next.error(i, j) = up(size(z.low(i, j)) + z.radius(i, j) + spread + words, 4);
      }
    }
    const double now = worst(next);
    if (!(now < before)) break;  // the previous one is as good
    x = std::move(next);
    if (now <= goal || !(now < 0.5 * before)) break;
    before = now;
  }
  x.steps = std::min(x.steps, kMostSteps);
  return x;
}

template <Wide D> Refined<D> refine_estimated(const Columns<D>& a, const Columns<D>& b,
                                              const std::function<bool(Columns<D>&)>& solve, double goal) {
  const std::int64_t n = b.rows(), columns = b.columns();
  Refined<D> x(n, columns);
  std::vector<double> before(static_cast<std::size_t>(columns), 0);
  for (x.steps = 0; x.steps <= kMostSteps; ++x.steps) {
    Columns<D> z = x.steps == 0 ? Columns<D>(b.view()) : exact_residual(a, b, x.high, x.low).high;
    if (!solve(z) || !host::finite(z.view()).ok()) {
      x.contracting = false;
      return x;
    }
    add_all(x, z);
    bool done = x.steps >= 2;
    for (std::int64_t j = 0; j < columns; ++j) {
      double& last = before[static_cast<std::size_t>(j)];
      const double step = largest(z, j), solution = largest(x.high, j);
      const double rho = last > 0 ? step / last : x.steps == 0 ? 1 : 0;
      const bool at_rounding = step <= 0x1p-90 * solution;
      if (x.steps > 0 && rho > 0.5 && !at_rounding) {
        x.contracting = false;
        return x;
      }
      const double left = x.steps == 0 ? step : rho > 0.5 ? step : rho / (1 - rho) * step;
      for (std::int64_t i = 0; i < n; ++i) x.error(i, j) = left + 0x1p-98 * solution;
      last = step;
      done = done && (left <= goal * solution || at_rounding);
    }
    if (done) return x;
  }
  return x;
}

template <Wide D>
double backward_error(const Executor& executor, const Columns<D>& a, const Columns<D>& b, const Columns<D>& x) {
  const Columns<double> r = magnitudes(exact_product<D>(executor, Op::N, D(-1), a, x, D(1), b));
  Columns<double> sizes(a.rows(), a.columns()), xs(x.rows(), x.columns()), scale(b.rows(), b.columns());
  const auto modulus = [](const D& v) { return std::abs(v); };
  for (std::int64_t j = 0; j < a.columns(); ++j) {
    for (std::int64_t i = 0; i < a.rows(); ++i) sizes(i, j) = modulus(a(i, j));
  }
  for (std::int64_t j = 0; j < x.columns(); ++j) {
    for (std::int64_t i = 0; i < x.rows(); ++i) xs(i, j) = modulus(x(i, j)), scale(i, j) = modulus(b(i, j));
  }
  // In host memory and of O(n^2) a column; a device has no double.
  const Executor& near = executor.family() == Family::Host ? executor : Executor::host();
  blas::gemm(near, Op::N, Op::N, 1.0, sizes.view(), xs.view(), 1.0, scale.view());
  double most = 0;
  for (std::int64_t j = 0; j < b.columns(); ++j) {
    for (std::int64_t i = 0; i < b.rows(); ++i) {
      if (r(i, j) == 0) continue;
      const double e = up(r(i, j) / down(scale(i, j), a.columns() + 4), 2);
      if (!(e <= most)) most = e;
    }
  }
  return most;
}

#define TRN_REFINE(D)                                                                                                 \
  template double relative_error(const Columns<D>&, const Columns<double>&, std::int64_t);                            \
  template Refined<D> refine_proved(const Columns<D>&, const Columns<D>&, const InverseChain<D>&, double);            \
  template Refined<D> refine_estimated(const Columns<D>&, const Columns<D>&, const std::function<bool(Columns<D>&)>&, \
                                       double);                                                                       \
  template double backward_error(const Executor&, const Columns<D>&, const Columns<D>&, const Columns<D>&);
TRN_REFINE(double)
TRN_REFINE(std::complex<double>)
#undef TRN_REFINE

}  // namespace trn::solver::certify
