// Monte Carlo with error bars: pi from points in a square, and the price of a call option against Black and Scholes's
// formula, on the host and on a simulated Trainium2.
#include <cmath>
#include <cstdio>
#include <numbers>
#include <vector>

#include <trn/trn.hpp>

namespace {

struct Estimate {
  double value, error;  // one standard deviation of the value
};

Estimate mean_of(const std::vector<double>& samples) {
  double sum = 0, squares = 0;
  for (const double x : samples) sum += x;
  const double mean = sum / static_cast<double>(samples.size());
  for (const double x : samples) squares += (x - mean) * (x - mean);
  const auto n = static_cast<double>(samples.size());
  return {mean, std::sqrt(squares / (n - 1) / n)};
}

// Four where a random point of the unit square lies inside the quarter circle.
Estimate pi(const trn::Executor& exec, std::int64_t points) {
  trn::rand::Generator generator({.seed = 2026});
  const trn::Array<float> xy(exec, {points, 2});
  trn::rand::uniform(exec, generator, xy.view());
  const std::vector<float> values = xy.to_host();
  std::vector<double> samples;
  for (std::size_t i = 0; i < values.size(); i += 2) {
    samples.push_back(values[i] * values[i] + values[i + 1] * values[i + 1] < 1 ? 4.0 : 0.0);
  }
  return mean_of(samples);
}

struct Option {
  double spot = 100, strike = 105, rate = 0.03, volatility = 0.2, years = 1;
};

// e^(-r T) max(S_T - K, 0) with ln S_T normal.
Estimate call_price(const trn::Executor& exec, std::int64_t paths, const Option& o) {
  const double spread = o.volatility * std::sqrt(o.years);
  const double drift = std::log(o.spot) + (o.rate - 0.5 * o.volatility * o.volatility) * o.years;
  trn::rand::Generator generator({.seed = 2});
  const trn::Array<float> prices(exec, {paths});
  trn::rand::log_normal(exec, generator, prices.view(), {.mean = drift, .stddev = spread});
  std::vector<double> samples;
  for (const float s : prices.to_host()) samples.push_back(std::exp(-o.rate * o.years) * std::max(s - o.strike, 0.0));
  return mean_of(samples);
}

double black_scholes(const Option& o) {
  const auto normal_cdf = [](double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); };
  const double spread = o.volatility * std::sqrt(o.years);
  const double d = (std::log(o.spot / o.strike) + (o.rate + 0.5 * o.volatility * o.volatility) * o.years) / spread;
  return o.spot * normal_cdf(d) - o.strike * std::exp(-o.rate * o.years) * normal_cdf(d - spread);
}

bool report(const char* what, const char* where, const Estimate& e, double exact) {
  const double sigmas = (e.value - exact) / e.error;
  std::printf("%-6s on %-9s %9.5f +- %.5f   exact %9.5f   off by %+.2f standard deviations\n", what, where, e.value,
              e.error, exact, sigmas);
  return std::fabs(sigmas) < 5;
}

}  // namespace

int main() {
  bool fine = true;
  for (const auto& [name, samples] : {std::pair{"host", std::int64_t{1} << 22}, {"sim:trn2", std::int64_t{1} << 17}}) {
    const auto exec = trn::Executor::open(name);
    const trn::Recorder recorder(exec);
    fine = report("pi", name, pi(exec, samples), std::numbers::pi) && fine;
    fine = report("call", name, call_price(exec, samples, {}), black_scholes({})) && fine;
    for (const char* operation : {"rand.uniform", "rand.log_normal"})
      fine = fine && recorder.family_of(operation) == trn::name(exec.family());
  }
  return fine ? 0 : 1;
}
