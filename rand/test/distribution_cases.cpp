// The cases of distribution_cases.hpp.
#include "distribution_cases.hpp"

#include <trn/core/array.hpp>
#include <trn/rand/bernoulli.hpp>
#include <trn/rand/binomial.hpp>
#include <trn/rand/dirichlet.hpp>
#include <trn/rand/exponential.hpp>
#include <trn/rand/gamma.hpp>
#include <trn/rand/integers.hpp>
#include <trn/rand/multivariate_normal.hpp>
#include <trn/rand/normal.hpp>
#include <trn/rand/poisson.hpp>
#include <trn/rand/truncated_normal.hpp>
#include <trn/rand/von_mises.hpp>

namespace trn::rand::test {

namespace {

using std::numbers::pi;

// draw(executor, generator, view of n elements T), widened to double.
template <class T, class F> auto drawn(F draw) {
  return [draw](Generator& g, std::int64_t n) {
    const Array<T> out(Executor::host(), {n});
    draw(Executor::host(), g, out.view());
    const std::vector<T> values = out.to_host();
    return std::vector<double>(values.begin(), values.end());
  };
}

// Column `k` of rows of `length`.
template <class T, class F> auto column(std::int64_t length, std::size_t k, F draw) {
  return [=](Generator& g, std::int64_t n) {
    const Array<T> out(Executor::host(), {n, length});
    draw(Executor::host(), g, out.view());
    const std::vector<T> values = out.to_host();
    std::vector<double> picked(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < picked.size(); ++i) {
      picked[i] = static_cast<double>(values[i * static_cast<std::size_t>(length) + k]);
    }
    return picked;
  };
}

DistributionCase continuous(std::string name, std::function<std::vector<double>(Generator&, std::int64_t)> draw,
                            std::function<Real(Real)> cdf, std::optional<double> mean = {},
                            std::optional<double> variance = {}, std::optional<double> fourth = {}) {
  return {std::move(name), std::move(draw), std::move(cdf), {}, mean, variance, fourth};
}
DistributionCase counts(std::string name, std::function<std::vector<double>(Generator&, std::int64_t)> draw,
                        std::function<Masses()> masses) {
  return {std::move(name), std::move(draw), {}, std::move(masses), {}, {}, {}};
}

std::string label(const char* name, std::initializer_list<double> parameters) {
  std::string text = name;
  for (const double p : parameters) {
    char buffer[32];
    std::snprintf(buffer, sizeof buffer, " %g", p);
    text += buffer;
  }
  return text;
}

void add_transforms(std::vector<DistributionCase>& all) {
  const auto each = [&]<class T>(T, const std::string& type) {
    for (const auto& [method, text] : {std::pair{NormalMethod::BoxMuller, "normal "},
                                       {NormalMethod::Inverse, "normal inverse "},
                                       {NormalMethod::Curand, "normal curand "}}) {
      all.push_back(continuous(
          text + type, drawn<T>([m = method](const auto& e, auto& g, auto v) { normal(e, g, v, {.method = m}); }),
          normal_cdf, 0, 1, 3));
    }
    all.push_back(continuous(
        "normal 3 0.5 " + type, drawn<T>([](const auto& e, auto& g, auto v) {
          normal(e, g, v, {3, 0.5});
        }),
        [](Real x) { return normal_cdf((x - 3) * 2); }, 3, 0.25, 3.0 / 16));
    all.push_back(continuous(
        "log_normal 1 0.5 " + type, drawn<T>([](const auto& e, auto& g, auto v) {
          log_normal(e, g, v, {1, 0.5});
        }),
        [](Real x) { return x <= 0 ? Real(0) : normal_cdf((std::log(x) - 1) * 2); }, std::exp(1.125)));
    all.push_back(continuous(
        "exponential 2 " + type, drawn<T>([](const auto& e, auto& g, auto v) { exponential(e, g, v, {2}); }),
        [](Real x) { return -std::expm1(-2 * x); }, 0.5, 0.25, 9.0 / 16));
    all.push_back(continuous(
        "laplace 1 2 " + type, drawn<T>([](const auto& e, auto& g, auto v) {
          laplace(e, g, v, {1, 2});
        }),
        [](Real x) { return x < 1 ? std::exp((x - 1) / 2) / 2 : 1 - std::exp((1 - x) / 2) / 2; }, 1, 8, 24 * 16.0));
    all.push_back(continuous(
        "weibull 1.5 2 " + type, drawn<T>([](const auto& e, auto& g, auto v) {
          weibull(e, g, v, {1.5, 2});
        }),
        [](Real x) { return x <= 0 ? Real(0) : -std::expm1(-std::pow(x / 2, Real(1.5))); },
        2 * std::tgamma(1 + 1 / 1.5), 4 * (std::tgamma(1 + 2 / 1.5) - std::pow(std::tgamma(1 + 1 / 1.5), 2))));
    all.push_back(continuous("cauchy 1 2 " + type, drawn<T>([](const auto& e, auto& g, auto v) {
                               cauchy(e, g, v, {1, 2});
                             }),
                             [](Real x) { return 0.5L + std::atan((x - 1) / 2) / std::numbers::pi_v<Real>; }));
  };
  each(float{}, "float");
  each(double{}, "double");
}

void add_gammas(std::vector<DistributionCase>& all) {
  for (const double shape : {0.05, 0.5, 1.0, 2.5, 100.0, 1e6}) {
    const auto draw = [=](const auto& e, auto& g, auto v) { gamma(e, g, v, {shape, 3}); };
    all.push_back(continuous(
        label("gamma", {shape, 3}), drawn<double>(draw), [=](Real x) { return gamma_p(shape, x / 3); }, 3 * shape,
        9 * shape, 81 * (3 * shape * shape + 6 * shape)));
  }
  all.push_back(continuous(
      "gamma 2.5 3 float", drawn<float>([](const auto& e, auto& g, auto v) {
        gamma(e, g, v, {2.5, 3});
      }),
      [](Real x) { return gamma_p(2.5L, x / 3); }, 7.5, 22.5));
  for (const double df : {1.0, 4.0, 33.5}) {
    all.push_back(continuous(
        label("chi_squared", {df}), drawn<double>([=](const auto& e, auto& g, auto v) { chi_squared(e, g, v, {df}); }),
        [=](Real x) { return gamma_p(df / 2, x / 2); }, df, 2 * df, 12 * df * df + 48 * df));
    all.push_back(continuous(
        label("student_t", {df}), drawn<double>([=](const auto& e, auto& g, auto v) { student_t(e, g, v, {df}); }),
        [=](Real t) {
          const Real tail = beta_i(df / 2, 0.5L, df / (df + t * t)) / 2;
          return t < 0 ? tail : 1 - tail;
        },
        df > 1 ? std::optional(0.0) : std::nullopt));
  }
  for (const auto& [a, b] : {std::pair{0.1, 0.5}, {0.5, 0.5}, {1.0, 3.0}, {2.5, 700.0}}) {
    const auto draw = [a = a, b = b](const auto& e, auto& g, auto v) { beta(e, g, v, {a, b}); };
    all.push_back(continuous(
        label("beta", {a, b}), drawn<double>(draw), [a = a, b = b](Real x) { return beta_i(a, b, x); }, a / (a + b),
        a * b / ((a + b) * (a + b) * (a + b + 1))));
  }
  for (const auto& [d1, d2] : {std::pair{1.0, 5.0}, {10.0, 30.0}}) {
    const auto draw = [d1 = d1, d2 = d2](const auto& e, auto& g, auto v) { fisher_f(e, g, v, {d1, d2}); };
    all.push_back(continuous(
        label("fisher_f", {d1, d2}), drawn<double>(draw),
        [d1 = d1, d2 = d2](Real x) { return x <= 0 ? Real(0) : beta_i(d1 / 2, d2 / 2, d1 * x / (d1 * x + d2)); },
        d2 / (d2 - 2)));
  }
}

void add_other_continuous(std::vector<DistributionCase>& all) {
  for (const auto& [low, high] : {std::pair{-1.0, 2.5}, {0.5, 0.8}, {4.0, INFINITY}, {-12.0, -9.0}, {8.0, 8.01}}) {
    const auto draw = [low = low, high = high](const auto& e, auto& g, auto v) {
      truncated_normal(e, g, v, {1, 2, 1 + 2 * low, 1 + 2 * high});
    };
    all.push_back(
        continuous(label("truncated_normal", {low, high}), drawn<double>(draw), [low = low, high = high](Real x) {
          const Real z = (x - 1) / 2;  // from the side where the masses are small
          const auto upper = [](Real t) { return normal_cdf(-t); };
          return low > 0 ? (upper(low) - upper(z)) / (upper(low) - upper(high))
                         : (normal_cdf(z) - normal_cdf(low)) / (normal_cdf(high) - normal_cdf(low));
        }));
  }
  for (const double kappa : {0.0, 0.3, 4.0, 5000.0}) {
    const double reach = std::min(pi, 12 / std::sqrt(kappa + 1e-9));
    const Integrated truth([=](Real x) { return std::exp(static_cast<Real>(kappa) * (std::cos(x) - 1)); }, -reach,
                           reach);
    all.push_back(continuous(label("von_mises", {kappa}), drawn<double>([=](const auto& e, auto& g, auto v) {
                               von_mises(e, g, v, {0, kappa});
                             }),
                             truth, 0));
  }
  static const std::vector<double> kAlpha = {0.3, 2, 5}, kMean = {1, -2, 0.5};
  static const std::vector<double> kCovariance = {4, 2, -1, 2, 3, 0.5, -1, 0.5, 2};
  for (std::size_t k = 0; k < 3; ++k) {
    const double a = kAlpha[k], rest = 7.3 - a, m = kMean[k], v = kCovariance[4 * k];
    const auto number = static_cast<double>(k);
    all.push_back(continuous(
        label("dirichlet column", {number}),
        column<double>(3, k, [](const auto& e, auto& g, auto out) { dirichlet(e, g, out, kAlpha); }),
        [=](Real x) { return beta_i(a, rest, x); }, a / 7.3, a * rest / (7.3 * 7.3 * 8.3)));
    all.push_back(continuous(
        label("multivariate_normal column", {number}),
        column<double>(3, k,
                       [](const auto& e, auto& g, auto out) { multivariate_normal(e, g, out, kMean, kCovariance); }),
        [=](Real x) { return normal_cdf((x - m) / std::sqrt(static_cast<Real>(v))); }, m, v, 3 * v * v));
  }
}

Masses binomial_masses(double n, double p) {
  const Real odds = static_cast<Real>(p) / (1 - static_cast<Real>(p));
  return Masses::from_ratios(static_cast<std::int64_t>((n + 1) * p), 0, static_cast<std::int64_t>(n),
                             [=](Real k) { return odds * (n - k) / (k + 1); });
}

void add_counts(std::vector<DistributionCase>& all) {
  for (const double lambda : {0.01, 1.0, 9.9, 10.0, 10.1, 30.0, 1000.0, 1e6, 1e9}) {
    all.push_back(counts(label("poisson", {lambda}),
                         drawn<std::uint32_t>([=](const auto& e, auto& g, auto v) { poisson(e, g, v, {lambda}); }),
                         [=] {
                           return Masses::from_ratios(static_cast<std::int64_t>(lambda), 0, INT64_MAX,
                                                      [=](Real k) { return static_cast<Real>(lambda) / (k + 1); });
                         }));
  }
  all.push_back(
      counts("poisson 1e11 double", drawn<double>([](const auto& e, auto& g, auto v) { poisson(e, g, v, {1e11}); }),
             [] { return Masses::from_ratios(100000000000, 0, INT64_MAX, [](Real k) { return 1e11L / (k + 1); }); }));
  for (const auto& [n, p] : {std::pair{1.0, 0.3},
                             {20.0, 0.1},
                             {100.0, 0.5},
                             {1000.0, 0.97},
                             {50.0, 0.2},
                             {1e5, 1e-4},
                             {1e6, 0.3},
                             {2147483647.0, 0.25}}) {
    all.push_back(counts(label("binomial", {n, p}),
                         drawn<std::uint32_t>([n = n, p = p](const auto& e, auto& g, auto v) {
                           binomial(e, g, v, {static_cast<std::int64_t>(n), p});
                         }),
                         [n = n, p = p] { return binomial_masses(n, p); }));
  }
  for (const double p : {0.9, 0.5, 0.01}) {
    all.push_back(counts(
        label("geometric", {p}), drawn<std::uint32_t>([=](const auto& e, auto& g, auto v) { geometric(e, g, v, {p}); }),
        [=] { return Masses::from_ratios(1, 1, INT64_MAX, [=](Real) { return 1 - static_cast<Real>(p); }); }));
  }
  using H = HypergeometricOptions;
  for (const H h : {H{7, 5, 4}, H{20, 1, 10}, H{100, 900, 50}, H{900, 100, 960}, H{3000, 2000, 2500},
                    H{1000000, 3000000, 500000}, H{2, 1000000, 300000}}) {
    const auto good = static_cast<Real>(h.good), bad = static_cast<Real>(h.bad), m = static_cast<Real>(h.sample);
    all.push_back(counts(
        label("hypergeometric", {double(h.good), double(h.bad), double(h.sample)}),
        drawn<std::uint32_t>([=](const auto& e, auto& g, auto v) { hypergeometric(e, g, v, h); }), [=] {
          const auto mode = static_cast<std::int64_t>((m + 1) * (good + 1) / (good + bad + 2));
          return Masses::from_ratios(mode, std::max<std::int64_t>(0, h.sample - h.bad), std::min(h.sample, h.good),
                                     [=](Real k) { return (good - k) * (m - k) / ((k + 1) * (bad - m + k + 1)); });
        }));
  }
  static const std::vector<double> kShares = {0.1, 0.0, 0.6, 0.3};
  for (const std::size_t k : {0u, 2u, 3u}) {
    all.push_back(
        counts(label("multinomial 1000 column", {static_cast<double>(k)}),
               column<std::uint32_t>(4, k, [](const auto& e, auto& g, auto v) { multinomial(e, g, v, 1000, kShares); }),
               [k] { return binomial_masses(1000, kShares[k]); }));
  }
  for (const double p : {0.5, 0.001}) {
    all.push_back(counts(label("bernoulli", {p}),
                         drawn<std::uint32_t>([=](const auto& e, auto& g, auto v) { bernoulli(e, g, v, {p}); }),
                         [=] { return binomial_masses(1, p); }));
  }
  // Three quarters of all words: one in four is rejected.
  const auto uniform_masses = [](std::int64_t n) {
    return Masses{0, std::vector<Real>(static_cast<std::size_t>(n), 1 / static_cast<Real>(n))};
  };
  for (const std::int64_t n : {6, 100}) {
    all.push_back(counts(label("integers", {double(n)}),
                         drawn<std::uint32_t>([=](const auto& e, auto& g, auto v) { integers(e, g, v, 0, n); }),
                         [=] { return uniform_masses(n); }));
  }
  all.push_back(counts(
      "integers 3 * 2^30, by their multiple of 2^30",
      [](Generator& g, std::int64_t n) {
        const Array<std::uint32_t> out(Executor::host(), {n});
        integers(Executor::host(), g, out.view(), 0, std::int64_t{3} << 30);
        std::vector<double> thirds;
        for (const std::uint32_t x : out.to_host()) thirds.push_back(x >> 30);
        return thirds;
      },
      [=] { return uniform_masses(3); }));
}

}  // namespace

std::vector<DistributionCase> distribution_cases() {
  std::vector<DistributionCase> all;
  add_transforms(all);
  add_gammas(all);
  add_other_continuous(all);
  add_counts(all);
  return all;
}

std::vector<PValue> p_values(const DistributionCase& c, const std::vector<double>& values) {
  std::vector<PValue> results;
  const auto n = static_cast<double>(values.size());
  std::optional<double> mean = c.mean, variance = c.variance, fourth = c.fourth;
  if (c.cdf) {
    std::vector<double> sorted = values;
    std::sort(sorted.begin(), sorted.end());
    const double tail = std::max(20 / n, 1e-5);
    // How many values lie where the distribution function is below t.
    const auto below = [&](Real t) {
      const auto end = std::partition_point(sorted.begin(), sorted.end(), [&](double v) { return c.cdf(v) < t; });
      return static_cast<double>(end - sorted.begin());
    };
    results.push_back({"Kolmogorov-Smirnov", kolmogorov_smirnov(sorted, c.cdf)});
    results.push_back({"lower tail", poisson_p(below(tail), tail * n)});
    results.push_back({"upper tail", poisson_p(n - below(1 - static_cast<Real>(tail)), tail * n)});
  } else {
    const Masses masses = c.masses();
    results.push_back({"chi-square", chi_square(values, masses)});
    Real m = 0, v = 0, f = 0;
    for (std::size_t i = 0; i < masses.p.size(); ++i) m += masses.p[i] * static_cast<Real>(i);
    for (std::size_t i = 0; i < masses.p.size(); ++i) {
      const Real d = static_cast<Real>(i) - m;
      v += masses.p[i] * d * d;
      f += masses.p[i] * d * d * d * d;
    }
    mean = static_cast<double>(m + static_cast<Real>(masses.lowest));
    variance = static_cast<double>(v);
    fourth = static_cast<double>(f);
  }
  if (!mean) return results;
  Real sum = 0, squares = 0, fourths = 0;
  for (const double x : values) {
    const Real d = static_cast<Real>(x) - static_cast<Real>(*mean);
    sum += d;
    squares += d * d;
    fourths += d * d * d * d;
  }
  const double deviation = variance ? *variance : static_cast<double>(squares) / n;
  results.push_back({"mean", two_sided(static_cast<double>(sum) / n / std::sqrt(deviation / n))});
  if (!variance) return results;
  // Var((X - mean)^2) = fourth moment - variance^2, from the sample where the truth is not written down.
  const double spread = (fourth ? *fourth : static_cast<double>(fourths) / n) - *variance * *variance;
  if (spread <= 0) return results;
  results.push_back({"variance", two_sided((static_cast<double>(squares) / n - *variance) / std::sqrt(spread / n))});
  return results;
}

}  // namespace trn::rand::test
