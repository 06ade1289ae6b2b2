// Bulk conversions of floats, on every instruction set this machine can run: the same exhaustive cases as the value
// types, from float and from double, plus run lengths around the vector width.
#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <random>
#include <trn/core/convert.hpp>
#include <trn/core/error.hpp>

#include "format_oracle.hpp"
#include "scrambled_backend.hpp"
#include "support/every_target.hpp"

namespace trn {
namespace {

constexpr std::uint64_t kSeed = 918273;

using testing_support::on_every_target;

class Convert : public ::testing::TestWithParam<oracle::Format> {
 protected:
  template <class Real, class Function>
  void expect_codes(const std::vector<oracle::RoundingCase<Real>>& cases, Function from_real) {
    const auto& f = GetParam();
    std::vector<Real> inputs(cases.size());
    for (std::size_t i = 0; i < cases.size(); ++i) inputs[i] = cases[i].input;
    std::vector<std::byte> out(cases.size() * static_cast<std::size_t>(size_bytes(f.dtype)));
    from_real(inputs.data(), f.dtype, out.data(), static_cast<std::int64_t>(cases.size()));
    for (std::size_t i = 0; i < cases.size(); ++i) {
      ASSERT_EQ(oracle::load(f, out.data(), i), cases[i].code) << std::hexfloat << cases[i].input;
    }
  }
  [[nodiscard]] static std::vector<std::uint32_t> all_codes() {
    std::vector<std::uint32_t> codes(2 * GetParam().sign());
    for (std::uint32_t i = 0; i < codes.size(); ++i) codes[i] = i;
    return codes;
  }
};
INSTANTIATE_TEST_SUITE_P(EveryFormat, Convert, ::testing::ValuesIn(oracle::formats()),
                         [](const auto& instance) { return std::string(instance.param.name); });

TEST_P(Convert, WidensEveryCode) {
  const auto& f = GetParam();
  const auto codes = all_codes();
  const auto elements = oracle::store(f, codes);
  const auto n = static_cast<std::int64_t>(codes.size());
  on_every_target([&] {
    std::vector<float> single(codes.size());
    std::vector<double> wide(codes.size());
    to_float(f.dtype, elements.data(), single.data(), n);
    to_double(f.dtype, elements.data(), wide.data(), n);
    for (const std::uint32_t code : codes) {
      ASSERT_EQ(std::signbit(single[code]), code >= f.sign()) << code;
      if (f.is_nan(code)) {
        ASSERT_TRUE(std::isnan(single[code]) && std::isnan(wide[code])) << code;
        continue;
      }
      ASSERT_EQ(static_cast<long double>(single[code]), oracle::decode(f, code)) << code;
      ASSERT_EQ(static_cast<long double>(wide[code]), oracle::decode(f, code)) << code;
    }
  });
}

TEST_P(Convert, NarrowsFloatToNearestEvenInEveryGap) {
  const auto cases = oracle::rounding_cases<float>(GetParam());
  on_every_target([&] { expect_codes(cases, from_float); });
}

// The cases just beside a midpoint are the double-rounding witnesses: float would round them onto it.
TEST_P(Convert, NarrowsDoubleInOneRoundingInEveryGap) {
  expect_codes(oracle::rounding_cases<double>(GetParam()), from_double);
}

TEST(ConvertDouble, ADoubleRoundingWitness) {
  const double x = 1.0 + 0x1p-8 + 0x1p-40;  // just above the midpoint of bfloat16's 1 and 1 + 2^-7
  bfloat16 once;
  from_double(&x, DType::BFloat16, &once, 1);
  EXPECT_EQ(static_cast<float>(once), 1.0f + 0x1p-7f);
  EXPECT_EQ(static_cast<float>(bfloat16(static_cast<float>(x))), 1.0f);  // what rounding twice would give
}

TEST_P(Convert, SaturatesInsteadOfOverflowing) {
  const auto& f = GetParam();
  auto cases = oracle::rounding_cases<float>(f);
  for (auto& c : cases) {
    if (c.code % f.sign() == f.overflow()) c.code -= 1;
  }
  on_every_target([&] { expect_codes(cases, from_float_saturating); });
  const float nan[] = {std::bit_cast<float>(0x7fc00000u), std::bit_cast<float>(0xffc00000u)};
  std::byte out[8];
  from_float_saturating(nan, f.dtype, out, 2);
  EXPECT_TRUE(f.is_nan(oracle::load(f, out, 0)) && oracle::load(f, out, 0) < f.sign());
  EXPECT_TRUE(f.is_nan(oracle::load(f, out, 1)) && oracle::load(f, out, 1) >= f.sign());
}

TEST_P(Convert, NanStaysQuietNanWithItsSign) {
  const auto& f = GetParam();
  std::vector<float> nans;
  std::vector<double> wide_nans;
  for (const std::uint64_t payload : {0x400000ull, 0x1ull, 0x3fffffull, 0x7fffffull}) {
    for (const std::uint64_t sign : {0ull, 1ull}) {
      nans.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(sign << 31 | 0x7f800000u | payload)));
      wide_nans.push_back(std::bit_cast<double>(sign << 63 | 0x7ff0000000000000ull | payload << 29));
    }
  }
  wide_nans[2] = std::bit_cast<double>(0x7ff0000000000001ull);  // a payload in the lowest bit alone
  const auto n = static_cast<std::int64_t>(nans.size());
  std::vector<std::byte> out(nans.size() * 4);
  const std::uint32_t quiet = 1u << (f.mantissa_bits - 1);
  const auto check = [&] {
    for (std::size_t i = 0; i < nans.size(); ++i) {
      const std::uint32_t code = oracle::load(f, out.data(), i);
      EXPECT_TRUE(f.is_nan(code) && (code & quiet)) << i;
      EXPECT_EQ(code >= f.sign(), i % 2 == 1) << i;
    }
  };
  on_every_target([&] {
    from_float(nans.data(), f.dtype, out.data(), n);
    check();
  });
  from_double(wide_nans.data(), f.dtype, out.data(), n);
  check();
}

// Every length up to several vectors: the right values, and not a byte beyond the end.
TEST_P(Convert, RunLengthsAroundTheVectorWidth) {
  const auto& f = GetParam();
  const auto bytes = static_cast<std::size_t>(size_bytes(f.dtype));
  std::mt19937_64 engine(kSeed);
  std::vector<std::uint32_t> codes(80);
  for (auto& code : codes) code = static_cast<std::uint32_t>(engine() % (f.max_finite() + 1));
  const auto elements = oracle::store(f, codes);
  on_every_target([&] {
    for (std::size_t n = 0; n <= 70; ++n) {
      std::vector<float> values(n + 1, -77.0f);
      to_float(f.dtype, elements.data() + bytes, values.data(), static_cast<std::int64_t>(n));
      ASSERT_EQ(values[n], -77.0f) << n;
      for (std::size_t i = 0; i < n; ++i)
        ASSERT_EQ(values[i], oracle::decode(f, codes[i + 1])) << n << " seed " << kSeed;
      std::vector<std::byte> out((n + 1) * bytes, std::byte{0x5c});
      from_float(values.data(), f.dtype, out.data(), static_cast<std::int64_t>(n));
      for (std::size_t b = n * bytes; b < out.size(); ++b) ASSERT_EQ(out[b], std::byte{0x5c}) << n;
      for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(oracle::load(f, out.data(), i), codes[i + 1]) << n;
    }
  });
}

TEST(ConvertFloat, Float32AndFloat64) {
  const double x[] = {1.0 + 0x1p-24, 1.0 + 0x3p-24, 1e300, -1e300, 0x1p-149, 0x1p-150, -0.0, 0.1};
  const float expected[] = {1.0f, 1.0f + 0x1p-22f, INFINITY, -INFINITY, 0x1p-149f, 0.0f, -0.0f, 0.1f};
  float y[8];
  from_double(x, DType::Float32, y, 8);
  float z[8];
  to_float(DType::Float64, x, z, 8);
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(std::bit_cast<std::uint32_t>(y[i]), std::bit_cast<std::uint32_t>(expected[i])) << i;
    EXPECT_EQ(std::bit_cast<std::uint32_t>(z[i]), std::bit_cast<std::uint32_t>(expected[i])) << i;
  }
  double back[8];
  from_float(expected, DType::Float64, back, 8);
  EXPECT_EQ(back[7], static_cast<double>(0.1f));
  to_double(DType::Float32, expected, back, 8);
  EXPECT_EQ(back[4], 0x1p-149);
}

TEST(ConvertFloat, SaturatingFloat32AndFloat64ClampInfinities) {
  const float x[] = {INFINITY, -INFINITY, 1.0f, NAN};
  float single[4];
  double wide[4];
  from_float_saturating(x, DType::Float32, single, 4);
  from_float_saturating(x, DType::Float64, wide, 4);
  EXPECT_EQ(single[0], std::numeric_limits<float>::max());
  EXPECT_EQ(single[1], -std::numeric_limits<float>::max());
  EXPECT_EQ(wide[0], std::numeric_limits<double>::max());
  EXPECT_EQ(wide[1], -std::numeric_limits<double>::max());
  EXPECT_EQ(single[2], 1.0f);
  EXPECT_EQ(wide[2], 1.0);
  EXPECT_TRUE(std::isnan(single[3]) && std::isnan(wide[3]));
}

TEST(ConvertFloat, EqualTypesCopyBits) {
  const std::uint32_t signalling = 0x7f800001u;
  std::uint32_t copy = 0;
  convert(DType::Float32, &signalling, DType::Float32, &copy, 1);
  EXPECT_EQ(copy, signalling);
  const std::uint16_t half = 0x7c01;
  std::uint16_t half_copy = 0;
  convert(DType::Float16, &half, DType::Float16, &half_copy, 1);
  EXPECT_EQ(half_copy, half);
}

TEST(ConvertLength, NegativeLengthsAreRefusedAndZeroTouchesNothing) {
  EXPECT_THROW(to_float(DType::Float16, nullptr, nullptr, -1), InvalidArgument);
  EXPECT_THROW(from_float(nullptr, DType::Float16, nullptr, -1), InvalidArgument);
  EXPECT_THROW(to_double(DType::Float16, nullptr, nullptr, -1), InvalidArgument);
  EXPECT_THROW(from_double(nullptr, DType::Float16, nullptr, -1), InvalidArgument);
  EXPECT_THROW(convert(DType::Int8, nullptr, DType::Int16, nullptr, -1), InvalidArgument);
  EXPECT_THROW(from_float_saturating(nullptr, DType::Float16, nullptr, -1), InvalidArgument);
  EXPECT_THROW(from_float_stochastic(nullptr, DType::Float16, nullptr, -1, 0, 0), InvalidArgument);
  EXPECT_EQ(testing_support::message_of<InvalidArgument>([] { to_float(DType::Int8, nullptr, nullptr, -3); }),
            "to_float: n = -3 elements; n must be >= 0");
  for (const DType dtype : all_dtypes()) {
    if (is_complex(dtype) || is_int64(dtype)) continue;
    to_float(dtype, nullptr, nullptr, 0);
    from_float(nullptr, dtype, nullptr, 0);
    to_double(dtype, nullptr, nullptr, 0);
    from_double(nullptr, dtype, nullptr, 0);
    from_float_saturating(nullptr, dtype, nullptr, 0);
    from_float_stochastic(nullptr, dtype, nullptr, 0, 0, 0);
    convert(DType::Float32, nullptr, dtype, nullptr, 0);
  }
}

TEST(Convert, ComplexIsRefusedExceptAsACopy) {
  const std::complex<float> x[2] = {{1, 2}, {3, 4}};
  std::complex<float> y[2];
  convert(DType::Complex64, x, DType::Complex64, y, 2);
  EXPECT_EQ(y[1], x[1]);
  float r[4];
  EXPECT_EQ(testing_support::message_of<InvalidArgument>([&] { to_float(DType::Complex64, x, r, 2); }),
            "to_float: complex64 is a pair of numbers; convert its parts, as 2 n elements of float32");
  EXPECT_THROW(from_double(nullptr, DType::Complex128, nullptr, 0), InvalidArgument);
  EXPECT_THROW(convert(DType::Complex64, x, DType::Complex128, r, 1), InvalidArgument);
  EXPECT_THROW(convert(DType::Float32, r, DType::Complex64, y, 1), InvalidArgument);
}

TEST(Convert, SixtyFourBitIntegersAreRefusedExceptAsACopy) {
  const std::uint64_t x[2] = {1, 0xfedcba9876543210};
  std::uint64_t y[2];
  convert(DType::UInt64, x, DType::UInt64, y, 2);
  EXPECT_EQ(y[1], x[1]);
  double r[2];
  EXPECT_EQ(testing_support::message_of<InvalidArgument>([&] { to_double(DType::UInt64, x, r, 2); }),
            "to_double: uint64 is copied but not converted; convert its low and high words as uint32 elements");
  EXPECT_THROW(from_float(nullptr, DType::Int64, nullptr, 0), InvalidArgument);
  EXPECT_THROW(convert(DType::UInt64, x, DType::Int64, y, 1), InvalidArgument);
}

}  // namespace
}  // namespace trn
