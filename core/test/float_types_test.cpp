// The narrow value types and bits::narrow / bits::widen, exhaustively: every code of every format is widened, and every
// gap between neighbours is probed where rounding changes its mind.
#include <gtest/gtest.h>

#include <trn/core/float_types.hpp>

#include "format_oracle.hpp"

namespace trn {
namespace {

class NarrowFloat : public ::testing::TestWithParam<oracle::Format> {};
INSTANTIATE_TEST_SUITE_P(EveryFormat, NarrowFloat, ::testing::ValuesIn(oracle::formats()),
                         [](const auto& instance) { return std::string(instance.param.name); });

TEST_P(NarrowFloat, WidensEveryCodeToItsValue) {
  const auto& f = GetParam();
  for (std::uint32_t code = 0; code < 2 * f.sign(); ++code) {
    for (const float x : {bits::widen(code, f.product), f.value(code)}) {
      ASSERT_EQ(std::signbit(x), code >= f.sign()) << code;
      if (f.is_nan(code)) {
        ASSERT_TRUE(std::isnan(x)) << code;
      } else {
        ASSERT_EQ(static_cast<long double>(x), oracle::decode(f, code)) << code;
      }
    }
  }
}

TEST_P(NarrowFloat, EveryCodeSurvivesTheRoundTrip) {
  const auto& f = GetParam();
  const std::uint32_t quiet = f.has_infinity ? 1u << (f.mantissa_bits - 1) : 0;
  for (std::uint32_t code = 0; code < 2 * f.sign(); ++code) {
    const std::uint32_t expected = f.is_nan(code) ? code | quiet : code;
    ASSERT_EQ(bits::narrow(bits::widen(code, f.product), f.product), expected) << code;
    ASSERT_EQ(f.construct(f.value(code)), expected) << code;
  }
}

TEST_P(NarrowFloat, RoundsToNearestEvenInEveryGap) {
  const auto& f = GetParam();
  for (const auto& c : oracle::rounding_cases<float>(f)) {
    ASSERT_EQ(bits::narrow(c.input, f.product), c.code) << std::hexfloat << c.input;
    ASSERT_EQ(f.construct(c.input), c.code) << std::hexfloat << c.input;
  }
}

TEST_P(NarrowFloat, NanStaysQuietNanWithItsSignAndTopPayloadBits) {
  const auto& f = GetParam();
  for (const std::uint32_t bits_of_nan : {0x7fc00000u, 0x7f800001u, 0x7fbfffffu, 0x7fffffffu, 0x7fa00000u}) {
    for (const std::uint32_t sign : {0u, 0x80000000u}) {
      const auto nan = std::bit_cast<float>(bits_of_nan | sign);
      const std::uint32_t quiet_and_payload =
          (1u << (f.mantissa_bits - 1)) | ((bits_of_nan & 0x7fffffu) >> (23 - f.mantissa_bits));
      const std::uint32_t expected =
          (sign ? f.sign() : 0) | (f.has_infinity ? f.overflow() | quiet_and_payload : f.sign() - 1);
      EXPECT_EQ(bits::narrow(nan, f.product), expected) << std::hex << (bits_of_nan | sign);
      EXPECT_EQ(f.construct(nan), expected) << std::hex << (bits_of_nan | sign);
    }
  }
}

TEST_P(NarrowFloat, DefaultsToZero) { EXPECT_EQ(GetParam().value(0), 0.0f); }

#if defined(__FLT16_MANT_DIG__) && defined(__SSE2__)
TEST(Float16, AgreesWithTheCompilersFloat16) {
  using Native = _Float16;
  for (std::uint32_t code = 0; code < 0x10000u; ++code) {
    const auto native = static_cast<float>(std::bit_cast<Native>(static_cast<std::uint16_t>(code)));
    const float ours = bits::widen(code, bits::kFloat16);
    if (std::isnan(native)) {
      ASSERT_TRUE(std::isnan(ours)) << code;
    } else {
      ASSERT_EQ(std::bit_cast<std::uint32_t>(ours), std::bit_cast<std::uint32_t>(native)) << code;
    }
  }
  // A stride that is coprime with every power of two meets all exponents and spreads over the mantissas.
  for (std::uint64_t u = 0; u < 0x100000000u; u += 9973) {
    const auto x = std::bit_cast<float>(static_cast<std::uint32_t>(u));
    if (std::isnan(x)) continue;
    const auto native = std::bit_cast<std::uint16_t>(static_cast<Native>(x));
    ASSERT_EQ(float16(x).bits, native) << std::hexfloat << x;
  }
}
#endif

// The table at the top of float_types.hpp, as literals.
TEST(FloatTypes, LargestNumbersAndOverflow) {
  EXPECT_EQ(static_cast<float>(float16(65504.0f)), 65504.0f);
  EXPECT_EQ(static_cast<float>(float16(65519.0f)), 65504.0f);
  EXPECT_TRUE(std::isinf(static_cast<float>(float16(65520.0f))));
  EXPECT_EQ(static_cast<float>(float8_e4m3(240.0f)), 240.0f);
  EXPECT_EQ(static_cast<float>(float8_e4m3(247.9f)), 240.0f);
  EXPECT_TRUE(std::isinf(static_cast<float>(float8_e4m3(248.0f))));
  EXPECT_EQ(static_cast<float>(float8_e4m3fn(448.0f)), 448.0f);
  EXPECT_EQ(static_cast<float>(float8_e4m3fn(464.0f)), 448.0f);
  EXPECT_EQ(float8_e4m3fn(464.1f).bits, 0x7f);
  EXPECT_EQ(float8_e4m3fn(-1e9f).bits, 0xff);
  EXPECT_EQ(float8_e4m3fn(std::numeric_limits<float>::infinity()).bits, 0x7f);
  EXPECT_EQ(static_cast<float>(float8_e5m2(57344.0f)), 57344.0f);
  EXPECT_TRUE(std::isinf(static_cast<float>(float8_e5m2(61440.0f))));
  EXPECT_EQ(bfloat16(1.0f).bits, 0x3f80);
  EXPECT_EQ(bfloat16(std::numeric_limits<float>::max()).bits, 0x7f80);
  EXPECT_EQ(tfloat32(1.0f + 0x1p-11f).value, 1.0f);
  EXPECT_EQ(tfloat32(1.0f + 0x3p-11f).value, 1.0f + 0x1p-9f);
}

TEST(FloatTypes, SizesAreTheStorageSizes) {
  static_assert(sizeof(tfloat32) == 4 && sizeof(bfloat16) == 2 && sizeof(float16) == 2);
  static_assert(sizeof(float8_e4m3) == 1 && sizeof(float8_e4m3fn) == 1 && sizeof(float8_e5m2) == 1);
  static_assert(Element<double> && Element<bfloat16> && Element<std::uint8_t> && !Element<bool> && !Element<char*>);
  EXPECT_EQ(dtype_of<bfloat16>, DType::BFloat16);
  EXPECT_EQ(dtype_of<std::uint16_t>, DType::UInt16);
}

}  // namespace
}  // namespace trn
