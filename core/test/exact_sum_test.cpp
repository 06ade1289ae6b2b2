// ExactSum against sums whose exact value is known: integers in __int128, telescoping and cancelling sums, the ends of
// the range.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <trn/core/exact_sum.hpp>
#include <vector>

namespace trn {
namespace {

TEST(ExactSum, EmptyAndCancelledSumsAreZero) {
  ExactSum s;
  EXPECT_EQ(s.to_double(), 0);
  s.add(1e300), s.add(3e-300), s.add(-1e300), s.add(-3e-300);
  EXPECT_EQ(s.to_double(), 0);
  EXPECT_FALSE(std::signbit(s.to_double()));
}

TEST(ExactSum, WhatDoublesCannotHold) {
  ExactSum s;
  s.add(1e300), s.add(1), s.add(-1e300);
  EXPECT_EQ(s.to_double(), 1);
  s.add_product(0x1p-1074, 0x1p-1074);  // 2^-2148, the smallest product
  EXPECT_EQ(s.to_double(), 1);
  s.add(-1);
  EXPECT_EQ(s.to_double(), 0);  // below half the smallest subnormal
  s.add_product(0x1p-1000, 0x1p-74);
  EXPECT_EQ(s.to_double(), 0x1p-1074);
  const double max = std::numeric_limits<double>::max();
  ExactSum big;
  big.add_product(max, max), big.add_product(max, -max), big.add_product(max, 1);
  EXPECT_EQ(big.to_double(), max);
  big.add(max);
  EXPECT_EQ(big.to_double(), INFINITY);
  big.add_product(-max, 3);
  EXPECT_EQ(big.to_double(), -max);
}

// Ties go to even, and one bit far below decides them.
TEST(ExactSum, RoundsOnce) {
  for (const double sign : {1.0, -1.0}) {
    ExactSum s;
    s.add(sign), s.add(sign * 0x1p-53);
    EXPECT_EQ(s.to_double(), sign);
    s.add(sign * 0x1p-1000);
    EXPECT_EQ(s.to_double(), sign * (1 + 0x1p-52));
    s.add(-sign * 0x1p-999);
    EXPECT_EQ(s.to_double(), sign);
    ExactSum f;  // to float directly: via double it would round twice
    f.add(sign), f.add(sign * 0x1p-24), f.add(sign * 0x1p-60);
    EXPECT_EQ(f.to_float(), static_cast<float>(sign) * (1 + 0x1p-23f));
    ExactSum subnormal;
    subnormal.add(sign * 0x1p-150);
    EXPECT_EQ(subnormal.to_float(), 0);
    subnormal.add(sign * 0x1p-200);
    EXPECT_EQ(subnormal.to_float(), static_cast<float>(sign) * 0x1p-149f);
  }
}

TEST(ExactSum, SpecialValuesAreTheValue) {
  ExactSum s;
  s.add(1), s.add(INFINITY);
  EXPECT_EQ(s.to_double(), INFINITY);
  s.add(-INFINITY);
  EXPECT_TRUE(std::isnan(s.to_double()));
  ExactSum n;
  n.add_product(NAN, 0);
  EXPECT_TRUE(std::isnan(n.to_float()));
  ExactSum z;
  z.add_product(INFINITY, 0);
  EXPECT_TRUE(std::isnan(z.to_double()));
}

// Random products of 53-bit integers with spread exponents, in two orders, against 128-bit arithmetic.
TEST(ExactSum, AgreesWithIntegersInAnyOrder) {
  __extension__ using Int = __int128;
  std::mt19937_64 random(7);
  for (int round = 0; round < 200; ++round) {
    Int exact = 0;
    std::vector<std::pair<double, double>> terms;
    for (int i = 0; i < 50; ++i) {
      const auto a = static_cast<std::int64_t>(random() >> 11) - (std::int64_t{1} << 52);
      const auto b = static_cast<std::int64_t>(random() >> (11 + random() % 40)) * (random() % 2 ? 1 : -1);
      exact += static_cast<Int>(a) * b;
      terms.emplace_back(std::ldexp(static_cast<double>(a), -500), std::ldexp(static_cast<double>(b), -480));
    }
    ExactSum forward, backward;
    for (std::size_t i = 0; i < terms.size(); ++i) {
      forward.add_product(terms[i].first, terms[i].second);
      backward.add_product(terms[terms.size() - 1 - i].second, terms[terms.size() - 1 - i].first);
    }
    const double want = std::ldexp(static_cast<double>(exact), -980);  // one rounding: nothing is subnormal
    EXPECT_EQ(forward.to_double(), want) << round;
    EXPECT_EQ(backward.to_double(), want) << round;
    const auto scaled = forward.scaled();
    EXPECT_EQ(scaled.exponent % 2, 0);
    EXPECT_NEAR(static_cast<double>(std::ldexp(scaled.mantissa, scaled.exponent) / want), 1, 0x1p-52);
  }
}

// Parts of a sum, added: the same as the whole, in any order, with carries between the words and through the sign.
TEST(ExactSum, OfSums) {
  std::mt19937_64 random(5);
  ExactSum whole, forward, backward;
  std::vector<ExactSum> parts(40);
  for (int i = 0; i < 20000; ++i) {
    const double x =
        std::ldexp(static_cast<double>(static_cast<std::int64_t>(random())), static_cast<int>(random() % 1800) - 1000);
    whole.add(x);
    parts[static_cast<std::size_t>(random() % parts.size())].add(x);
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    forward.add(parts[i]);
    backward.add(parts[parts.size() - 1 - i]);
  }
  EXPECT_EQ(forward.to_double(), whole.to_double());
  EXPECT_EQ(backward.to_double(), whole.to_double());
  ExactSum minus_one, one;
  minus_one.add(-1);
  one.add(1);
  one.add(std::numeric_limits<double>::denorm_min());
  one.add(minus_one);
  EXPECT_EQ(one.to_double(), std::numeric_limits<double>::denorm_min());
  one.add(one);
  EXPECT_EQ(one.to_double(), 2 * std::numeric_limits<double>::denorm_min());
}

// Which NaN came first cannot be seen.
TEST(ExactSum, HasOneNaN) {
  const double inf = std::numeric_limits<double>::infinity();
  ExactSum cancelled, copied;
  cancelled.add(inf);
  cancelled.add(-inf);
  copied.add(-std::numeric_limits<double>::quiet_NaN());
  const auto bits = std::bit_cast<std::uint64_t>(std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(std::bit_cast<std::uint64_t>(cancelled.to_double()), bits);
  EXPECT_EQ(std::bit_cast<std::uint64_t>(copied.to_double()), bits);
}

}  // namespace
}  // namespace trn
