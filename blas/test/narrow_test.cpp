// Level 1 on narrow vectors: every kind of number against the rule in double, the same bits on every simulated machine,
// strides, edges of tiles, unbiased sums, refusals.
#include "narrow_support.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <trn/core/event.hpp>

#include "support/message_of.hpp"

namespace trn::blas::test {
namespace {

constexpr const char* kMachines[] = {"sim:trn1", "sim:trn2", "sim:trn3"};
const Executor kHost = Executor::host();
using testing_support::message_of;

template <class T> VectorView<T> view(const Array<T>& a) { return {a.executor(), a.data(), a.size(), 1}; }

template <NarrowFloat T>
std::vector<T> copied(const Executor& e, const std::vector<float>& x, const Rounding& rounding) {
  const auto n = std::ssize(x);
  const auto from = Array<float>::from_host(e, {n}, x);
  const Array<T> to(e, {n});
  copy(e, view(from), view(to), rounding);
  return to.to_host();
}

template <class T> class NarrowTypes : public ::testing::Test {};
using Types = ::testing::Types<bfloat16, float16, float8_e4m3, float8_e4m3fn, float8_e5m2>;
TYPED_TEST_SUITE(NarrowTypes, Types);

TYPED_TEST(NarrowTypes, CopyFollowsTheRuleOnHostAndDevices) {
  using T = TypeParam;
  const std::int64_t n = 4000;
  const auto x = every_kind<T>(n, 31);
  const Rounding::Stochastic how{(std::uint64_t{5} << 40) + 17, 3};
  const auto words = words_of(how.seed, how.step, n);
  const auto host = copied<T>(kHost, x, how);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const float want = expected_rounding(x[i], format_of<T>(), words[i]);
    ASSERT_TRUE(same_number(static_cast<float>(host[i]), want)) << x[i] << " became " << static_cast<float>(host[i]);
  }
  for (const char* machine : kMachines) {
    const auto e = Executor::open(machine);
    if (std::same_as<T, float8_e4m3fn> && std::string(machine) != "sim:trn3") {
      EXPECT_THROW(copied<T>(e, x, how), NotImplemented);
      continue;
    }
    const Recorder recorder(e);
    const auto device = copied<T>(e, x, how);
    EXPECT_EQ(recorder.family_of("blas.round"), "device");
    EXPECT_EQ(recorder.count(EventKind::Run), 1);
    EXPECT_GT(recorder.modelled_seconds(), 0);
    for (std::size_t i = 0; i < x.size(); ++i) ASSERT_EQ(device[i].bits, host[i].bits) << machine << " " << x[i];
    const auto nearest = copied<T>(e, x, {}), nearest_host = copied<T>(kHost, x, {});
    for (std::size_t i = 0; i < x.size(); ++i) ASSERT_EQ(nearest[i].bits, nearest_host[i].bits) << x[i];
  }
}

// Numbers made for their words: floor(2^24 f) + floor(W / 2^8) is 2^24, which goes up, or one less (for normal numbers
// one of the dropped bits less), which does not. Above 1, and below the smallest number.
TYPED_TEST(NarrowTypes, TheRuleAtItsEdge) {
  using T = TypeParam;
  const NarrowFormat f = format_of<T>();
  const int dropped = 23 - f.fraction;
  const std::int64_t n = 2000;
  const Rounding::Stochastic how{3, 1};
  const auto words = words_of(how.seed, how.step, n);
  const double unit = std::ldexp(1.0, f.least - f.fraction);
  std::vector<float> x, want;
  for (std::int64_t i = 0; i < n; ++i) {
    const bool up = i % 2 == 0, small = i % 4 < 2 && f.least > -126;
    const std::uint32_t word = words[static_cast<std::size_t>(i)], r = small ? word >> 8 : word >> (32 - dropped);
    const double whole = small ? 0x1p24 : std::ldexp(1.0, dropped), part = whole - r - (up ? 0 : 1);
    const double position = part / whole;  // 1 where r is 0: the next number itself
    x.push_back(static_cast<float>(small ? position * unit : 1 + position * std::ldexp(1.0, -f.fraction)));
    want.push_back(static_cast<float>(small ? (up ? unit : 0) : up ? 1 + std::ldexp(1.0, -f.fraction) : 1));
  }
  for (const Executor& e : {kHost, Executor::open("sim:trn3")}) {
    const auto y = copied<T>(e, x, how);
    for (std::size_t i = 0; i < x.size(); ++i) ASSERT_EQ(static_cast<float>(y[i]), want[i]) << e.name() << " " << i;
  }
}

// Lengths around blocks, partitions and whole tiles.
TEST(Narrow, SameBitsForEveryLength) {
  const auto e = Executor::open("sim:trn2");
  const Rounding::Stochastic how{12};
  for (const std::int64_t n : {1, 2, 3, 4, 5, 127, 509, 511, 512, 513, 516, 1030, 2049, 420001}) {
    const auto x = every_kind<bfloat16>(n, 7);
    const auto host = copied<bfloat16>(kHost, x, how), device = copied<bfloat16>(e, x, how);
    for (std::size_t i = 0; i < x.size(); ++i) ASSERT_EQ(device[i].bits, host[i].bits) << n << " " << i;
  }
}

// y = round(alpha x + y), x of either type, strides of both signs; the gaps stay.
template <class X, NarrowFloat Y> void update_matches(const Executor& e, std::int64_t incx, std::int64_t incy) {
  const std::int64_t n = 777;
  const Rounding::Stochastic how{99, 1};
  const auto words = words_of(how.seed, how.step, n);
  std::mt19937_64 engine(4);
  std::normal_distribution<float> normal;
  std::vector<X> x(static_cast<std::size_t>((n - 1) * std::abs(incx) + 1));
  std::vector<Y> y(static_cast<std::size_t>((n - 1) * std::abs(incy) + 1));
  for (X& v : x) v = X(normal(engine));
  for (Y& v : y) v = Y(normal(engine));
  const auto dx = Array<X>::from_host(e, {std::ssize(x)}, x);
  const auto dy = Array<Y>::from_host(e, {std::ssize(y)}, y);
  const std::int64_t x0 = incx < 0 ? (1 - n) * incx : 0, y0 = incy < 0 ? (1 - n) * incy : 0;
  const VectorView<Y> target(e, dy.data() + y0, n, incy);
  axpy(e, 0.37f, VectorView<const X>(e, dx.data() + x0, n, incx), target, how);
  std::vector<Y> want = y;
  for (std::int64_t i = 0; i < n; ++i) {
    Y& element = want[static_cast<std::size_t>(y0 + i * incy)];
    const float product = 0.37f * static_cast<float>(x[static_cast<std::size_t>(x0 + i * incx)]);
    const float sum = product + static_cast<float>(element);
    element = Y(expected_rounding(sum, format_of<Y>(), words[static_cast<std::size_t>(i)]));
  }
  auto now = dy.to_host();
  for (std::size_t i = 0; i < now.size(); ++i) ASSERT_EQ(now[i].bits, want[i].bits) << e.name() << " " << i;
  scal(e, 1.1f, target, how);
  for (std::int64_t i = 0; i < n; ++i) {
    Y& element = want[static_cast<std::size_t>(y0 + i * incy)];
    element =
        Y(expected_rounding(1.1f * static_cast<float>(element), format_of<Y>(), words[static_cast<std::size_t>(i)]));
  }
  now = dy.to_host();
  for (std::size_t i = 0; i < now.size(); ++i) ASSERT_EQ(now[i].bits, want[i].bits) << e.name() << " " << i;
}

// y = round(alpha x + beta y): the rule on two products and a sum in float; the bits of axpy for beta = 1; beta = 0
// reads no y.
TEST(Narrow, SumsOfTwoFollowTheRule) {
  const std::int64_t n = 1301;
  const Rounding::Stochastic how{41, 6};
  const auto words = words_of(how.seed, how.step, n);
  std::mt19937_64 engine(8);
  std::normal_distribution<float> normal;
  std::vector<float> x(static_cast<std::size_t>(n));
  std::vector<bfloat16> y(x.size()), other(x.size());
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = normal(engine), y[i] = bfloat16(normal(engine)), other[i] = bfloat16(normal(engine));
  for (const char* machine : {"host", "sim:trn1", "sim:trn2", "sim:trn3"}) {
    const auto e = Executor::open(machine);
    const Recorder recorder(e);
    const auto dx = Array<float>::from_host(e, {n}, x);
    const auto narrow_x = Array<bfloat16>::from_host(e, {n}, other);
    const auto check = [&](const auto& from, float alpha, float beta, std::vector<bfloat16> start, auto value) {
      const auto to = Array<bfloat16>::from_host(e, {n}, start);
      axpby(e, alpha, view(from), beta, view(to), how);
      const auto found = to.to_host();
      for (std::size_t i = 0; i < found.size(); ++i) {
        const float product = alpha * value(i), old = beta * static_cast<float>(start[i]);
        const float sum = beta == 0 ? product : product + old;
        ASSERT_EQ(static_cast<float>(found[i]), expected_rounding(sum, format_of<bfloat16>(), words[i]))
            << machine << " " << i << " beta " << beta;
      }
    };
    check(dx, 0.1f, 0.9f, y, [&](std::size_t i) { return x[i]; });
    check(narrow_x, -1.7f, 0.33f, y, [&](std::size_t i) { return static_cast<float>(other[i]); });
    check(dx, 0.1f, 0.0f, std::vector<bfloat16>(x.size(), bfloat16(NAN)), [&](std::size_t i) { return x[i]; });
    const auto one = Array<bfloat16>::from_host(e, {n}, y), two = Array<bfloat16>::from_host(e, {n}, y);
    axpby(e, 0.3f, view(dx), 1.0f, view(one), how);
    axpy(e, 0.3f, view(dx), view(two), how);
    const auto a = one.to_host(), b = two.to_host();
    for (std::size_t i = 0; i < a.size(); ++i) ASSERT_EQ(a[i].bits, b[i].bits) << machine << " " << i;
    EXPECT_EQ(recorder.family_of("blas.axpby"), name(e.family()));
  }
  const VectorView<bfloat16> here(kHost, y.data(), n, 1);
  EXPECT_EQ(message_of<InvalidArgument>(
                [&] { axpby(kHost, 1.0f, VectorView<const float>(kHost, x.data(), 7, 1), 1.0f, here); }),
            "blas.axpby: x has 7 elements, y has 1301; give both the same");
  EXPECT_THROW(axpby(kHost, 1.0f, here, 1.0f, here), InvalidArgument);
}

TEST(Narrow, UpdatesAndScalingFollowTheRule) {
  for (const char* machine : {"host", "sim:trn2"}) {
    const auto e = Executor::open(machine);
    update_matches<float, bfloat16>(e, 1, 1);
    update_matches<float, float16>(e, -2, 3);
    update_matches<bfloat16, bfloat16>(e, 3, -1);
    update_matches<float, float8_e5m2>(e, 1, 2);
  }
}

// 2^-9 is a quarter of bfloat16's unit at 1. One million updates of 1: the share that goes up, and pairs of neighbours
// as independent draws would have them. Chi-square with 3 degrees of freedom passes 30.7 once in a million.
TEST(Narrow, IsUnbiasedAndNeighboursAreIndependent) {
  constexpr std::int64_t n = 1 << 20;
  const std::vector<float> x(n, 0x1p-9f);
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    std::vector<bfloat16> y(n, bfloat16(1.0f));
    axpy(kHost, 1.0f, VectorView<const float>(kHost, x.data(), n, 1), VectorView<bfloat16>(kHost, y.data(), n, 1),
         Rounding::Stochastic{seed});
    double cells[2][2] = {};
    for (std::size_t i = 0; i < y.size(); i += 2) cells[y[i].bits & 1][y[i + 1].bits & 1] += 1;
    double chi = 0;
    for (int a = 0; a < 2; ++a) {
      for (int b = 0; b < 2; ++b) {
        const double mean = n / 2 * (a ? 0.25 : 0.75) * (b ? 0.25 : 0.75);
        chi += (cells[a][b] - mean) * (cells[a][b] - mean) / mean;
      }
    }
    EXPECT_LT(chi, 30.7) << "seed " << seed;
  }
}

// 512 updates by -2^-10 of weights 1: to nearest (half a unit below 1 is 2^-9) not one arrives. Stochastically weight
// i is 1/2 on average; the variance of a step is at most unit 2^-10, of the mean of 256 weights 512 2^-8 2^-10 / 256.
TEST(Narrow, SmallUpdatesArriveOnAverage) {
  const std::vector<float> gradient(256, 1.0f);
  const VectorView<const float> g(kHost, gradient.data(), 256, 1);
  std::vector<bfloat16> nearest(256, bfloat16(1.0f)), random = nearest;
  for (std::uint64_t step = 0; step < 512; ++step) {
    axpy(kHost, -0x1p-10f, g, VectorView<bfloat16>(kHost, nearest.data(), 256, 1));
    axpy(kHost, -0x1p-10f, g, VectorView<bfloat16>(kHost, random.data(), 256, 1), Rounding::Stochastic{6, step});
  }
  double mean = 0;
  for (std::size_t i = 0; i < 256; ++i) {
    EXPECT_EQ(static_cast<float>(nearest[i]), 1.0f);
    mean += static_cast<double>(static_cast<float>(random[i])) / 256;
  }
  EXPECT_NEAR(mean, 0.5, 5 * std::sqrt(512 * 0x1p-18 / 256));
}

TEST(Narrow, BitsDoNotDependOnThreads) {
  const auto x = every_kind<float16>(100001, 5);
  const int before = omp_get_max_threads();
  omp_set_num_threads(1);
  const auto one = copied<float16>(kHost, x, Rounding::Stochastic{8});
  omp_set_num_threads(5);
  const auto five = copied<float16>(kHost, x, Rounding::Stochastic{8});
  omp_set_num_threads(before);
  for (std::size_t i = 0; i < x.size(); ++i) ASSERT_EQ(one[i].bits, five[i].bits);
}

TEST(Narrow, RefusesWhatItCannotDo) {
  std::vector<float> x(8, 1.0f);
  std::vector<bfloat16> y(8, bfloat16(1.0f));
  const VectorView<float> fx(kHost, x.data(), 8, 1);
  const VectorView<bfloat16> fy(kHost, y.data(), 8, 1);
  EXPECT_EQ(message_of<InvalidArgument>([&] { axpy(kHost, 1.0f, fx, VectorView<bfloat16>(kHost, y.data(), 7, 1)); }),
            "blas.axpy: x has 8 elements, y has 7; give both the same");
  EXPECT_THROW(axpy(kHost, 1.0f, fy, fy), InvalidArgument);
  EXPECT_THROW(copy(kHost, fx, VectorView<bfloat16>(kHost, y.data(), 8, 0)), InvalidArgument);
  EXPECT_THROW(copy(Executor::open("sim:trn1"), fx, fy), InvalidArgument);
  copy(kHost, VectorView<float>(kHost, nullptr, 0, 1), VectorView<bfloat16>(kHost, nullptr, 0, 1));
  axpy(kHost, 0.0f, fx, fy, Rounding::Stochastic{1});
  scal(kHost, 1.0f, fy, Rounding::Stochastic{1});
  for (const bfloat16 v : y) EXPECT_EQ(static_cast<float>(v), 1.0f);
}

}  // namespace
}  // namespace trn::blas::test
