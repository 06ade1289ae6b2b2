// The formulas of activation_functions.hpp, with care for large arguments.
#include "sim/activation_functions.hpp"

#include <cmath>
#include <numbers>
#include <trn/core/error.hpp>

namespace trn::neuron::sim {

namespace {

using std::numbers::pi;

// e^-|x| never overflows.
double sigmoid(double x) {
  const double t = std::exp(-std::fabs(x));
  return x >= 0 ? 1 / (1 + t) : t / (1 + t);
}
double softplus(double x) { return std::fmax(x, 0.0) + std::log1p(std::exp(-std::fabs(x))); }
double normal_cdf(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }
double normal_pdf(double x) { return std::exp(-0.5 * x * x) / std::sqrt(2 * pi); }

// x * factor(x) where the factor decays: at x = -infinity the limit 0 instead of infinity * 0.
double damped(double x, double factor) { return std::isinf(x) && factor == 0 ? 0.0 : x * factor; }

// Beyond [-pi, pi] the table's last cubic goes on: the Taylor polynomial of sin at +-pi, with u = |x| - pi. The
// documentation gives one value, sin(9) ~ 27.65, and this is it: u = 5.8584, -u + u^3 / 6 = 27.65.
double table_sin(double x) {
  if (!(std::fabs(x) > pi)) return std::sin(x);
  const double u = std::fabs(x) - pi;
  return std::copysign(1.0, x) * (u * u * u / 6 - u);
}

template <class Real, class F> void map(const Real* x, Real* out, std::int64_t n, F f) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = static_cast<Real>(f(static_cast<double>(x[i])));
}

}  // namespace

template <class Real> void activate(tile::ActFunction function, const Real* x, Real* out, std::int64_t n) {
  using enum tile::ActFunction;
  switch (function) {
    case Copy:
      for (std::int64_t i = 0; i < n; ++i) out[i] = x[i];
      return;
    case Square:
      for (std::int64_t i = 0; i < n; ++i) out[i] = x[i] * x[i];
      return;
    case Relu:
      for (std::int64_t i = 0; i < n; ++i) out[i] = ((x[i] > 0) | (x[i] != x[i])) ? x[i] : Real(0);
      return;
    case Abs:
      for (std::int64_t i = 0; i < n; ++i) out[i] = std::fabs(x[i]);
      return;
    case Reciprocal:
      for (std::int64_t i = 0; i < n; ++i) out[i] = Real(1) / x[i];
      return;
    case Sqrt:
      return map(x, out, n, [](double v) { return std::sqrt(v); });
    case Rsqrt:
      return map(x, out, n, [](double v) { return 1 / std::sqrt(v); });
    case Sign:
      return map(x, out, n, [](double v) { return v > 0 ? 1.0 : v < 0 ? -1.0 : v; });
    case Sigmoid:
      return map(x, out, n, [](double v) { return sigmoid(v); });
    case Gelu:
      return map(x, out, n, [](double v) { return damped(v, normal_cdf(v)); });
    case GeluDx:
      return map(x, out, n, [](double v) { return normal_cdf(v) + damped(v, normal_pdf(v)); });
    case GeluApprxTanh:
      return map(x, out, n, [](double v) {
        // (1 + tanh(t)) / 2 = sigmoid(2t), which keeps its digits where tanh is near -1.
        return damped(v, sigmoid(2 * std::sqrt(2 / pi) * (v + 0.044715 * v * v * v)));
      });
    case GeluApprxSigmoid:
      return map(x, out, n, [](double v) { return damped(v, sigmoid(1.702 * v)); });
    case Silu:
      return map(x, out, n, [](double v) { return damped(v, sigmoid(v)); });
    case SiluDx:
      return map(x, out, n, [](double v) {
        const double s = sigmoid(v);
        return s + damped(v, s * sigmoid(-v));
      });
    case Tanh:
      return map(x, out, n, [](double v) { return std::tanh(v); });
    case Softplus:
      return map(x, out, n, [](double v) { return softplus(v); });
    case Mish:
      return map(x, out, n, [](double v) { return damped(v, std::tanh(softplus(v))); });
    case Erf:
      return map(x, out, n, [](double v) { return std::erf(v); });
    case ErfDx:
      return map(x, out, n, [](double v) { return 2 / std::sqrt(pi) * std::exp(-v * v); });
    case Exp:
      return map(x, out, n, [](double v) { return std::exp(v); });
    case Log:
      return map(x, out, n, [](double v) { return std::log(v); });
    case Sin:
      return map(x, out, n, [](double v) { return table_sin(v); });
    case Arctan:
      return map(x, out, n, [](double v) { return std::atan(v); });
  }
  fail<InternalError>("simulator: unknown activation function {}", static_cast<int>(function));
}

template void activate<float>(tile::ActFunction, const float*, float*, std::int64_t);
template void activate<double>(tile::ActFunction, const double*, double*, std::int64_t);

}  // namespace trn::neuron::sim
