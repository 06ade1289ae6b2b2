// Conversions from, to and between integers: literal cases at the limits and ties, and random values against an oracle
// in long double.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <trn/core/convert.hpp>
#include <trn/core/float_types.hpp>

namespace trn {
namespace {

constexpr std::uint64_t kSeed = 5551212;

template <class T> class ConvertInteger : public ::testing::Test {
 protected:
  using Limits = std::numeric_limits<T>;
  // The rule of convert.hpp, in integers: floor, compare the fraction with a half, saturate.
  static T rounded(long double x) {
    if (std::isnan(x)) return 0;
    if (x <= static_cast<long double>(Limits::min())) return Limits::min();
    if (x >= static_cast<long double>(Limits::max())) return Limits::max();
    const long double below = std::floor(x), fraction = x - below;
    auto result = static_cast<std::int64_t>(below);
    if (fraction > 0.5L || (fraction == 0.5L && result % 2 != 0)) ++result;
    return static_cast<T>(result);
  }
  template <class Real> static std::vector<Real> probes() {
    std::vector<Real> x = {0,
                           Real(-0.0),
                           1,
                           -1,
                           Real(0.5),
                           Real(1.5),
                           Real(2.5),
                           Real(-0.5),
                           Real(-1.5),
                           Real(-2.5),
                           Real(0.49999997),
                           std::numeric_limits<Real>::infinity(),
                           -std::numeric_limits<Real>::infinity(),
                           std::numeric_limits<Real>::quiet_NaN(),
                           -std::numeric_limits<Real>::quiet_NaN(),
                           std::numeric_limits<Real>::max(),
                           std::numeric_limits<Real>::denorm_min(),
                           Real(1e10),
                           Real(-1e10),
                           Real(0x1p62),
                           Real(0x1p63)};
    for (const double limit : {static_cast<double>(Limits::min()), static_cast<double>(Limits::max())}) {
      for (const double step : {-1.5, -1.0, -0.5, -0.25, 0.0, 0.25, 0.5, 1.0, 1.5}) {
        const auto y = static_cast<Real>(limit + step);
        x.insert(x.end(), {y, std::nextafter(y, Real(-1e30)), std::nextafter(y, Real(1e30))});
      }
    }
    std::mt19937_64 engine(kSeed);
    std::uniform_real_distribution<double> uniform(-1.25, 1.25);
    for (int i = 0; i < 20000; ++i) {
      const double y = uniform(engine) * static_cast<double>(Limits::max());
      x.push_back(static_cast<Real>(i % 2 ? y : std::floor(y) + 0.5));
    }
    return x;
  }
};
using Integers = ::testing::Types<std::int32_t, std::int16_t, std::int8_t, std::uint32_t, std::uint16_t, std::uint8_t>;
TYPED_TEST_SUITE(ConvertInteger, Integers);

TYPED_TEST(ConvertInteger, FromFloatRoundsToEvenAndSaturates) {
  using T = TypeParam;
  const auto x = this->template probes<float>();
  const auto n = static_cast<std::int64_t>(x.size());
  std::vector<T> plain(x.size()), saturating(x.size()), stochastic(x.size());
  from_float(x.data(), dtype_of<T>, plain.data(), n);
  from_float_saturating(x.data(), dtype_of<T>, saturating.data(), n);
  from_float_stochastic(x.data(), dtype_of<T>, stochastic.data(), n, 1, 2);
  for (std::size_t i = 0; i < x.size(); ++i) {
    ASSERT_EQ(plain[i], this->rounded(x[i])) << std::hexfloat << x[i] << " seed " << kSeed;
    ASSERT_EQ(saturating[i], plain[i]) << x[i];
    ASSERT_EQ(stochastic[i], plain[i]) << x[i];  // integers always round to nearest
  }
}

TYPED_TEST(ConvertInteger, FromDoubleRoundsToEvenAndSaturates) {
  using T = TypeParam;
  const auto x = this->template probes<double>();
  std::vector<T> out(x.size());
  from_double(x.data(), dtype_of<T>, out.data(), static_cast<std::int64_t>(x.size()));
  for (std::size_t i = 0; i < x.size(); ++i) {
    ASSERT_EQ(out[i], this->rounded(x[i])) << std::hexfloat << x[i] << " seed " << kSeed;
  }
}

TYPED_TEST(ConvertInteger, ToDoubleIsExact) {
  using T = TypeParam;
  const T x[] = {std::numeric_limits<T>::min(), std::numeric_limits<T>::max(), 0, 1, 77};
  double wide[5];
  to_double(dtype_of<T>, x, wide, 5);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(static_cast<long double>(wide[i]), static_cast<long double>(x[i]));
}

TYPED_TEST(ConvertInteger, ToOtherIntegersSaturates) {
  using T = TypeParam;
  const std::int64_t wanted[] = {-2147483648, -32769, -32768, -129, -128,  -1,    0,     1,
                                 127,         128,    255,    256,  32767, 32768, 65535, 65536};
  std::vector<std::int32_t> x(std::begin(wanted), std::end(wanted));
  std::vector<T> out(x.size());
  convert(DType::Int32, x.data(), dtype_of<T>, out.data(), static_cast<std::int64_t>(x.size()));
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_EQ(out[i], this->rounded(x[i])) << x[i];
  const std::uint32_t big[] = {4294967295u, 2147483648u, 2147483647u, 3u};
  T small[4];
  convert(DType::UInt32, big, dtype_of<T>, small, 4);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(small[i], this->rounded(big[i])) << big[i];
}

TEST(ConvertIntegerToFloat, RoundsToNearestEven) {
  const std::int32_t x[] = {16777217, 16777219, -16777217, 2147483647, -2147483648, 0, 5};
  const float expected[] = {16777216.0f, 16777220.0f, -16777216.0f, 2147483648.0f, -2147483648.0f, 0.0f, 5.0f};
  float y[7];
  to_float(DType::Int32, x, y, 7);
  for (int i = 0; i < 7; ++i) EXPECT_EQ(y[i], expected[i]) << x[i];
  const std::uint32_t u[] = {4294967295u, 4294967167u, 16777217u};
  to_float(DType::UInt32, u, y, 3);
  EXPECT_EQ(y[0], 4294967296.0f);
  EXPECT_EQ(y[1], 4294967040.0f);
  EXPECT_EQ(y[2], 16777216.0f);
}

TEST(ConvertIntegerToFloat, ToNarrowFloatsInOneRounding) {
  // 2^30 + 2^22 is the midpoint of bfloat16's neighbours 2^30 and 2^30 + 2^23; one more lies above it, and float would
  // round that one away.
  const std::int32_t x[] = {1077936128, 1077936129, -1077936129, 257, 70000};
  bfloat16 y[5];
  convert(DType::Int32, x, DType::BFloat16, y, 5);
  EXPECT_EQ(static_cast<float>(y[0]), 1073741824.0f);
  EXPECT_EQ(static_cast<float>(y[1]), 1082130432.0f);
  EXPECT_EQ(static_cast<float>(y[2]), -1082130432.0f);
  EXPECT_EQ(static_cast<float>(y[3]), 256.0f);
  float16 z[5];
  convert(DType::Int32, x, DType::Float16, z, 5);
  EXPECT_EQ(static_cast<float>(z[3]), 257.0f);
  EXPECT_TRUE(std::isinf(static_cast<float>(z[4])));
}

// Every dtype to every dtype, over more elements than one block, with values that all of them hold exactly.
TEST(ConvertAny, SmallIntegersSurviveEveryPair) {
  constexpr std::int64_t n = 1301;
  std::vector<double> wanted(n);
  for (std::int64_t i = 0; i < n; ++i) wanted[static_cast<std::size_t>(i)] = static_cast<double>(i % 9);
  for (const DType from : all_dtypes()) {
    if (is_complex(from) || is_int64(from)) continue;
    std::vector<double> source(n), target(n), seen(n);  // storage enough for any dtype
    from_double(wanted.data(), from, source.data(), n);
    for (const DType to : all_dtypes()) {
      if (is_complex(to) || is_int64(to)) continue;
      convert(from, source.data(), to, target.data(), n);
      to_double(to, target.data(), seen.data(), n);
      ASSERT_EQ(seen, wanted) << name(from) << " to " << name(to);
    }
  }
}

TEST(ConvertAny, NarrowFloatsToIntegersAndToEachOther) {
  const float16 x[] = {float16(2.5f), float16(-300.0f), float16(65504.0f), float16(0.0999755859375f)};
  std::int8_t i8[4];
  convert(DType::Float16, x, DType::Int8, i8, 4);
  EXPECT_EQ(i8[0], 2);
  EXPECT_EQ(i8[1], -128);
  EXPECT_EQ(i8[2], 127);
  EXPECT_EQ(i8[3], 0);
  bfloat16 b[4];
  convert(DType::Float16, x, DType::BFloat16, b, 4);
  EXPECT_EQ(static_cast<float>(b[1]), -300.0f);
  EXPECT_EQ(static_cast<float>(b[2]), 65536.0f);
  EXPECT_EQ(static_cast<float>(b[3]), 0.10009765625f);
}

}  // namespace
}  // namespace trn
