// 8-bit floats with scales, microscaling matrices, results rounded at random: what trnblas has and cuBLAS does not. The
// formats are decoded here by their definitions; each test runs on the host and on the simulators that have the types.
#include <trnblas.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>

#include "typed.hpp"

namespace {

using capi_test::Mem, capi_test::On, capi_test::Random;
using Byte = std::uint8_t;

// Sign, exponent, fraction; without infinities and NaN.
double decoded(Byte code, int fraction_bits, int bias) {
  const int fraction = code & ((1 << fraction_bits) - 1), exponent = (code & 0x7f) >> fraction_bits;
  const double scale = std::ldexp(1.0, (exponent ? exponent : 1) - bias - fraction_bits);
  return (code & 0x80 ? -1 : 1) * scale * ((exponent ? 1 << fraction_bits : 0) + fraction);
}
double e4m3(Byte code) { return decoded(code, 3, 7); }

float from_bfloat16(std::uint16_t bits) {
  const std::uint32_t wide = static_cast<std::uint32_t>(bits) << 16;
  float value;
  std::memcpy(&value, &wide, sizeof value);
  return value;
}
std::uint16_t bfloat16(float value) {  // of a value that bfloat16 has
  std::uint32_t wide;
  std::memcpy(&wide, &value, sizeof wide);
  return static_cast<std::uint16_t>(wide >> 16);
}

class NarrowTypes : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    on.emplace(GetParam());
    ASSERT_EQ(trnblasCreate(&handle), 0);
  }
  void TearDown() override { trnblasDestroy(handle); }
  std::optional<On> on;
  trnblasHandle_t handle = nullptr;
};
INSTANTIATE_TEST_SUITE_P(Executors, NarrowTypes, testing::Values("host", "sim:trn2", "sim:trn3"), [](const auto& info) {
  return std::string(info.param).substr(0, 3) + std::to_string(info.index);
});

// A by rows, B by columns, blocks of 128 along k: the product of what the codes and scales mean.
TEST_P(NarrowTypes, QuantizedOperandsMultiply) {
  constexpr int m = 5, n = 4, k = 200, blocks = 2;
  Random random(31);
  auto xa = random.numbers<float>(m * k), xb = random.numbers<float>(k * n);
  for (int i = 0; i < m * 128; ++i) xa[static_cast<std::size_t>(i)] *= 1000;  // another scale for the first block
  const Mem<float> fa(xa), fb(xb), sa(m * blocks), sb(blocks * n), c(std::vector<float>(m * n, 1.0F));
  const Mem<Byte> qa(m * k), qb(k * n);
  ASSERT_EQ(trnblasQuantize(handle, TRNBLAS_OP_N, m, k, fa, m, qa, TRN_R_8F_E4M3_240, m, sa, m, blocks), 0)
      << trnGetLastErrorText();
  ASSERT_EQ(trnblasQuantize(handle, TRNBLAS_OP_T, k, n, fb, k, qb, TRN_R_8F_E4M3_240, k, sb, blocks, n), 0)
      << trnGetLastErrorText();
  const auto ca = qa.get(), cb = qb.get();
  const auto scale_a = sa.get(), scale_b = sb.get();
  const auto a = [&](int i, int p) {
    return e4m3(ca[static_cast<std::size_t>(p * m + i)]) *
           static_cast<double>(scale_a[static_cast<std::size_t>(p / 128 * m + i)]);
  };
  const auto b = [&](int p, int j) {
    return e4m3(cb[static_cast<std::size_t>(j * k + p)]) *
           static_cast<double>(scale_b[static_cast<std::size_t>(j * blocks + p / 128)]);
  };
  for (int i = 0; i < m; ++i)
    for (int p = 0; p < k; ++p) {
      const double x = static_cast<double>(xa[static_cast<std::size_t>(p * m + i)]);
      const double scale = static_cast<double>(scale_a[static_cast<std::size_t>(p / 128 * m + i)]);
      EXPECT_LE(std::abs(a(i, p) - x), std::max(std::abs(x) / 16, scale * 0x1p-10));
    }
  const float alpha = 2, beta = -1;
  ASSERT_EQ(trnblasScaledGemm(handle, TRNBLAS_OP_N, TRNBLAS_OP_N, m, n, k, &alpha, qa, TRN_R_8F_E4M3_240, m, sa, m,
                              blocks, qb, TRN_R_8F_E4M3_240, k, sb, blocks, n, &beta, c, TRN_R_32F, m),
            0)
      << trnGetLastErrorText();
  double bound = 0;
  ASSERT_EQ(trnblasGetBound(handle, &bound), 0);
  EXPECT_GT(bound, 0);
  const auto got = c.get();
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      double sum = -1, size = 1;
      for (int p = 0; p < k; ++p) sum += 2 * a(i, p) * b(p, j), size += std::abs(2 * a(i, p) * b(p, j));
      EXPECT_LE(std::abs(static_cast<double>(got[static_cast<std::size_t>(j * m + i)]) - sum), bound * size);
    }
  EXPECT_EQ(trnblasQuantize(handle, TRNBLAS_OP_N, m, k, fa, m, qa, TRN_R_16BF, m, sa, m, blocks),
            TRNBLAS_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(trnblasQuantize(handle, TRNBLAS_OP_C, m, k, fa, m, qa, TRN_R_8F_E5M2, m, sa, m, blocks),
            TRNBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(trnblasQuantize(handle, TRNBLAS_OP_N, m, k + 1, fa, m, qa, TRN_R_8F_E5M2, m, sa, m, blocks),
            TRNBLAS_STATUS_INVALID_VALUE);  // one column too many
  EXPECT_EQ(trnblasScaledGemm(handle, TRNBLAS_OP_N, TRNBLAS_OP_N, m, n, k, &alpha, qa, TRN_R_8F_E4M3_240, m, sa, m, 3,
                              qb, TRN_R_8F_E4M3_240, k, sb, blocks, n, &beta, c, TRN_R_32F, m),
            TRNBLAS_STATUS_INVALID_VALUE);  // no such scales
}

// Operands quantised for the call: A transposed, beta, the bound that was promised, refusals.
TEST_P(NarrowTypes, QuantisedProducts) {
  constexpr int m = 5, n = 3, k = 40;
  Random random(33);
  std::vector<float> xa, xb;
  for (int i = 0; i < m * k; ++i) xa.push_back(i % k == 0 ? 8.0F : static_cast<float>(random.below(17) - 8));
  for (int i = 0; i < n * k; ++i) xb.push_back(i % k == 0 ? 8.0F : static_cast<float>(random.below(9) - 4));
  const Mem<float> a(xa), b(xb), c(std::vector<float>(m * n, 2.0F));
  const float alpha = 0.5F, beta = -1;
  ASSERT_EQ(
      trnblasGemmQuantized(handle, TRNBLAS_OP_T, TRNBLAS_OP_N, m, n, k, &alpha, a, k, b, k, &beta, c, m, "fp8_e4m3"), 0)
      << trnGetLastErrorText();
  double bound = 0;
  ASSERT_EQ(trnblasGetBound(handle, &bound), 0);
  EXPECT_GT(bound, 0.12);
  EXPECT_LT(bound, 0.14);
  const auto got = c.get();
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      double sum = 0, of_a = 0, of_b = 0;
      for (int p = 0; p < k; ++p) {
        const double u = static_cast<double>(xa[static_cast<std::size_t>(i * k + p)]),
                     v = static_cast<double>(xb[static_cast<std::size_t>(j * k + p)]);
        sum += u * v, of_a += u * u, of_b += v * v;
      }
      const double exact = 0.5 * sum - 2, unit = 0.5 * std::sqrt(of_a * of_b) + 2;
      EXPECT_LE(std::abs(static_cast<double>(got[static_cast<std::size_t>(j * m + i)]) - exact), bound * unit);
    }
  const auto status = [&](const char* mode) {
    return trnblasGemmQuantized(handle, TRNBLAS_OP_T, TRNBLAS_OP_N, m, n, k, &alpha, a, k, b, k, &beta, c, m, mode);
  };
  EXPECT_EQ(status("fp8"), TRNBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(status(nullptr), TRNBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(status("mxfp4"), std::string(GetParam()) == "host" ? 0 : TRNBLAS_STATUS_NOT_SUPPORTED);
}

TEST_P(NarrowTypes, MicroscalingMatrices) {
  const std::string executor = GetParam();
  constexpr int m = 3, n = 2, k = 64;
  Random random(32);
  std::vector<std::uint16_t> xa, xb;
  for (int i = 0; i < m * k; ++i) xa.push_back(bfloat16(static_cast<float>(random.below(17) - 8)));
  for (int i = 0; i < n * k; ++i) xb.push_back(bfloat16(static_cast<float>(random.below(9) - 4)));
  const Mem<std::uint16_t> fa(xa), fb(xb);
  const Mem<float> c(std::vector<float>(m * n, 0.0F));
  trnblasMxMatrix_t a = nullptr, b = nullptr;
  const auto status = trnblasMxQuantize(handle, TRNBLAS_OP_N, m, k, fa, TRN_R_16BF, m, TRN_R_8F_E4M3, &a);
  if (executor == "sim:trn2") {  // which has no microscaling
    EXPECT_EQ(status, TRNBLAS_STATUS_NOT_SUPPORTED);
    return;
  }
  ASSERT_EQ(status, 0) << trnGetLastErrorText();
  ASSERT_EQ(trnblasMxQuantize(handle, TRNBLAS_OP_T, n, k, fb, TRN_R_16BF, k, TRN_R_8F_E4M3, &b), 0)
      << trnGetLastErrorText();
  // Small whole numbers are exact in every step.
  std::vector<float> values(m * k);
  ASSERT_EQ(trnblasMxToHost(handle, a, values.data()), 0);
  for (int i = 0; i < m; ++i)
    for (int p = 0; p < k; ++p)
      EXPECT_EQ(values[static_cast<std::size_t>(i * k + p)], from_bfloat16(xa[static_cast<std::size_t>(p * m + i)]));
  const float one = 1, zero = 0;
  ASSERT_EQ(trnblasMxGemm(handle, &one, a, b, &zero, c, TRN_R_32F, m), 0) << trnGetLastErrorText();
  const auto got = c.get();
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int p = 0; p < k; ++p)
        sum += from_bfloat16(xa[static_cast<std::size_t>(p * m + i)]) *
               from_bfloat16(xb[static_cast<std::size_t>(j * k + p)]);
      EXPECT_EQ(got[static_cast<std::size_t>(j * m + i)], sum);
    }
  // 4-bit codes from the host: 1 is 2, 2^(128 - 127) is 2.
  const std::vector<Byte> codes(n * 32, 2), scales(n, 128);
  trnblasMxMatrix_t four = nullptr;
  ASSERT_EQ(trnblasMxFromHost(handle, n, 32, TRN_R_4F_E2M1, codes.data(), scales.data(), &four), 0)
      << trnGetLastErrorText();
  std::vector<float> twos(n * 32);
  ASSERT_EQ(trnblasMxToHost(handle, four, twos.data()), 0);
  EXPECT_EQ(twos, std::vector<float>(n * 32, 2.0F));
  EXPECT_EQ(trnblasMxGemm(handle, &one, a, four, &zero, c, TRN_R_32F, m),
            TRNBLAS_STATUS_INVALID_VALUE);  // other depths
  EXPECT_EQ(trnblasMxGemm(handle, &one, a, b, &zero, c, TRN_R_64F, m), TRNBLAS_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(trnblasMxFromHost(handle, n, 32, TRN_R_16F, codes.data(), scales.data(), &four),
            TRNBLAS_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(trnblasMxFromHost(handle, n, 32, TRN_R_4F_E2M1, nullptr, scales.data(), &four),
            TRNBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(trnblasMxDestroy(four), 0);
  EXPECT_EQ(trnblasMxDestroy(four), TRNBLAS_STATUS_INVALID_VALUE);
  trnblasMxDestroy(a), trnblasMxDestroy(b);
  EXPECT_EQ(trnblasMxGemm(handle, &one, a, b, &zero, c, TRN_R_32F, m), TRNBLAS_STATUS_INVALID_VALUE);
}

// 1 + 1/4 of a unit: to nearest every sum would be lost; at random a quarter of them goes up.
TEST_P(NarrowTypes, UpdatesAreRoundedAtRandom) {
  constexpr int n = 4096;
  const float quarter = 0x1p-9F;
  const Mem<std::uint16_t> y(std::vector<std::uint16_t>(n, bfloat16(1)));
  const Mem<float> x(std::vector<float>(n, 1.0F));
  const auto up = [&] {
    int count = 0;
    for (const auto bits : y.get()) {
      EXPECT_TRUE(bits == bfloat16(1) || bits == bfloat16(1) + 1);
      count += bits != bfloat16(1);
    }
    return count;
  };
  ASSERT_EQ(trnblasAxpyStochastic(handle, n, &quarter, x, TRN_R_32F, 1, y, TRN_R_16BF, 1, 7, 0), 0)
      << trnGetLastErrorText();
  EXPECT_NEAR(up(), n / 4, 6 * std::sqrt(n * 3 / 16.0));
  const auto first = y.get();
  // The same seed and step give the same bits, another step others.
  const Mem<std::uint16_t> again(std::vector<std::uint16_t>(n, bfloat16(1)));
  ASSERT_EQ(trnblasAxpyStochastic(handle, n, &quarter, x, TRN_R_32F, 1, again, TRN_R_16BF, 1, 7, 0), 0);
  EXPECT_EQ(again.get(), first);
  const float factor = 1 + quarter;
  const Mem<float> between(std::vector<float>(n, factor));
  ASSERT_EQ(trnblasCopyStochastic(handle, n, between, 1, y, TRN_R_16BF, 1, 7, 1), 0);
  EXPECT_NEAR(up(), n / 4, 6 * std::sqrt(n * 3 / 16.0));
  EXPECT_NE(y.get(), first);
  const Mem<std::uint16_t> z(std::vector<std::uint16_t>(n, bfloat16(1)));
  ASSERT_EQ(trnblasScalStochastic(handle, n, &factor, z, TRN_R_16BF, 1, 7, 1), 0);
  EXPECT_EQ(z.get(), y.get());  // the same numbers, rounded with the same words
  // A moment: a quarter of 1 and three quarters of 3 is 2.5, a number of the format; and axpy's bits.
  const float rest = 0.75F, share = 0.25F, keep = 1;
  const Mem<std::uint16_t> moment(std::vector<std::uint16_t>(n, bfloat16(3)));
  ASSERT_EQ(trnblasAxpbyStochastic(handle, n, &share, x, TRN_R_32F, 1, &rest, moment, TRN_R_16BF, 1, 7, 3), 0)
      << trnGetLastErrorText();
  EXPECT_EQ(moment.get(), std::vector<std::uint16_t>(n, bfloat16(2.5F)));
  const Mem<std::uint16_t> like_axpy(std::vector<std::uint16_t>(n, bfloat16(1)));
  ASSERT_EQ(trnblasAxpbyStochastic(handle, n, &quarter, x, TRN_R_32F, 1, &keep, like_axpy, TRN_R_16BF, 1, 7, 0), 0);
  EXPECT_EQ(like_axpy.get(), first);
  EXPECT_EQ(trnblasAxpbyStochastic(handle, n, &share, x, TRN_R_64F, 1, &rest, moment, TRN_R_16BF, 1, 7, 3),
            TRNBLAS_STATUS_NOT_SUPPORTED);
  // A product: 1 by 1 and 1 + 1/4 of a unit.
  const float one = 1;
  const Mem<std::uint16_t> a(std::vector<std::uint16_t>(64, bfloat16(1))),
      b(std::vector<std::uint16_t>(64, bfloat16(quarter)));
  const Mem<std::uint16_t> c(std::vector<std::uint16_t>(n, bfloat16(1)));
  ASSERT_EQ(trnblasGemmStochastic(handle, TRNBLAS_OP_N, TRNBLAS_OP_N, 64, 64, 1, &one, a, TRN_R_16BF, 64, b, TRN_R_16BF,
                                  1, &one, c, TRN_R_16BF, 64, 7, 2),
            0)
      << trnGetLastErrorText();
  int count = 0;
  for (const auto bits : c.get()) count += bits != bfloat16(1);
  EXPECT_NEAR(count, n / 4, 6 * std::sqrt(n * 3 / 16.0));
  EXPECT_EQ(trnblasAxpyStochastic(handle, n, &quarter, x, TRN_R_32F, 1, x, TRN_R_32F, 1, 7, 0),
            TRNBLAS_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(trnblasAxpyStochastic(handle, n, &quarter, x, TRN_R_64F, 1, y, TRN_R_16BF, 1, 7, 0),
            TRNBLAS_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(trnblasAxpyStochastic(handle, n, &quarter, x, TRN_R_32F, 1, y, TRN_R_16BF, 1, 7, 1ULL << 48),
            TRNBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(trnblasAxpyStochastic(handle, n + 1, &quarter, x, TRN_R_32F, 1, y, TRN_R_16BF, 1, 7, 0),
            TRNBLAS_STATUS_INVALID_VALUE);
}

}  // namespace
