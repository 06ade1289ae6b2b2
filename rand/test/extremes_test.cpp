// Parameters and positions at the far ends: the last words of a generator, variances of very different size, angles and
// weights beyond what a sum can resolve.
#include <cmath>
#include <set>
#include <trn/core/error.hpp>
#include <trn/rand/binomial.hpp>
#include <trn/rand/exponential.hpp>
#include <trn/rand/multivariate_normal.hpp>
#include <trn/rand/normal.hpp>
#include <trn/rand/permutation.hpp>
#include <trn/rand/truncated_normal.hpp>
#include <trn/rand/von_mises.hpp>

#include "rand_support.hpp"

namespace trn::rand::test {
namespace {

const Executor kHost = Executor::host();

// The last words come out the same whether drawn alone or as the end of a longer draw, and are written at all.
TEST(Extremes, TheLastWordsOfEveryAlgorithm) {
  const std::uint64_t last = std::numeric_limits<std::uint64_t>::max();
  for (const Algorithm a : {Algorithm::Philox4x32_10, Algorithm::Threefry4x32_20, Algorithm::Xorwow,
                            Algorithm::Mrg32k3a, Algorithm::Mt19937}) {
    Generator whole(State{.algorithm = a, .seed = 5, .position = last - 600}),
        end(State{.algorithm = a, .seed = 5, .position = last - 10});
    const Array<std::uint32_t> x(kHost, {600}), y(kHost, {10});
    std::fill_n(y.data(), 10, 0xdeadbeefu);
    raw32(kHost, whole, x.view());
    raw32(kHost, end, y.view());
    for (int i = 0; i < 10; ++i) EXPECT_EQ(y.data()[i], x.data()[590 + i]) << static_cast<int>(a) << " " << i;
    EXPECT_NE(y.data()[3], 0xdeadbeefu);
    EXPECT_THROW(raw32(kHost, end, y.view()), InvalidArgument);
    Generator normals(State{.algorithm = a, .seed = 5, .position = last - 40});
    const Array<float> z(kHost, {10});
    normal(kHost, normals, z.view());
    for (int i = 0; i < 10; ++i) EXPECT_TRUE(std::isfinite(z.data()[i]));
  }
}

TEST(Extremes, VariancesOfDifferentSizeKeepTheirOwn) {
  for (const auto& [large, small] : {std::pair(1e16, 1.0), std::pair(1e12, 1e-4)}) {
    Generator g(State{.seed = 3});
    const Array<double> out(kHost, {4000, 2});
    const double mean[] = {0, 0}, covariance[] = {large, 0, 0, small};
    multivariate_normal(kHost, g, out.view(), mean, covariance);
    double square = 0;
    for (int i = 0; i < 4000; ++i) square += out.data()[2 * i + 1] * out.data()[2 * i + 1] / small;
    EXPECT_NEAR(square / 4000, 1, 6 * std::sqrt(2.0 / 4000));  // chi-squared: variance 2 per value
  }
  Generator g;
  const Array<double> out(kHost, {1, 2});
  const double mean[] = {0, 0}, negative[] = {1e20, 0, 0, -1};
  EXPECT_THROW(multivariate_normal(kHost, g, out.view(), mean, negative), InvalidArgument);
}

TEST(Extremes, AnglesAroundALargeMean) {
  Generator g;
  const Array<double> out(kHost, {100});
  von_mises(kHost, g, out.view(), {1e17, 1});
  std::set<double> different(out.data(), out.data() + 100);
  EXPECT_EQ(different.size(), 100u);
  EXPECT_THROW(von_mises(kHost, g, out.view(), {0, 1e160}), InvalidArgument);
}

TEST(Extremes, AWeightOfZeroIsNeverChosenWithoutReplacement) {
  const double weights[] = {0, 1e-310, 1, 0, 5e-310};
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Generator g(State{.seed = seed});
    const Array<std::int32_t> out(kHost, {3});
    choice(kHost, g, out.view(), 5, {.replacement = Replacement::Without, .weights = weights});
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(out.data()[i] != 0 && out.data()[i] != 3) << seed;
  }
}

// The distance from the end, in units of stddev^2 / distance of the mean, is exponential up to parts in a^2. A sum of
// n of them, doubled, is chi-squared with 2 n degrees of freedom: mean n and variance n are tested, and that nothing
// repeats, which it did when distances of 1e-8 were taken from numbers of size 1e8.
TEST(Extremes, FarTailsKeepTheirShape) {
  for (const double a : {30.0, 1e4, 1e8}) {
    for (const bool upper : {true, false}) {
      Generator g(State{.seed = 9});
      const Array<double> out(kHost, {4000});
      constexpr double kInfinity = std::numeric_limits<double>::infinity();
      const TruncatedNormalOptions right{-a, 1, 0, kInfinity}, left{a, 1, -kInfinity, 0};
      truncated_normal(kHost, g, out.view(), upper ? right : left);
      std::set<double> different;
      double sum = 0, squares = 0;
      for (int i = 0; i < 4000; ++i) {
        const double e = std::fabs(out.data()[i]) * a;
        ASSERT_EQ(out.data()[i] > 0, upper);
        different.insert(e);
        sum += e;
        squares += e * e;
      }
      EXPECT_GE(different.size(), 3999u);
      EXPECT_NEAR(sum / 4000, 1 - 1 / (a * a), 5 / std::sqrt(4000.0));            // standard deviation 1
      EXPECT_NEAR(squares / 4000, 2 - 10 / (a * a), 5 * std::sqrt(20 / 4000.0));  // E e^4 - 4 = 20
    }
  }
}

// P(k > m) = (1 - p)^m: of 4000 values about 4000 e^(-p m) exceed m.
TEST(Extremes, GeometricWithATinyP) {
  for (const double p : {1e-12, 1e-17, 1e-300}) {
    Generator g(State{.seed = 2});
    const Array<double> out(kHost, {4000});
    geometric(kHost, g, out.view(), {p});
    for (const double share : {0.1, 0.5, 2.0}) {
      int beyond = 0;
      for (int i = 0; i < 4000; ++i) beyond += out.data()[i] > share / p ? 1 : 0;
      const double expected = std::exp(-share);
      EXPECT_NEAR(beyond / 4000.0, expected, 5 * std::sqrt(expected * (1 - expected) / 4000)) << p;
    }
  }
}

TEST(Extremes, AWeibullNeedsAScale) {
  Generator g;
  const Array<float> out(kHost, {4});
  EXPECT_THROW(weibull(kHost, g, out.view(), {0.01, 0}), InvalidArgument);
}

}  // namespace
}  // namespace trn::rand::test
