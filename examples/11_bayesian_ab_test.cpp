// A Bayesian A/B test: 120 of 1000 visitors bought on page A, 152 of 1000 on page B. With a uniform prior both rates
// have beta posteriors; draws from them answer what a manager asks, and one answer is known exactly.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include <trn/trn.hpp>

namespace {

struct Page {
  double visitors, buyers;
  trn::rand::BetaOptions posterior() const { return {1 + buyers, 1 + visitors - buyers}; }
};

double log_beta(double a, double b) { return std::lgamma(a) + std::lgamma(b) - std::lgamma(a + b); }

// P(B > A), exact for whole numbers of buyers: the sum over i < a_B of
// Beta(a_A + i, b_A + b_B) / ((b_B + i) Beta(1 + i, b_B) Beta(a_A, b_A)).
double probability_b_wins(const trn::rand::BetaOptions& a, const trn::rand::BetaOptions& b) {
  double sum = 0;
  for (double i = 0; i < b.a; ++i) {
    sum += std::exp(log_beta(a.a + i, a.b + b.b) - std::log(b.b + i) - log_beta(1 + i, b.b) - log_beta(a.a, a.b));
  }
  return sum;
}

}  // namespace

int main() {
  const Page a{1000, 120}, b{1000, 152};
  const std::int64_t draws = 400'000;
  const auto exec = trn::Executor::host();
  trn::rand::Generator generator({.seed = 7});
  const trn::Array<double> rate_a(exec, {draws}), rate_b(exec, {draws});
  trn::rand::beta(exec, generator, rate_a.view(), a.posterior());
  trn::rand::beta(exec, generator, rate_b.view(), b.posterior());

  std::vector<double> lift;
  double wins = 0, loss = 0;
  for (std::int64_t i = 0; i < draws; ++i) {
    const double difference = rate_b.data()[i] - rate_a.data()[i];
    lift.push_back(rate_b.data()[i] / rate_a.data()[i] - 1);
    wins += difference > 0 ? 1 : 0;
    loss += std::max(-difference, 0.0);
  }
  std::sort(lift.begin(), lift.end());
  const auto quantile = [&](double q) { return 100 * lift[static_cast<std::size_t>(q * static_cast<double>(draws))]; };

  const double p = wins / static_cast<double>(draws), error = std::sqrt(p * (1 - p) / static_cast<double>(draws));
  const double exact = probability_b_wins(a.posterior(), b.posterior());
  std::printf("P(B is better)       %.4f +- %.4f   exact %.4f\n", p, error, exact);
  std::printf("lift of B over A     %.1f %%, 95 %% of the posterior in [%.1f %%, %.1f %%]\n", quantile(0.5),
              quantile(0.025), quantile(0.975));
  std::printf("expected loss if B is chosen and A is better: %.5f of the visitors\n",
              loss / static_cast<double>(draws));
  return std::fabs(p - exact) < 5 * error ? 0 : 1;
}
