// Windows and the sums of their shifted copies.
#include <trn/fft/windows.hpp>

#include <algorithm>
#include <cmath>

#include <trn/core/enumerators.hpp>
#include <trn/core/error.hpp>

#include "roots.hpp"

namespace trn::fft {
namespace {

// I0(x) = sum of ((x/2)^k / k!)^2: all terms positive, so the sum is accurate for every x where it is finite; scaled by
// exp(-x) it stays so for large x.
long double scaled_bessel_i0(long double x) {
  // (x/2)^(2k)/(k!)^2 is largest near k = x/2; summed outwards from there in units of that term, then scaled by
  // logarithms.
  const long double half = x / 2;
  const auto peak = static_cast<std::int64_t>(half);
  long double sum = 1, term = 1;
  for (std::int64_t k = peak + 1; term > sum * 1e-21L; ++k)
    sum += term *= (half / static_cast<long double>(k)) * (half / static_cast<long double>(k));
  term = 1;
  for (std::int64_t k = peak; k > 0 && term > sum * 1e-21L; --k)
    sum += term *= (static_cast<long double>(k) / half) * (static_cast<long double>(k) / half);
  const long double log_peak =
      peak == 0
          ? 0
          : 2 * (static_cast<long double>(peak) * std::log(half) - std::lgamma(static_cast<long double>(peak) + 1));
  return sum * std::exp(log_peak - x);
}

std::vector<double> sums(const std::vector<double>& window, std::int64_t hop, bool squared) {
  require(!window.empty(), "fft.window: the window is empty");
  require(hop >= 1, "fft.window: the hop is {}; it must be at least 1", hop);
  // The sum of all shifted copies has the period `hop`.
  std::vector<double> sum(
      static_cast<std::size_t>(std::min<std::int64_t>(hop, static_cast<std::int64_t>(window.size()))), 0.0);
  if (hop > static_cast<std::int64_t>(window.size())) sum.push_back(0);  // a gap that no copy covers
  for (std::size_t j = 0; j < window.size(); ++j)
    sum[j % static_cast<std::size_t>(hop)] += squared ? window[j] * window[j] : window[j];
  return sum;
}

}  // namespace

const char* name(WindowKind kind) {
  switch (kind) {
    case WindowKind::Boxcar:
      return "boxcar";
    case WindowKind::Bartlett:
      return "bartlett";
    case WindowKind::Hann:
      return "hann";
    case WindowKind::Hamming:
      return "hamming";
    case WindowKind::Blackman:
      return "blackman";
    case WindowKind::Kaiser:
      return "kaiser";
  }
  return "?";
}

std::vector<double> window(WindowKind kind, std::int64_t n, const WindowOptions& options) {
  operands::check_enumerator("fft.window", "WindowKind", kind, WindowKind::Kaiser);
  operands::check_enumerator("fft.window", "WindowForm", options.form, WindowForm::Symmetric);
  require(n >= 1, "fft.window: n is {}; it must be at least 1", n);
  // The series takes some sqrt(beta) terms a point; beyond 1e8 a window of any length is one point.
  require(kind != WindowKind::Kaiser || (options.beta >= 0 && options.beta <= 1e8),
          "fft.window: beta is {}; give a number from 0 to 1e8", options.beta);
  std::vector<double> w(static_cast<std::size_t>(n), 1.0);
  const std::int64_t last = options.form == WindowForm::Periodic ? n : n - 1;  // x = j/last
  if (n == 1 || kind == WindowKind::Boxcar) return w;
  const long double bottom = kind == WindowKind::Kaiser ? scaled_bessel_i0(options.beta) : 1;
  for (std::int64_t j = 0; j < n; ++j) {
    const auto cosine = [&](std::int64_t turns) { return long_root(turns * j, last).real(); };
    const long double x = static_cast<long double>(j) / static_cast<long double>(last);
    long double value = 1;
    switch (kind) {
      case WindowKind::Boxcar:
        break;
      case WindowKind::Bartlett:
        value = 1 - std::abs(2 * x - 1);
        break;
      case WindowKind::Hann:
        value = 0.5L - 0.5L * cosine(1);
        break;
      case WindowKind::Hamming:
        value = 0.54L - 0.46L * cosine(1);
        break;
      case WindowKind::Blackman:
        value = 0.42L - 0.5L * cosine(1) + 0.08L * cosine(2);
        break;
      case WindowKind::Kaiser: {
        const long double b = options.beta, arg = b * std::sqrt(std::max(4 * x * (1 - x), 0.0L));
        value = scaled_bessel_i0(arg) / bottom * std::exp(arg - b);
        break;
      }
    }
    w[static_cast<std::size_t>(j)] = static_cast<double>(value);
  }
  return w;
}

bool satisfies_cola(const std::vector<double>& window, std::int64_t hop, double tolerance) {
  const std::vector<double> s = sums(window, hop, false);
  const auto [low, high] = std::minmax_element(s.begin(), s.end());
  return *high - *low <= tolerance * std::max(std::abs(*high), std::abs(*low));
}
bool satisfies_nola(const std::vector<double>& window, std::int64_t hop, double tolerance) {
  const std::vector<double> s = sums(window, hop, true);
  const auto [low, high] = std::minmax_element(s.begin(), s.end());
  return *low > tolerance * *high;
}

}  // namespace trn::fft
