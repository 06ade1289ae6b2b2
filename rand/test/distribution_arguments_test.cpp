// Every refusal of the distributions, with its message; a refused draw changes neither memory nor generator.
#include <cmath>
#include <limits>
#include <trn/rand/bernoulli.hpp>
#include <trn/rand/binomial.hpp>
#include <trn/rand/dirichlet.hpp>
#include <trn/rand/exponential.hpp>
#include <trn/rand/gamma.hpp>
#include <trn/rand/integers.hpp>
#include <trn/rand/multivariate_normal.hpp>
#include <trn/rand/normal.hpp>
#include <trn/rand/permutation.hpp>
#include <trn/rand/poisson.hpp>
#include <trn/rand/truncated_normal.hpp>
#include <trn/rand/uniform.hpp>
#include <trn/rand/von_mises.hpp>

#include "rand_support.hpp"

namespace trn::rand::test {
namespace {

const double kNan = std::nan(""), kInfinite = std::numeric_limits<double>::infinity();

// call(executor, generator, view) on memory of n elements T must be refused with a message that contains `part`.
template <class E = InvalidArgument, class T, class F>
void refused(F call, const std::string& part, const char* executor_name = "host", Shape shape = {4}) {
  const Executor e = Executor::open(executor_name);
  const State state{.seed = 1, .position = 6};
  Generator g(state);
  const auto n = static_cast<std::size_t>(element_count(shape));
  const Array<T> out = Array<T>::from_host(e, shape, std::vector<T>(n, T(7)));
  try {
    call(e, g, out.view());
    ADD_FAILURE() << "accepted; expected: " << part;
  } catch (const E& error) {
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
  EXPECT_EQ(g.state(), state) << part;
  EXPECT_EQ(out.to_host(), std::vector<T>(n, T(7))) << part;
}
template <class F> void refused_float(F call, const std::string& part) { refused<InvalidArgument, float>(call, part); }
template <class F> void refused_double(F call, const std::string& part) {
  refused<InvalidArgument, double>(call, part);
}
template <class F> void refused_counts(F call, const std::string& part) {
  refused<InvalidArgument, std::uint32_t>(call, part);
}

TEST(DistributionArguments, Normal) {
  refused_float(
      [](auto& e, auto& g, auto v) {
        normal(e, g, v, {0, -1});
      },
      "rand.normal: stddev is -1; it must be at least 0");
  refused_float([](auto& e, auto& g, auto v) { normal(e, g, v, {kNan, 1}); }, "rand.normal: mean is nan");
  refused_float([](auto& e, auto& g, auto v) { normal(e, g, v, {1e39, 1}); }, "not a finite float32");
  refused_double([](auto& e, auto& g, auto v) { normal(e, g, v, {0, kInfinite}); }, "stddev is inf");
  refused_float([](auto& e, auto& g, auto v) { log_normal(e, g, v, {0, -2}); }, "rand.log_normal: stddev is -2");
  refused_double([](auto& e, auto& g, auto v) { truncated_normal(e, g, v, {0, 1, 2, 2}); }, "low must be below high");
  refused_double(
      [](auto& e, auto& g, auto v) {
        truncated_normal(e, g, v, {0, 1, kNan, 2});
      },
      "low must be below high");
  refused_double([](auto& e, auto& g, auto v) { truncated_normal(e, g, v, {0, 0, 1, 2}); }, "stddev is 0");
  refused_double([](auto& e, auto& g, auto v) { truncated_normal(e, g, v, {0, 1, 2e8, 3e8}); }, "at most 1e8");
  refused_double(
      [](auto& e, auto& g, auto v) {
        truncated_normal(e, g, v, {0, 1, 100000001.0, kInfinite});
      },
      "lies 100000001 standard deviations from the mean; at most 1e8");
  refused_double(
      [](auto& e, auto& g, auto v) {
        truncated_normal(e, g, v, {5, 2, -kInfinite, -200000004.0});
      },
      "lies 100000004.5 standard deviations from the mean; at most 1e8");
}

TEST(DistributionArguments, ExponentialAndRelatives) {
  refused_float([](auto& e, auto& g, auto v) { exponential(e, g, v, {0}); },
                "rand.exponential: rate is 0; it must be positive");
  refused_float([](auto& e, auto& g, auto v) { exponential(e, g, v, {1e-40}); }, "1 / rate");
  refused_float([](auto& e, auto& g, auto v) { laplace(e, g, v, {0, -1}); }, "rand.laplace: scale is -1");
  refused_float([](auto& e, auto& g, auto v) { weibull(e, g, v, {0, 1}); }, "rand.weibull: shape is 0");
  refused_float([](auto& e, auto& g, auto v) { weibull(e, g, v, {1, -1}); }, "rand.weibull: scale is -1");
  refused_float([](auto& e, auto& g, auto v) { cauchy(e, g, v, {kNan, 1}); }, "rand.cauchy: location is nan");
  refused_float([](auto& e, auto& g, auto v) { bernoulli(e, g, v, {1.5}); },
                "rand.bernoulli: p is 1.5; a probability lies in [0, 1]");
  refused_float([](auto& e, auto& g, auto v) { bernoulli(e, g, v, {kNan}); }, "p is nan");
}

TEST(DistributionArguments, GammaAndRelatives) {
  refused_double(
      [](auto& e, auto& g, auto v) {
        gamma(e, g, v, {0, 1});
      },
      "rand.gamma: shape is 0; it must be finite and positive");
  refused_double([](auto& e, auto& g, auto v) { gamma(e, g, v, {1, -1}); }, "scale is -1");
  refused_double([](auto& e, auto& g, auto v) { chi_squared(e, g, v, {0}); }, "rand.chi_squared: df is 0");
  refused_double([](auto& e, auto& g, auto v) { beta(e, g, v, {1, kNan}); }, "rand.beta: b is nan");
  refused_double([](auto& e, auto& g, auto v) { student_t(e, g, v, {-1}); }, "rand.student_t: df is -1");
  refused_double([](auto& e, auto& g, auto v) { fisher_f(e, g, v, {1, 0}); }, "rand.fisher_f: df2 is 0");
  refused_double([](auto& e, auto& g, auto v) { von_mises(e, g, v, {0, -1}); }, "rand.von_mises: kappa is -1");
  const std::vector<double> two = {1, 1}, bad = {1, 1, 0, 1};
  refused_double([&](auto& e, auto& g, auto v) { dirichlet(e, g, v, two); }, "2 numbers alpha for rows of 4");
  refused_double([&](auto& e, auto& g, auto v) { dirichlet(e, g, v, bad); }, "alpha is 0");
}

TEST(DistributionArguments, Counts) {
  refused_counts([](auto& e, auto& g, auto v) { poisson(e, g, v, {-1}); }, "rand.poisson: lambda is -1");
  refused_counts([](auto& e, auto& g, auto v) { poisson(e, g, v, {kNan}); }, "lambda is nan");
  refused_counts([](auto& e, auto& g, auto v) { poisson(e, g, v, {4.294e9}); },
                 "too large for uint32; draw into double");
  refused_double([](auto& e, auto& g, auto v) { poisson(e, g, v, {1e18}); }, "up to 2^50");
  refused_counts([](auto& e, auto& g, auto v) { binomial(e, g, v, {-1, 0.5}); }, "rand.binomial: trials is -1");
  refused_counts([](auto& e, auto& g, auto v) { binomial(e, g, v, {1, -0.5}); }, "p is -0.5");
  refused_counts([](auto& e, auto& g, auto v) { geometric(e, g, v, {0}); },
                 "rand.geometric: p is 0, so there is never");
  refused_counts([](auto& e, auto& g, auto v) { geometric(e, g, v, {1e-9}); }, "draw into double");
  refused_double([](auto& e, auto& g, auto v) { geometric(e, g, v, {1e-301}); },
                 "p is 1e-301, so that values pass the largest double");
  refused_counts([](auto& e, auto& g, auto v) { hypergeometric(e, g, v, {3, 4, 8}); }, "sample is 8 of good + bad = 7");
  refused_counts([](auto& e, auto& g, auto v) { hypergeometric(e, g, v, {-3, 4, 1}); }, "good is -3");
  const std::vector<double> wrong = {0.5, 0.5, 0.1, 0}, few = {1.0};
  refused_counts([&](auto& e, auto& g, auto v) { multinomial(e, g, v, 5, wrong); }, "the probabilities sum to 1.1");
  refused_counts([&](auto& e, auto& g, auto v) { multinomial(e, g, v, 5, few); }, "1 probabilities for rows of 4");
  refused_counts([&](auto& e, auto& g, auto v) { multinomial(e, g, v, -5, wrong); }, "trials is -5");
}

TEST(DistributionArguments, MultivariateNormal) {
  const std::vector<double> mean = {0, 0}, asymmetric = {1, 0.5, 0.4, 1}, indefinite = {1, 2, 2, 1},
                            short_one = {1, 0, 0};
  const std::vector<double> hidden = {0, 1, 1, 1}, not_finite = {1, 0, 0, kNan};
  const auto check = [&](const std::vector<double>& covariance, const std::string& part) {
    refused<InvalidArgument, double>([&](auto& e, auto& g, auto v) { multivariate_normal(e, g, v, mean, covariance); },
                                     part, "host", {3, 2});
  };
  check(asymmetric, "covariance is not symmetric: (1, 0) is 0.4 and (0, 1) is 0.5");
  check(indefinite, "covariance is not positive semidefinite: pivot 1 is -3");
  check(hidden, "pivot 0 is 0 but (1, 0) leaves 1");
  check(short_one, "covariance has 3 numbers");
  check(not_finite, "covariance is nan");
  // A semidefinite one is accepted, and its rows lie on the line.
  const Executor e = Executor::host();
  Generator g;
  const Array<double> out(e, {100, 2});
  const std::vector<double> line = {1, 2, 2, 4};
  multivariate_normal(e, g, out.view(), mean, line);
  for (std::int64_t i = 0; i < 100; ++i) EXPECT_EQ(out.data()[2 * i + 1], 2 * out.data()[2 * i]);
}

TEST(DistributionArguments, Choosing) {
  const auto check = [](auto call, const std::string& part) { refused<InvalidArgument, std::int32_t>(call, part); };
  check([](auto& e, auto& g, auto v) { integers(e, g, v, 3, 3); }, "rand.integers: low is 3 and high is 3");
  check([](auto& e, auto& g, auto v) { integers(e, g, v, 0, (std::int64_t{1} << 31) + 1); }, "do not fit int32");
  refused_counts([](auto& e, auto& g, auto v) { integers(e, g, v, -1, 3); }, "do not fit uint32");
  check([](auto& e, auto& g, auto v) { choice(e, g, v, 0); }, "population is 0");
  check([](auto& e, auto& g, auto v) { choice(e, g, v, 3, {.replacement = Replacement::Without}); },
        "4 different numbers of 3");
  const std::vector<double> negative = {1, -1}, zeros = {0, 0}, sparse = {1, 0, 0, 2, 3, 0}, few = {1};
  check([&](auto& e, auto& g, auto v) { choice(e, g, v, 2, {.weights = negative}); }, "a weight is -1");
  check([&](auto& e, auto& g, auto v) { choice(e, g, v, 2, {.weights = zeros}); }, "all weights are 0");
  check([&](auto& e, auto& g, auto v) { choice(e, g, v, 2, {.weights = few}); }, "1 weights for a population of 2");
  check([&](auto& e, auto& g, auto v) { choice(e, g, v, 6, {.replacement = Replacement::Without, .weights = sparse}); },
        "4 different numbers of 3 that can be chosen");
}

// What all entry points share, once per entry point file: executors, positions, and the kernels that do not exist.
TEST(DistributionArguments, ExecutorsAndPositions) {
  refused<NotImplemented, double>([](auto& e, auto& g, auto v) { gamma(e, g, v); }, "rand.gamma: no device kernel",
                                  "sim:trn2");
  refused<NotImplemented, std::int32_t>([](auto& e, auto& g, auto v) { permutation(e, g, v); },
                                        "rand.permutation: no device", "sim:trn2");
  const Executor host = Executor::host(), sim = Executor::open("sim:trn2");
  const Array<double> out(host, {4});
  const Array<float> device_out(sim, {4});
  Generator xorwow(State{.algorithm = Algorithm::Xorwow});
  EXPECT_THROW(gamma(host, xorwow, out.view()), NotImplemented);
  EXPECT_THROW(normal(sim, xorwow, device_out.view()), NotImplemented);
  EXPECT_EQ(xorwow.state().position, 0u);
  Generator g;
  EXPECT_THROW(normal(sim, g, out.view()), InvalidArgument);
  EXPECT_THROW(gamma(sim, g, out.view()), InvalidArgument);
  const State last{.position = ~std::uint64_t{0} - 8};
  Generator h(last);
  normal(host, h, out.view());  // eight words are left
  EXPECT_EQ(h.state().position, ~std::uint64_t{0});
  h = Generator(State{.position = ~std::uint64_t{0} - 7});
  EXPECT_THROW(normal(host, h, out.view()), InvalidArgument);
  EXPECT_EQ(h.state().position, ~std::uint64_t{0} - 7);
  Generator none(State{.position = ~std::uint64_t{0}});
  normal(host, none, View<double>(host, nullptr, {0}));
  gamma(host, none, View<double>(host, nullptr, {0}));
  integers(host, none, View<std::int32_t>(host, nullptr, {0}), 0, 1);
  permutation(host, none, View<std::int32_t>(host, nullptr, {0}));
  EXPECT_EQ(none.state().position, ~std::uint64_t{0});
}

TEST(DistributionArguments, DegenerateParameters) {
  const Executor e = Executor::host();
  Generator g;
  const Array<std::uint32_t> counts(e, {50});
  const auto all_are = [&](std::uint32_t value) { EXPECT_EQ(counts.to_host(), std::vector<std::uint32_t>(50, value)); };
  poisson(e, g, counts.view(), {0});
  all_are(0);
  binomial(e, g, counts.view(), {0, 0.5});
  all_are(0);
  binomial(e, g, counts.view(), {17, 0});
  all_are(0);
  binomial(e, g, counts.view(), {17, 1});
  all_are(17);
  geometric(e, g, counts.view(), {1});
  all_are(1);
  hypergeometric(e, g, counts.view(), {5, 0, 3});
  all_are(3);
  hypergeometric(e, g, counts.view(), {0, 5, 3});
  all_are(0);
  hypergeometric(e, g, counts.view(), {5, 6, 11});
  all_are(5);
  hypergeometric(e, g, counts.view(), {0, 0, 0});
  all_are(0);
  const Array<float> values(e, {50});
  normal(e, g, values.view(), {3, 0});
  EXPECT_EQ(values.to_host(), std::vector<float>(50, 3));
}

// The last interval that is offered: an exponential of rate 1e8 from its near end, one spacing of doubles.
TEST(TruncatedNormal, OneHundredMillionDeviationsAreOffered) {
  const Executor e = Executor::host();
  for (const double side : {1.0, -1.0}) {
    Generator g(State{.seed = 3});
    const Array<double> out(e, {1000});
    const double near = side * 1e8;
    truncated_normal(
        e, g, out.view(),
        side > 0 ? TruncatedNormalOptions{0, 1, near, kInfinite} : TruncatedNormalOptions{0, 1, -kInfinite, near});
    for (const double x : out.to_host()) {
      EXPECT_GE(side * x, 1e8);
      EXPECT_LE(side * x, 1e8 + 30e-8);  // beyond 30 mean lengths: once in 1e13
    }
  }
}

TEST(DistributionArguments, ValuesOutsideTheirEnumeration) {
  refused<InvalidArgument, float>([](auto& e, auto& g, auto v) { uniform(e, g, v, static_cast<Interval>(2)); },
                                  "rand.uniform: Interval is 2, which is none of its values 0 to 1");
  refused<InvalidArgument, double>([](auto& e, auto& g, auto v) { uniform(e, g, v, static_cast<Interval>(2)); },
                                   "rand.uniform: Interval is 2");
  refused<InvalidArgument, float>(
      [](auto& e, auto& g, auto v) { normal(e, g, v, {.method = static_cast<NormalMethod>(3)}); },
      "rand.normal: NormalMethod is 3, which is none of its values 0 to 2");
  refused<InvalidArgument, std::int32_t>(
      [](auto& e, auto& g, auto v) { choice(e, g, v, 9, {.replacement = static_cast<Replacement>(2)}); },
      "rand.choice: Replacement is 2, which is none of its values 0 to 1");
  EXPECT_THROW(Generator(State{.algorithm = static_cast<Algorithm>(12)}), InvalidArgument);
  EXPECT_THROW(Generator(State{.ordering = static_cast<Ordering>(2)}), InvalidArgument);
}

}  // namespace
}  // namespace trn::rand::test
