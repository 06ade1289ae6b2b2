// One value of a continuous distribution from the words of one element. A sampler is made once per draw and called once
// per element; it never changes.
#pragma once

#include <algorithm>

#include "element_words.hpp"
#include "host/attempts.hpp"
#include "host/scalar_math.hpp"
#include "samplers.hpp"

namespace trn::rand::host {

// -ln u, u = (x + 1/2) 2^-64; never 0.
inline double standard_exponential(ElementWords& words) {
  const double u = static_cast<double>(words.next64()) * 0x1p-64 + 0x1p-65;
  return std::max(-scalar::log(u), 0x1p-53);
}

// The first coordinate of a Box-Muller pair, on 128 bits as host/transforms.cpp has it for doubles.
inline double standard_normal(ElementWords& words) {
  const std::uint64_t x = words.next64(), y = words.next64();
  const double u = (static_cast<double>(y) * 0x1p-64 + static_cast<double>(x)) * 0x1p-64 + 0x1p-129;
  const double f = (static_cast<double>(y & ((std::uint64_t{1} << 51) - 1)) + 0.5) * 0x1p-51;
  const double z = std::sqrt(-2 * scalar::log(u)) * scalar::quarter_turn(f).sine;
  return (y >> 52 & 1) != 0 ? -z : z;
}

// Marsaglia and Tsang (2000): d v with v = (1 + x / sqrt(9 d))^3, x normal, d = shape - 1/3, accepted where ln(uniform)
// is below x^2/2 + d - d v + d ln v, which holds wherever the uniform is below 1 - 0.0331 x^4. A shape below 1 is
// raised by 1 and the result multiplied by uniform^(1 / shape).
class StandardGamma {
 public:
  explicit StandardGamma(double shape)
      : boost_(shape < 1 ? 1 / shape : 0), d_(shape + (shape < 1 ? 1 : 0) - 1.0 / 3), c_(1 / std::sqrt(9 * d_)) {}

  double operator()(ElementWords& words) const {
    const double g = at_least_one(words);
    return boost_ == 0 ? g : g * scalar::exp(-standard_exponential(words) * boost_);
  }
  [[nodiscard]] GammaAttempt attempt() const { return {boost_, d_, c_}; }
  // The logarithm, which does not underflow when the shape is small.
  double log(ElementWords& words) const {
    const double g = scalar::log(at_least_one(words));
    return boost_ == 0 ? g : g - standard_exponential(words) * boost_;
  }

 private:
  double at_least_one(ElementWords& words) const {
    for (;;) {
      const double x = standard_normal(words), root = 1 + c_ * x;
      if (root <= 0) continue;
      const double v = root * root * root;
      const double u = words.uniform(), square = x * x;
      if (u < 1 - 0.0331 * square * square) return d_ * v;
      if (scalar::log(u) < 0.5 * square + d_ * (1 - v + scalar::log(v))) return d_ * v;
    }
  }

  double boost_, d_, c_;
};

// G_a / (G_a + G_b) from logarithms.
struct BetaSampler {
  explicit BetaSampler(const BetaOptions& o) : a(o.a), b(o.b) {}
  double operator()(ElementWords& words) const {
    const double log_a = a.log(words), log_b = b.log(words);
    return 1 / (1 + scalar::exp(log_b - log_a));
  }
  StandardGamma a, b;
};

struct StudentTSampler {
  explicit StudentTSampler(const StudentTOptions& o) : gamma(0.5 * o.df), half_df(0.5 * o.df) {}
  double operator()(ElementWords& words) const {
    const double z = standard_normal(words);
    // z / sqrt(g / (df / 2)), by the logarithm of g: a small df makes g tiny.
    return z * scalar::exp(-0.5 * (gamma.log(words) - scalar::log(half_df)));
  }
  StandardGamma gamma;
  double half_df;
};

struct FisherFSampler {
  explicit FisherFSampler(const FisherFOptions& o)
      : first(0.5 * o.df1), second(0.5 * o.df2), log_ratio(scalar::log(o.df2) - scalar::log(o.df1)) {}
  double operator()(ElementWords& words) const {
    const double log_first = first.log(words), log_second = second.log(words);
    return scalar::exp(log_first - log_second + log_ratio);
  }
  StandardGamma first, second;
  double log_ratio;
};

// Robert (1995). With a < b the ends in units of stddev, mirrored so that |a| <= |b| when both have one sign. Away from
// the mean everything is counted from the nearer end: far out, a + t would round the little t that matters.
class TruncatedNormalSampler {
 public:
  explicit TruncatedNormalSampler(const TruncatedNormalOptions& o)
      : o_(o), a_((o.low - o.mean) / o.stddev), b_((o.high - o.mean) / o.stddev), mirrored_(b_ <= 0) {
    if (mirrored_) {
      const double old = a_;
      a_ = -b_;
      b_ = -old;
    }
    const double root = std::sqrt(a_ * a_ + 4);
    rate_ = 0.5 * (a_ + root);
    below_ = 2 / (a_ + root);  // rate - a
    length_ = (o.high - o.low) / o.stddev;
    if (a_ <= 0) {
      method_ = length_ > 2.5 ? Method::Normal : Method::Uniform;
    } else {  // the exponential is accepted more often than the uniform unless the interval is short
      const double limit = below_ * scalar::exp(0.5 - 0.5 * a_ * below_);
      method_ = length_ > limit ? Method::Exponential : Method::Uniform;
    }
  }

  double operator()(ElementWords& words) const {
    double value;
    if (method_ == Method::Normal) {
      const double x = normal(words);
      value = o_.mean + o_.stddev * (mirrored_ ? -x : x);
    } else {
      const double t = method_ == Method::Uniform ? uniform(words) : exponential(words);
      value = mirrored_ ? o_.high - o_.stddev * t : o_.low + o_.stddev * t;
    }
    return std::clamp(value, o_.low, o_.high);
  }

 private:
  enum class Method { Normal, Uniform, Exponential };

  double normal(ElementWords& words) const {
    for (;;) {
      const double x = standard_normal(words);
      if (x >= a_ && x <= b_) return x;
    }
  }
  // x - a, with x uniform; the density is largest at 0 or at a.
  double uniform(ElementWords& words) const {
    for (;;) {
      const double t = length_ * words.uniform(), x = a_ + t;
      if (standard_exponential(words) >= (a_ > 0 ? t * (a_ + 0.5 * t) : 0.5 * x * x)) return t;
    }
  }
  // x - a, with x - a exponential; accepted by (x - rate)^2 / 2.
  double exponential(ElementWords& words) const {
    for (;;) {
      const double t = standard_exponential(words) / rate_, miss = t - below_;
      if (t <= length_ && standard_exponential(words) >= 0.5 * miss * miss) return t;
    }
  }

  TruncatedNormalOptions o_;
  double a_, b_, rate_ = 1, below_ = 1, length_ = 0;
  bool mirrored_;
  Method method_ = Method::Normal;
};

// Best and Fisher (1979): the angle of a wrapped Cauchy, accepted with probability from c = kappa (r - f), where
// f = cos(angle) = (1 + r z) / (r + z), z = cos(pi uniform). Everything from r - 1, so that a large kappa keeps its
// digits.
class VonMisesSampler {
 public:
  explicit VonMisesSampler(const VonMisesOptions& o)
      : mean_(std::remainder(o.mean, 2 * std::numbers::pi)), kappa_(o.kappa) {
    if (kappa_ < kUniformBelow) return;
    const double root = std::sqrt(1 + 4 * kappa_ * kappa_), tau = 1 + root, s = std::sqrt(2 * tau);
    // rho = (tau - s) / (2 kappa), without cancellation for small kappa: tau^2 - 2 tau = root^2 - 1 = 4 kappa^2.
    const double rho = 2 * kappa_ / (tau + s), less = 1 - rho;
    const double exact_less = (s - 1 - 1 / (root + 2 * kappa_)) / (2 * kappa_);
    excess_ = (rho > 0.5 ? exact_less * exact_less : less * less) / (2 * rho);
  }

  double operator()(ElementWords& words) const {
    if (kappa_ < kUniformBelow) return wrapped(std::numbers::pi * (2 * words.uniform() - 1));
    for (;;) {
      const auto [sine, cosine] = scalar::quarter_turn(words.uniform());
      // 1 - z = 2 sine^2; 1 - f = (r - 1)(1 - z) / (r + z).
      const double one_less_f = excess_ * 2 * sine * sine / (excess_ + 2 * cosine * cosine);
      const double c = kappa_ * (excess_ + one_less_f);
      if (scalar::log(c) + standard_exponential(words) + 1 - c < 0) continue;
      const double angle = 2 * scalar::arctan(std::sqrt(excess_ / (excess_ + 2)) * sine / cosine);
      return wrapped((words.next32() & 1) != 0 ? -angle : angle);
    }
  }

 private:
  static constexpr double kUniformBelow = 1e-9;  // the density then differs from the uniform by less than 1e-9

  double wrapped(double angle) const {
    const double x = std::remainder(mean_ + angle, 2 * std::numbers::pi);
    return std::clamp(x, -std::numbers::pi, std::numbers::pi);
  }

  double mean_, kappa_, excess_ = 0;  // r - 1
};

}  // namespace trn::rand::host
