// The Tensor Engine against a plain loop of std::fma, bit for bit, and its transposes as moves of bits.
#include <hwy/highway.h>
#include <hwy/targets.h>
#include <omp.h>

#include <bit>
#include <cmath>
#include <limits>
#include <tuple>

#include "interpreter_harness.hpp"
#include "sim/matmul_kernel.hpp"
#include "support/every_target.hpp"

namespace trn::neuron::sim {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// c(m, n) = fma chain over k = 0 .. K-1 from zero.
std::vector<float> chain(const Values& a, const Values& b, std::int64_t k_end, std::int64_t m_end, std::int64_t n_end) {
  std::vector<float> c(static_cast<std::size_t>(m_end * n_end));
  for (std::int64_t m = 0; m < m_end; ++m) {
    for (std::int64_t n = 0; n < n_end; ++n) {
      float sum = 0;
      for (std::int64_t k = 0; k < k_end; ++k) {
        sum = std::fma(static_cast<float>(a[static_cast<std::size_t>(k * m_end + m)]),
                       static_cast<float>(b[static_cast<std::size_t>(k * n_end + n)]), sum);
      }
      c[static_cast<std::size_t>(m * n_end + n)] = sum;
    }
  }
  return c;
}

struct Size {
  std::int64_t k, m, n;
};
const std::vector<Size> kSizes{{1, 1, 1},     {31, 33, 5},   {32, 127, 511},  {33, 32, 513},
                               {127, 1, 512}, {128, 31, 49}, {128, 128, 512}, {2, 128, 1}};

TEST(NcMatmul, BitsOfAFusedChainForEverySizeAndDType) {
  for (const DType dtype : kDeviceFloats) {
    for (const Size s : kSizes) {
      Rig rig("trn3");
      const Values a = rounded(normals(s.k * s.m, 1), dtype), b = rounded(normals(s.k * s.n, 2), dtype);
      const Access x = rig.tile("a", dtype, s.k, s.m, a), y = rig.tile("b", dtype, s.k, s.n, b);
      const Access c = rig.b.psum("c", s.m, {s.n});
      rig.b.nc_matmul(c, x, y);
      rig.b.nc_matmul(c, x, y, {.accumulate = 1});
      rig.emit("out", c, Space::Psum);
      rig.run();
      const std::vector<float> expected = chain(a, b, s.k, s.m, s.n);
      const std::vector<std::uint32_t> got = rig.words("out");
      for (std::size_t i = 0; i < expected.size(); ++i) {
        ASSERT_EQ(got[i], std::bit_cast<std::uint32_t>(expected[i] + expected[i]))
            << name(dtype) << " K=" << s.k << " M=" << s.m << " N=" << s.n << " element " << i;
      }
    }
  }
}

TEST(NcMatmul, SmallIntegersAreExact) {
  Rig rig;
  Values a(128 * 128), b(128 * 512);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<double>(i * 7 % 257) - 128;
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<double>(i * 11 % 255) - 127;
  const Access c = rig.b.psum("c", 128, {512});
  rig.b.nc_matmul(c, rig.tile("a", DType::BFloat16, 128, 128, a), rig.tile("b", DType::BFloat16, 128, 512, b));
  rig.emit("out", c, Space::Psum);
  rig.run();
  const Values got = rig.values("out");
  for (std::size_t m = 0; m < 128; m += 17) {
    for (std::size_t n = 0; n < 512; n += 13) {
      long long sum = 0;
      for (std::size_t k = 0; k < 128; ++k) {
        sum += static_cast<long long>(a[k * 128 + m]) * static_cast<long long>(b[k * 512 + n]);
      }
      ASSERT_EQ(got[m * 512 + n], static_cast<double>(sum));
    }
  }
}

template <class Real> void kernel_matches_chain(std::int64_t k_end, std::int64_t m_end, std::int64_t n_end) {
  std::mt19937 generator(5);
  std::normal_distribution<Real> normal;
  const auto make = [&](std::int64_t n) {
    std::vector<Real> v(static_cast<std::size_t>(n));
    for (Real& x : v) x = normal(generator);
    return v;
  };
  const std::vector<Real> a = make(k_end * m_end), b = make(k_end * n_end), c0 = make(m_end * n_end);
  std::vector<const Real*> rows_a, rows_b;
  for (std::int64_t k = 0; k < k_end; ++k) rows_a.push_back(&a[static_cast<std::size_t>(k * m_end)]);
  for (std::int64_t k = 0; k < k_end; ++k) rows_b.push_back(&b[static_cast<std::size_t>(k * n_end)]);
  for (const bool accumulate : {false, true}) {
    std::vector<Real> c = c0;
    multiply(MatmulOperands<Real>{rows_a.data(), rows_b.data(), k_end, m_end, n_end, c.data(), n_end, accumulate});
    for (std::int64_t m = 0; m < m_end; ++m) {
      for (std::int64_t n = 0; n < n_end; ++n) {
        Real sum = 0;
        for (std::size_t k = 0; k < rows_a.size(); ++k) sum = std::fma(rows_a[k][m], rows_b[k][n], sum);
        const auto i = static_cast<std::size_t>(m * n_end + n);
        ASSERT_EQ(c[i], accumulate ? c0[i] + sum : sum) << k_end << " x " << m_end << " x " << n_end;
      }
    }
  }
}

TEST(NcMatmul, SameBitsOnEveryInstructionSetAndThreadCount) {
  const int threads = omp_get_max_threads();
  const int targets = testing_support::on_every_target([&] {
    for (const int n : {1, 2}) {
      omp_set_num_threads(n);
      for (const Size s : kSizes) {
        kernel_matches_chain<float>(s.k, s.m, s.n);
        kernel_matches_chain<double>(s.k, s.m, s.n);
      }
    }
  });
  omp_set_num_threads(threads);
  EXPECT_GE(targets, 2);
}

// The 8-bit formats of trn3 in every pair that it takes, summed in fp32 and in bfloat16, in all rows and in half of
// them.
TEST(NcMatmul, DoubleRowOnTrn3) {
  using enum DType;
  const std::int64_t k = 40, m = 6, n = 9;
  for (const auto& [left, right] : {std::pair(Float8E4M3FN, Float8E4M3FN), std::pair(Float8E4M3FN, Float8E5M2),
                                    std::pair(Float8E4M3, Float8E5M2), std::pair(Float8E5M2, Float8E5M2)}) {
    for (const DType sum : {Float32, BFloat16}) {
      for (const std::int64_t rows : {0, 64}) {
        Rig rig("trn3");
        const Values a = rounded(normals(128 * 2 * m, 3), left), b = rounded(normals(128 * 2 * n, 4), right);
        const Access x = rig.tile("a", left, 128, 2 * m, a).split(0, m),
                     y = rig.tile("b", right, 128, 2 * n, b).split(0, n);
        const Access c = rig.b.psum("c", m, {n}, sum);
        MatmulOptions options{.perf_mode = MatmulMode::DoubleRow};
        if (rows != 0) options.tile = {.row = 64, .column = 0, .rows = rows, .columns = 128};
        rig.b.nc_matmul(c, x(ds(64, k)), y(ds(64, k)), options);
        rig.emit("out", c, Space::Psum);
        rig.run();
        const auto from = [](const Values& v, std::int64_t width, std::int64_t count) {
          const auto first = v.begin() + 64 * 2 * width;
          return Values(first, first + count * 2 * width);
        };
        const std::vector<float> expected = chain(from(a, m, k), from(b, n, k), 2 * k, m, n);
        for (std::size_t i = 0; i < expected.size(); ++i) {
          ASSERT_EQ(rig.values("out")[i], rounded(expected[i], sum)) << name(left) << " by " << name(right);
        }
      }
    }
  }
}

TEST(NcMatmul, PartsOfTheArrayDoNotChangeBits) {
  const Values a = rounded(normals(128 * 128, 1), DType::BFloat16), b = rounded(normals(128 * 40, 2), DType::BFloat16);
  for (const char* machine : {"trn1", "trn2", "trn3"}) {
    const std::int64_t size = tile::machine(machine).array_tile_min;
    Rig rig(machine);
    const Access x = rig.tile("a", DType::BFloat16, 128, 128, a), y = rig.tile("b", DType::BFloat16, 128, 40, b);
    const Access whole = rig.b.psum("whole", size, {40}), part = rig.b.psum("part", 128, {40});
    const std::int64_t row = 128 - size, column = 64;
    const Access s = x(ds(row, size), ds(0, size)), m = y(ds(row, size), all), there = part(ds(column, size), all);
    rig.b.nc_matmul(whole, s, m);
    rig.b.nc_matmul(there, s, m, {.tile = {.row = row, .column = column, .rows = size, .columns = size}});
    rig.emit("one", whole, Space::Psum);
    rig.emit("other", there, Space::Psum);
    rig.run();
    EXPECT_EQ(rig.words("one"), rig.words("other")) << machine;
    EXPECT_NE(rig.words("one")[0], 0u);
  }
}

TEST(NcMatmul, DoubleRowContractsPairsInOrder) {
  Rig rig("trn2");
  const std::int64_t k = 33, m = 5, n = 7;
  const DType fp8 = DType::Float8E4M3;
  const Values a = rounded(normals(k * 2 * m, 3), fp8), b = rounded(normals(k * 2 * n, 4), fp8);
  const Access x = rig.tile("a", fp8, k, 2 * m, a).split(0, m), y = rig.tile("b", fp8, k, 2 * n, b).split(0, n);
  const Access c = rig.b.psum("c", m, {n});
  rig.b.nc_matmul(c, x, y, {.perf_mode = MatmulMode::DoubleRow});
  rig.emit("out", c, Space::Psum);
  rig.run();
  // Row-major [K, 2, M] is already the contraction order (k, i).
  const std::vector<float> expected = chain(a, b, 2 * k, m, n);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(rig.words("out")[i], std::bit_cast<std::uint32_t>(expected[i]));
  }
}

TEST(NcMatmul, StridedOperandsAndDestination) {
  Rig rig;
  const Values a = normals(8 * 12, 5), b = normals(8 * 10, 6);
  const Access x = rig.tile("a", DType::Float32, 8, 12, a).split(0, 2)(all, all, ds(1, 1));  // odd columns
  const Access y = rig.tile("b", DType::Float32, 8, 10, b).split(0, 5).permute({1, 0});      // columns 0,5,1,6,...
  const Access c = rig.b.psum("c", 6, {20});
  rig.b.memset(c, 7.0, Engine::Vector);
  rig.b.nc_matmul(c.split(0, 2)(all, all, ds(0, 1)), x, y);
  rig.emit("out", c, Space::Psum);
  rig.run();
  Values odd, mixed;
  for (std::size_t k = 0; k < 8; ++k) {
    for (std::size_t j = 0; j < 6; ++j) odd.push_back(a[k * 12 + 2 * j + 1]);
    for (std::size_t j = 0; j < 10; ++j) mixed.push_back(b[k * 10 + j % 2 * 5 + j / 2]);
  }
  const std::vector<float> expected = chain(odd, mixed, 8, 6, 10);
  const Values got = rig.values("out");
  for (std::size_t m = 0; m < 6; ++m) {
    for (std::size_t n = 0; n < 10; ++n) {
      EXPECT_EQ(got[m * 20 + 2 * n], expected[m * 10 + n]);
      EXPECT_EQ(got[m * 20 + 2 * n + 1], 7.0);
    }
  }
}

TEST(NcMatmul, NanAndInfinityFollowIeee) {
  Rig rig;
  const Access c = rig.b.psum("c", 1, {4});
  rig.b.nc_matmul(c, rig.tile("a", DType::Float32, 2, 1, {1, 0}),
                  rig.tile("b", DType::Float32, 2, 4, {1, kInf, kNan, 2, 5, 1, 1, kInf}));
  rig.emit("out", c, Space::Psum);
  rig.run();
  const Values got = rig.values("out");
  EXPECT_TRUE(same(got[0], 1));
  EXPECT_TRUE(same(got[1], kInf));
  EXPECT_TRUE(same(got[2], kNan));
  EXPECT_TRUE(same(got[3], kNan));  // 0 * infinity
}

TEST(NcMatmul, Bf16PsumRoundsOnEveryAccumulate) {
  Rig rig("trn3");
  const Access one = rig.tile("one", DType::BFloat16, 1, 1, {1});
  const Access c = rig.b.psum("c", 1, {1}, DType::BFloat16);
  rig.b.nc_matmul(c, one, rig.tile("b", DType::BFloat16, 1, 1, {256}));
  rig.b.nc_matmul(c, one, one, {.accumulate = 1});  // 257 is a tie between 256 and 258: even mantissa is 256
  rig.b.nc_matmul(c, one, rig.tile("d", DType::BFloat16, 1, 1, {3}), {.accumulate = 1});  // 259 -> 260
  rig.emit("out", c, Space::Psum);
  rig.run();
  EXPECT_EQ(rig.values("out")[0], 260);
}

TEST(NcTranspose, MovesBitsOfEveryDType) {
  std::mt19937 generator(9);
  std::vector<DType> dtypes = kDeviceFloats;
  dtypes.insert(dtypes.end(), kIntegers.begin(), kIntegers.end());
  for (const Engine engine : {Engine::Tensor, Engine::Vector}) {
    for (const DType dtype : dtypes) {
      for (const auto& [p, f] : {std::pair{1, 1}, {31, 33}, {128, 127}, {32, 128}}) {
        Rig rig;
        const auto size = static_cast<std::size_t>(size_bytes(dtype));
        std::vector<std::uint8_t> bits(static_cast<std::size_t>(p * f) * size);
        for (std::uint8_t& byte : bits) byte = static_cast<std::uint8_t>(generator());
        const Access source = rig.input_bytes("x", dtype, {p, f}, bits);
        const Access t = rig.b.sbuf("t", p, {f}, dtype);
        const Access out = engine == Engine::Tensor ? rig.b.psum("o", f, {p}, dtype) : rig.b.sbuf("o", f, {p}, dtype);
        rig.b.dma_copy(t, source);
        rig.b.nc_transpose(out, t, engine);
        rig.emit("out", out, engine == Engine::Tensor ? Space::Psum : Space::Sbuf);
        rig.run();
        const std::vector<std::uint8_t>& got = rig.bytes("out");
        for (std::size_t r = 0; r < static_cast<std::size_t>(p); ++r) {
          for (std::size_t c = 0; c < static_cast<std::size_t>(f); ++c) {
            ASSERT_EQ(0, std::memcmp(&got[(c * static_cast<std::size_t>(p) + r) * size],
                                     &bits[(r * static_cast<std::size_t>(f) + c) * size], size));
          }
        }
      }
    }
  }
}

// Identity matmul: an infinity stays where it is and spoils the rest of its row of the result; NaN spoils all of it.
TEST(NcTranspose, ByIdentityMatmulOnTrn1) {
  Rig rig("trn1");
  ASSERT_FALSE(rig.machine.pass_through_transpose);
  const Access t = rig.tile("x", DType::Float32, 3, 4, {1, kInf, kNan, -0.0, 2, 3, 4, 5, 6, 7, 8, 9});
  const Access out = rig.b.psum("o", 4, {3});
  rig.b.nc_transpose(out, t);
  rig.emit("out", out, Space::Psum);
  rig.run();
  const Values expected{1, 2, 6, kInf, kNan, kNan, kNan, kNan, kNan, 0.0, 5, 9};
  const Values got = rig.values("out");
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_TRUE(same(got[i], expected[i])) << i;
}

TEST(NcMatmul, PassThroughTransposeMovesBits) {
  Rig rig;
  const Values x{1, kInf, kNan, -0.0, 2, 3};
  const Access t = rig.tile("x", DType::Float32, 2, 3, x);
  const Access identity = rig.tile("i", DType::Float32, 2, 2, {1, 0, 0, 1});
  const Access swap = rig.tile("s", DType::Float32, 2, 2, {0, 1, 1, 0});
  const Access a = rig.b.psum("a", 3, {2}), c = rig.b.psum("c", 3, {2});
  rig.b.nc_matmul(a, t, identity, {.is_transpose = true});
  rig.b.nc_matmul(c, t, swap, {.is_transpose = true});
  rig.emit("plain", a, Space::Psum);
  rig.emit("swapped", c, Space::Psum);
  rig.run();
  for (std::size_t m = 0; m < 3; ++m) {
    for (std::size_t n = 0; n < 2; ++n) {
      EXPECT_TRUE(same(rig.values("plain")[m * 2 + n], x[n * 3 + m]));
      EXPECT_TRUE(same(rig.values("swapped")[m * 2 + n], x[(1 - n) * 3 + m]));
    }
  }
}

TEST(NcMatmul, PassThroughRefusesWhatIsNoSelection) {
  const auto run = [](const Values& moving) {
    Rig rig;
    const Access a = rig.b.psum("a", 3, {2});
    rig.b.nc_matmul(a, rig.tile("x", DType::Float32, 2, 3, Values(6, 1.0)), rig.tile("i", DType::Float32, 2, 2, moving),
                    {.is_transpose = true});
    rig.emit("out", a, Space::Psum);
    rig.run();
  };
  EXPECT_EQ(check_of([&] { run({1, 1, 0, 1}); }), "illegal-operand");
  EXPECT_EQ(check_of([&] { run({1, 0, 0, 2}); }), "illegal-operand");
  EXPECT_EQ(check_of([&] { run({1, 0, 0, 1}); }), "");
}

TEST(NcTranspose, EightBitElementsFillSixteenBits) {
  Rig rig;
  const Access source = rig.input_bytes("x", DType::Float8E4M3, {1, 2}, {0x81, 0x7f});
  const Access t = rig.b.sbuf("t", 1, {2}, DType::Float8E4M3);
  const Access out = rig.b.psum("o", 2, {1}, DType::UInt16);
  rig.b.dma_copy(t, source);
  rig.b.nc_transpose(out, t);
  rig.emit("out", out, Space::Psum);
  rig.run();
  EXPECT_EQ(rig.values("out"), (Values{0x81, 0x7f}));
}

}  // namespace
}  // namespace trn::neuron::sim
