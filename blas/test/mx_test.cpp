// Microscaling matrices: the bits that mx.hpp states by plain loops written here, on the host and trn3, and the bounds
// of quantisation, with a decoder of its own.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include <trn/blas/mx.hpp>
#include <trn/core/event.hpp>

namespace trn::blas {
namespace {

struct Fields {
  int exponent, fraction, emax;
  double roundoff, smallest;
};
Fields fields(MxType type) {
  return type == MxType::Float8E4M3FN ? Fields{4, 3, 8, 0x1p-4, 0x1p-9}
         : type == MxType::Float8E5M2 ? Fields{5, 2, 15, 0x1p-3, 0x1p-16}
                                      : Fields{2, 1, 2, 0x1p-2, 0.5};
}
double decode(MxType type, int code) {
  const Fields f = fields(type);
  const int bias = (1 << (f.exponent - 1)) - 1, bits = 1 + f.exponent + f.fraction;
  const int e = code >> f.fraction & ((1 << f.exponent) - 1), m = code & ((1 << f.fraction) - 1);
  const double sign = code >> (bits - 1) ? -1 : 1;
  if (type == MxType::Float8E4M3FN && (code & 0x7f) == 0x7f) return std::nan("");
  if (type == MxType::Float8E5M2 && e == 31) return m ? std::nan("") : sign * std::numeric_limits<double>::infinity();
  return sign *
         (e == 0 ? std::ldexp(m, 1 - bias - f.fraction) : std::ldexp(m + (1 << f.fraction), e - bias - f.fraction));
}

struct Codes {
  std::vector<std::uint8_t> codes, scales;
  std::vector<float> values;  // row by row
};
Codes random_codes(MxType type, std::int64_t rows, std::int64_t k, unsigned seed) {
  std::mt19937 random(seed);
  const std::int64_t groups = (k + 31) / 32;
  Codes c;
  for (std::int64_t i = 0; i < rows * groups; ++i) c.scales.push_back(static_cast<std::uint8_t>(120 + random() % 15));
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t p = 0; p < k; ++p) {
      int code;
      do code = static_cast<int>(random() % (type == MxType::Float4E2M1FN ? 16 : 256));
      while (!std::isfinite(decode(type, code)));
      c.codes.push_back(static_cast<std::uint8_t>(code));
      c.values.push_back(static_cast<float>(
          std::ldexp(decode(type, code), c.scales[static_cast<std::size_t>(i * groups + p / 32)] - 127)));
    }
  }
  return c;
}

template <class Out> void check(MxType ta, MxType tb, std::int64_t m, std::int64_t n, std::int64_t k, float alpha,
                                float beta, bool by_columns, unsigned seed) {
  SCOPED_TRACE(::testing::Message() << name(ta) << " by " << name(tb) << ' ' << m << " x " << n << " x " << k
                                    << (by_columns ? " by columns" : "") << " beta " << beta);
  const Codes a = random_codes(ta, m, k, seed), b = random_codes(tb, n, k, seed + 1);
  std::vector<Out> before(static_cast<std::size_t>(m * n));
  std::mt19937 random(seed + 2);
  for (Out& x : before) x = Out(beta == 0 ? std::nanf("") : static_cast<float>(random() % 100));
  const auto at = [&](std::int64_t i, std::int64_t j) {
    return static_cast<std::size_t>(by_columns ? i + j * m : i * n + j);
  };
  for (const char* executor : {"host", "sim:trn3"}) {
    SCOPED_TRACE(executor);
    const Executor e = Executor::open(executor);
    const MxMatrix x = MxMatrix::from_host(e, ta, m, k, a.codes, a.scales),
                   y = MxMatrix::from_host(e, tb, n, k, b.codes, b.scales);
    EXPECT_EQ(x.to_host(), a.values);
    auto c = Array<Out>::from_host(e, {m * n}, before);
    const MatrixView<Out> view =
        by_columns ? MatrixView<Out>::column_major(e, c.data(), m, n) : MatrixView<Out>::row_major(e, c.data(), m, n);
    Recorder recorder(e);
    const Accuracy accuracy = mx_gemm(e, alpha, x, y, beta, view);
    EXPECT_EQ(recorder.family_of("blas.mx_gemm"), std::string(executor) == "host" ? "host" : "device");
    const auto after = c.to_host();
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        float all = 0, sum = 0;
        long double exact = 0, size = 0;
        for (std::int64_t p = 0; p < k; ++p) {
          const float u = a.values[static_cast<std::size_t>(i * k + p)],
                      v = b.values[static_cast<std::size_t>(j * k + p)];
          sum = std::fma(u, v, sum);
          exact += (long double)u * v, size += std::abs((long double)u * v);
          if ((p + 1) % 512 == 0 || p + 1 == k) all = p < 512 ? sum : all + sum, sum = 0;
        }
        const float old = beta == 0 ? 0 : static_cast<float>(before[at(i, j)]);
        const float product = k == 0 || alpha == 0 ? 0 : alpha * all;
        const Out expected = Out(beta == 0 ? product : beta * old + product);
        ASSERT_EQ(std::memcmp(&after[at(i, j)], &expected, sizeof(Out)), 0)
            << i << ' ' << j << ": " << static_cast<float>(after[at(i, j)]) << " for " << static_cast<float>(expected);
        ASSERT_LE(std::abs(static_cast<float>(after[at(i, j)]) - (alpha * exact + (long double)beta * old)),
                  accuracy.bound * (std::abs(alpha) * size + std::abs((long double)beta * old)));
      }
    }
  }
}

TEST(Mx, StatedBitsForEveryPairOfFormats) {
  unsigned seed = 1;
  for (const MxType a : {MxType::Float8E4M3FN, MxType::Float8E5M2, MxType::Float4E2M1FN}) {
    for (const MxType b : {MxType::Float8E4M3FN, MxType::Float8E5M2, MxType::Float4E2M1FN})
      check<float>(a, b, 7, 10, 200, 1, 0, false, seed += 3);
  }
}

TEST(Mx, BothSidesOfEveryEdge) {
  unsigned seed = 50;
  constexpr MxType t = MxType::Float8E4M3FN;
  for (const std::int64_t k : {1, 3, 4, 31, 32, 33, 127, 128, 129, 511, 512, 513, 1024, 1100, 1537})
    check<float>(t, MxType::Float4E2M1FN, 3, 5, k, 0.75F, k % 2 == 0 ? 0.5F : 0, k % 3 == 0, ++seed);
  for (const std::int64_t m : {1, 2, 127, 128, 129, 511, 512, 513}) check<float>(t, t, m, 4, 40, 1, 1, false, ++seed);
  for (const std::int64_t n : {1, 511, 513, 1025}) check<float>(t, t, 3, n, 40, 1, 0, true, ++seed);
  check<bfloat16>(t, t, 9, 11, 600, -1.5F, 0.25F, false, ++seed);
  check<float16>(MxType::Float4E2M1FN, MxType::Float4E2M1FN, 9, 11, 64, 0x1p-6F, 0, true, ++seed);
  check<float>(t, t, 4, 6, 0, 1, 0.5F, false, ++seed);
  check<float>(t, t, 4, 6, 33, 0, 0, false, ++seed);
}

template <class T>
void check_quantized(const char* executor, MxType type, std::int64_t rows, std::int64_t k, const std::vector<T>& x) {
  SCOPED_TRACE(::testing::Message() << executor << ' ' << name(type) << ' ' << rows << " x " << k);
  const Executor e = Executor::open(executor);
  const auto dx = Array<T>::from_host(e, {rows * k}, x);
  Recorder recorder(e);
  const MxMatrix q = mx_quantize(e, MatrixView<const T>::row_major(e, dx.data(), rows, k), type);
  EXPECT_EQ(recorder.family_of("blas.mx_quantize"), std::string(executor) == "host" ? "host" : "device");
  const auto scales = q.scales().to_host();
  const auto values = q.to_host();
  const Fields f = fields(type);
  const int codes = type == MxType::Float4E2M1FN ? 16 : 256;
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t g = 0; g * 32 < k; ++g) {
      double most = 0;
      bool finite = true;
      for (std::int64_t p = g * 32; p < std::min(k, g * 32 + 32); ++p) {
        const double v = static_cast<float>(x[static_cast<std::size_t>(i * k + p)]);
        finite = finite && std::isfinite(v);
        if (std::isfinite(v)) most = std::max(most, std::abs(v));
      }
      const int exponent = finite ? (most == 0 ? -1000 : std::ilogb(most)) : 128;
      const int s = std::clamp(exponent - (f.emax - 1) + 127, 0, 254);
      ASSERT_EQ(scales[static_cast<std::size_t>(g * q.padded_rows() + i)], s) << i << ' ' << g;
      const double scale = std::ldexp(1.0, s - 127);
      for (std::int64_t p = g * 32; p < std::min(k, g * 32 + 32); ++p) {
        const double v = static_cast<float>(x[static_cast<std::size_t>(i * k + p)]),
                     w = values[static_cast<std::size_t>(i * k + p)];
        if (std::isnan(v)) {
          EXPECT_TRUE(std::isnan(w));
          continue;
        }
        if (std::isinf(v)) {
          EXPECT_EQ(v, w);
          continue;
        }
        ASSERT_LE(std::abs(v - w), std::max(f.roundoff * std::abs(v), scale * f.smallest / 2)) << v;
        for (int c = 0; c < codes; ++c) {
          const double other = decode(type, c) * scale;
          if (std::isfinite(other)) {
            ASSERT_LE(std::abs(v - w), std::abs(v - other)) << v;
          }
        }
      }
    }
  }
}

template <class T> std::vector<T> numbers(std::int64_t count, unsigned seed, int low, int high) {
  std::mt19937 random(seed);
  std::vector<T> x;
  for (std::int64_t i = 0; i < count; ++i)
    x.push_back(T(std::ldexp(static_cast<float>(static_cast<int>(random() % 2001) - 1000) / 500.0F,
                             low + static_cast<int>(random() % static_cast<unsigned>(high - low)))));
  return x;
}

TEST(Mx, QuantizesToTheNearestCodeOfTheStatedScale) {
  for (const MxType type : {MxType::Float8E4M3FN, MxType::Float8E5M2}) {
    for (const char* executor : {"host", "sim:trn3"}) {
      check_quantized(executor, type, 5, 300, numbers<bfloat16>(1500, 1, -10, 10));
      check_quantized(executor, type, 4, 1030, numbers<bfloat16>(4120, 2, -3, 3));
      check_quantized(executor, type, 259, 5, numbers<float16>(1295, 3, -8, 8));
      check_quantized(executor, type, 2, 64, numbers<bfloat16>(128, 4, -130, -120));
      check_quantized(executor, type, 2, 64, std::vector<bfloat16>(128));
      check_quantized(executor, type, 1, 512, numbers<bfloat16>(512, 5, 100, 126));
      auto special = numbers<bfloat16>(96, 6, -3, 3);
      special[3] = bfloat16(std::numeric_limits<float>::infinity()), special[40] = bfloat16(std::nanf(""));
      special[95] = bfloat16(-std::numeric_limits<float>::infinity());
      check_quantized(executor, type, 1, 96, special);
    }
  }
  check_quantized("host", MxType::Float4E2M1FN, 5, 300, numbers<bfloat16>(1500, 7, -4, 4));
}

TEST(Mx, RefusesWhatItDoesNotHave) {
  const Executor e = Executor::host(), trn2 = Executor::open("sim:trn2"), trn3 = Executor::open("sim:trn3");
  const auto values = [](const Executor& x) { return Array<bfloat16>::from_host(x, {64}, std::vector<bfloat16>(64)); };
  const auto quantize = [&](const Executor& x, MxType type) {
    const auto v = values(x);
    return mx_quantize(x, MatrixView<const bfloat16>::row_major(x, v.data(), 2, 32), type);
  };
  EXPECT_THROW((void)quantize(trn2, MxType::Float8E4M3FN), NotImplemented);
  EXPECT_THROW((void)quantize(trn3, MxType::Float4E2M1FN), NotImplemented);
  const MxMatrix four = quantize(e, MxType::Float4E2M1FN);
  EXPECT_EQ(four.on(trn3).to_host(), four.to_host());
  Array<float> c(e, {4}), d(trn2, {4});
  EXPECT_THROW(mx_gemm(e, 1, four, quantize(e, MxType::Float8E5M2), 0, MatrixView<float>::row_major(e, c.data(), 4, 1)),
               InvalidArgument);
  EXPECT_THROW(mx_gemm(trn2, 1, four.on(trn2), four.on(trn2), 0, MatrixView<float>::row_major(trn2, d.data(), 2, 2)),
               NotImplemented);
  EXPECT_THROW((void)MxMatrix(e, MxType::Float8E5M2, -1, 2), InvalidArgument);
  const std::vector<std::uint8_t> codes(64, 16), scales(2, 127);
  EXPECT_THROW((void)MxMatrix::from_host(e, MxType::Float4E2M1FN, 2, 32, codes, scales), InvalidArgument);
  EXPECT_THROW((void)MxMatrix::from_host(e, MxType::Float8E5M2, 2, 33, codes, scales), InvalidArgument);
  auto nan = std::vector<bfloat16>(64);
  nan[7] = bfloat16(std::nanf(""));
  const auto x = Array<bfloat16>::from_host(e, {64}, nan);
  EXPECT_THROW((void)mx_quantize(e, MatrixView<const bfloat16>::row_major(e, x.data(), 2, 32), MxType::Float4E2M1FN),
               InvalidArgument);
}

}  // namespace
}  // namespace trn::blas
