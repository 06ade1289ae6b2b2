// Error-free transformations and double-word arithmetic against __float128, whose 113 bits hold the exact results: the
// generated exponents keep every exact sum and product within that width unless a comment says otherwise.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <random>
#include <trn/core/eft.hpp>

namespace trn {
namespace {

__extension__ typedef __float128 quad;
constexpr std::uint64_t kSeed = 20240607;

quad absolute(quad x) { return x < 0 ? -x : x; }

template <class T> struct Random {
  std::mt19937_64 engine{kSeed};
  // A full random significand, a random sign, and an exponent in [low, high].
  T operator()(int low, int high) {
    constexpr int digits = std::numeric_limits<T>::digits;
    const std::uint64_t top = std::uint64_t{1} << (digits - 1);
    const auto significand = static_cast<T>(top | (engine() & (top - 1)));
    const int exponent = std::uniform_int_distribution<int>(low, high)(engine);
    return std::ldexp(engine() & 1 ? significand : -significand, exponent - (digits - 1));
  }
  // hi + lo with lo at most half a unit in the last place of hi.
  DoubleWord<T> double_word(int low, int high) {
    constexpr int digits = std::numeric_limits<T>::digits;
    const T hi = (*this)(low, high);
    const int e = std::ilogb(hi);
    const auto s = two_sum(hi, (*this)(e - digits - 3, e - digits - 1));
    return {s.sum, s.error};
  }
};

template <class T> class ErrorFree : public ::testing::Test {};
using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(ErrorFree, Types);

TYPED_TEST(ErrorFree, TwoSumIsExact) {
  using T = TypeParam;
  Random<T> random;
  for (int i = 0; i < 200000; ++i) {
    const T a = random(-20, 20);
    T b = random(-20, 20);
    if (i % 4 == 1) b = -a * (1 + 4 * std::numeric_limits<T>::epsilon());  // almost everything cancels
    if (i % 4 == 2) b = -std::nextafter(a, random(-20, 20));
    const auto s = two_sum(a, b);
    ASSERT_EQ(s.sum, a + b) << "seed " << kSeed << " step " << i;
    ASSERT_TRUE(quad(s.sum) + quad(s.error) == quad(a) + quad(b)) << a << " + " << b << " seed " << kSeed;
    const bool a_larger = std::abs(a) >= std::abs(b);
    const auto f = fast_two_sum(a_larger ? a : b, a_larger ? b : a);
    ASSERT_TRUE(quad(f.sum) + quad(f.error) == quad(a) + quad(b)) << a << " + " << b << " seed " << kSeed;
  }
  EXPECT_EQ(fast_two_sum(T{0}, T{3}).sum, T{3});  // a == 0 is the documented exception to |a| >= |b|
  EXPECT_EQ(fast_two_sum(T{0}, T{3}).error, T{0});
}

TYPED_TEST(ErrorFree, TwoProdIsExact) {
  using T = TypeParam;
  Random<T> random;
  for (int i = 0; i < 200000; ++i) {
    const T a = random(-20, 20), b = random(-20, 20);
    const auto p = two_prod(a, b);
    ASSERT_EQ(p.product, a * b);
    ASSERT_TRUE(quad(p.product) + quad(p.error) == quad(a) * quad(b)) << a << " * " << b << " seed " << kSeed;
  }
}

template <class T> quad value(DoubleWord<T> x) { return quad(x.hi) + quad(x.lo); }
template <class T> void expect_normalised(DoubleWord<T> x) { ASSERT_EQ(x.hi + x.lo, x.hi); }

TEST(FloatFloat, SumKeepsItsBoundUnderCancellation) {
  // Exact in quad: 24 + 24 + 4 bits and 20 of exponent difference.
  Random<float> random;
  const quad u = 0x1p-24, bound = 3 * u * u / (1 - 4 * u);
  for (int i = 0; i < 500000; ++i) {
    const FloatFloat x = random.double_word(-10, 10);
    FloatFloat y = random.double_word(-10, 10);
    if (i % 3 == 1) y = {-x.hi, y.lo * std::ldexp(1.0f, std::ilogb(x.lo) - std::ilogb(y.lo))};
    if (i % 3 == 2) y = {-std::nextafter(x.hi, y.hi), x.lo};
    const quad exact = value(x) + value(y);
    const FloatFloat z = x + y;
    expect_normalised(z);
    ASSERT_TRUE(absolute(value(z) - exact) <= bound * absolute(exact)) << "seed " << kSeed << " step " << i;
    const FloatFloat w = x - y;
    ASSERT_TRUE(absolute(value(w) - (value(x) - value(y))) <= bound * absolute(value(x) - value(y)))
        << "seed " << kSeed << " step " << i;
  }
}

TEST(FloatFloat, ProductKeepsItsBound) {
  Random<float> random;
  const quad u = 0x1p-24;
  for (int i = 0; i < 500000; ++i) {
    const FloatFloat x = random.double_word(-10, 10), y = random.double_word(-10, 10);
    const quad exact = value(x) * value(y);
    const FloatFloat z = x * y;
    expect_normalised(z);
    ASSERT_TRUE(absolute(value(z) - exact) <= 5 * u * u * absolute(exact)) << "seed " << kSeed << " step " << i;
  }
}

TEST(DoubleDouble, SumAndProductKeepTheirBounds) {
  // quad itself rounds here, by at most 2^-113 relative: u^2 / 128, without cancellation.
  Random<double> random;
  const quad u = 0x1p-53, slack = u * u / 128;
  for (int i = 0; i < 200000; ++i) {
    const DoubleDouble x = random.double_word(-1, 1);
    DoubleDouble y = random.double_word(-1, 1);
    if ((x.hi < 0) != (y.hi < 0)) y = -y;
    const quad sum = value(x) + value(y), product = value(x) * value(y);
    ASSERT_TRUE(absolute(value(x + y) - sum) <= (3 * u * u / (1 - 4 * u) + 4 * slack) * absolute(sum))
        << "seed " << kSeed << " step " << i;
    ASSERT_TRUE(absolute(value(x * y) - product) <= (5 * u * u + 4 * slack) * absolute(product))
        << "seed " << kSeed << " step " << i;
  }
}

TEST(FloatFloat, SplitIsExactUpTo49Bits) {
  std::mt19937_64 engine(kSeed);
  for (int i = 0; i < 200000; ++i) {
    const std::uint64_t significand = (std::uint64_t{1} << 48) | (engine() & ((std::uint64_t{1} << 48) - 1));
    const double x = std::ldexp(static_cast<double>(significand), std::uniform_int_distribution<int>(-98, 70)(engine));
    const FloatFloat s = split(i % 2 ? x : -x);
    ASSERT_EQ(static_cast<double>(s), i % 2 ? x : -x) << "seed " << kSeed << " step " << i;
    expect_normalised(s);
  }
  const double third = 1.0 / 3.0;  // 53 bits: the rest is below ulp(lo) / 2 <= 2^-49 |x|
  EXPECT_NE(static_cast<double>(split(third)), third);
  EXPECT_LE(std::abs(static_cast<double>(split(third)) - third), 0x1p-49 * third);
}

TEST(FloatFloat, StartsAtZeroAndConvertsFromOneWord) {
  EXPECT_EQ(static_cast<double>(FloatFloat()), 0.0);
  EXPECT_EQ(static_cast<double>(FloatFloat(1.5f)), 1.5);
  EXPECT_EQ(static_cast<double>(-FloatFloat(1.5f, 0x1p-30f)), -1.5 - 0x1p-30);
}

}  // namespace
}  // namespace trn
