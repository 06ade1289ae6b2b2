// The table of words against numbers: every claim of words.hpp about words, products and ranges on random and
// adversarial float32 numbers, in double; and the bound of Native float32 against an emulation of both orders in which
// a matmul may add up.
#include <trn/tile/words.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <vector>

#include <trn/core/float_types.hpp>

namespace trn::tile {
namespace {

float to_word(DType dtype, float x) {
  if (dtype == DType::TFloat32) return static_cast<float>(tfloat32(x));
  return dtype == DType::BFloat16 ? static_cast<float>(bfloat16(x)) : x;
}

struct Split {
  double word[3] = {}, rest = 0;
};
Split split(const Words& words, float x) {
  Split s;
  float left = x;
  for (int w = 0; w < words.count; ++w) {
    const float word = to_word(words.dtype, left);
    s.word[w] = word;
    left -= word;
  }
  s.rest = static_cast<double>(x);
  for (const double word : s.word) s.rest -= word;  // exact: at most 24 + 24 bits
  return s;
}

// Random significands, and those where roundings of words are at their worst: ones and zeros around the cuts of 8, 11,
// 16 and 22 bits.
std::vector<float> significands() {
  std::vector<float> list;
  std::mt19937 random(7);
  for (int i = 0; i < 4000; ++i) list.push_back(1 + static_cast<float>(random() >> 9) * 0x1p-23f);
  for (const std::uint32_t high : {0x000000u, 0x010000u, 0x7f0000u, 0x7e0000u}) {
    for (std::uint32_t low = 0; low < 0x10000; low += 1 + low % 13)
      list.push_back(1 + static_cast<float>((high | low) & 0x7fffff) * 0x1p-23f);
  }
  return list;
}

constexpr Mode kSplit[] = {Mode::Tf32, Mode::Bf16, Mode::Tf32x3, Mode::Bf16x6};

TEST(Words, SizesOfWordsAndRests) {
  for (const Mode mode : kSplit) {
    const Words& words = words_of(mode);
    double first = 0, second = 0, rest = 0;
    for (const float x : significands()) {
      const Split s = split(words, x);
      first = std::max(first, std::abs(s.word[1]) / x);
      second = std::max(second, std::abs(s.word[2]) / x);
      rest = std::max(rest, std::abs(s.rest) / x);
    }
    const double unit = std::ldexp(1.0, -words.bits);
    EXPECT_LE(first, unit) << name(mode);
    EXPECT_LE(second, 0x1p-17) << name(mode);
    EXPECT_LE(rest, words.count == 1 ? unit : words.count == 2 ? 0x1p-23 : 0) << name(mode);
    EXPECT_GE(words.count == 1 ? rest : first, 0.99 * unit) << name(mode) << ": the numbers reach the bound";
  }
}

TEST(Words, ProductErrors) {
  const std::vector<float> list = significands();
  std::mt19937_64 random(3);
  for (const Mode mode : kSplit) {
    const Words& words = words_of(mode);
    double worst = 0;
    std::vector<std::pair<double, float>> poor;  // of the numbers with large words left out, all pairs
    for (const float x : list) {
      const Split s = split(words, x);
      poor.emplace_back(words.count == 3 ? std::abs(s.word[2] + s.word[1] * 0x1p-9) / x
                                         : (std::abs(s.rest) + std::abs(s.word[1])) / x,
                        x);
    }
    std::ranges::sort(poor, std::greater<>());
    const auto pair = [&](float x, float y) {
      const Split a = split(words, x), b = split(words, y);
      long double sum = 0;
      for (const WordProduct& p : words.products)
        sum += static_cast<long double>(a.word[p.stationary]) * b.word[p.moving];
      const long double exact = static_cast<long double>(x) * y;
      worst = std::max(worst, static_cast<double>(std::abs(sum - exact) / exact));
    };
    for (int i = 0; i < 200000; ++i) pair(list[random() % list.size()], list[random() % list.size()]);
    for (std::size_t i = 0; i < 300; ++i) {
      for (std::size_t j = 0; j < 300; ++j) pair(poor[i].second, poor[j].second);
    }
    EXPECT_LE(worst, words.product_error) << name(mode);
    EXPECT_GE(worst, words.product_error / 8) << name(mode) << ": the term says something";
  }
}

TEST(Words, Range) {
  for (const Mode mode : kSplit) {
    const Words& words = words_of(mode);
    const auto limit = static_cast<float>(words.overflow);
    EXPECT_TRUE(std::isinf(to_word(words.dtype, limit))) << name(mode);
    EXPECT_FALSE(std::isinf(to_word(words.dtype, std::nextafter(limit, 0.0f)))) << name(mode);
    double rest = 0;
    for (std::uint32_t i = 1; i < 0x20000; i += 7) {  // denormals: all words together miss them by `lost`
      const float x = static_cast<float>(i) * 0x1p-149f;
      rest = std::max(rest, std::abs(split(words, x).rest) - words.product_error * x);
    }
    EXPECT_LE(rest, words.lost) << name(mode);
    EXPECT_GE(rest, words.lost / 2) << name(mode);
  }
  EXPECT_EQ(words_of(Mode::Native).lost, 0);
}

// A matmul of float32 numbers in the orders of words.hpp, 128 products at a time into PSUM.
enum class Order { Fused, Passes, PassesRoundedProducts };
float matmul(const std::vector<float>& x, const std::vector<float>& y, Order order, int bits, bool truncated) {
  const auto high = [&](float v) {  // the leading `bits`, to nearest or cut off
    int e = 0;
    const float f = std::ldexp(std::frexp(v, &e), bits);
    return std::ldexp(truncated ? std::trunc(f) : std::nearbyint(f), e - bits);
  };
  float psum = 0;
  for (std::size_t from = 0; from < x.size(); from += 128) {
    const std::size_t to = std::min(x.size(), from + 128);
    for (int pass = order == Order::Fused ? 1 : 0; pass < 2; ++pass) {
      float chain = 0;
      for (std::size_t i = from; i < to; ++i) {
        const float h = high(x[i]), a = order == Order::Fused ? x[i] : pass == 0 ? x[i] - h : h;
        if (order == Order::PassesRoundedProducts) {
          const volatile float product = a * y[i];
          chain += product;
        } else {
          chain = std::fma(a, y[i], chain);
        }
      }
      psum += chain;
    }
  }
  return psum;
}

TEST(Words, NativeHoldsForBothOrdersOfAMatmul) {
  std::mt19937_64 random(11);
  std::uniform_real_distribution<float> uniform(0, 1);
  double worst = 0;
  for (const std::int64_t k : {1, 2, 3, 17, 128, 129, 400, 1500}) {
    for (int kind = 0; kind < 6; ++kind) {
      for (int repeat = 0; repeat < 12; ++repeat) {
        std::vector<float> x(static_cast<std::size_t>(k)), y(x.size());
        for (std::size_t i = 0; i < x.size(); ++i) {
          const float sign = random() % 2 ? 1.0f : -1.0f;
          switch (kind) {
            case 0:
              x[i] = uniform(random) - 0.5f, y[i] = uniform(random) - 0.5f;
              break;
            case 1:
              x[i] = 1 + uniform(random), y[i] = 1 + uniform(random);
              break;  // of one sign: sums grow
            case 2:
              x[i] = sign * (1 + uniform(random)), y[i] = i % 2 ? y[i - 1] : uniform(random);
              break;
            case 3:
              x[i] = sign * std::ldexp(1 + uniform(random), static_cast<int>(random() % 40) - 20), y[i] = 1;
              break;
            // Half a unit is lost in every addition: 1 first, then numbers just above u that round off in the same
            // direction.
            case 4:
              x[i] = i == 0 ? 1.0f : 0x1.000002p-24f, y[i] = 1;
              break;
            default:
              x[i] = 1 + static_cast<float>(random() % 3 + 1) * 0x1p-8f * (1 - 0x1p-12f),
              y[i] = sign * (2 - uniform(random) * 0x1p-20f);
          }
        }
        long double exact = 0, size = 0;
        for (std::size_t i = 0; i < x.size(); ++i) {
          exact += static_cast<long double>(x[i]) * y[i];
          size += std::abs(static_cast<long double>(x[i]) * y[i]);
        }
        const auto check = [&](Order order, int bits, bool truncated) {
          const auto error = static_cast<double>(
              std::abs(static_cast<long double>(matmul(x, y, order, bits, truncated)) - exact) / size);
          const double bound = sum_error(words_of(Mode::Native), k) * (1 + 0x1p-10);
          EXPECT_LE(error, bound) << "k " << k << " kind " << kind << " bits " << bits;
          worst = std::max(worst, error / bound);
        };
        check(Order::Fused, 24, false);
        for (const int bits : {8, 11, 12, 16}) {
          for (const bool truncated : {false, true}) {
            check(Order::Passes, bits, truncated);
            check(Order::PassesRoundedProducts, bits, truncated);
          }
        }
      }
    }
  }
  EXPECT_GT(worst, 0.2) << "nothing came near the bound";
}

TEST(Words, TermsOfTheSums) {
  constexpr double u = 0x1p-24;
  EXPECT_EQ(sum_roundings(words_of(Mode::Native), 128), 128 + 2 + 3);
  EXPECT_EQ(sum_roundings(words_of(Mode::Native), 300), 128 + 6 + 3);
  EXPECT_EQ(sum_roundings(words_of(Mode::Bf16x6), 300), 128 + 18);
  EXPECT_EQ(narrow_roundings(300), 131);
  EXPECT_EQ(sum_error(words_of(Mode::Bf16), 0), 0);
  EXPECT_EQ(sum_error(words_of(Mode::Tf32), 1), 2 * u + 0x1p-10 + 0x1p-22);
  EXPECT_LT(split_sum_error(words_of(Mode::Bf16x6), 4096), split_sum_error(words_of(Mode::Tf32x3), 4096));
  EXPECT_EQ(host_sum_error(words_of(Mode::Native), 1000), 1000 * u);
}

}  // namespace
}  // namespace trn::tile
