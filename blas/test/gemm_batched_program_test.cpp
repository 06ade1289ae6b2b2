// The device kernel of batched gemm, run as a program: every product against sums in wider arithmetic, strided and
// listed, small and large, in any order; what one product holds never reaches another.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <trn/blas/gemm_batched_program.hpp>
#include <trn/neuron/sim.hpp>

#include "support/nki_run.hpp"

namespace trn::blas::test {
namespace {

using neuron::Order;

// variant: bit 0 A, 1 B, 2 C with columns contiguous, 3 alpha, 4 beta, 5 padded leading dimensions.
BatchedProducts products(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t count, int variant) {
  const auto bit = [&](int i) { return (variant >> i & 1) != 0; };
  const std::int64_t pad = bit(5) ? 3 : 0;
  BatchedProducts g{m, n, k, count};
  const auto lay = [&](bool columns, std::int64_t r, std::int64_t c, std::int64_t& rs, std::int64_t& cs,
                       std::int64_t& stride) {
    rs = columns ? 1 : c + pad, cs = columns ? r + pad : 1;
    stride = (columns ? c * (r + pad) : r * (c + pad)) + pad;
  };
  lay(bit(0), m, k, g.am, g.ak, g.stride_a);
  lay(bit(1), k, n, g.bk, g.bn, g.stride_b);
  lay(bit(2), m, n, g.cm, g.cn, g.stride_c);
  g.alpha = bit(3) ? Factor::Input : Factor::One;
  g.beta = bit(4) ? Factor::Input : Factor::Zero;
  return g;
}

class Batch {
 public:
  Batch(std::vector<BatchedProducts> groups, bool listed, Mode mode = Mode::Native)
      : s{DType::Float32, mode, listed, std::move(groups)} {
    std::mt19937_64 random(31);
    std::normal_distribution<float> normal;
    for (const BatchedProducts& g : s.groups) {
      for (auto* v : {&a, &b, &c0}) v->emplace_back();
      const auto fill = [&](std::vector<float>& v, std::int64_t stride) {
        v.resize(static_cast<std::size_t>(stride * g.count));
        for (float& x : v) x = normal(random);
      };
      fill(a.back(), g.stride_a == 0 ? g.m * g.k : g.stride_a);
      fill(b.back(), g.stride_b == 0 ? g.k * g.n : g.stride_b);
      fill(c0.back(), g.stride_c);
    }
  }

  GemmBatchedShape s;
  std::vector<std::vector<float>> a, b, c0, c;  // by group
  float alpha = 0.75f, beta = -1.5f;

  void run(const char* machine_name, const neuron::SimOptions& options = {.order = Order::in_order()}) {
    const tile::Machine& machine = tile::machine(machine_name);
    c = c0;
    std::vector<tile::Binding> bindings;
    std::int64_t number = 0;
    for (std::size_t i = 0; i < s.groups.size(); ++i) {
      const BatchedProducts& g = s.groups[i];
      for (std::int64_t p = 0; p < (s.listed ? g.count : 1); ++p, ++number) {
        const std::string suffix = s.listed ? std::to_string(number) : "";
        const auto at = [&](std::vector<float>& v, std::int64_t stride) { return v.data() + p * stride; };
        if (multiplies(g)) {
          bindings.push_back({"a" + suffix, at(a[i], g.stride_a)});
          bindings.push_back({"b" + suffix, at(b[i], g.stride_b)});
        } else if (g.beta == Factor::One) {
          continue;
        }
        bindings.push_back({"c" + suffix, at(c[i], g.stride_c)});
        if (g.beta != Factor::Zero) bindings.push_back({"c_in" + suffix, at(c[i], g.stride_c)});
      }
      if (g.alpha == Factor::Input) bindings.push_back({"alpha" + std::to_string(i), &alpha});
      if (g.beta == Factor::Input) bindings.push_back({"beta" + std::to_string(i), &beta});
    }
    (void)neuron::simulate(gemm_batched_program(s, machine), machine, bindings, options);
  }

  static bool multiplies(const BatchedProducts& g) { return g.k > 0 && g.alpha != Factor::Zero; }

  // |C - exact| <= bound (|alpha| |A||B| + |beta| |C|), and nothing else written.
  void check() {
    for (std::size_t i = 0; i < s.groups.size(); ++i) {
      const BatchedProducts& g = s.groups[i];
      const double bound = gemm_batched_error_bound(s.mode, g.k);
      const double al = g.alpha == Factor::Input ? alpha
                        : g.alpha == Factor::One ? 1
                                                 : 0,
                   be = g.beta == Factor::Input ? beta
                        : g.beta == Factor::One ? 1
                                                : 0;
      std::vector<bool> named(c[i].size(), false);
      for (std::int64_t p = 0; p < g.count; ++p) {
        for (std::int64_t r = 0; r < g.m; ++r) {
          for (std::int64_t j = 0; j < g.n; ++j) {
            const auto at = static_cast<std::size_t>(p * g.stride_c + r * g.cm + j * g.cn);
            named[at] = true;
            long double sum = 0, scale = 0;
            for (std::int64_t k = 0; k < (al == 0 ? 0 : g.k); ++k) {
              const long double x = a[i][static_cast<std::size_t>(p * g.stride_a + r * g.am + k * g.ak)];
              const long double y = b[i][static_cast<std::size_t>(p * g.stride_b + k * g.bk + j * g.bn)];
              sum += x * y, scale += std::abs(x * y);
            }
            sum = al * sum + (be == 0 ? 0 : be * static_cast<long double>(c0[i][at]));
            scale = std::abs(al) * scale + std::abs(be == 0 ? 0 : be * c0[i][at]);
            if (!(std::abs(c[i][at] - sum) <= bound * scale))
              FAIL() << "group " << i << " product " << p << " (" << r << ", " << j << ")";
          }
        }
      }
      for (std::size_t k = 0; k < named.size(); ++k) {
        if (!named[k] && std::memcmp(&c[i][k], &c0[i][k], sizeof(float)) != 0)
          FAIL() << "element " << k << " outside the products was changed";
      }
    }
  }
};

void check_batch(const char* machine, std::vector<BatchedProducts> groups, bool listed, Mode mode = Mode::Native) {
  SCOPED_TRACE(::testing::Message() << machine << (listed ? " listed " : " strided ") << groups[0].m << " x "
                                    << groups[0].n << " x " << groups[0].k << " count " << groups[0].count
                                    << " strides " << groups[0].am << groups[0].bk << groups[0].cm << " mode "
                                    << name(mode));
  Batch batch(std::move(groups), listed, mode);
  batch.run(machine);
  batch.check();
}

TEST(GemmBatchedProgram, EveryLayoutAndFactor) {
  for (int variant = 0; variant < 64; ++variant) {
    check_batch("trn2", {products(13, 9, 21, 37, variant)}, variant % 3 == 0);
  }
}

TEST(GemmBatchedProgram, Sizes) {
  int variant = 0;
  for (const std::int64_t s : {1, 2, 31, 64, 65, 127, 128}) {
    check_batch("trn2", {products(s, 5, 7, 9, variant += 5)}, false);
    check_batch("trn2", {products(5, s, 7, 9, variant += 5)}, false);
    check_batch("trn2", {products(5, 7, s, 9, variant += 5)}, true);
  }
  for (const int v : {0, 3, 9, 22, 63}) {
    check_batch("trn2", {products(7, 300, 30, 3, v)}, false);
    check_batch("trn2", {products(130, 20, 260, 2, v)}, false);
    check_batch("trn2", {products(20, 530, 140, 2, v)}, true);
  }
  check_batch("trn2", {products(400, 40, 640, 2, 8)}, false);
}

// Products of one block and one chunk of k are taken in step, two or three at a time, with one or two left over; rows
// that are turned come in one load where they fill the partitions.
TEST(GemmBatchedProgram, SeveralInStep) {
  for (const int v : {0, 3, 9, 22}) {
    check_batch("trn2", {products(256, 130, 128, 4, v)}, false);
    check_batch("trn2", {products(129, 140, 256, 5, v)}, true);
  }
  check_batch("trn1", {products(128, 256, 512, 2, 8)}, false);
  check_batch("trn3", {products(256, 40, 256, 4, 16)}, false, Mode::Tf32x3);
  check_batch("trn2", {products(256, 20, 300, 2, 8)}, false);
  Batch batch({products(256, 140, 128, 7, 16)}, false);
  batch.run("trn2", {.order = Order::in_order(), .check_races = true});
  const auto in_order = batch.c;
  batch.run("trn2", {.order = Order::shuffled(5)});
  EXPECT_EQ(batch.c, in_order);
}

TEST(GemmBatchedProgram, EveryModeOnEveryMachine) {
  for (const char* machine : {"trn1", "trn2", "trn3"}) {
    for (const Mode mode : {Mode::Native, Mode::Tf32x3, Mode::Bf16}) {
      check_batch(machine, {products(33, 40, 64, 21, 1)}, false, mode);
      check_batch(machine, {products(33, 40, 64, 5, 18)}, true, mode);
      check_batch(machine, {products(140, 20, 300, 2, 8)}, false, mode);
    }
  }
}

TEST(GemmBatchedProgram, GroupsOfDifferentShapes) {
  auto nothing = products(4, 4, 4, 2, 0), zero = nothing, scaled = products(200, 7, 0, 3, 20);
  nothing.alpha = zero.alpha = Factor::Zero;
  nothing.beta = Factor::One;
  check_batch("trn2",
              {products(8, 8, 8, 3, 0), products(17, 3, 40, 2, 9), nothing, products(2, 130, 1, 4, 23), scaled, zero,
               products(150, 6, 140, 1, 3)},
              true);
}

// Without products C = beta C; A and B are not tensors of the program.
TEST(GemmBatchedProgram, ScalesWhereNothingIsMultiplied) {
  check_batch("trn2", {products(130, 7, 0, 5, 16)}, false);
  check_batch("trn2", {products(130, 7, 0, 5, 4)}, false);
  auto g = products(3, 4, 5, 6, 16);
  g.alpha = Factor::Zero;
  Batch batch({g}, false);
  batch.a[0].assign(batch.a[0].size(), NAN);
  batch.run("trn2");
  batch.check();
}

TEST(GemmBatchedProgram, SharedOperands) {
  for (int variant = 0; variant < 4; ++variant) {
    auto g = products(30, 20, 25, 40, variant);
    g.stride_a = 0;
    check_batch("trn2", {g}, false);
    g = products(30, 20, 25, 40, variant);
    g.stride_b = 0;
    check_batch("trn2", {g}, false, Mode::Tf32x3);
    g.stride_a = 0;
    check_batch("trn2", {g}, false);
  }
}

// NaN in one product stays there: products are never packed into one contraction.
TEST(GemmBatchedProgram, ProductsDoNotMeet) {
  Batch good({products(32, 32, 32, 20, 2)}, false), bad = good;
  const auto& g = bad.s.groups[0];
  bad.a[0][static_cast<std::size_t>(7 * g.stride_a + 5)] = NAN;
  bad.b[0][static_cast<std::size_t>(11 * g.stride_b + 5)] = INFINITY;
  good.run("trn2");
  bad.run("trn2");
  for (std::int64_t p = 0; p < g.count; ++p) {
    const std::size_t first = static_cast<std::size_t>(p * g.stride_c);
    const bool same =
        std::memcmp(&good.c[0][first], &bad.c[0][first], static_cast<std::size_t>(g.m * g.n) * sizeof(float)) == 0;
    EXPECT_EQ(same, p != 7 && p != 11) << p;
  }
}

TEST(GemmBatchedProgram, ShuffledEqualsInOrderWithoutRaces) {
  for (const char* machine : {"trn1", "trn2", "trn3"}) {
    for (const bool listed : {false, true}) {
      Batch batch({products(20, 30, 40, 60, 16)}, listed);
      batch.run(machine, {.order = Order::in_order(), .check_races = true});
      const auto in_order = batch.c;
      for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        batch.run(machine, {.order = Order::shuffled(seed)});
        EXPECT_EQ(batch.c, in_order) << machine << " seed " << seed;
      }
    }
  }
}

TEST(GemmBatchedProgram, EmittedKernelGivesTheSimulatorsBits) {
  neuron::testing::expect_agreement(gemm_batched_program(
      {DType::Float32, Mode::Native, false, {products(20, 30, 40, 19, 17)}}, tile::machine("trn2")));
  neuron::testing::expect_agreement(gemm_batched_program(
      {DType::Float32, Mode::Tf32x3, true, {products(20, 30, 40, 3, 8), products(130, 9, 4, 1, 0)}},
      tile::machine("trn1")));
}

TEST(GemmBatchedProgram, Refusals) {
  const tile::Machine& trn2 = tile::machine("trn2");
  EXPECT_THROW((void)gemm_batched_program({DType::Float64, Mode::Native, false, {products(2, 2, 2, 2, 0)}}, trn2),
               NotImplemented);
  EXPECT_THROW((void)gemm_batched_program({DType::Float32, Mode::Exact, false, {products(2, 2, 2, 2, 0)}}, trn2),
               NotImplemented);
  EXPECT_THROW((void)gemm_batched_program(
                   {DType::Float32, Mode::Native, false, {products(2, 2, 2, 2, 0), products(2, 2, 2, 2, 0)}}, trn2),
               InvalidArgument);
  EXPECT_THROW((void)gemm_batched_program({DType::Float32, Mode::Native, false, {products(2, 0, 2, 2, 0)}}, trn2),
               InvalidArgument);
}

// A thousand products of 64^3 in one program: 49 MB in runs of 256 bytes. The Tensor Engine is never busy enough to
// leave its cold rate, which is the limit; at full rate DMA would be, and the time 0.23 ms.
TEST(GemmBatchedModel, AThousandProductsOf64) {
  const tile::Machine& trn2 = tile::machine("trn2");
  const auto strided = neuron::estimate(
      gemm_batched_program({DType::Float32, Mode::Native, false, {products(64, 64, 64, 1000, 0)}}, trn2), trn2);
  EXPECT_LE(strided.seconds, 365e-6);
  EXPECT_GE(static_cast<double>(strided.hbm_read_bytes + strided.hbm_write_bytes) /
                (strided.seconds - strided.launch_seconds),
            0.33 * trn2.dma_bytes_per_s());
  const auto listed = neuron::estimate(
      gemm_batched_program({DType::Float32, Mode::Native, true, {products(64, 64, 64, 1000, 0)}}, trn2), trn2);
  EXPECT_LE(listed.seconds, 1.5e-3);  // 0.68 us of the load ring per matrix
}

// 64 products of 256^3: 256 transposes and 256 matmuls of 256 columns take 140 us of the Tensor Engine, 155 us with the
// launch.
TEST(GemmBatchedModel, ProductsOf256) {
  const tile::Machine& trn2 = tile::machine("trn2");
  const auto report = neuron::estimate(
      gemm_batched_program({DType::Float32, Mode::Native, false, {products(256, 256, 256, 64, 0)}}, trn2), trn2);
  EXPECT_LE(report.seconds, 155e-6 / 0.82);
}

}  // namespace
}  // namespace trn::blas::test
