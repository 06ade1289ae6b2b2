// Quasi-Monte Carlo: the price of an Asian option (a call on the geometric mean of eight prices, whose value is known)
// from N paths of random numbers and from N points of a scrambled Sobol sequence. The error falls like N^-1/2 for the
// first, and faster for the second.
//
//   12_quasi_monte_carlo [FILE.svg]      with a name, also draws docs/quasi_monte_carlo.svg
#include <cmath>
#include <cstdio>
#include <numbers>
#include <vector>

#include <fmt/core.h>

#include <trn/trn.hpp>

#include "figure.hpp"

namespace {

constexpr std::int64_t kSteps = 8, kSeeds = 16;
constexpr int kSmallest = 6, kLargest = 14;  // powers of two
constexpr double kSpot = 100, kStrike = 100, kRate = 0.03, kVolatility = 0.3, kYears = 1;

// ln of the geometric mean is normal.
double exact_price() {
  const double d = kSteps, drift = kRate - 0.5 * kVolatility * kVolatility;
  const double m = std::log(kSpot) + drift * kYears * (d + 1) / (2 * d);
  const double v = kVolatility * kVolatility * kYears * (d + 1) * (2 * d + 1) / (6 * d * d), s = std::sqrt(v);
  const auto cdf = [](double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); };
  const double above = (m - std::log(kStrike)) / s;
  return std::exp(-kRate * kYears) * (std::exp(m + v / 2) * cdf(above + s) - kStrike * cdf(above));
}

// Normals of `paths` paths, step by step: z(k, i) for step k of path i.
double price(const trn::rand::State& state, std::int64_t paths) {
  const auto exec = trn::Executor::host();
  trn::rand::Generator generator(state);
  const trn::Array<double> z(exec, {kSteps, paths});
  trn::rand::normal(exec, generator, z.view(), {.method = trn::rand::NormalMethod::Inverse});
  const double dt = kYears / kSteps, drift = (kRate - 0.5 * kVolatility * kVolatility) * dt;
  double sum = 0;
  for (std::int64_t i = 0; i < paths; ++i) {
    double log_price = std::log(kSpot), log_mean = 0;
    for (std::int64_t k = 0; k < kSteps; ++k) {
      log_price += drift + kVolatility * std::sqrt(dt) * z.data()[k * paths + i];
      log_mean += log_price / kSteps;
    }
    sum += std::max(std::exp(log_mean) - kStrike, 0.0);
  }
  return std::exp(-kRate * kYears) * sum / static_cast<double>(paths);
}

// Root of the mean square error over the seeds.
double error(trn::rand::Algorithm algorithm, std::int64_t paths) {
  const bool points = trn::rand::is_quasi(algorithm);
  double squares = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const std::uint32_t dimensions = points ? kSteps : 1;
    const double e = price({.algorithm = algorithm, .seed = seed, .dimensions = dimensions}, paths) - exact_price();
    squares += e * e;
  }
  return std::sqrt(squares / kSeeds);
}

// Least squares through (log2 N, log2 error).
double slope(const std::vector<double>& errors) {
  const auto n = static_cast<double>(errors.size());
  double sx = 0, sy = 0, sxx = 0, sxy = 0;
  for (std::size_t i = 0; i < errors.size(); ++i) {
    const double x = static_cast<double>(i), y = std::log2(errors[i]);
    sx += x, sy += y, sxx += x * x, sxy += x * y;
  }
  return (n * sxy - sx * sy) / (n * sxx - sx * sx);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<double> paths, random, sobol;
  std::printf("exact price %.6f\n  paths   random error   Sobol error\n", exact_price());
  for (int k = kSmallest; k <= kLargest; ++k) {
    paths.push_back(std::ldexp(1.0, k));
    random.push_back(error(trn::rand::Algorithm::Philox4x32_10, std::int64_t{1} << k));
    sobol.push_back(error(trn::rand::Algorithm::OwenSobol32, std::int64_t{1} << k));
    std::printf("%7lld   %12.6f   %11.6f\n", 1ll << k, random.back(), sobol.back());
  }
  std::printf("slopes: %.2f and %.2f\n", slope(random), slope(sobol));
  if (argc > 1) {
    example::draw(argv[1], fmt::format("Price of an Asian option, {} seeds", kSeeds), {"paths", example::Scale::Log2},
                  {"root mean square error", example::Scale::Log10},
                  {{fmt::format("Philox, slope {:.2f}", slope(random)), paths, random},
                   {fmt::format("Owen's Sobol, slope {:.2f}", slope(sobol)), paths, sobol}});
  }
  // -1/2 in theory for random numbers; for the points, clearly better.
  return std::fabs(slope(random) + 0.5) < 0.15 && slope(sobol) < -0.65 ? 0 : 1;
}
