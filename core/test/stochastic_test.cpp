// Stochastic rounding: reproducible, independent of how a run is split, unbiased, and exact where nothing is to round.
#include <gtest/gtest.h>

#include <random>
#include <trn/core/convert.hpp>

#include "format_oracle.hpp"

namespace trn {
namespace {

constexpr std::uint64_t kSeed = 424242;
constexpr std::int64_t kDraws = 40000;

// SplitMix64 as published by Steele, Lea and Flood (2014).
std::uint64_t splitmix(std::uint64_t state) {
  std::uint64_t z = state + 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

class Stochastic : public ::testing::TestWithParam<oracle::Format> {
 protected:
  static std::vector<std::uint32_t> codes_of(const std::vector<float>& x, std::uint64_t seed, std::uint64_t counter) {
    const auto& f = GetParam();
    std::vector<std::byte> out(x.size() * static_cast<std::size_t>(size_bytes(f.dtype)));
    from_float_stochastic(x.data(), f.dtype, out.data(), static_cast<std::int64_t>(x.size()), seed, counter);
    std::vector<std::uint32_t> codes(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) codes[i] = oracle::load(f, out.data(), i);
    return codes;
  }
  // How often `draws` roundings of (1 - t) a + t b, a and b the neighbours `code` and code + 1, give b.
  static double share_of_ups(std::uint32_t code, float t, std::uint32_t sign) {
    const auto& f = GetParam();
    const long double a = oracle::magnitude(f, code), b = oracle::magnitude(f, code + 1);
    const auto x = static_cast<float>(a + (b - a) * t);
    const auto codes = codes_of(std::vector<float>(kDraws, sign ? -x : x), kSeed + code, 0);
    std::int64_t ups = 0;
    for (const std::uint32_t c : codes) {
      EXPECT_TRUE(c == (sign | code) || c == (sign | (code + 1))) << c;
      ups += c == (sign | (code + 1));
    }
    return static_cast<double>(ups) / kDraws;
  }
  static double five_sigma(double p) { return 5 * std::sqrt(p * (1 - p) / kDraws); }
};
INSTANTIATE_TEST_SUITE_P(EveryFormat, Stochastic, ::testing::ValuesIn(oracle::formats()),
                         [](const auto& instance) { return std::string(instance.param.name); });

TEST(SplitMix, KnownAnswer) {
  EXPECT_EQ(splitmix(0), 0xe220a8397b1dcdafull);
  EXPECT_EQ(splitmix(0x9e3779b97f4a7c15ull), 0x6e789e6aa1b965f4ull);  // the second output of state 0
}

TEST_P(Stochastic, GoesUpWithTheProbabilityOfItsPosition) {
  const auto& f = GetParam();
  const std::uint32_t one = ((1u << (f.exponent_bits - 1)) - 1) << f.mantissa_bits;
  const std::uint32_t subnormal = 1;
  for (const std::uint32_t code : {one, one + 1, subnormal, std::uint32_t{0}, f.max_finite()}) {
    for (const float t : {0.25f, 0.5f, 0.875f}) {
      EXPECT_NEAR(share_of_ups(code, t, 0), t, five_sigma(t)) << code << " seed " << kSeed;
      EXPECT_NEAR(share_of_ups(code, t, f.sign()), t, five_sigma(t)) << code << " seed " << kSeed;
    }
  }
}

TEST_P(Stochastic, MeanIsTheValue) {
  const auto& f = GetParam();
  std::mt19937_64 engine(kSeed);
  std::uniform_real_distribution<float> uniform(1.0f, 1.9f);
  for (int i = 0; i < 10; ++i) {
    const float x = uniform(engine);
    const auto codes = codes_of(std::vector<float>(kDraws, x), kSeed, static_cast<std::uint64_t>(i) * kDraws);
    long double sum = 0;
    for (const std::uint32_t code : codes) sum += oracle::decode(f, code);
    const double spacing = std::ldexp(1.0, -f.mantissa_bits);
    const double p = std::fmod(static_cast<double>(x), spacing) / spacing;
    EXPECT_NEAR(static_cast<double>(sum / kDraws), x, spacing * five_sigma(p) + 1e-12) << "seed " << kSeed;
  }
}

// mix(seed, counter + i) decides, by the formula in convert.hpp: up exactly when word / 2^64 < position.
TEST_P(Stochastic, UsesTheDocumentedRandomWord) {
  const auto& f = GetParam();
  const std::uint32_t one = ((1u << (f.exponent_bits - 1)) - 1) << f.mantissa_bits;
  const auto x = static_cast<float>(oracle::magnitude(f, one) + 0.375L * std::ldexp(1.0L, -f.mantissa_bits));
  const std::uint64_t counter = ~std::uint64_t{0} - 10;  // it wraps on the way
  const auto codes = codes_of(std::vector<float>(100, x), kSeed, counter);
  for (std::uint64_t i = 0; i < codes.size(); ++i) {
    const std::uint64_t random = splitmix(splitmix(kSeed) + counter + i);
    EXPECT_EQ(codes[i], one + (random < 0x6000000000000000ull ? 1 : 0)) << i;
  }
}

TEST_P(Stochastic, IsReproducibleAndIndependentOfTheSplit) {
  std::mt19937_64 engine(kSeed);
  std::normal_distribution<float> normal;
  std::vector<float> x(1000);
  for (float& v : x) v = normal(engine);
  const auto whole = codes_of(x, 7, 100);
  EXPECT_EQ(codes_of(x, 7, 100), whole);
  EXPECT_NE(codes_of(x, 8, 100), whole);
  EXPECT_NE(codes_of(x, 7, 101), whole);
  std::vector<std::uint32_t> pieces;
  for (std::size_t begin = 0, length = 1; begin < x.size(); begin += length, length = length * 2 + 1) {
    const std::size_t end = std::min(x.size(), begin + length);
    const auto piece =
        codes_of({x.begin() + static_cast<long>(begin), x.begin() + static_cast<long>(end)}, 7, 100 + begin);
    pieces.insert(pieces.end(), piece.begin(), piece.end());
  }
  EXPECT_EQ(pieces, whole);
}

TEST_P(Stochastic, ExactValuesNeverMove) {
  const auto& f = GetParam();
  std::vector<float> x;
  std::vector<std::uint32_t> expected;
  for (std::uint32_t code = 0; code < 2 * f.sign(); ++code) {
    if (f.is_nan(code)) continue;
    x.push_back(static_cast<float>(oracle::decode(f, code)));
    expected.push_back(code);
  }
  for (std::uint64_t seed = 0; seed < 3; ++seed) ASSERT_EQ(codes_of(x, seed, 0), expected);
}

TEST_P(Stochastic, BeyondTheNextNumberOverflowsAndNanStaysNan) {
  const auto& f = GetParam();
  const auto codes = codes_of({INFINITY, -INFINITY, NAN, std::bit_cast<float>(0xff800001u)}, kSeed, 0);
  EXPECT_EQ(codes[0], f.overflow());
  EXPECT_EQ(codes[1], f.sign() | f.overflow());
  EXPECT_TRUE(f.is_nan(codes[2]) && codes[2] < f.sign());
  EXPECT_TRUE(f.is_nan(codes[3]) && codes[3] >= f.sign());
  const long double next = oracle::magnitude(f, f.max_finite() + 1);
  if (next > std::numeric_limits<float>::max()) return;  // bfloat16, tfloat32: no float is that large
  for (const std::uint32_t code : codes_of(std::vector<float>(100, static_cast<float>(next)), kSeed, 0)) {
    EXPECT_EQ(code, f.overflow());
  }
}

TEST_P(Stochastic, ValuesFarBelowTheSmallestStayZeroInPractice) {
  // With float's own exponent range the smallest float is a sizeable part of the smallest number; with fewer exponent
  // bits its chance to go up is below 2^-100.
  const auto& f = GetParam();
  if (f.exponent_bits == 8) return;
  for (const std::uint32_t code : codes_of(std::vector<float>(1000, -0x1p-149f), kSeed, 0)) EXPECT_EQ(code, f.sign());
}

TEST(StochasticWide, Float32AndFloat64AreCopies) {
  const float x[] = {0.1f, -3.0f};
  float single[2];
  double wide[2];
  from_float_stochastic(x, DType::Float32, single, 2, 1, 2);
  from_float_stochastic(x, DType::Float64, wide, 2, 1, 2);
  EXPECT_EQ(single[0], 0.1f);
  EXPECT_EQ(wide[0], static_cast<double>(0.1f));
  EXPECT_EQ(wide[1], -3.0);
}

}  // namespace
}  // namespace trn
