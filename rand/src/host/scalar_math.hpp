// Elementary functions of one double for the rejection samplers, from additions, multiplications, divisions and square
// roots alone: libm's differ in the last bit between machines, and a rejection sampler turns such a bit into another
// value. Errors of about 1 ulp, measured in rand/test/math_test.cpp. The series are those of
// vector_math-inl.hpp.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>

namespace trn::rand::host::scalar {

inline constexpr double kLn2High = 0x1.62e42feep-1, kLn2Low = 0x1.a39ef35793c76p-33;
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Tables of the coefficients, so that a loop multiplies and adds only.
template <std::size_t N, class F> constexpr std::array<double, N> coefficients(F f) {
  std::array<double, N> table{};
  for (std::size_t k = 0; k < N; ++k) table[k] = f(static_cast<int>(k));
  return table;
}
constexpr double inverse_factorial(int n) {
  double product = 1;
  for (int k = 2; k <= n; ++k) product *= k;
  return 1 / product;
}
inline constexpr auto kLog = coefficients<10>([](int k) { return 2.0 / (2 * k + 3); });
inline constexpr auto kExp = coefficients<12>([](int k) { return inverse_factorial(k + 2); });
inline constexpr auto kSine =
    coefficients<8>([](int k) { return (k % 2 == 0 ? -1 : 1) * inverse_factorial(2 * k + 3); });
inline constexpr auto kCosine =
    coefficients<8>([](int k) { return (k % 2 == 0 ? 1 : -1) * inverse_factorial(2 * k + 4); });
inline constexpr auto kArctan = coefficients<8>([](int k) { return (k % 2 == 0 ? -1.0 : 1.0) / (2 * k + 3); });

template <std::size_t N> constexpr double polynomial(const std::array<double, N>& c, double x) {
  double sum = c[N - 1];
  for (std::size_t k = N - 1; k-- > 0;) sum = sum * x + c[k];
  return sum;
}

// k ln 2 + ln(1 + f), |f| < 0.42.
inline double log_parts(double k, double f) {
  const double s = f / (2 + f), z = s * s, h = 0.5 * f * f;
  const double tail = s * (h + z * polynomial(kLog, z)) + k * kLn2Low;
  return k * kLn2High + (f - (h - tail));
}

// x >= 0; subnormal numbers are scaled first.
inline double log(double x) {
  if (x == 0) return -kInfinity;
  if (std::isinf(x)) return x;
  double k = 0;
  if (x < std::numeric_limits<double>::min()) {
    x *= 0x1p54;
    k = -54;
  }
  const auto bits = std::bit_cast<std::int64_t>(x);
  const std::int64_t e = (bits - 0x3fe6a09e667f3bcd) >> 52;
  return log_parts(k + static_cast<double>(e), std::bit_cast<double>(bits - (e << 52)) - 1);
}

inline double log1p(double x) {
  if (x > -0.25 && x < 0.4) return log_parts(0, x);
  const double u = 1 + x;
  return u == 0 ? -kInfinity : log(u) + (x - (u - 1)) / u;
}

inline double exp(double x) {
  if (x > 710) return kInfinity;
  if (x < -746) return 0;
  const double whole = 0x1.8p52, k = (x * std::numbers::log2e + whole) - whole;
  const double r = (x - k * kLn2High) - k * kLn2Low;
  const double e = r * r * polynomial(kExp, r) + r + 1;
  const auto half = static_cast<std::int64_t>(k) / 2, rest = static_cast<std::int64_t>(k) - half;
  const auto power = [](std::int64_t n) { return std::bit_cast<double>((n + 1023) << 52); };
  return e * power(half) * power(rest);
}

// sin and cos of the angle (pi/2) f, 0 <= f <= 1, from the smaller of f and 1 - f.
struct SineCosine {
  double sine, cosine;
};
inline SineCosine quarter_turn(double f) {
  const double rest = 1 - f, x = std::fmin(f, rest) * (std::numbers::pi / 2), z = x * x;
  const double s = z * polynomial(kSine, z) * x + x, c = z * z * polynomial(kCosine, z) - 0.5 * z + 1;
  return f < rest ? SineCosine{s, c} : SineCosine{c, s};
}

// Halved three times, atan x = 2 atan(x / (1 + sqrt(1 + x^2))), then the series. x >= 0.
inline double arctan(double x) {
  if (x > 1) return std::numbers::pi / 2 - arctan(1 / x);
  for (int k = 0; k < 3; ++k) x = x / (1 + std::sqrt(1 + x * x));
  const double z = x * x;
  return 8 * (z * polynomial(kArctan, z) * x + x);
}

// ln(n!) - (n + 1/2) ln n + n - ln(2 pi) / 2, n >= 1: what Stirling's formula leaves.
inline double stirling_error(double n) {
  if (n < 16) {
    double factorial = 1;
    for (int k = 2; k <= static_cast<int>(n); ++k) factorial *= k;
    constexpr double kHalfLog2Pi = 0.918938533204672741780329736406;
    return log(factorial) - (n + 0.5) * log(n) + n - kHalfLog2Pi;
  }
  const double i = 1 / n, z = i * i;
  return i * (1.0 / 12 - z * (1.0 / 360 - z * (1.0 / 1260 - z * (1.0 / 1680 - z * (1.0 / 1188 - z * 691.0 / 360360)))));
}

// x ln(x / m) + m - x without cancellation (Loader, "Fast and accurate computation of binomial probabilities", 2000).
inline double deviance(double x, double m) {
  if (x == 0) return m;
  if (std::fabs(x - m) < 0.1 * (x + m)) {
    const double v = (x - m) / (x + m), z = v * v;
    double sum = (x - m) * v, term = 2 * x * v;
    for (int j = 1; j < 1000; ++j) {
      term *= z;
      const double next = sum + term / (2 * j + 1);
      if (next == sum) break;
      sum = next;
    }
    return sum;
  }
  return x * log(x / m) + m - x;
}

}  // namespace trn::rand::host::scalar
