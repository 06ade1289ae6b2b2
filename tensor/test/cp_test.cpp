// CP decompositions of planted factors, collinear and nonnegative ones, with errors recomputed in long double.
#include <trn/tensor/cp.hpp>

#include <limits>

#include <trn/core/error.hpp>

#include "decompose_support.hpp"

namespace trn::tensor::testing {
namespace {

const Executor kHost = Executor::host();

// Planted factors n_k x rank and the tensor they make.
struct Planted {
  Shape shape;
  std::int64_t rank;
  std::vector<std::vector<double>> factors;
  std::vector<long double> values;
};
std::vector<long double> product_of(const Shape& shape, std::int64_t rank,
                                    const std::vector<std::vector<long double>>& factors) {
  std::vector<long double> x(static_cast<std::size_t>(element_count(shape)));
  for (std::size_t i = 0; i < x.size(); ++i) {
    for (std::int64_t r = 0; r < rank; ++r) {
      long double term = 1;
      std::size_t rest = i;
      for (std::size_t k = shape.size(); k-- > 0;) {
        const std::size_t row = rest % static_cast<std::size_t>(shape[k]);
        term *= factors[k][row * static_cast<std::size_t>(rank) + static_cast<std::size_t>(r)];
        rest /= static_cast<std::size_t>(shape[k]);
      }
      x[i] += term;
    }
  }
  return x;
}
// collinearity c: columns are sqrt(c) common + sqrt(1 - c) own, of about unit length.
Planted planted(const Shape& shape, std::int64_t rank, std::uint64_t seed, double collinearity = 0,
                bool positive = false) {
  TestRandom random(seed);
  Planted p{shape, rank, {}, {}};
  std::vector<std::vector<long double>> wide;
  for (const std::int64_t n : shape) {
    const auto common = numbers<double>(n, random);
    auto f = numbers<double>(n * rank, random);
    for (std::size_t i = 0; i < f.size(); ++i) {
      f[i] = std::sqrt(collinearity) * common[i / static_cast<std::size_t>(rank)] + std::sqrt(1 - collinearity) * f[i];
      if (positive) f[i] = std::max(0.0, f[i]);
    }
    wide.push_back(widened(f));
    p.factors.push_back(std::move(f));
  }
  p.values = product_of(shape, rank, wide);
  return p;
}

template <class T> long double reconstruction_error(const std::vector<T>& x, const Shape& shape, const Cp<T>& c) {
  std::vector<std::vector<long double>> factors;
  for (const auto& f : c.factors) factors.push_back(widened(f.to_host()));
  for (std::size_t i = 0; i < factors[0].size(); ++i) factors[0][i] *= c.weights[i % c.weights.size()];
  return distance_of(x, product_of(shape, static_cast<std::int64_t>(c.weights.size()), factors));
}

// The least, over planted columns, of the best match's cosine, all modes multiplied.
template <class T> double congruence(const Planted& p, const Cp<T>& c) {
  double worst = 1;
  for (std::int64_t r = 0; r < p.rank; ++r) {
    double best = 0;
    for (std::int64_t s = 0; s < p.rank; ++s) {
      double product = 1;
      for (std::size_t k = 0; k < p.shape.size(); ++k) {
        const auto f = c.factors[k].to_host();
        double xy = 0, xx = 0, yy = 0;
        for (std::int64_t i = 0; i < p.shape[k]; ++i) {
          const double x = p.factors[k][static_cast<std::size_t>(i * p.rank + r)],
                       y = f[static_cast<std::size_t>(i * p.rank + s)];
          xy += x * y, xx += x * x, yy += y * y;
        }
        product *= std::abs(xy) / std::sqrt(xx * yy);
      }
      best = std::max(best, product);
    }
    worst = std::min(worst, best);
  }
  return worst;
}

template <class T> Array<T> array_of(const Planted& p) {
  return Array<T>::from_host(kHost, p.shape, std::vector<T>(p.values.begin(), p.values.end()));
}

TEST(Cp, RecoversPlantedFactorsForAHundredSeeds) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Planted p = planted({8, 9, 10}, 4, seed);
    const Cp<double> c = cp<double>(kHost, array_of<double>(p).view(), 4,
                                    {.max_iterations = 3000, .tolerance = 1e-13, .starts = 10, .seed = seed});
    EXPECT_GT(congruence(p, c), 1 - 1e-8) << seed << " fit " << c.report.fit << " iterations " << c.report.iterations;
    EXPECT_LT(c.report.error, 1e-6 * c.report.norm) << seed;
  }
}

TEST(Cp, ErrorsLieWithinTheirBounds) {
  const auto check = []<class T>() {
    TestRandom random(6);
    for (const Shape& shape : {Shape{5, 6}, Shape{4, 5, 6}, Shape{3, 4, 2, 5}, Shape{2, 3, 2, 2, 3}, Shape{1, 4, 3}}) {
      const auto x = numbers<T>(element_count(shape), random);
      for (const CpMethod method : {CpMethod::Als, CpMethod::Nonnegative, CpMethod::Randomized}) {
        for (const std::int64_t rank : {1, 3, 7}) {
          const Cp<T> c =
              cp<T>(kHost, Array<T>::from_host(kHost, shape, x).view(), rank, {.method = method, .max_iterations = 30});
          const long double error = reconstruction_error(x, shape, c), size = norm_of(widened(x));
          EXPECT_LE(error, c.report.bound);
          EXPECT_NEAR(c.report.error, error, c.report.bound - c.report.error + 300 * kUnit<T> * size);
          EXPECT_LE(error, size * (1 + 1e-5L));  // zero would do as well
          EXPECT_TRUE(std::is_sorted(c.weights.rbegin(), c.weights.rend()));
          EXPECT_NEAR(distance_of(x, widened(reconstruct(kHost, c).to_host())), error,
                      c.report.bound - c.report.error + 300 * kUnit<T> * size);
          if (method == CpMethod::Nonnegative) {
            for (const auto& f : c.factors) {
              for (const T v : f.to_host()) EXPECT_GE(v, 0);
            }
          }
        }
      }
    }
  };
  check.template operator()<float>();
  check.template operator()<double>();
}

// Columns with cosines near 0.9 and 0.99: slow, singular to many digits, and still a good fit without NaN.
TEST(Cp, CollinearFactors) {
  for (const double collinearity : {0.9, 0.99}) {
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
      const Planted p = planted({9, 10, 11}, 3, seed, collinearity);
      const Array<double> x = array_of<double>(p);
      const CpOptions options{.max_iterations = 400, .tolerance = 1e-12, .seed = seed};
      CpOptions plain = options;
      plain.line_search = false;
      const Cp<double> c = cp<double>(kHost, x.view(), 3, options), without = cp<double>(kHost, x.view(), 3, plain);
      EXPECT_GT(c.report.fit, 0.999);
      EXPECT_LE(reconstruction_error(x.to_host(), p.shape, c), c.report.bound);
      EXPECT_TRUE(std::isfinite(without.report.fit));
    }
  }
  // Two equal columns: the Gram matrix is singular.
  Planted p = planted({6, 7, 8}, 1, 3);
  const Cp<double> c = cp<double>(kHost, array_of<double>(p).view(), 3, {.max_iterations = 50});
  EXPECT_LT(c.report.error, 1e-10 * c.report.norm);
}

// Extrapolation along the last change reaches a given error in fewer sweeps on swamped problems, summed over seeds.
TEST(Cp, LineSearchSavesIterations) {
  int with = 0, without = 0;
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const Planted p = planted({9, 10, 11}, 4, seed, 0.8);
    const Array<double> x = array_of<double>(p);
    CpOptions options{.max_iterations = 2000, .tolerance = 1e-9, .seed = seed};
    with += cp<double>(kHost, x.view(), 4, options).report.iterations;
    options.line_search = false;
    without += cp<double>(kHost, x.view(), 4, options).report.iterations;
  }
  EXPECT_LT(with, without);
}

TEST(Cp, NonnegativeFactorsAreFound) {
  const Planted p = planted({10, 11, 12}, 3, 4, 0, true);
  const Cp<double> c =
      cp<double>(kHost, array_of<double>(p).view(), 3,
                 {.method = CpMethod::Nonnegative, .max_iterations = 2000, .tolerance = 1e-12, .starts = 5});
  EXPECT_GT(c.report.fit, 1 - 1e-4);
  EXPECT_GT(congruence(p, c), 0.999);
}

TEST(Cp, CompressedSearchFindsPlantedFactors) {
  const Planted p = planted({30, 31, 32}, 4, 12);
  const Cp<double> c =
      cp<double>(kHost, array_of<double>(p).view(), 4,
                 {.method = CpMethod::Randomized, .max_iterations = 2000, .tolerance = 1e-13, .starts = 5});
  EXPECT_GT(congruence(p, c), 1 - 1e-8);
  EXPECT_LT(c.report.error, 1e-8 * c.report.norm);
}

TEST(Cp, ScaleDoesNotMatter) {
  Planted p = planted({5, 6, 7}, 2, 3);
  const Cp<double> plain = cp<double>(kHost, array_of<double>(p).view(), 2);
  for (const int power : {-800, 800}) {
    Planted scaled = p;
    for (long double& v : scaled.values) v = std::ldexp(v, power);
    const Cp<double> c = cp<double>(kHost, array_of<double>(scaled).view(), 2);
    EXPECT_EQ(c.report.iterations, plain.report.iterations);
    EXPECT_NEAR(c.report.fit, plain.report.fit, 1e-12);
  }
}

TEST(Cp, BadInput) {
  std::vector<double> x(24, 1.0);
  const auto view = [&](Shape shape) { return View<const double>(kHost, x.data(), std::move(shape)); };
  EXPECT_THROW((void)cp<double>(kHost, view({24}), 2), InvalidArgument);
  EXPECT_THROW((void)cp<double>(kHost, view({2, 3, 4}), 0), InvalidArgument);
  EXPECT_THROW((void)cp<double>(kHost, view({2, 0, 4}), 1), InvalidArgument);
  EXPECT_THROW((void)cp<double>(kHost, view({2, 3, 4}), 1, {.starts = 0}), InvalidArgument);
  EXPECT_THROW((void)cp<double>(kHost, view({2, 3, 4}), 1, {.max_iterations = 0}), InvalidArgument);
  EXPECT_THROW((void)cp<double>(kHost, view({2, 3, 4}), 1, {.tolerance = NAN}), InvalidArgument);
  EXPECT_THROW((void)cp<double>(Executor::open("sim:trn2"), view({2, 3, 4}), 1), NotImplemented);
  const Cp<double> ones = cp<double>(kHost, view({2, 3, 4}), 1);
  EXPECT_NEAR(ones.weights[0], std::sqrt(24.0), 1e-13);
  EXPECT_EQ(ones.report.stop_reason, StopReason::Converged);
  x[5] = std::numeric_limits<double>::quiet_NaN();
  const Cp<double> c = cp<double>(kHost, view({2, 3, 4}), 2);
  EXPECT_EQ(c.report.stop_reason, StopReason::NotFinite);
  EXPECT_TRUE(std::isnan(c.weights[0]) && std::isnan(c.factors[2].to_host()[0]));
  const std::vector<double> zeros(24);
  const Cp<double> zero = cp<double>(kHost, View<const double>(kHost, zeros.data(), {2, 3, 4}), 2);
  EXPECT_EQ(zero.report.error, 0);
  EXPECT_EQ(zero.report.fit, 1);
}

}  // namespace
}  // namespace trn::tensor::testing
