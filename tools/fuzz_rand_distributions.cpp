// The draws of `trnsci fuzz rand` whose elements have words of their own, and those that order and choose: inside their
// supports, rows with their sums, permutations of what was there.
#include <set>

#include <trn/rand/binomial.hpp>
#include <trn/rand/dirichlet.hpp>
#include <trn/rand/gamma.hpp>
#include <trn/rand/integers.hpp>
#include <trn/rand/multivariate_normal.hpp>
#include <trn/rand/permutation.hpp>
#include <trn/rand/poisson.hpp>
#include <trn/rand/quasi.hpp>
#include <trn/rand/truncated_normal.hpp>
#include <trn/rand/von_mises.hpp>

#include "fuzz_rand.hpp"

namespace trn::tools::fuzz::rand {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <class T> Drawing<T> element(std::function<void(const Executor&, Generator&, const View<T>&)> call,
                                      std::function<bool(T)> fits = {}) {
  return {std::move(call), std::move(fits), Source::Element};
}

template <class T> bool not_negative(T x) { return x >= 0; }

template <class T> void run_gamma(Case& c) {
  const double shape = c.positive("shape", 1e-3, 1e4), scale = c.positive("scale", 1e-3, 1e3);
  check(c, element<T>([=](auto& e, auto& g, auto& v) { trn::rand::gamma(e, g, v, {shape, scale}); }, not_negative<T>));
}
template <class T> void run_chi_squared(Case& c) {
  const double df = c.positive("df", 1e-3, 1e4);
  check(c, element<T>([=](auto& e, auto& g, auto& v) { trn::rand::chi_squared(e, g, v, {df}); }, not_negative<T>));
}
template <class T> void run_beta(Case& c) {
  const double a = c.positive("a", 1e-3, 1e4), b = c.positive("b", 1e-3, 1e4);
  check(c, element<T>(
               [=](auto& e, auto& g, auto& v) {
                 trn::rand::beta(e, g, v, {a, b});
               },
               [](T x) { return x >= 0 && x <= 1; }));
}
template <class T> void run_student_t(Case& c) {
  const double df = c.positive("df", 1e-2, 1e4);
  check(c, element<T>([=](auto& e, auto& g, auto& v) { trn::rand::student_t(e, g, v, {df}); }));
}
template <class T> void run_fisher_f(Case& c) {
  const double a = c.positive("df1", 1e-2, 1e4), b = c.positive("df2", 1e-2, 1e4);
  check(c, element<T>([=](auto& e, auto& g, auto& v) { trn::rand::fisher_f(e, g, v, {a, b}); }, not_negative<T>));
}
// A value has one rounding of low + stddev t, a float one more: one step of its type beyond an end.
template <class T> void run_truncated_normal(Case& c) {
  const double mean = c.real("mean", -5, 5), stddev = c.positive("stddev", 1e-2, 1e2);
  double low = c.real("low", -40, 30), high = c.real("high", -30, 40);
  if (c.random.chance(8)) low = -kInfinity;
  if (c.random.chance(8)) high = kInfinity;
  if (!(low < high)) c.wild = c.refused = true;
  c.say("taken [{}, {}]", low, high);
  const T most = std::numeric_limits<T>::max();
  const auto clip = [most](double x) {
    return x > static_cast<double>(most) ? kInfinity : x < -static_cast<double>(most) ? -kInfinity : x;
  };
  const T from = std::nextafter(static_cast<T>(clip(low)), static_cast<T>(-kInfinity)),
          to = std::nextafter(static_cast<T>(clip(high)), static_cast<T>(kInfinity));
  check(c, element<T>(
               [=](auto& e, auto& g, auto& v) {
                 trn::rand::truncated_normal(e, g, v, {mean, stddev, low, high});
               },
               [=](T x) { return x >= from && x <= to; }));
}
template <class T> void run_von_mises(Case& c) {
  const double mean = c.real("mean", -10, 10), kappa = c.random.chance(8) ? 0.0 : c.positive("kappa", 1e-4, 1e6);
  check(c, element<T>(
               [=](auto& e, auto& g, auto& v) {
                 trn::rand::von_mises(e, g, v, {mean, kappa});
               },
               [](T x) { return std::fabs(x) <= static_cast<T>(3.1415927410125732); }));
}

template <class T> bool whole_number(T x) {
  return x >= 0 && (std::is_integral_v<T> || static_cast<double>(x) == std::floor(static_cast<double>(x)));
}

template <class T> void run_poisson(Case& c) {
  const double lambda = c.random.chance(10) ? 0.0 : c.positive("lambda", 1e-3, 1e8);
  check(c, element<T>([=](auto& e, auto& g, auto& v) { trn::rand::poisson(e, g, v, {lambda}); }, whole_number<T>));
}
void run_binomial(Case& c) {
  const std::int64_t trials = c.count("trials", (std::int64_t{1} << 31) - 1);
  const double p = c.probability("p");
  if (trials > (std::int64_t{1} << 31) - 1) c.refused = true;
  check(c, element<std::uint32_t>(
               [=](auto& e, auto& g, auto& v) {
                 trn::rand::binomial(e, g, v, {trials, p});
               },
               [=](std::uint32_t k) { return k <= trials && (p > 0 || k == 0) && (p < 1 || k == trials); }));
}
template <class T> void run_geometric(Case& c) {
  const double p = c.probability("p");
  if (p == 0) c.refused = true;
  if (sizeof(T) == 4 && p < 1.1e-8) c.wild = true;
  check(c, element<T>([=](auto& e, auto& g, auto& v) { trn::rand::geometric(e, g, v, {p}); },
                      [](T k) { return k >= 1 && whole_number(k); }));
}
void run_hypergeometric(Case& c) {
  const std::int64_t good = c.count("good", 1 << 30), bad = c.count("bad", 1 << 30);
  const bool sane = good >= 0 && bad >= 0 && good < std::int64_t{1} << 31 && bad < std::int64_t{1} << 31;
  const std::int64_t sample =
      sane && !c.random.chance(10) ? c.random.below(good + bad + 1) : c.count("sample", 1 << 30);
  c.say("sample {}", sample);
  if (sane && sample > good + bad) c.wild = c.refused = true;
  check(c, element<std::uint32_t>(
               [=](auto& e, auto& g, auto& v) {
                 trn::rand::hypergeometric(e, g, v, {good, bad, sample});
               },
               [=](std::uint32_t k) { return k <= good && k <= sample && sample - k <= bad; }));
}

// Rows that have a property of their own.
template <class T>
void check_rows(Case& c, Drawing<T> d, std::int64_t row, const std::function<bool(const T*)>& right) {
  d.row = row;
  d.formula = [=](Case& k, const State&, const std::vector<T>& x) {
    for (std::size_t i = 0; right && i < x.size(); i += static_cast<std::size_t>(row)) {
      if (!right(x.data() + i))
        k.report("row {} of {} elements is not right: it begins with {}", i / static_cast<std::size_t>(row), row,
                 bits_of(x[i]));
    }
  };
  check(c, d);
}

void run_multinomial(Case& c) {
  const std::int64_t row = 2 + c.random.below(8), trials = c.count("trials", 1 << 20);
  std::vector<double> p;
  double sum = 0;
  for (std::int64_t k = 0; k < row; ++k) p.push_back(c.random.chance(6) ? 0.0 : c.random.uniform(0, 1));
  p.back() += 0.01;
  for (const double x : p) sum += x;
  for (double& x : p) x /= sum;
  if (c.random.chance(12)) p[0] = c.real("p[0]", -1, 2), c.wild = true;
  if (trials >= std::int64_t{1} << 31 || !(p[0] >= 0)) c.refused = true;
  check_rows<std::uint32_t>(
      c, element<std::uint32_t>([=](auto& e, auto& g, auto& v) { trn::rand::multinomial(e, g, v, trials, p); }), row,
      [=](const std::uint32_t* x) {
        std::int64_t all = 0;
        for (std::int64_t k = 0; k < row; ++k) {
          if (p[static_cast<std::size_t>(k)] == 0 && x[k] != 0) return false;
          all += x[k];
        }
        return all == trials;
      });
}
template <class T> void run_dirichlet(Case& c) {
  const std::int64_t row = 2 + c.random.below(8);
  std::vector<double> alpha;
  for (std::int64_t k = 0; k < row; ++k) alpha.push_back(c.positive("alpha", 1e-3, 1e3));
  check_rows<T>(c,
                element<T>([=](auto& e, auto& g, auto& v) { trn::rand::dirichlet(e, g, v, alpha); },
                           [](T x) { return x >= 0 && x <= 1; }),
                row, [=](const T* x) {
                  long double sum = 0;
                  for (std::int64_t k = 0; k < row; ++k) sum += x[k];
                  return std::fabs(sum - 1) <= static_cast<long double>(4 * row) * std::numeric_limits<T>::epsilon();
                });
}
// A A^T of a random A, sometimes with fewer columns than rows: semidefinite.
template <class T> void run_multivariate_normal(Case& c) {
  const std::int64_t row = 2 + c.random.below(5), columns = c.random.chance(3) ? 1 : row;
  const auto n = static_cast<std::size_t>(row);
  std::vector<double> mean, a(n * static_cast<std::size_t>(columns)), covariance(n * n);
  for (std::size_t i = 0; i < n; ++i) mean.push_back(c.real("mean", -3, 3));
  for (double& x : a) x = c.random.uniform(-2, 2);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t k = 0; k < static_cast<std::size_t>(columns); ++k)
        covariance[i * n + j] +=
            a[i * static_cast<std::size_t>(columns) + k] * a[j * static_cast<std::size_t>(columns) + k];
    }
  }
  if (c.random.chance(10)) covariance[c.random.index(n * n)] = c.real("covariance", -3, 3), c.wild = true;
  check_rows<T>(
      c, element<T>([=](auto& e, auto& g, auto& v) { trn::rand::multivariate_normal(e, g, v, mean, covariance); }), row,
      {});
}

template <class T> void run_integers(Case& c) {
  const std::int64_t least = std::numeric_limits<T>::min(), most = std::numeric_limits<T>::max();
  std::int64_t low = c.random.chance(4) ? least
                     : c.random.chance(2)
                         ? 0
                         : least + static_cast<std::int64_t>(c.random.word() % (std::uint64_t{1} << 32));
  std::int64_t high = c.random.chance(4) ? most + 1 : low + c.random.size(most - low + 1);
  if (c.random.chance(12)) {
    c.wild = true;
    high = c.random.pick<std::int64_t>(
        {low, low - 1, most + 2, std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()});
  }
  if (high <= low || high > most + 1) c.wild = c.refused = true;
  c.say("{} .. {}", low, high);
  check(c, element<T>([=](auto& e, auto& g, auto& v) { trn::rand::integers(e, g, v, low, high); },
                      [=](T x) { return x >= low && x < high; }));
}

void run_permutation(Case& c) {
  Drawing<std::int32_t> d = element<std::int32_t>([](auto& e, auto& g, auto& v) { trn::rand::permutation(e, g, v); });
  d.pieces = false;
  d.formula = [](Case& k, const State&, std::vector<std::int32_t> x) {
    std::sort(x.begin(), x.end());
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (x[i] != static_cast<std::int32_t>(i)) k.report("not a permutation of {}", x.size());
    }
  };
  check(c, d);
}
// Numbers 0, 1, ... in the order that the memory's elements have, shuffled row by row.
void run_shuffle(Case& c) {
  const std::int64_t rows = c.random.size(3000), row = 1 + c.random.below(4);
  const State begin = random_state(c, Source::Element, 70'000);
  c.say("{} rows of {}", rows, row);
  Generator g(begin);
  const Array<std::int32_t> out(Executor::host(), {rows, row});
  for (std::int64_t i = 0; i < rows * row; ++i) out.data()[i] = static_cast<std::int32_t>(i);
  trn::rand::shuffle(Executor::host(), g, out.view());
  if (g.state().position != begin.position + static_cast<std::uint64_t>(rows))
    c.report("the position moved by {}", g.state().position - begin.position);
  std::vector<bool> seen(static_cast<std::size_t>(rows));
  for (std::int64_t i = 0; i < rows; ++i) {
    const std::int32_t first = out.data()[i * row];
    for (std::int64_t k = 1; k < row; ++k) {
      if (out.data()[i * row + k] != first + k) c.report("row {} was torn", i);
    }
    if (first < 0 || first % row != 0 || first / row >= rows || seen[static_cast<std::size_t>(first / row)])
      c.report("row {} comes twice", first / static_cast<std::int32_t>(row));
    seen[static_cast<std::size_t>(first / row)] = true;
  }
}
void run_choice(Case& c) {
  const bool weighted = c.random.chance(2), without = c.random.chance(2);
  const std::int64_t population = weighted ? c.random.size(200) : c.count("population", (std::int64_t{1} << 31) - 1);
  if (population < 1 || population > (std::int64_t{1} << 31) - 1) c.refused = true;
  std::vector<double> weights;
  for (std::int64_t k = 0; weighted && k < population; ++k)
    weights.push_back(c.random.chance(5) ? 0.0 : c.positive("w", 1e-6, 1e6));
  c.say("{} of {}{}", without ? "without" : "with", population, weighted ? " weighted" : "");
  c.wild = true;  // as many may be wanted as there are not
  Drawing<std::int32_t> d = element<std::int32_t>(
      [=](auto& e, auto& g, auto& v) {
        trn::rand::choice(e, g, v, population,
                          {without ? trn::rand::Replacement::Without : trn::rand::Replacement::With, weights});
      },
      [=](std::int32_t k) {
        return k >= 0 && k < population && (!weighted || weights[static_cast<std::size_t>(k)] > 0);
      });
  d.pieces = !without;
  d.formula = [=](Case& k, const State&, const std::vector<std::int32_t>& x) {
    if (without && std::set<std::int32_t>(x.begin(), x.end()).size() != x.size()) k.report("chosen twice");
  };
  check(c, d);
}

// Every slice of every coordinate holds one point.
template <class T> void run_latin_hypercube(Case& c) {
  const std::int64_t points = c.random.size(2000), dimensions = 1 + c.random.below(5);
  const State begin = random_state(c, Source::Pseudo, 70'000);
  c.say("{} points in {} dimensions of {} seed {} position {}", points, dimensions, name(begin.algorithm), begin.seed,
        begin.position);
  Generator g(begin);
  const Array<T> out(Executor::host(), {dimensions, points});
  trn::rand::latin_hypercube(Executor::host(), g, out.view());
  for (std::int64_t j = 0; j < dimensions; ++j) {
    std::vector<T> x(out.data() + j * points, out.data() + (j + 1) * points);
    std::sort(x.begin(), x.end());
    for (std::int64_t i = 0; i < points; ++i) {
      const auto scaled = static_cast<long double>(x[static_cast<std::size_t>(i)]) * static_cast<long double>(points);
      const auto slack = static_cast<long double>(points) * std::numeric_limits<T>::epsilon();
      if (!(scaled >= static_cast<long double>(i) - slack && scaled < static_cast<long double>(i + 1)))
        c.report("slice {} of coordinate {} is at {}", i, j, static_cast<double>(scaled));
    }
  }
}

}  // namespace

std::vector<Row> distributions() {
  return {{"gamma", run_gamma<float>},
          {"gamma_double", run_gamma<double>},
          {"chi_squared", run_chi_squared<double>},
          {"beta", run_beta<float>},
          {"beta_double", run_beta<double>},
          {"student_t", run_student_t<float>},
          {"student_t_double", run_student_t<double>},
          {"fisher_f", run_fisher_f<float>},
          {"fisher_f_double", run_fisher_f<double>},
          {"truncated_normal", run_truncated_normal<float>},
          {"truncated_normal_double", run_truncated_normal<double>},
          {"von_mises", run_von_mises<float>},
          {"von_mises_double", run_von_mises<double>},
          {"poisson", run_poisson<std::uint32_t>},
          {"poisson_double", run_poisson<double>},
          {"binomial", run_binomial},
          {"geometric", run_geometric<std::uint32_t>},
          {"geometric_double", run_geometric<double>},
          {"hypergeometric", run_hypergeometric},
          {"multinomial", run_multinomial},
          {"dirichlet", run_dirichlet<float>},
          {"dirichlet_double", run_dirichlet<double>},
          {"multivariate_normal", run_multivariate_normal<float>},
          {"multivariate_normal_double", run_multivariate_normal<double>},
          {"integers", run_integers<std::int32_t>},
          {"integers_unsigned", run_integers<std::uint32_t>},
          {"permutation", run_permutation},
          {"shuffle", run_shuffle},
          {"choice", run_choice},
          {"latin_hypercube", run_latin_hypercube<float>},
          {"latin_hypercube_double", run_latin_hypercube<double>}};
}

}  // namespace trn::tools::fuzz::rand
