// One count from the words of one element.
//
// Small means: inversion, adding up probabilities from 0. Otherwise Stadlober's ratio of uniforms (1990), which one
// class does for every distribution that is unimodal like these: with u, v uniform, k = floor(mean + 1/2 + h (v - 1/2)
// / u), accepted where u^2 <= P(k) / P(mode), h = 2 sqrt(2/e) sqrt(variance + 1/2) + 3 - 2 sqrt(3/e). Exact as long as
// the probabilities are, and Loader's formulas have relative errors of about 1e-15 at every size.
#pragma once

#include "host/continuous_samplers.hpp"

namespace trn::rand::host {

inline constexpr double kInversionMean = 10;

inline double log_poisson(double k, double lambda) {
  if (k == 0) return -lambda;
  return -scalar::stirling_error(k) - scalar::deviance(k, lambda) - 0.5 * scalar::log(2 * std::numbers::pi * k);
}

inline double log_binomial(double k, double n, double p) {
  if (k == 0) return n == 0 ? 0 : n * scalar::log1p(-p);
  if (k == n) return n * scalar::log(p);
  const double spread = scalar::log(n / (2 * std::numbers::pi * k * (n - k)));
  return scalar::stirling_error(n) - scalar::stirling_error(k) - scalar::stirling_error(n - k) -
         scalar::deviance(k, n * p) - scalar::deviance(n - k, n * (1 - p)) + 0.5 * spread;
}

class RatioOfUniforms {
 public:
  template <class LogP> RatioOfUniforms(double mean, double variance, double mode, const LogP& log_p)
      : centre_(mean + 0.5), width_(kSlope * std::sqrt(variance + 0.5) + kOffset), log_top_(log_p(mode)) {}

  // Values are within lowest .. highest.
  template <class LogP> double operator()(ElementWords& words, double lowest, double highest, const LogP& log_p) const {
    for (;;) {
      const double u = words.uniform(), v = words.uniform();
      const double k = std::floor(centre_ + width_ * (v - 0.5) / u);
      if (!(k >= lowest && k <= highest)) continue;
      const double t = log_p(k) - log_top_;
      if (u * (4 - u) - 3 <= t) return k;  // 2 ln u <= u (4 - u) - 3
      if (u * (u - t) >= 1) continue;      // 2 ln u >= u - 1/u
      if (2 * scalar::log(u) <= t) return k;
    }
  }

  // For poisson_attempts.
  [[nodiscard]] PoissonAttempt attempt(double lambda) const {
    PoissonAttempt a{lambda, centre_, width_, log_top_, {}};
    for (std::size_t k = 1; k < a.stirling.size(); ++k) a.stirling[k] = scalar::stirling_error(static_cast<double>(k));
    return a;
  }

 private:
  static constexpr double kSlope = 1.715527769921413593, kOffset = 0.898916162058898781;
  double centre_, width_, log_top_;
};

// The first k whose cumulated probability exceeds a uniform; next(k) = P(k + 1) / P(k). Rounding can leave the sum
// short of the uniform: then another one is drawn.
template <class Next> double invert(ElementWords& words, double first, double highest, const Next& next) {
  for (;;) {
    double u = words.uniform(), p = first, k = 0;
    while (u > p) {
      u -= p;
      p *= next(k);
      k += 1;
      if (k > highest || p == 0) break;
    }
    if (u <= p && k <= highest) return k;
  }
}

class PoissonSampler {
 public:
  explicit PoissonSampler(const PoissonOptions& o)
      : lambda_(o.lambda),
        first_(scalar::exp(-lambda_)),
        ratio_(lambda_, lambda_, std::floor(lambda_), [&](double k) { return log_poisson(k, lambda_); }) {}
  double operator()(ElementWords& words) const {
    if (lambda_ == 0) return 0;
    if (lambda_ < kInversionMean) {
      return invert(words, first_, scalar::kInfinity, [&](double k) { return lambda_ / (k + 1); });
    }
    return ratio_(words, 0, scalar::kInfinity, [&](double k) { return log_poisson(k, lambda_); });
  }
  [[nodiscard]] PoissonAttempt attempt() const { return ratio_.attempt(lambda_); }

 private:
  double lambda_, first_;
  RatioOfUniforms ratio_;
};

class BinomialSampler {
 public:
  explicit BinomialSampler(const BinomialOptions& o)
      : n_(static_cast<double>(o.trials)),
        flipped_(o.p > 0.5),
        p_(flipped_ ? 1 - o.p : o.p),
        first_(scalar::exp(log_binomial(0, n_, p_))),
        ratio_(n_ * p_, n_ * p_ * (1 - p_), std::floor((n_ + 1) * p_), [&](double k) { return log_p(k); }) {}
  double operator()(ElementWords& words) const {
    const double k = smaller(words);
    return flipped_ ? n_ - k : k;
  }

 private:
  double log_p(double k) const { return log_binomial(k, n_, p_); }
  double smaller(ElementWords& words) const {
    if (n_ == 0 || p_ == 0) return 0;
    if (n_ * p_ < kInversionMean) {
      const double odds = p_ / (1 - p_);
      return invert(words, first_, n_, [&](double k) { return odds * (n_ - k) / (k + 1); });
    }
    return ratio_(words, 0, n_, [&](double k) { return log_p(k); });
  }

  double n_;
  bool flipped_;
  double p_, first_;
  RatioOfUniforms ratio_;
};

// 1 + floor(e / -ln(1 - p)).
struct GeometricSampler {
  explicit GeometricSampler(const GeometricOptions& o) : rate(-scalar::log1p(-o.p)) {}
  double operator()(ElementWords& words) const { return 1 + std::floor(standard_exponential(words) / rate); }
  double rate;
};

// g of N are of the rarer kind and m are taken or left, whichever is fewer: then P(0) > 0, and the answer follows by
// subtraction. P(k) = b(k; g, q) b(m - k; N - g, q) / b(m; N, q) for any q; q = m / N is Loader's choice.
class HypergeometricSampler {
 public:
  explicit HypergeometricSampler(const HypergeometricOptions& o)
      : o_(o),
        total_(static_cast<double>(o.good + o.bad)),
        g_(static_cast<double>(std::min(o.good, o.bad))),
        m_(static_cast<double>(std::min(o.sample, o.good + o.bad - o.sample))),
        mean_(total_ == 0 ? 0 : m_ * (g_ / total_)),
        first_(scalar::exp(log_p(0))),
        ratio_(mean_, mean_ * (1 - g_ / total_) * (total_ - m_) / std::max(total_ - 1, 1.0),
               std::floor((m_ + 1) * (g_ + 1) / (total_ + 2)), [&](double k) { return log_p(k); }) {}
  double operator()(ElementWords& words) const {
    double k = smaller(words);
    if (o_.good > o_.bad) k = m_ - k;
    if (m_ < static_cast<double>(o_.sample)) k = static_cast<double>(o_.good) - k;
    return k;
  }

 private:
  double log_p(double k) const {
    if (m_ == 0 || g_ == 0) return 0;
    const double q = m_ / total_;
    return log_binomial(k, g_, q) + log_binomial(m_ - k, total_ - g_, q) - log_binomial(m_, total_, q);
  }
  double smaller(ElementWords& words) const {
    const double highest = std::min(g_, m_);
    if (highest == 0) return 0;
    if (mean_ < kInversionMean) {
      return invert(words, first_, highest,
                    [&](double k) { return (g_ - k) * (m_ - k) / ((k + 1) * (total_ - g_ - m_ + k + 1)); });
    }
    return ratio_(words, 0, highest, [&](double k) { return log_p(k); });
  }

  HypergeometricOptions o_;
  double total_, g_, m_, mean_, first_;
  RatioOfUniforms ratio_;
};

}  // namespace trn::rand::host
