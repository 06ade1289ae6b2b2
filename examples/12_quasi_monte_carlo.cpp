// Quasi-Monte Carlo: the price of an Asian option (a call on the geometric mean of eight prices, whose value is known)
// from N paths of random numbers and from N points of a scrambled Sobol sequence. The error falls like N^-1/2 for the
// first, and faster for the second.
//
//   12_quasi_monte_carlo [FILE.svg]      with a name, also draws docs/quasi_monte_carlo.svg
#include <cmath>
#include <cstdio>
#include <fstream>
#include <numbers>
#include <vector>

#include <fmt/core.h>

#include <trn/trn.hpp>

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

void draw(const char* file, const std::vector<double>& random, const std::vector<double>& sobol) {
  std::ofstream svg(file);
  const auto x = [](std::size_t i) { return 70 + 60 * static_cast<double>(i); };
  const auto y = [](double e) { return 40 - 40 * std::log10(e) * 2; };
  svg << R"(<svg xmlns="http://www.w3.org/2000/svg" width="620" height="360" font-family="sans-serif" font-size="12">)"
      << "\n<rect width=\"620\" height=\"360\" fill=\"white\"/>\n";
  for (int decade = 0; decade >= -3; --decade) {
    const double at = y(std::pow(10.0, decade));
    svg << fmt::format("<line x1=\"70\" x2=\"550\" y1=\"{0:.1f}\" y2=\"{0:.1f}\" stroke=\"#ddd\"/>\n", at)
        << fmt::format("<text x=\"62\" y=\"{:.1f}\" text-anchor=\"end\">1e{}</text>\n", at + 4, decade);
  }
  const auto line = [&](const std::vector<double>& errors, const char* color, const std::string& title) {
    std::string points;
    for (std::size_t i = 0; i < errors.size(); ++i) points += fmt::format("{:.1f},{:.1f} ", x(i), y(errors[i]));
    svg << fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>\n", points, color)
        << fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" fill=\"{}\" text-anchor=\"end\">{}</text>\n",
                       x(errors.size() - 1), y(errors.back()) - 10, color, title);
  };
  line(random, "#c0392b", fmt::format("Philox, slope {:.2f}", slope(random)));
  line(sobol, "#2471a3", fmt::format("Sobol, Owen scrambling, slope {:.2f}", slope(sobol)));
  for (std::size_t i = 0; i < random.size(); ++i) {
    svg << fmt::format("<text x=\"{:.1f}\" y=\"325\" text-anchor=\"middle\">2^{}</text>\n", x(i),
                       kSmallest + static_cast<int>(i));
  }
  svg << "<text x=\"310\" y=\"348\" text-anchor=\"middle\">paths</text>\n"
      << "<text x=\"70\" y=\"20\">root mean square error of an Asian option's price, 16 seeds</text>\n</svg>\n";
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<double> random, sobol;
  std::printf("exact price %.6f\n  paths   random error   Sobol error\n", exact_price());
  for (int k = kSmallest; k <= kLargest; ++k) {
    random.push_back(error(trn::rand::Algorithm::Philox4x32_10, std::int64_t{1} << k));
    sobol.push_back(error(trn::rand::Algorithm::OwenSobol32, std::int64_t{1} << k));
    std::printf("%7lld   %12.6f   %11.6f\n", 1ll << k, random.back(), sobol.back());
  }
  std::printf("slopes: %.2f and %.2f\n", slope(random), slope(sobol));
  if (argc > 1) draw(argv[1], random, sobol);
  // -1/2 in theory for random numbers; for the points, clearly better.
  return std::fabs(slope(random) + 0.5) < 0.15 && slope(sobol) < -0.65 ? 0 : 1;
}
