// Tensor trains against elementwise arithmetic in long double.
#include <trn/tensor/tensor_train.hpp>

#include <array>
#include <cmath>
#include <limits>
#include <random>

#include <trn/core/error.hpp>

#include "decompose_support.hpp"

namespace trn::tensor::testing {
namespace {

const Executor kHost = Executor::host();

// The product of the cores' matrices, element by element.
template <class T> std::vector<Wide<T>> expanded(const TensorTrain<T>& t) {
  std::vector<Wide<T>> y{Wide<T>(1)};
  for (const auto& core : t.cores) {
    const Shape& s = core.shape();
    const auto g = widened(core.to_host());
    std::vector<Wide<T>> next;
    for (std::size_t row = 0; row < y.size(); row += static_cast<std::size_t>(s[0])) {
      for (std::int64_t j = 0; j < s[1]; ++j) {
        for (std::int64_t l = 0; l < s[2]; ++l) {
          Wide<T> sum = 0;
          for (std::int64_t i = 0; i < s[0]; ++i) {
            sum += y[row + static_cast<std::size_t>(i)] * g[static_cast<std::size_t>((i * s[1] + j) * s[2] + l)];
          }
          next.push_back(sum);
        }
      }
    }
    y = std::move(next);
  }
  return y;
}

// Sums and products of small trains: exact low ranks, and a smooth function with decaying ones.
std::vector<double> smooth(const Shape& shape) {
  std::vector<double> x;
  for (std::int64_t i = 0; i < element_count(shape); ++i) {
    std::int64_t rest = i;
    double sum = 1;
    for (std::size_t k = shape.size(); k-- > 0;) {
      sum += static_cast<double>(rest % shape[k]) * (1 + 0.3 * static_cast<double>(k));
      rest /= shape[k];
    }
    x.push_back(1 / sum);
  }
  return x;
}
template <class T> TensorTrain<T> random_train(const Shape& shape, std::int64_t rank, std::uint64_t seed) {
  TestRandom random(seed);
  TensorTrain<T> t;
  for (std::size_t k = 0; k < shape.size(); ++k) {
    const Shape s{k == 0 ? 1 : rank, shape[k], k + 1 == shape.size() ? 1 : rank};
    t.cores.push_back(Array<T>::from_host(kHost, s, numbers<T>(element_count(s), random)));
  }
  return t;
}

TEST(TensorTrain, ErrorsLieWithinTheirBounds) {
  for_scalars([]<class T>() {
    for (const Shape& shape : {Shape{4, 5, 6, 3}, Shape{7, 2, 9}, Shape{30, 5}, Shape{6}, Shape{2, 1, 2, 2, 2, 2}}) {
      const auto f = smooth(shape);
      const std::vector<T> x(f.begin(), f.end());
      for (const TensorTrainOptions& options :
           {TensorTrainOptions{}, TensorTrainOptions{.epsilon = 1e-3}, TensorTrainOptions{.max_rank = 2}}) {
        const TensorTrain<T> t = tensor_train<T>(kHost, Array<T>::from_host(kHost, shape, x).view(), options);
        const long double error = distance_of(x, expanded(t)), size = norm_of(widened(x));
        EXPECT_EQ(t.shape(), shape);
        EXPECT_LE(error, t.report.bound);
        EXPECT_NEAR(t.report.error, error, 300 * kUnit<T> * size);
        // The discarded values are the error: the parts are orthogonal.
        EXPECT_NEAR(t.report.discarded, error, 300 * kUnit<T> * size);
        if (options.max_rank == 0) {
          EXPECT_LE(error, options.epsilon * size + 300 * kUnit<T> * size);
        }
        EXPECT_LE(distance_of(x, widened(reconstruct(kHost, t).to_host())), t.report.bound + 300 * kUnit<T> * size);
      }
    }
  });
}

// For a matrix TT-SVD is the SVD; for more dimensions the first bond is that of the first unfolding.
TEST(TensorTrain, IsTheTruncationOfAFullSvd) {
  const Shape shape{8, 40};
  const auto x = smooth(shape);
  const auto s = jacobi_singular_values(widened(x), 8, 40);
  const long double size = norm_of(widened(x));
  for (std::int64_t r = 1; r < 8; ++r) {
    const TensorTrain<double> t =
        tensor_train<double>(kHost, Array<double>::from_host(kHost, shape, x).view(), {.max_rank = r});
    long double tail = 0;
    for (std::size_t i = static_cast<std::size_t>(r); i < 8; ++i) tail = std::hypot(tail, s[i]);
    EXPECT_NEAR(distance_of(x, expanded(t)), tail, 1e-14L * size);
  }
  const Shape cube{8, 5, 8};
  const TensorTrain<double> t =
      tensor_train<double>(kHost, Array<double>::from_host(kHost, cube, x).view(), {.epsilon = 1e-7});
  std::size_t r = 8;
  long double tail = 0;
  while (std::hypot(tail, s[r - 1]) <= 1e-7L * size / std::sqrt(2.0L)) tail = std::hypot(tail, s[--r]);
  EXPECT_EQ(t.ranks()[1], static_cast<std::int64_t>(r));
}

TEST(TensorTrain, Arithmetic) {
  for_scalars([]<class T>() {
    const Shape shape{3, 4, 2, 5};
    const TensorTrain<T> a = random_train<T>(shape, 3, 1), b = random_train<T>(shape, 2, 2);
    const auto x = expanded(a), y = expanded(b);
    const long double size = norm_of(x) + norm_of(y);
    const auto sum = expanded(add(kHost, a, b)), product = expanded(hadamard(kHost, a, b)),
               scaled = expanded(scale(kHost, T(-2), a));
    Wide<T> inner = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      EXPECT_LE(std::abs(sum[i] - x[i] - y[i]), 1e-17L * size);  // only zeros and copies
      EXPECT_LE(std::abs(product[i] - x[i] * y[i]), 50 * kUnit<T> * size * size);
      EXPECT_LE(std::abs(scaled[i] + x[i] * Wide<T>(2)), 1e-17L * size);
      if constexpr (ComplexScalar<T>) {
        inner += std::conj(x[i]) * y[i];
      } else {
        inner += x[i] * y[i];
      }
    }
    EXPECT_LE(std::abs(Wide<T>(dot(kHost, a, b)) - inner), 100 * kUnit<T> * size * size);
    EXPECT_NEAR(norm(kHost, a), norm_of(x), 100 * kUnit<T> * norm_of(x));
    const std::int64_t index[] = {2, 1, 0, 3};
    EXPECT_LE(std::abs(Wide<T>(evaluate(a, std::span<const std::int64_t>(index))) - x[((2 * 4 + 1) * 2 + 0) * 5 + 3]),
              50 * kUnit<T> * size);
  });
}

TEST(TensorTrain, Rounding) {
  for_scalars([]<class T>() {
    const Shape shape{4, 5, 3, 6};
    const TensorTrain<T> a = random_train<T>(shape, 2, 5);
    const TensorTrain<T> twice = add(kHost, a, a);
    EXPECT_EQ(twice.ranks(), (std::vector<std::int64_t>{1, 4, 4, 4, 1}));
    const TensorTrain<T> t = round(kHost, twice, {.epsilon = sizeof(Real<T>) == 4 ? 1e-5 : 1e-12});
    EXPECT_EQ(t.ranks(), (std::vector<std::int64_t>{1, 2, 2, 2, 1}));
    auto x = expanded(a);
    for (auto& v : x) v *= Wide<T>(2);
    auto d = expanded(t);
    for (std::size_t i = 0; i < d.size(); ++i) d[i] -= x[i];
    EXPECT_LE(norm_of(d), t.report.bound);
    EXPECT_LE(norm_of(d), 200 * kUnit<T> * norm_of(x));
    const TensorTrain<T> cut = round(kHost, twice, {.max_rank = 1});
    d = expanded(cut);
    for (std::size_t i = 0; i < d.size(); ++i) d[i] -= x[i];
    EXPECT_LE(norm_of(d), cut.report.bound);
    EXPECT_NEAR(norm_of(d), cut.report.discarded, 200 * kUnit<T> * norm_of(x));
  });
}

// ||a - b|| for trains that agree in twelve digits: the root of a scalar product would be noise at 1e-8.
TEST(TensorTrain, NormOfASmallDifference) {
  const Shape shape{5, 5, 5};
  const TensorTrain<double> a = random_train<double>(shape, 2, 8), c = random_train<double>(shape, 1, 9);
  const TensorTrain<double> b = add(kHost, a, scale(kHost, 1e-12, c));
  const double difference = norm(kHost, add(kHost, b, scale(kHost, -1, a)));
  const double exact = 1e-12 * norm(kHost, c);
  EXPECT_NEAR(difference, exact, 1e-14 * norm(kHost, a));
  EXPECT_GT(exact, 1e-13 * norm(kHost, a));
}

TEST(TensorTrain, BadInput) {
  std::vector<double> x(24, 1.0);
  const View<const double> view(kHost, x.data(), {2, 3, 4});
  EXPECT_THROW((void)tensor_train<double>(kHost, view, {.epsilon = -1}), InvalidArgument);
  EXPECT_THROW((void)tensor_train<double>(kHost, view, {.max_rank = -1}), InvalidArgument);
  const TensorTrain<double> a = random_train<double>({2, 3}, 2, 1), b = random_train<double>({2, 4}, 2, 1);
  EXPECT_THROW((void)add(kHost, a, b), InvalidArgument);
  EXPECT_THROW((void)dot(kHost, a, b), InvalidArgument);
  EXPECT_THROW((void)hadamard(kHost, a, b), InvalidArgument);
  const std::int64_t outside[] = {1, 3}, few[] = {1};
  EXPECT_THROW((void)evaluate(a, std::span<const std::int64_t>(outside)), InvalidArgument);
  EXPECT_THROW((void)evaluate(a, std::span<const std::int64_t>(few)), InvalidArgument);
  TensorTrain<double> broken = random_train<double>({2, 3}, 2, 1);
  broken.cores.pop_back();
  EXPECT_THROW((void)norm(kHost, broken), InvalidArgument);
  x[3] = std::numeric_limits<double>::quiet_NaN();
  const TensorTrain<double> t = tensor_train<double>(kHost, view);
  EXPECT_EQ(t.report.stop_reason, StopReason::NotFinite);
  EXPECT_TRUE(std::isnan(t.cores[1].to_host()[0]));
}

TEST(TensorTrain, NormOfWhatIsNotFiniteIsNaN) {
  std::vector<double> x{1, 2, 3, 4, 5, 6, 7, 8};
  const View<const double> view(kHost, x.data(), {2, 2, 2});
  const auto t = tensor_train<double>(kHost, view);
  EXPECT_NEAR(norm(kHost, t), std::sqrt(204.0), 1e-13);
  EXPECT_TRUE(std::isnan(norm(kHost, scale(kHost, std::numeric_limits<double>::quiet_NaN(), t))));
  x[3] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isnan(norm(kHost, tensor_train<double>(kHost, view))));
}

// Differences of tensors of 1e-300 are below the normal numbers; their norms are numbers all the same.
TEST(TensorTrain, TinyTensorsHaveErrorsAndBounds) {
  std::mt19937_64 random(77);
  std::normal_distribution<double> normal;
  for (const double size : {1e-290, 1e-300, 1e-305}) {
    std::vector<double> x(120);
    for (double& v : x) v = size * normal(random);
    const auto t = tensor_train<double>(Executor::host(), View<const double>(Executor::host(), x.data(), {4, 5, 6}));
    const auto y = reconstruct(Executor::host(), t);
    long double sum = 0;
    for (std::int64_t i = 0; i < 120; ++i) {
      const long double d = (static_cast<long double>(y.data()[i]) - x[static_cast<std::size_t>(i)]) / size;
      sum += d * d;
    }
    EXPECT_TRUE(std::isfinite(t.report.error) && std::isfinite(t.report.bound)) << size;
    EXPECT_LE(static_cast<double>(std::sqrt(sum)), t.report.bound / size) << size;
    EXPECT_LE(t.report.bound, 1e-10 * size) << size;
  }
}

// Cores whose products leave the range on their way, in any order, of a tensor that is well within it.
TEST(TensorTrain, CoresOfAnySizes) {
  for (const std::array<int, 3>& powers : {std::array{-560, -560, 660},
                                           {-560, 660, -560},
                                           {660, -560, -560},
                                           {660, 660, -900},
                                           {-300, 0, 0},
                                           {0, 1000, -1000}}) {
    std::mt19937_64 random(78);
    std::normal_distribution<double> normal;
    TensorTrain<double> t, plain;  // the same tensor times 2^power
    int power = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      const Shape shape{k == 0 ? 1 : 3, 4, k == 2 ? 1 : 3};
      std::vector<double> values(static_cast<std::size_t>(element_count(shape)));
      for (double& v : values) v = normal(random);
      plain.cores.push_back(Array<double>::from_host(kHost, shape, values));
      for (double& v : values) v = std::ldexp(v, powers[k]);
      t.cores.push_back(Array<double>::from_host(kHost, shape, values));
      power += powers[k];
    }
    const auto back = [&](double x) { return std::ldexp(x, -power); };
    const TensorTrain<double> u = round(kHost, t);
    const auto y = reconstruct(kHost, u).to_host(), exact = reconstruct(kHost, plain).to_host(),
               direct = reconstruct(kHost, t).to_host();
    double error = 0;
    for (std::size_t i = 0; i < y.size(); ++i) {
      error = std::hypot(error, back(y[i]) - exact[i]);
      EXPECT_NEAR(back(direct[i]), exact[i], 1e-13);
    }
    EXPECT_LE(error, back(u.report.bound)) << powers[0] << " " << powers[1];
    EXPECT_LE(back(u.report.bound), 1e-11 * norm(kHost, plain));
    EXPECT_NEAR(back(u.report.norm), norm(kHost, plain), 1e-12);
    EXPECT_NEAR(back(norm(kHost, t)), norm(kHost, plain), 1e-12);
    EXPECT_NEAR(back(evaluate(t, std::vector<std::int64_t>{1, 2, 3})), exact[27], 1e-13);
    EXPECT_NEAR(back(back(dot(kHost, t, t))), dot(kHost, plain, plain), 1e-10);
  }
}

}  // namespace
}  // namespace trn::tensor::testing
