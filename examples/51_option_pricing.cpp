// Option prices by quasi-Monte Carlo with error bars: a European call and Asian calls on the geometric and arithmetic
// mean of d daily prices, from R independently randomised sets of n Sobol points; the spread of the R means gives a
// confidence interval, which one set of points cannot.
//
//   S_i = S_0 exp((r - v^2/2) t_i + v B(t_i)),  B = A z,  A A^T = (min(t_i, t_j)),  z standard normal
//
// A's columns are the principal components of Brownian motion, largest first, so that the first coordinates of a point
// decide most. The arithmetic mean is priced as its difference to the geometric one, whose price is known (control).
//
// On the executor: the points and the product A z. On the host: payoffs, the inverse of the normal distribution where
// points come as integers.
//
//   --points owen     nested uniform scrambling, a kernel of the host
//   --points shift    Sobol points and random words drawn on the executor; each coordinate's words are xor'ed with one
//
// Checked, to 99.9 %: Black and Scholes' price; the geometric mean's closed form; the arithmetic mean's price by
// quadrature (below). And that the interval is several times narrower than that of as many random paths.
//
//   51_option_pricing [--exec NAME] [--points KIND] [--log2 12] [--figure FILE.svg]
#include <cmath>
#include <cstdio>
#include <numbers>
#include <vector>

#include <trn/trn.hpp>

#include "arguments.hpp"
#include "figure.hpp"

namespace {

constexpr std::int64_t kDays = 16, kSets = 16;
constexpr double kSpot = 100, kStrike = 105, kRate = 0.05, kVolatility = 0.3, kYears = 1;
// Student's t with 15 degrees of freedom: 95 % and 99.9 %, two-sided.
constexpr double kT95 = 2.1314, kT999 = 4.0728;

double cdf(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }

// e^{-rT} E (e^{m + s z} - K)_+.
double log_normal_call(double m, double s) {
  const double above = (m - std::log(kStrike)) / s;
  return std::exp(-kRate * kYears) * (std::exp(m + s * s / 2) * cdf(above + s) - kStrike * cdf(above));
}

double black_scholes() {
  return log_normal_call(std::log(kSpot) + (kRate - kVolatility * kVolatility / 2) * kYears,
                         kVolatility * std::sqrt(kYears));
}

// ln of the geometric mean is normal.
double geometric_price() {
  const double d = kDays, drift = kRate - kVolatility * kVolatility / 2;
  const double variance = kVolatility * kVolatility * kYears * (d + 1) * (2 * d + 1) / (6 * d * d);
  return log_normal_call(std::log(kSpot) + drift * kYears * (d + 1) / (2 * d), std::sqrt(variance));
}

// With daily logarithms R_i ~ N(m, s^2) the sum of prices is S_0 e^Y, Y = R_1 + ln(1 + e^{R_2 + ln(1 + ...)}). The
// value f_{i+1}(y) = E f_i(R + ln(1 + e^y)) is smooth but for f_1, whose step has a closed form; the others are
// trapezoidal sums on a fixed grid, whose error for a Gaussian of width s = 3 h is about e^{-2 pi^2 9}.
double arithmetic_price() {
  const double dt = kYears / kDays, m = (kRate - kVolatility * kVolatility / 2) * dt, s = kVolatility * std::sqrt(dt);
  const double h = s / 3, low = -10 * s - 1, high = std::log(kDays) + 14 * s * 3;
  const auto n = static_cast<std::size_t>((high - low) / h);
  const auto y = [&](std::size_t b) { return low + h * static_cast<double>(b); };
  const auto density = [&](double x) { return std::exp(-x * x / (2 * s * s)) / (s * std::sqrt(2 * std::numbers::pi)); };
  std::vector<double> f(n), next(n);
  for (std::size_t b = 0; b < n; ++b)
    f[b] = log_normal_call(std::log(kSpot / kDays) + m + std::log1p(std::exp(y(b))), s);
  for (std::int64_t i = 2; i < kDays; ++i) {
    for (std::size_t a = 0; a < n; ++a) {
      const double x = std::log1p(std::exp(y(a))) + m;
      next[a] = 0;
      for (std::size_t b = 0; b < n; ++b) next[a] += h * density(y(b) - x) * f[b];
    }
    std::swap(f, next);
  }
  double price = 0;
  for (std::size_t b = 0; b < n; ++b) price += h * density(y(b) - m) * f[b];
  return price;
}

// x with P(z <= x) = u: Halley's method on the smaller tail, from sqrt(-2 ln 2p), which is not below it.
double inverse_normal(double u) {
  const double p = std::min(u, 1 - u);
  double x = std::sqrt(std::max(0.0, -2 * std::log(2 * p)));
  for (int i = 0; i < 30; ++i) {
    const double step = (cdf(-x) - p) * std::sqrt(2 * std::numbers::pi) * std::exp(x * x / 2);
    const double change = step / (1 - std::min(x * step / 2, 0.5));
    x += change;
    if (std::abs(change) < 1e-14) break;
  }
  return u < 0.5 ? -x : x;
}

enum class Source { Random, Owen, Shift };

// kDays x n standard normals, T being the executor's type.
template <class T>
trn::Matrix<T> normals(const trn::Executor& exec, Source source, std::uint64_t seed, std::int64_t n) {
  trn::Matrix<T> z(exec, kDays, n);
  const trn::View<T> out(exec, z.data(), {kDays, n});
  if (source != Source::Shift) {
    const bool owen = source == Source::Owen;
    trn::rand::Generator generator(
        {.algorithm = owen ? trn::rand::Algorithm::OwenSobol32 : trn::rand::Algorithm::Philox4x32_10,
         .seed = seed,
         .dimensions = owen ? static_cast<std::uint32_t>(kDays) : 1});
    // Box and Muller's method needs pairs of random words; points go through the inverse of the distribution.
    trn::rand::normal(exec, generator, out,
                      {.method = owen ? trn::rand::NormalMethod::Inverse : trn::rand::NormalMethod::BoxMuller});
    return z;
  }
  trn::rand::Generator points({.algorithm = trn::rand::Algorithm::Sobol32, .dimensions = kDays}),
      shifts({.seed = seed});
  const trn::Array<std::uint32_t> words(exec, {kDays, n}), shift(exec, {kDays});
  trn::rand::raw32(exec, points, words.view());
  trn::rand::raw32(exec, shifts, shift.view());
  const auto w = words.to_host(), mask = shift.to_host();
  std::vector<T> values;
  for (std::size_t i = 0; i < w.size(); ++i) {
    const std::uint32_t word = w[i] ^ mask[i / static_cast<std::size_t>(n)];
    values.push_back(static_cast<T>(inverse_normal((word + 0.5) * 0x1p-32)));
  }
  trn::copy(trn::View<const T>(trn::Executor::host(), values.data(), {kDays, n}), out);
  return z;
}

struct Means {
  double european = 0, geometric = 0, arithmetic = 0, controlled = 0;
};

template <class T> Means price(const trn::Executor& exec, Source source, std::uint64_t seed, std::int64_t n) {
  // Principal components of Brownian motion at dt, 2 dt, ...: sines, with the variances dt / (4 sin^2(angle / 2)).
  const double dt = kYears / kDays;
  std::vector<T> components;
  for (std::int64_t i = 1; i <= kDays; ++i) {
    for (std::int64_t k = 1; k <= kDays; ++k) {
      const double angle = static_cast<double>(2 * k - 1) * std::numbers::pi / static_cast<double>(2 * kDays + 1);
      components.push_back(static_cast<T>(2 / std::sqrt(static_cast<double>(2 * kDays + 1)) *
                                          std::sin(angle * static_cast<double>(i)) * std::sqrt(dt) /
                                          (2 * std::sin(angle / 2))));
    }
  }
  const auto a = trn::Matrix<T>::from_host(exec, kDays, kDays, components);
  const auto motion = trn::blas::gemm(exec, a, normals<T>(exec, source, seed, n)).to_host();
  Means sum;
  for (std::int64_t i = 0; i < n; ++i) {
    double logs = 0, total = 0, last = 0;
    for (std::int64_t k = 0; k < kDays; ++k) {
      const double t = dt * static_cast<double>(k + 1);
      last = std::log(kSpot) + (kRate - kVolatility * kVolatility / 2) * t +
             kVolatility * static_cast<double>(motion[static_cast<std::size_t>(k * n + i)]);
      logs += last;
      total += std::exp(last);
    }
    const double geometric = std::max(std::exp(logs / kDays) - kStrike, 0.0),
                 arithmetic = std::max(total / kDays - kStrike, 0.0);
    sum.european += std::max(std::exp(last) - kStrike, 0.0);
    sum.geometric += geometric;
    sum.arithmetic += arithmetic;
    sum.controlled += arithmetic - geometric;
  }
  const double scale = std::exp(-kRate * kYears) / static_cast<double>(n);
  return {sum.european * scale, sum.geometric * scale, sum.arithmetic * scale,
          sum.controlled * scale + geometric_price()};
}

struct Estimate {
  double mean = 0, standard_error = 0;
};

Estimate estimate(const std::vector<Means>& sets, double Means::*price) {
  Estimate e;
  const auto r = static_cast<double>(sets.size());
  for (const Means& m : sets) e.mean += m.*price / r;
  for (const Means& m : sets) e.standard_error += (m.*price - e.mean) * (m.*price - e.mean) / (r * (r - 1));
  e.standard_error = std::sqrt(e.standard_error);
  return e;
}

template <class T> std::vector<Means> all_sets(const trn::Executor& exec, Source source, std::int64_t n) {
  std::vector<Means> sets;
  for (std::uint64_t seed = 1; seed <= kSets; ++seed) sets.push_back(price<T>(exec, source, 1000 * seed + 7, n));
  return sets;
}

struct Product {
  const char* name;
  double Means::*price;
  double exact;
};

template <class T> bool run(const trn::Executor& exec, Source points, int log2, const std::string& figure) {
  const trn::Recorder recorder(exec);
  const std::int64_t n = std::int64_t{1} << log2;
  const std::vector<Product> products{{"European call", &Means::european, black_scholes()},
                                      {"Asian, geometric", &Means::geometric, geometric_price()},
                                      {"Asian, arithmetic", &Means::arithmetic, arithmetic_price()},
                                      {"  with control", &Means::controlled, arithmetic_price()}};
  std::printf("%lld sets of %lld paths of %lld days on %s, Sobol points by %s\n", static_cast<long long>(kSets),
              static_cast<long long>(n), static_cast<long long>(kDays), exec.name().c_str(),
              points == Source::Owen ? "owen" : "shift");
  std::printf("                    exact      random paths            Sobol points            off by, in errors\n");
  const auto random = all_sets<T>(exec, Source::Random, n), sobol = all_sets<T>(exec, points, n);
  bool right = true;
  for (const Product& p : products) {
    const Estimate a = estimate(random, p.price), b = estimate(sobol, p.price);
    const double off_a = (a.mean - p.exact) / a.standard_error, off_b = (b.mean - p.exact) / b.standard_error;
    std::printf("%-17s  %9.6f  %9.6f +- %.1e  %9.6f +- %.1e  %5.1f  %5.1f\n", p.name, p.exact, a.mean,
                kT95 * a.standard_error, b.mean, kT95 * b.standard_error, off_a, off_b);
    right = right && std::abs(off_a) <= kT999 && std::abs(off_b) <= kT999;
    // Random: n^-1/2. Points: between n^-3/4 and n^-1 for payoffs with a kink, so at 256 paths a factor of 4 at least;
    // of what the control leaves, rougher and small, half of that. (An error from 16 sets is itself known to a fifth.)
    right = right && b.standard_error * (p.price == &Means::controlled ? 2 : 4) <= a.standard_error;
  }
  right = right && recorder.family_of("blas.gemm") == trn::name(exec.family());
  right = right && (points == Source::Owen || recorder.family_of("rand.raw32") == trn::name(exec.family()));
  right = right && recorder.family_of("rand.normal") == trn::name(exec.family());
  if (exec.family() == trn::Family::Device)
    std::printf("modelled time of draws and products: %.2f ms\n", recorder.modelled_seconds() * 1e3);
  if (!figure.empty()) {
    std::vector<example::Series> lines{
        {"random", {}, {}}, {"random, control", {}, {}}, {"Sobol", {}, {}}, {"Sobol, control", {}, {}}};
    for (int k = 6; k <= log2; ++k) {
      const std::int64_t m = std::int64_t{1} << k;
      const auto plain = all_sets<T>(exec, Source::Random, m), even = all_sets<T>(exec, points, m);
      const double errors[4] = {
          estimate(plain, &Means::arithmetic).standard_error, estimate(plain, &Means::controlled).standard_error,
          estimate(even, &Means::arithmetic).standard_error, estimate(even, &Means::controlled).standard_error};
      for (std::size_t line = 0; line < 4; ++line) {
        lines[line].x.push_back(static_cast<double>(kSets * m));
        lines[line].y.push_back(kT95 * errors[line]);
      }
    }
    example::draw(figure, "Price of an arithmetic Asian call: half of the 95 % interval",
                  {"paths in 16 sets", example::Scale::Log2}, {"half width", example::Scale::Log10}, lines);
  }
  std::printf("%s\n", right ? "right" : "WRONG");
  return right;
}

int program(int argc, char** argv) {
  const example::Arguments arguments(argc, argv,
                                     {{"--exec", "host"}, {"--points", ""}, {"--log2", "12"}, {"--figure", ""}});
  const auto exec = trn::Executor::open(arguments.text("--exec"));
  const bool host = exec.family() == trn::Family::Host;
  const std::string kind = arguments.text("--points").empty() ? (host ? "owen" : "shift") : arguments.text("--points");
  if (kind != "owen" && kind != "shift") return std::fprintf(stderr, "51_option_pricing: --points owen or shift\n"), 2;
  const Source points = kind == "owen" ? Source::Owen : Source::Shift;
  const int log2 = static_cast<int>(arguments.whole("--log2", 8, 22));
  const std::string figure = arguments.text("--figure");
  return (host ? run<double>(exec, points, log2, figure) : run<float>(exec, points, log2, figure)) ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  return example::guarded([&] { return program(argc, argv); });
}
