// Rounding: the rule of trn/core/rounding.hpp word by word; independent of how a run is split, unbiased, exact where
// nothing is to round.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>
#include <trn/core/convert.hpp>
#include <trn/core/error.hpp>
#include <trn/core/rounding.hpp>

#include "format_oracle.hpp"
#include "support/philox_oracle.hpp"

namespace trn {
namespace {

constexpr std::uint64_t kSeed = 424242;
constexpr std::int64_t kDraws = 40000;

using testing_support::philox;
using testing_support::philox_word;

class RoundingRule : public ::testing::TestWithParam<oracle::Format> {
 protected:
  static std::vector<std::uint32_t> codes_of(const std::vector<float>& x, const Rounding& rounding,
                                             std::uint64_t first = 0) {
    const auto& f = GetParam();
    std::vector<std::byte> out(x.size() * static_cast<std::size_t>(size_bytes(f.dtype)));
    from_float(x.data(), f.dtype, out.data(), static_cast<std::int64_t>(x.size()), rounding, first);
    std::vector<std::uint32_t> codes(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) codes[i] = oracle::load(f, out.data(), i);
    return codes;
  }
  // How often `draws` roundings of (1 - t) a + t b, a and b the neighbours `code` and code + 1, give b.
  static double share_of_ups(std::uint32_t code, float t, std::uint32_t sign) {
    const auto& f = GetParam();
    const long double a = oracle::magnitude(f, code), b = oracle::magnitude(f, code + 1);
    const auto x = static_cast<float>(a + (b - a) * t);
    const auto codes = codes_of(std::vector<float>(kDraws, sign ? -x : x), Rounding::Stochastic{kSeed + code});
    std::int64_t ups = 0;
    for (const std::uint32_t c : codes) {
      EXPECT_TRUE(c == (sign | code) || c == (sign | (code + 1))) << c;
      ups += c == (sign | (code + 1));
    }
    return static_cast<double>(ups) / kDraws;
  }
  static double five_sigma(double p) { return 5 * std::sqrt(p * (1 - p) / kDraws); }
};
INSTANTIATE_TEST_SUITE_P(EveryFormat, RoundingRule, ::testing::ValuesIn(oracle::formats()),
                         [](const auto& instance) { return std::string(instance.param.name); });

// The known answers of the authors' library Random123.
TEST(Philox, KnownAnswers) {
  using Words = std::array<std::uint32_t, 4>;
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  constexpr std::uint32_t ones = 0xffffffff;
  EXPECT_EQ(philox({ones, ones, ones, ones}, {ones, ones}), (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST_P(RoundingRule, GoesUpWithTheProbabilityOfItsPosition) {
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

TEST_P(RoundingRule, MeanIsTheValue) {
  const auto& f = GetParam();
  std::mt19937_64 engine(kSeed);
  std::uniform_real_distribution<float> uniform(1.0f, 1.9f);
  for (int i = 0; i < 10; ++i) {
    const float x = uniform(engine);
    const auto codes =
        codes_of(std::vector<float>(kDraws, x), Rounding::Stochastic{kSeed, static_cast<std::uint64_t>(i)});
    long double sum = 0;
    for (const std::uint32_t code : codes) sum += oracle::decode(f, code);
    const double spacing = std::ldexp(1.0, -f.mantissa_bits);
    const double p = std::fmod(static_cast<double>(x), spacing) / spacing;
    EXPECT_NEAR(static_cast<double>(sum / kDraws), x, spacing * five_sigma(p) + 1e-12) << "seed " << kSeed;
  }
}

// The rule of rounding.hpp, word by word: up exactly when floor(2^24 f) + floor(W / 2^8) reaches 2^24.
TEST_P(RoundingRule, UsesTheDocumentedRandomWord) {
  const auto& f = GetParam();
  const std::uint32_t one = ((1u << (f.exponent_bits - 1)) - 1) << f.mantissa_bits;
  const auto x = static_cast<float>(oracle::magnitude(f, one) + 0.375L * std::ldexp(1.0L, -f.mantissa_bits));
  const std::uint64_t first = ~std::uint64_t{0} - 10;  // it wraps on the way
  for (const std::uint64_t step : {std::uint64_t{0}, std::uint64_t{77}, (std::uint64_t{1} << 48) - 1}) {
    const auto codes = codes_of(std::vector<float>(100, x), Rounding::Stochastic{kSeed << 32 | 9, step}, first);
    for (std::uint64_t i = 0; i < codes.size(); ++i) {
      const std::uint32_t word = philox_word(kSeed << 32 | 9, step, first + i);
      EXPECT_EQ(codes[i], one + (0x600000 + (word >> 8) >= 0x1000000 ? 1 : 0)) << i;
    }
  }
}

// Below the smallest normal number f has more than 24 bits: the rule counts the first 24 of them.
TEST_P(RoundingRule, CountsTwentyFourBitsBelowTheSmallestNormal) {
  const auto& f = GetParam();
  if (f.exponent_bits == 8) return;  // float has no numbers between those
  const auto unit = static_cast<double>(oracle::magnitude(f, 1));
  std::mt19937_64 engine(kSeed);
  std::uniform_real_distribution<double> uniform(0, 3);
  std::vector<float> x(20000);
  for (float& v : x) v = static_cast<float>(uniform(engine) * unit * std::ldexp(1.0, -static_cast<int>(engine() % 20)));
  const auto codes = codes_of(x, Rounding::Stochastic{kSeed, 5}, 3);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double position = static_cast<double>(x[i]) / unit, below = std::floor(position);
    const double counted = std::floor((position - below) * 0x1p24);
    const double up = counted + (philox_word(kSeed, 5, 3 + i) >> 8) >= 0x1p24 ? 1 : 0;
    ASSERT_EQ(codes[i], static_cast<std::uint32_t>(below + up)) << x[i];
  }
}

TEST(RoundingStep, IsBelowTheNumberOfStreams) {
  EXPECT_THROW((void)Rounding(Rounding::Stochastic{0, std::uint64_t{1} << 48}), InvalidArgument);
  EXPECT_FALSE(Rounding().is_stochastic());
  EXPECT_FALSE(Rounding(Rounding::Nearest{}).is_stochastic());
  EXPECT_TRUE(Rounding(Rounding::Stochastic{7}) == Rounding(Rounding::Stochastic{7, 0}));
  EXPECT_FALSE(Rounding(Rounding::Stochastic{0}) == Rounding());
}

TEST_P(RoundingRule, IsReproducibleAndIndependentOfTheSplit) {
  std::mt19937_64 engine(kSeed);
  std::normal_distribution<float> normal;
  std::vector<float> x(1000);
  for (float& v : x) v = normal(engine);
  const auto whole = codes_of(x, Rounding::Stochastic{7}, 100);
  EXPECT_EQ(codes_of(x, Rounding::Stochastic{7}, 100), whole);
  EXPECT_NE(codes_of(x, Rounding::Stochastic{8}, 100), whole);
  EXPECT_NE(codes_of(x, Rounding::Stochastic{7}, 101), whole);
  EXPECT_NE(codes_of(x, Rounding::Stochastic{7, 1}, 100), whole);
  std::vector<std::uint32_t> pieces;
  for (std::size_t begin = 0, length = 1; begin < x.size(); begin += length, length = length * 2 + 1) {
    const std::size_t end = std::min(x.size(), begin + length);
    const auto piece = codes_of({x.begin() + static_cast<long>(begin), x.begin() + static_cast<long>(end)},
                                Rounding::Stochastic{7}, 100 + begin);
    pieces.insert(pieces.end(), piece.begin(), piece.end());
  }
  EXPECT_EQ(pieces, whole);
}

TEST_P(RoundingRule, ExactValuesNeverMove) {
  const auto& f = GetParam();
  std::vector<float> x;
  std::vector<std::uint32_t> expected;
  for (std::uint32_t code = 0; code < 2 * f.sign(); ++code) {
    if (f.is_nan(code)) continue;
    x.push_back(static_cast<float>(oracle::decode(f, code)));
    expected.push_back(code);
  }
  for (std::uint64_t seed = 0; seed < 3; ++seed) ASSERT_EQ(codes_of(x, Rounding::Stochastic{seed}), expected);
}

TEST_P(RoundingRule, BeyondTheNextNumberOverflowsAndNanStaysNan) {
  const auto& f = GetParam();
  const auto codes =
      codes_of({INFINITY, -INFINITY, NAN, std::bit_cast<float>(0xff800001u)}, Rounding::Stochastic{kSeed});
  EXPECT_EQ(codes[0], f.overflow());
  EXPECT_EQ(codes[1], f.sign() | f.overflow());
  EXPECT_TRUE(f.is_nan(codes[2]) && codes[2] < f.sign());
  EXPECT_TRUE(f.is_nan(codes[3]) && codes[3] >= f.sign());
  const long double next = oracle::magnitude(f, f.max_finite() + 1);
  if (next > std::numeric_limits<float>::max()) return;  // bfloat16, tfloat32: no float is that large
  for (const std::uint32_t code :
       codes_of(std::vector<float>(100, static_cast<float>(next)), Rounding::Stochastic{kSeed})) {
    EXPECT_EQ(code, f.overflow());
  }
}

TEST_P(RoundingRule, ValuesFarBelowTheSmallestStayZeroInPractice) {
  // With float's own exponent range the smallest float is a sizeable part of the smallest number; with fewer exponent
  // bits its chance to go up is below 2^-100.
  const auto& f = GetParam();
  if (f.exponent_bits == 8) return;
  for (const std::uint32_t code : codes_of(std::vector<float>(1000, -0x1p-149f), Rounding::Stochastic{kSeed}))
    EXPECT_EQ(code, f.sign());
}

TEST(RoundingWide, OtherTypesKnowOneRounding) {
  const float x[] = {0.1f, -3.0f};
  float single[2];
  double wide[2];
  from_float(x, DType::Float32, single, 2, Rounding::Stochastic{1}, 2);
  from_float(x, DType::Float64, wide, 2, Rounding::Stochastic{1}, 2);
  EXPECT_EQ(single[0], 0.1f);
  EXPECT_EQ(wide[0], static_cast<double>(0.1f));
  EXPECT_EQ(wide[1], -3.0);
}

}  // namespace
}  // namespace trn
