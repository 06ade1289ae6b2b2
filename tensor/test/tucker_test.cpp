// Tucker decompositions against singular values by Jacobi rotations and reconstructions in long double.
#include <trn/tensor/tucker.hpp>

#include <limits>

#include <trn/core/error.hpp>

#include "decompose_support.hpp"

namespace trn::tensor::testing {
namespace {

const Executor kHost = Executor::host();

// Products of random matrices along the modes with columns scaled by decay^j: graded unfoldings.
std::vector<long double> graded_real(const Shape& shape, double decay, std::uint64_t seed) {
  TestRandom random(seed);
  auto x = widened(numbers<double>(element_count(shape), random));
  std::int64_t left = 1, right = element_count(shape);
  for (const std::int64_t n : shape) {
    right /= n;
    auto m = widened(numbers<double>(n * n, random));
    for (std::size_t i = 0; i < m.size(); ++i) {
      m[i] *= std::pow(static_cast<long double>(decay), static_cast<long double>(i % static_cast<std::size_t>(n)));
    }
    x = times_mode(x, left, n, right, m, n);
    left *= n;
  }
  return x;
}
template <class T> std::vector<T> graded(const Shape& shape, double decay, std::uint64_t seed) {
  const auto re = graded_real(shape, decay, seed), im = graded_real(shape, decay, seed + 1);
  std::vector<T> x;
  for (std::size_t i = 0; i < re.size(); ++i) {
    if constexpr (RealScalar<T>) {
      x.push_back(static_cast<T>(re[i]));
    } else {
      x.emplace_back(static_cast<Real<T>>(re[i]), static_cast<Real<T>>(im[i]));
    }
  }
  return x;
}

template <class T> std::vector<Wide<T>> expanded(const Tucker<T>& t) {
  auto y = widened(t.core.to_host());
  std::int64_t left = 1, right = t.core.size();
  for (const auto& f : t.factors) {
    right /= f.columns();
    y = times_mode(y, left, f.columns(), right, widened(f.to_host()), f.rows());
    left *= f.rows();
  }
  return y;
}

template <class T> void expect_orthonormal(const Tucker<T>& t) {
  for (const auto& f : t.factors) {
    const auto u = widened(f.to_host());
    const std::int64_t r = f.columns();
    for (std::int64_t i = 0; i < r; ++i) {
      for (std::int64_t j = 0; j < r; ++j) {
        Wide<T> sum = 0;
        for (std::int64_t k = 0; k < f.rows(); ++k) {
          Wide<T> a = u[static_cast<std::size_t>(k * r + i)];
          if constexpr (ComplexScalar<T>) a = std::conj(a);
          sum += a * u[static_cast<std::size_t>(k * r + j)];
        }
        EXPECT_LT(std::abs(sum - Wide<T>(i == j)), 100 * kUnit<T>);
      }
    }
  }
}

TEST(Tucker, ErrorsLieWithinTheirBoundsForEveryMethodAndType) {
  for_scalars([]<class T>() {
    for (const Shape& shape : {Shape{6, 7, 8}, Shape{3, 4, 5, 2}, Shape{9, 4}, Shape{5}, Shape{1, 6, 1}}) {
      const auto x = graded<T>(shape, 0.5, 3);
      const Array<T> a = Array<T>::from_host(kHost, shape, x);
      std::vector<std::int64_t> ranks;
      for (const std::int64_t n : shape) ranks.push_back((n + 1) / 2);
      for (const TuckerMethod method :
           {TuckerMethod::Hosvd, TuckerMethod::StHosvd, TuckerMethod::Hooi, TuckerMethod::Randomized}) {
        const Tucker<T> t = tucker<T>(kHost, a.view(), {.method = method, .ranks = ranks});
        const long double error = distance_of(x, expanded(t)), size = norm_of(widened(x));
        EXPECT_LE(error, t.report.bound);
        EXPECT_NEAR(t.report.error, error, 500 * kUnit<T> * size);
        EXPECT_NEAR(t.report.norm, size, 500 * kUnit<T> * size);
        EXPECT_NEAR(t.report.fit, 1 - error / size, 500 * kUnit<T>);
        expect_orthonormal(t);
        const auto y = widened(reconstruct(kHost, t).to_host());
        EXPECT_LE(distance_of(x, y), t.report.bound + 100 * kUnit<T> * size);
      }
    }
  });
}

// HOSVD's projection on one mode is the best one: its error is the tail of the unfolding's singular values. Graded by
// factors of 50, the small ones are far below what a Gram matrix could resolve.
TEST(Tucker, HosvdIsTheTruncationOfAFullSvd) {
  const Shape shape{7, 8, 9};
  const auto x = graded<double>(shape, 0.02, 5);
  const auto wide = widened(x);
  const long double size = norm_of(wide);
  for (std::size_t mode = 0; mode < 3; ++mode) {
    const auto s = jacobi_singular_values(unfolded(wide, shape, mode), shape[mode], 504 / shape[mode]);
    for (std::int64_t r = 1; r < shape[mode]; ++r) {
      std::vector<std::int64_t> ranks{7, 8, 9};
      ranks[mode] = r;
      const Tucker<double> t = tucker<double>(kHost, Array<double>::from_host(kHost, shape, x).view(),
                                              {.method = TuckerMethod::Hosvd, .ranks = ranks});
      long double tail = 0;
      for (std::size_t i = static_cast<std::size_t>(r); i < s.size(); ++i) tail = std::hypot(tail, s[i]);
      EXPECT_NEAR(distance_of(x, expanded(t)), tail, 1e-14L * size);
      EXPECT_NEAR(t.report.discarded, tail, 1e-14L * size);
    }
  }
  // The first tail below 1e-9 of the norm comes out right to 1e-3 of itself: a Gram matrix would give noise at 1e-8.
  const auto s = jacobi_singular_values(unfolded(wide, shape, 2), 9, 56);
  std::size_t r = 9;
  long double tail = 0;
  while (std::hypot(tail, s[r - 1]) < 1e-9L * size) tail = std::hypot(tail, s[--r]);
  ASSERT_GT(tail, 1e-12L * size);
  const Tucker<double> t =
      tucker<double>(kHost, Array<double>::from_host(kHost, shape, x).view(),
                     {.method = TuckerMethod::Hosvd, .ranks = {7, 8, static_cast<std::int64_t>(r)}});
  EXPECT_NEAR(distance_of(x, expanded(t)) / tail, 1, 1e-3);
}

TEST(Tucker, EpsilonIsKeptAndRanksAreFound) {
  const Shape shape{10, 11, 12};
  const auto x = graded<double>(shape, 0.05, 8);
  const Array<double> a = Array<double>::from_host(kHost, shape, x);
  for (const TuckerMethod method : {TuckerMethod::Hosvd, TuckerMethod::StHosvd}) {
    std::int64_t before = 0;
    for (const double epsilon : {0.5, 1e-2, 1e-4, 1e-8}) {
      const Tucker<double> t = tucker<double>(kHost, a.view(), {.method = method, .epsilon = epsilon});
      EXPECT_LE(distance_of(x, expanded(t)), epsilon * norm_of(widened(x)));
      EXPECT_GE(t.core.size(), before);
      before = t.core.size();
    }
    EXPECT_LT(before, 10 * 11 * 12);
  }
  // An exact multilinear rank of (2, 3, 2) is found.
  TestRandom random(4);
  auto y = widened(numbers<double>(12, random));
  y = times_mode(y, 1, 2, 6, widened(numbers<double>(20, random)), 10);
  y = times_mode(y, 10, 3, 2, widened(numbers<double>(33, random)), 11);
  y = times_mode(y, 110, 2, 1, widened(numbers<double>(24, random)), 12);
  const std::vector<double> low(y.begin(), y.end());
  for (const TuckerMethod method : {TuckerMethod::Hosvd, TuckerMethod::StHosvd, TuckerMethod::Hooi}) {
    const Tucker<double> t =
        tucker<double>(kHost, Array<double>::from_host(kHost, shape, low).view(), {.method = method, .epsilon = 1e-12});
    EXPECT_EQ(t.core.shape(), (Shape{2, 3, 2}));
    EXPECT_LT(t.report.error, 1e-13 * t.report.norm);
  }
}

TEST(Tucker, HooiIsNotWorseThanStHosvdAndConverges) {
  TestRandom random(11);
  const Shape shape{8, 9, 10};
  const auto x = numbers<double>(720, random);
  const Array<double> a = Array<double>::from_host(kHost, shape, x);
  const Tucker<double> first = tucker<double>(kHost, a.view(), {.ranks = {2, 2, 2}});
  const Tucker<double> t = tucker<double>(
      kHost, a.view(), {.method = TuckerMethod::Hooi, .ranks = {2, 2, 2}, .max_iterations = 500, .tolerance = 1e-13});
  EXPECT_LT(t.report.error, first.report.error);
  EXPECT_EQ(t.report.stop_reason, StopReason::Converged);
  EXPECT_GT(t.report.iterations, 1);
  const Tucker<double> cut = tucker<double>(
      kHost, a.view(), {.method = TuckerMethod::Hooi, .ranks = {2, 2, 2}, .max_iterations = 1, .tolerance = 0});
  EXPECT_EQ(cut.report.stop_reason, StopReason::IterationLimit);
  EXPECT_EQ(name(cut.report.stop_reason), "iteration limit");
}

TEST(Tucker, StridedViewsAreReadAsTheyAre) {
  TestRandom random(2);
  const auto x = numbers<double>(2 * 60, random);
  const View<const double> every_second(kHost, x.data() + 1, {3, 4, 5}, {2, 6, 24});
  std::vector<double> packed;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 4; ++j) {
      for (int k = 0; k < 5; ++k) packed.push_back(x[static_cast<std::size_t>(1 + 2 * i + 6 * j + 24 * k)]);
    }
  }
  const Tucker<double> t = tucker<double>(kHost, every_second);
  EXPECT_LT(distance_of(packed, expanded(t)), 1e-14);
}

TEST(Tucker, BadInput) {
  std::vector<double> x(24, 1.0);
  const auto view = [&](Shape shape) { return View<const double>(kHost, x.data(), std::move(shape)); };
  EXPECT_THROW((void)tucker<double>(kHost, view({2, 3, 4}), {.ranks = {1, 1}}), InvalidArgument);
  EXPECT_THROW((void)tucker<double>(kHost, view({2, 3, 4}), {.ranks = {3, 1, 1}}), InvalidArgument);
  EXPECT_THROW((void)tucker<double>(kHost, view({2, 3, 4}), {.method = TuckerMethod::Randomized}), InvalidArgument);
  EXPECT_THROW((void)tucker<double>(kHost, view({2, 3, 4}), {.epsilon = -1}), InvalidArgument);
  EXPECT_THROW((void)tucker<double>(kHost, view({2, 0, 4})), InvalidArgument);
  EXPECT_THROW((void)tucker<double>(kHost, view({})), InvalidArgument);
  EXPECT_EQ(tucker<double>(kHost, view({2, 3, 4})).report.fit,
            1 - tucker<double>(kHost, view({2, 3, 4})).report.error / std::sqrt(24.0));
  x[7] = std::numeric_limits<double>::infinity();
  const Tucker<double> t = tucker<double>(kHost, view({2, 3, 4}), {.ranks = {1, 2, 1}});
  EXPECT_EQ(t.report.stop_reason, StopReason::NotFinite);
  EXPECT_TRUE(std::isnan(t.report.fit) && std::isnan(t.core.to_host()[0]));
  const std::vector<double> zeros(24);
  const Tucker<double> zero = tucker<double>(kHost, View<const double>(kHost, zeros.data(), {2, 3, 4}));
  EXPECT_EQ(zero.report.error, 0);
  EXPECT_EQ(zero.report.fit, 1);
}

}  // namespace
}  // namespace trn::tensor::testing
