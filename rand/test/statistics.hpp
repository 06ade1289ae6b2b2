// Special functions and goodness-of-fit tests for the distributions, written from their textbook formulas in long
// double; nothing of the product is used.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numbers>
#include <vector>

namespace trn::rand::test {

using Real = long double;

// P(a, x) = gamma(a, x) / Gamma(a): the series below a + 1, Legendre's continued fraction above.
inline Real gamma_p(Real a, Real x) {
  if (x <= 0) return 0;
  const Real front = std::exp(a * std::log(x) - x - std::lgamma(a));
  if (x < a + 1) {
    Real term = 1 / a, sum = term;
    for (Real n = a + 1; term > sum * 1e-19L; n += 1) sum += term *= x / n;
    return front * sum;
  }
  Real b = x + 1 - a, c = 1e300L, d = 1 / b, h = d;
  for (int i = 1; i < 1000000; ++i) {
    const Real an = -i * (i - a);
    b += 2;
    d = 1 / (an * d + b);
    c = b + an / c;
    const Real delta = d * c;
    h *= delta;
    if (std::fabs(delta - 1) < 1e-18L) break;
  }
  return 1 - front * h;
}
inline Real chi_square_upper(Real x, Real df) { return 1 - gamma_p(df / 2, x / 2); }

// I_x(a, b) by its continued fraction (Lentz's method).
inline Real beta_i(Real a, Real b, Real x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - beta_i(b, a, 1 - x);
  const Real front =
      std::exp(a * std::log(x) + b * std::log1p(-x) + std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b)) / a;
  Real c = 1, d = 1 / (1 - (a + b) * x / (a + 1)), h = d;
  for (int m = 1; m < 100000; ++m) {
    Real t = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / (1 + t * d);
    c = 1 + t / c;
    h *= d * c;
    t = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / (1 + t * d);
    c = 1 + t / c;
    h *= d * c;
    if (std::fabs(d * c - 1) < 1e-18L) break;
  }
  return front * h;
}

inline Real normal_cdf(Real x) { return std::erfc(-x / std::numbers::sqrt2_v<Real>) / 2; }
// Of a standard normal statistic, both sides.
inline double two_sided(double z) { return std::erfc(std::fabs(z) / std::numbers::sqrt2); }

// The distribution function of a density on [low, high] by Simpson's rule on a fine grid, then linear in between.
class Integrated {
 public:
  Integrated(const std::function<Real(Real)>& density, Real low, Real high, int cells = 20000)
      : low_(low), step_((high - low) / cells), sums_(static_cast<std::size_t>(cells) + 1, 0) {
    for (std::size_t i = 0; i + 1 < sums_.size(); ++i) {
      const Real x = low + static_cast<Real>(i) * step_;
      const Real area = density(x) + 4 * density(x + step_ / 2) + density(x + step_);
      sums_[i + 1] = sums_[i] + area * step_ / 6;
    }
    for (Real& s : sums_) s /= sums_.back() == 0 ? 1 : total();
  }
  Real operator()(Real x) const {
    const Real at = std::clamp<Real>((x - low_) / step_, 0, static_cast<Real>(sums_.size() - 1));
    const auto i = std::min(static_cast<std::size_t>(at), sums_.size() - 2);
    return sums_[i] + (at - static_cast<Real>(i)) * (sums_[i + 1] - sums_[i]);
  }

 private:
  Real total() {
    if (total_ == 0) total_ = sums_.back();
    return total_;
  }
  Real low_, step_, total_ = 0;
  std::vector<Real> sums_;
};

// Kolmogorov's distribution: the p-value of the largest distance between the empirical and the true distribution
// function, with Stephens's correction for finite n.
inline double kolmogorov_p(double distance, double n) {
  const double root = std::sqrt(n), t = (root + 0.12 + 0.11 / root) * distance;
  if (t < 0.2) return 1;
  double sum = 0;
  for (int k = 1; k <= 100; ++k) sum += (k % 2 == 1 ? 2 : -2) * std::exp(-2.0 * k * k * t * t);
  return std::clamp(sum, 0.0, 1.0);
}

// Of sorted values. Beyond a hundred thousand, every n / 100000-th is looked at: the distance can then be short by
// 1e-5, a thirtieth of the 3e-4 that ten million values resolve.
inline double kolmogorov_smirnov(const std::vector<double>& sorted, const std::function<Real(Real)>& cdf) {
  const auto n = static_cast<double>(sorted.size());
  double distance = 0;
  for (std::size_t i = 0; i < sorted.size(); i += std::max<std::size_t>(1, sorted.size() / 100'000)) {
    const double p = static_cast<double>(cdf(sorted[i])), below = static_cast<double>(i) / n;
    distance = std::max({distance, p - below, below + 1 / n - p});
  }
  return kolmogorov_p(distance, n);
}

// Of k events where `mean` are expected: the smaller of the Poisson tails, doubled.
inline double poisson_p(double k, double mean) {
  const Real at_most = 1 - gamma_p(k + 1, mean), at_least = k == 0 ? 1 : gamma_p(k, mean);
  return static_cast<double>(std::min<Real>(1, 2 * std::min(at_most, at_least)));
}

// Probabilities of lowest, lowest + 1, ... from the ratios P(k + 1) / P(k), outward from the mode, scaled to sum 1.
struct Masses {
  std::int64_t lowest = 0;
  std::vector<Real> p;

  static Masses from_ratios(std::int64_t mode, std::int64_t least, std::int64_t most,
                            const std::function<Real(Real)>& ratio) {
    constexpr Real kNothing = 1e-25L;
    std::vector<Real> down, up{1};
    for (std::int64_t k = mode; k < most && up.back() > kNothing; ++k) {
      up.push_back(up.back() * ratio(static_cast<Real>(k)));
    }
    Real p = 1;
    for (std::int64_t k = mode - 1; k >= least && p > kNothing; --k) {
      down.push_back(p /= ratio(static_cast<Real>(k)));
    }
    Masses m;
    m.lowest = mode - static_cast<std::int64_t>(down.size());
    m.p.assign(down.rbegin(), down.rend());
    m.p.insert(m.p.end(), up.begin(), up.end());
    Real sum = 0;
    for (const Real x : m.p) sum += x;
    for (Real& x : m.p) x /= sum;
    return m;
  }
};

// Pearson's chi-square with neighbours merged until each bin expects at least 20 values, or n / 200 where the table is
// long. A value outside the table counts in a bin that expects nothing: p = 0.
inline double chi_square(const std::vector<double>& values, const Masses& masses) {
  const auto n = static_cast<Real>(values.size());
  std::vector<std::int64_t> counts(masses.p.size(), 0);
  for (const double v : values) {
    const auto i = static_cast<std::int64_t>(v) - masses.lowest;
    if (i < 0 || i >= static_cast<std::int64_t>(counts.size()) || v != std::floor(v)) return 0;
    ++counts[static_cast<std::size_t>(i)];
  }
  const Real enough = masses.p.size() <= 200 ? Real(20) : std::max<Real>(20, n / 200);
  Real statistic = 0, expected = 0, seen = 0, last_expected = 0, last_seen = 0;
  int bins = 0;
  const auto close = [&](Real e, Real s, int sign) { statistic += sign * (s - e) * (s - e) / e, bins += sign; };
  for (std::size_t i = 0; i < counts.size(); ++i) {
    expected += n * masses.p[i];
    seen += static_cast<Real>(counts[i]);
    if (expected < enough) continue;
    close(expected, seen, 1);
    last_expected = expected, last_seen = seen;
    expected = seen = 0;
  }
  if (bins > 0 && expected > 0) {  // what is left joins the last bin
    close(last_expected, last_seen, -1);
    close(last_expected + expected, last_seen + seen, 1);
  }
  return bins < 2 ? 1 : static_cast<double>(chi_square_upper(statistic, bins - 1));
}

}  // namespace trn::rand::test
