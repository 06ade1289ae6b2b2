// scaled_gemm: the bits that its header states, by a plain loop of additions written here, on every executor; the error
// against 80-bit sums within the bound; and quantize against the definition, with a decoder of its own.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include <trn/blas/quantize.hpp>
#include <trn/core/array.hpp>
#include <trn/core/event.hpp>

namespace trn::blas {
namespace {

// A format by its fields: exponent and fraction bits, bias, and what the last codes mean.
template <class F> double decode(F x) {
  constexpr bool e5m2 = std::is_same_v<F, float8_e5m2>, fn = std::is_same_v<F, float8_e4m3fn>;
  constexpr int fraction_bits = e5m2 ? 2 : 3, exponent_bits = 7 - fraction_bits, bias = (1 << (exponent_bits - 1)) - 1;
  const int code = x.bits & 0x7f, exponent = code >> fraction_bits, fraction = code & ((1 << fraction_bits) - 1);
  const double sign = x.bits & 0x80 ? -1 : 1;
  if (fn ? code == 0x7f : exponent == (1 << exponent_bits) - 1)
    return !fn && fraction == 0 ? sign * std::numeric_limits<double>::infinity()
                                : std::numeric_limits<double>::quiet_NaN();
  return sign * (exponent == 0 ? std::ldexp(fraction, 1 - bias - fraction_bits)
                               : std::ldexp(fraction + (1 << fraction_bits), exponent - bias - fraction_bits));
}

template <class F> std::vector<F> codes(std::int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<F> x(static_cast<std::size_t>(count));
  for (F& v : x) {
    do v.bits = static_cast<std::uint8_t>(random());
    while (!std::isfinite(decode(v)));
  }
  return x;
}
std::vector<float> floats(std::int64_t count, unsigned seed, double low, double high) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> between(low, high);
  std::vector<float> x(static_cast<std::size_t>(count));
  for (float& v : x) v = static_cast<float>(between(random));
  return x;
}

struct Layout8 {
  bool a_by_columns, b_by_columns, c_by_columns;
  std::int64_t pad = 0;  // further elements between rows or columns
};
enum class Scaling { None, Tensor, Vectors, Blocks, BlocksOfA, PowersOfTwo };

template <class T> MatrixView<T> shaped(const Executor& e, T* data, std::int64_t rows, std::int64_t columns,
                                        bool by_columns, std::int64_t pad) {
  return by_columns ? MatrixView<T>(e, data, rows, columns, 1, rows + pad)
                    : MatrixView<T>(e, data, rows, columns, columns + pad, 1);
}
std::int64_t storage(std::int64_t rows, std::int64_t columns, bool by_columns, std::int64_t pad) {
  return by_columns ? columns * (rows + pad) : rows * (columns + pad);
}

template <class A, class B, class Out> void check(const std::vector<std::string>& executors, std::int64_t m,
                                                  std::int64_t n, std::int64_t k, Scaling scaling, Layout8 layout,
                                                  float alpha, float beta, unsigned seed, bool in_bfloat16 = false) {
  SCOPED_TRACE(::testing::Message() << m << " x " << n << " x " << k << ", scaling " << static_cast<int>(scaling)
                                    << ", layout " << layout.a_by_columns << layout.b_by_columns << layout.c_by_columns
                                    << " pad " << layout.pad << ", beta " << beta);
  const std::int64_t blocks = std::max<std::int64_t>(1, (k + 127) / 128), pad = layout.pad;
  const auto a = codes<A>(storage(m, k, layout.a_by_columns, pad), seed);
  const auto b = codes<B>(storage(k, n, layout.b_by_columns, pad), seed + 1);
  const auto old = floats(storage(m, n, layout.c_by_columns, pad), seed + 2, -1e4, 1e4);
  const bool both_in_blocks = scaling == Scaling::Blocks || scaling == Scaling::PowersOfTwo,
             in_blocks = both_in_blocks || scaling == Scaling::BlocksOfA;
  const std::int64_t sa_rows = scaling == Scaling::Vectors || in_blocks ? m : 1, sa_blocks = in_blocks ? blocks : 1,
                     sb_columns = scaling == Scaling::Vectors || both_in_blocks ? n : 1,
                     sb_blocks = both_in_blocks ? blocks : 1;
  auto sa = floats(sa_rows * sa_blocks, seed + 3, 0.01, 2), sb = floats(sb_blocks * sb_columns, seed + 4, 0.01, 2);
  if (scaling == Scaling::PowersOfTwo) {
    for (auto* scales : {&sa, &sb}) {
      for (float& x : *scales)  // from 2^-30 to 2^29; small enough for the sums of a float16 C
        x = std::ldexp(x < 1 ? 1.0F : -1.0F,
                       std::is_same_v<Out, float16> ? static_cast<int>(x * 4) - 15 : static_cast<int>(x * 30) - 30);
    }
  }
  const auto a_at = [&](std::int64_t i, std::int64_t p) {
    return a[static_cast<std::size_t>(layout.a_by_columns ? i + p * (m + pad) : i * (k + pad) + p)];
  };
  const auto b_at = [&](std::int64_t p, std::int64_t j) {
    return b[static_cast<std::size_t>(layout.b_by_columns ? p + j * (k + pad) : p * (n + pad) + j)];
  };
  const auto c_index = [&](std::int64_t i, std::int64_t j) {
    return static_cast<std::size_t>(layout.c_by_columns ? i + j * (m + pad) : i * (n + pad) + j);
  };
  std::vector<Out> before(old.size());
  for (std::size_t i = 0; i < old.size(); ++i) before[i] = Out(beta == 0 ? std::nanf("") : old[i]);
  // The stated order, and the exact value.
  std::vector<Out> expected = before;
  std::vector<long double> exact(old.size()), size(old.size());
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      float result = 0, sum = 0, all = 0;
      long double total = 0, terms = 0;
      const std::int64_t depth = in_blocks ? 128 : 256;
      const auto factor = [&](std::int64_t t, auto times) {
        const float
            x = scaling == Scaling::None
                    ? 1
                    : sa[static_cast<std::size_t>((sa_rows > 1 ? i : 0) * sa_blocks + (sa_blocks > 1 ? t : 0))],
            y = scaling == Scaling::None
                    ? 1
                    : sb[static_cast<std::size_t>((sb_blocks > 1 ? t : 0) * sb_columns + (sb_columns > 1 ? j : 0))];
        return times(x, y);
      };
      const auto rounded = [&](float x, float y) { return (alpha * x) * y; };
      const auto precise = [&](float x, float y) { return (long double)alpha * x * y; };
      for (std::int64_t p = 0; p < k; ++p) {
        const double x = decode(a_at(i, p)), y = decode(b_at(p, j));
        sum = static_cast<float>(x * y) + sum;
        const long double term = precise(1, 1) == 0 ? 0 : factor(p / 128, precise) * x * y;
        total += term, terms += std::abs(term);
        if ((p + 1) % depth == 0 || p + 1 == k) {
          if (in_blocks)
            result = result + factor(p / 128, rounded) * sum;
          else
            all = p < depth ? sum : all + sum;
          sum = 0;
        }
      }
      if (!in_blocks && k > 0) result = factor(0, rounded) * all;
      const float c = beta == 0 ? 0 : static_cast<float>(before[c_index(i, j)]);
      if (k == 0 || alpha == 0) {
        expected[c_index(i, j)] = Out(beta == 0 ? 0.0F : beta * c);
      } else {
        expected[c_index(i, j)] = Out(beta == 0 ? result : beta * c + result);
      }
      exact[c_index(i, j)] = total + (long double)beta * c;
      size[c_index(i, j)] = terms + std::abs((long double)beta * c);
    }
  }
  for (const std::string& name : executors) {
    SCOPED_TRACE(name);
    const Executor e = Executor::open(name);
    const auto da = Array<A>::from_host(e, {static_cast<std::int64_t>(a.size())}, a);
    const auto db = Array<B>::from_host(e, {static_cast<std::int64_t>(b.size())}, b);
    auto dc = Array<Out>::from_host(e, {static_cast<std::int64_t>(before.size())}, before);
    const auto dsa = Array<float>::from_host(e, {static_cast<std::int64_t>(sa.size())}, sa);
    const auto dsb = Array<float>::from_host(e, {static_cast<std::int64_t>(sb.size())}, sb);
    ScaledOptions options;
    if (scaling != Scaling::None) {
      options.scale_a = MatrixView<const float>::row_major(e, dsa.data(), sa_rows, sa_blocks);
      options.scale_b = MatrixView<const float>::row_major(e, dsb.data(), sb_blocks, sb_columns);
    }
    Recorder recorder(e);
    const Accuracy accuracy =
        scaled_gemm(e, Op::N, Op::N, alpha, shaped<const A>(e, da.data(), m, k, layout.a_by_columns, pad),
                    shaped<const B>(e, db.data(), k, n, layout.b_by_columns, pad), beta,
                    shaped<Out>(e, dc.data(), m, n, layout.c_by_columns, pad), options);
    EXPECT_EQ(recorder.family_of("blas.scaled_gemm"), name == "host" ? "host" : "device");
    if (name != "host" && scaling == Scaling::PowersOfTwo) {
      EXPECT_EQ(recorder.count(EventKind::Run), in_bfloat16 ? 3 : 1);
    }
    const std::vector<Out> after = dc.to_host();
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        const std::size_t at = c_index(i, j);
        ASSERT_EQ(std::memcmp(&after[at], &expected[at], sizeof(Out)), 0)
            << i << ' ' << j << ": " << static_cast<float>(after[at]) << " for " << static_cast<float>(expected[at]);
        ASSERT_LE(std::abs(static_cast<long double>(static_cast<float>(after[at])) - exact[at]),
                  accuracy.bound * size[at]);
      }
    }
    // Nothing between the rows was touched.
    for (std::size_t i = 0; i < after.size(); ++i) {
      if (size[i] == 0 && exact[i] == 0 && std::memcmp(&after[i], &before[i], sizeof(Out)) != 0) {
        ASSERT_EQ(static_cast<float>(after[i]), 0) << i;
      }
    }
  }
}

TEST(ScaledGemm, StatedBitsInEveryLayout) {
  for (const bool a : {false, true}) {
    for (const bool b : {false, true}) {
      for (const bool c : {false, true}) {
        for (const std::int64_t pad : {0, 6}) {
          check<float8_e4m3, float8_e4m3, float>({"host", "sim:trn2"}, 33, 20, 300, Scaling::Vectors, {a, b, c, pad}, 1,
                                                 0, 11);
          check<float8_e4m3, float8_e4m3, float>({"host", "sim:trn2"}, 20, 37, 300, Scaling::Blocks, {a, b, c, pad},
                                                 -0.3F, 0.7F, 12);
        }
      }
    }
  }
}

TEST(ScaledGemm, BothSidesOfEveryEdge) {
  unsigned seed = 100;
  for (const std::int64_t k : {1, 2, 127, 128, 129, 255, 256, 257, 1024, 1100, 1281}) {
    for (const Scaling scaling : {Scaling::Tensor, Scaling::BlocksOfA}) {
      check<float8_e4m3, float8_e4m3, float>({"host", "sim:trn2"}, 3, 5, k, scaling, {false, true, false}, 1.25F, 1,
                                             ++seed);
      check<float8_e4m3, float8_e4m3, float>({"host", "sim:trn2"}, 2, 9, k, scaling, {true, false, true}, 1.25F, 0.1F,
                                             ++seed);
    }
  }
  for (const std::int64_t m : {1, 128, 129, 513})
    check<float8_e4m3, float8_e4m3, float>({"host", "sim:trn2"}, m, 6, 40, Scaling::Vectors, {}, 1, 0, ++seed);
  for (const std::int64_t n : {1, 512, 513, 1025})
    check<float8_e4m3, float8_e4m3, float>({"host", "sim:trn2"}, 5, n, 40, Scaling::Blocks, {}, 1, 1, ++seed);
  check<float8_e4m3, float8_e4m3, float>({"host", "sim:trn2"}, 4, 6, 0, Scaling::Tensor, {}, 1, 0.5F, ++seed);
  check<float8_e4m3, float8_e4m3, float>({"host", "sim:trn2"}, 4, 6, 9, Scaling::Tensor, {}, 0, 0, ++seed);
}

// Scales for each 128 of k that are powers of two: three programs, operands with their scales in bfloat16, where the
// product is large enough and the factor is a power of two, too; the stated bits either way.
TEST(ScaledGemm, ScalesThatArePowersOfTwo) {
  unsigned seed = 300;
  const auto run = [&]<class A, class B, class Out>(A, B, Out, const char* machine, std::int64_t m, std::int64_t n,
                                                    std::int64_t k, Layout8 layout, float alpha, float beta,
                                                    bool in_bfloat16) {
    check<A, B, Out>({"host", machine}, m, n, k, Scaling::PowersOfTwo, layout, alpha, beta, ++seed, in_bfloat16);
  };
  const float8_e4m3 e4{};
  const float8_e5m2 e5{};
  run(e4, e4, 0.0F, "sim:trn2", 130, 20, 4097, {false, true, false}, 1, 0, true);
  run(e4, e5, bfloat16{}, "sim:trn2", 257, 6, 2811, {false, true, true, 3}, -0.25F, 0.7F, true);
  run(e5, e5, 0.0F, "sim:trn3", 5, 1025, 2800, {true, false, false}, 2, 1, true);
  run(float8_e4m3fn{}, e5, float16{}, "sim:trn3", 3, 514, 4096, {true, true, false}, 0x1p-19F, 0, true);
  run(e4, e4, 0.0F, "sim:trn2", 130, 20, 3900, {false, true, false}, 1, 0, false);  // too small
  run(e4, e4, 0.0F, "sim:trn2", 3, 5, 8193, {false, true, false}, 0.3F, 0, false);  // not a power of two
  run(e4, e4, 0.0F, "sim:trn2", 3, 5, 8193, {false, true, false}, 0x1p25F, 0, false);
}

TEST(ScaledGemm, EveryPairOfTypes) {
  check<float8_e5m2, float8_e4m3, bfloat16>({"host", "sim:trn2", "sim:trn3"}, 17, 21, 290, Scaling::Vectors, {}, 1, 0,
                                            5);
  check<float8_e4m3, float8_e5m2, float16>({"host", "sim:trn2"}, 17, 21, 90, Scaling::None, {}, 0x1p-14F, 0, 6);
  check<float8_e5m2, float8_e5m2, float>({"host", "sim:trn3"}, 17, 21, 290, Scaling::Blocks, {}, 1, 1, 7);
  check<float8_e4m3fn, float8_e4m3fn, float>({"host", "sim:trn3"}, 17, 21, 290, Scaling::Tensor, {}, 1, 0.25F, 8);
  check<float8_e4m3fn, float8_e5m2, bfloat16>({"host", "sim:trn3"}, 17, 21, 290, Scaling::Blocks, {false, true, true},
                                              1, 0.25F, 9);
}

float mantissa(float x) {
  int exponent;
  return std::frexp(x, &exponent);
}

template <class F> void check_quantized(const std::string& name, std::int64_t rows, std::int64_t columns,
                                        std::int64_t scale_rows, std::int64_t scale_columns, bool by_columns,
                                        std::vector<float> x) {
  SCOPED_TRACE(::testing::Message() << name << ' ' << rows << " x " << columns << ", scales " << scale_rows << " x "
                                    << scale_columns << (by_columns ? " by columns" : ""));
  const Executor e = Executor::open(name);
  const auto dx = Array<float>::from_host(e, {rows * columns}, x);
  Array<F> dq(e, {rows * columns});
  Array<float> ds(e, {scale_rows * scale_columns});
  Recorder recorder(e);
  quantize(e, shaped<const float>(e, dx.data(), rows, columns, by_columns, 0),
           shaped<F>(e, dq.data(), rows, columns, by_columns, 0),
           MatrixView<float>::row_major(e, ds.data(), scale_rows, scale_columns));
  EXPECT_EQ(recorder.family_of("blas.quantize"), name == "host" ? "host" : "device");
  const auto q = dq.to_host();
  const auto s = ds.to_host();
  const Float8Limits limits = float8_limits(dtype_of<F>);
  const auto at = [&](std::int64_t i, std::int64_t j) {
    return static_cast<std::size_t>(by_columns ? i + j * rows : i * columns + j);
  };
  for (std::int64_t g = 0; g < scale_rows * scale_columns; ++g) {
    const std::int64_t i0 = scale_rows == 1 ? 0 : g / scale_columns, i1 = scale_rows == 1 ? rows : i0 + 1,
                       j0 = scale_columns == 1 ? 0 : g % scale_columns * 128,
                       j1 = scale_columns == 1 ? columns : std::min(columns, j0 + 128);
    double most = 0;
    bool finite = true;
    for (std::int64_t i = i0; i < i1; ++i) {
      for (std::int64_t j = j0; j < j1; ++j) {
        const double v = x[at(i, j)];
        finite = finite && std::isfinite(v);
        most = std::max(most, std::abs(v));
      }
    }
    const float scale = s[static_cast<std::size_t>(g)];
    if (!finite) {
      EXPECT_TRUE(std::isnan(scale)) << scale;
      continue;
    }
    ASSERT_EQ(mantissa(scale), 0.5F) << scale;
    ASSERT_LE(most, scale * limits.largest);
    if (scale > 0x1p-126F) {
      ASSERT_GT(most, scale / 2 * limits.largest);
    }
    for (std::int64_t i = i0; i < i1; ++i) {
      for (std::int64_t j = j0; j < j1; ++j) {
        // No code lies nearer.
        const double v = x[at(i, j)], error = std::abs(v - scale * decode(q[at(i, j)]));
        ASSERT_LE(error, std::max(limits.roundoff * std::abs(v), scale * limits.smallest / 2)) << v;
        for (int c = 0; c < 256; ++c) {
          F other;
          other.bits = static_cast<std::uint8_t>(c);
          const double w = decode(other), distance = std::abs(v - scale * w);
          if (!std::isfinite(w)) continue;
          ASSERT_LE(error, distance);
          if (error == distance && w != decode(q[at(i, j)])) {
            ASSERT_EQ(q[at(i, j)].bits % 2, 0) << "ties to even " << v;
          }
        }
      }
    }
  }
}

std::vector<float> wide(std::int64_t count, unsigned seed, int low, int high) {
  std::mt19937 random(seed);
  std::vector<float> x(static_cast<std::size_t>(count));
  for (float& v : x)
    v = std::ldexp(static_cast<float>(static_cast<int>(random() % 4001) - 2000) / 1000.0F,
                   low + static_cast<int>(random() % static_cast<unsigned>(high - low)));
  return x;
}

TEST(Quantize, NearestCodesAndTheSmallestScale) {
  for (const char* name : {"host", "sim:trn2"}) {
    check_quantized<float8_e4m3>(name, 7, 300, 7, 3, false, wide(2100, 1, -20, 20));
    check_quantized<float8_e4m3>(name, 7, 300, 7, 1, false, wide(2100, 2, -5, 5));
    check_quantized<float8_e4m3>(name, 7, 300, 1, 1, false, wide(2100, 3, -5, 5));
    check_quantized<float8_e5m2>(name, 130, 9, 130, 1, true, wide(1170, 4, -12, 12));
    check_quantized<float8_e5m2>(name, 130, 9, 1, 1, true, wide(1170, 5, -12, 12));
    check_quantized<float8_e4m3>(name, 1, 128, 1, 1, false, std::vector<float>(128, 0.0F));
    check_quantized<float8_e4m3>(name, 1, 2050, 1, 17, false, wide(2050, 6, 90, 127));
    check_quantized<float8_e4m3>(name, 2, 2050, 2, 1, false, wide(4100, 7, -149, -120));
  }
  check_quantized<float8_e4m3fn>("sim:trn3", 3, 140, 3, 2, false, wide(420, 8, -9, 9));
  check_quantized<float8_e4m3fn>("host", 3, 140, 3, 2, false, wide(420, 8, -9, 9));
}

TEST(Quantize, TheEdgesOfTheLargestNumber) {
  // 240 s fits exactly, the next float above it does not.
  for (const char* name : {"host", "sim:trn2"}) {
    const float fits = 240, above = std::nextafter(240.0F, 1e9F);
    check_quantized<float8_e4m3>(name, 2, 1, 2, 1, false, {fits, above});
    check_quantized<float8_e4m3>(name, 2, 1, 2, 1, false, {std::ldexp(fits, -100), -std::ldexp(above, -100)});
    check_quantized<float8_e5m2>(name, 2, 1, 2, 1, false, {57344, std::nextafter(57344.0F, 1e9F)});
  }
}

TEST(Quantize, WhatIsNotFiniteHasNoFiniteScale) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  for (const char* name : {"host", "sim:trn2"}) {
    check_quantized<float8_e4m3>(name, 4, 3, 4, 1, false, {1, 2, 3, 1, nan, 3, -inf, 2, 3, nan, inf, 1});
    check_quantized<float8_e4m3>(name, 2, 3, 1, 1, false, {1, 2, 3, 1, nan, 3});
  }
}

template <class T> MatrixView<T> matrix(const Array<T>& x) {
  return MatrixView<T>::row_major(x.executor(), x.data(), x.shape()[0], x.shape()[1]);
}

TEST(ScaledGemm, QuantizedProductsWithinTheirTwoBounds) {
  const std::int64_t m = 40, n = 30, k = 500;
  const auto x = wide(m * k, 21, -3, 3), y = wide(k * n, 22, -3, 3);
  for (const char* name : {"host", "sim:trn2"}) {
    const Executor e = Executor::open(name);
    const auto dx = Array<float>::from_host(e, {m, k}, x), dy = Array<float>::from_host(e, {k, n}, y);
    Array<float8_e4m3> qx(e, {m, k}), qy(e, {k, n});
    Array<float> sx(e, {m, 4}), sy(e, {4, n}), c(e, {m, n});
    quantize(e, matrix(dx), matrix(qx), matrix(sx));
    quantize(e, matrix(dy).transposed(), matrix(qy).transposed(), matrix(sy).transposed());
    ScaledOptions options;
    options.scale_a = matrix(sx), options.scale_b = matrix(sy);
    const Accuracy accuracy = scaled_gemm(e, Op::N, Op::N, 1, matrix(qx), matrix(qy), 0, matrix(c), options);
    const auto result = c.to_host(), s = sx.to_host(), t = sy.to_host();
    double largest = 0;
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        double exact = 0, bound = 0;
        for (std::int64_t p = 0; p < k; ++p) {
          const double u = x[static_cast<std::size_t>(i * k + p)], v = y[static_cast<std::size_t>(p * n + j)];
          const double eu = std::max(std::abs(u) / 16, 0x1p-10 * s[static_cast<std::size_t>(i * 4 + p / 128)]),
                       ev = std::max(std::abs(v) / 16, 0x1p-10 * t[static_cast<std::size_t>(p / 128 * n + j)]);
          exact += u * v;
          bound +=
              std::abs(u) * ev + eu * std::abs(v) + eu * ev + accuracy.bound * (std::abs(u) + eu) * (std::abs(v) + ev);
        }
        const double error = std::abs(result[static_cast<std::size_t>(i * n + j)] - exact);
        ASSERT_LE(error, bound);
        largest = std::max(largest, error / bound);
      }
    }
    EXPECT_GT(largest, 0.01);
  }
}

TEST(ScaledGemm, RefusesWhatItDoesNotHave) {
  const Executor e = Executor::host(), trn1 = Executor::open("sim:trn1"), trn2 = Executor::open("sim:trn2");
  const auto product = [](const Executor& x, auto a, auto b, ScaledOptions options = {}) {
    const auto p = Array<decltype(a)>::from_host(x, {2, 4}, std::vector<decltype(a)>(8));
    const auto q = Array<decltype(b)>::from_host(x, {4, 2}, std::vector<decltype(b)>(8));
    Array<float> c(x, {2, 2});
    scaled_gemm(x, Op::N, Op::N, 1, matrix(p), matrix(q), 0, matrix(c), options);
  };
  EXPECT_NO_THROW(product(e, float8_e4m3{}, float8_e4m3{}));
  EXPECT_THROW(product(e, float8_e4m3{}, float8_e4m3fn{}), InvalidArgument);
  EXPECT_THROW(product(trn1, float8_e4m3{}, float8_e4m3{}), NotImplemented);
  EXPECT_THROW(product(trn2, float8_e4m3fn{}, float8_e4m3fn{}), NotImplemented);
  std::vector<float> s(8, 1.0F);
  ScaledOptions three;
  three.scale_a = MatrixView<const float>::row_major(e, s.data(), 3, 1);
  EXPECT_THROW(product(e, float8_e4m3{}, float8_e4m3{}, three), InvalidArgument);
  ScaledOptions blocks;
  blocks.scale_b = MatrixView<const float>::row_major(e, s.data(), 2, 1);
  EXPECT_THROW(product(e, float8_e4m3{}, float8_e4m3{}, blocks), InvalidArgument);
  EXPECT_THROW((void)float8_limits(DType::Float32), InvalidArgument);
  EXPECT_THROW(scaled_gemm_ex(e, Op::N, Op::N, 1, TypedMatrix(e, DType::Float8E4M3, s.data(), -3, 2, 2, 1),
                              TypedMatrix(e, DType::Float8E4M3, s.data(), 2, 2, 2, 1), 0,
                              TypedMatrix(e, DType::Float32, s.data(), -3, 2, 2, 1)),
               InvalidArgument);
}

// ceil(k / 128) scales where k is 0, and no rows at all.
TEST(ScaledGemm, EmptyOperandsHaveEmptyScales) {
  const Executor e = Executor::host();
  std::vector<float> c(12, 5.0F), s(12), x(12);
  std::vector<float8_e4m3> q(12);
  ScaledOptions none;
  none.scale_a = MatrixView<const float>(e, s.data(), 3, 0, 1, 1);
  scaled_gemm(e, Op::N, Op::T, 1, MatrixView<const float8_e4m3>(e, q.data(), 3, 0, 1, 1),
              MatrixView<const float8_e4m3>(e, q.data(), 4, 0, 1, 1), 0, MatrixView<float>(e, c.data(), 3, 4, 4, 1),
              none);
  EXPECT_EQ(c, std::vector<float>(12, 0.0F));
  EXPECT_NO_THROW(quantize(e, MatrixView<const float>(e, x.data(), 3, 0, 1, 1),
                           MatrixView<float8_e4m3>(e, q.data(), 3, 0, 1, 1),
                           MatrixView<float>(e, s.data(), 3, 0, 1, 1)));
  EXPECT_NO_THROW(quantize(e, MatrixView<const float>(e, x.data(), 0, 511, 511, 1),
                           MatrixView<float8_e4m3>(e, q.data(), 0, 511, 511, 1),
                           MatrixView<float>(e, s.data(), 0, 4, 4, 1)));
}

}  // namespace
}  // namespace trn::blas
