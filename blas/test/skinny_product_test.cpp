// Skinny products, the long operand stationary: gemm of every type and layout against long double within its bound, the
// same bits in every order, the text for NKI, and modelled times beside those of the engines.
#include <gtest/gtest.h>

#include <algorithm>

#include <trn/blas/gemm_program.hpp>
#include <trn/neuron/sim.hpp>

#include "gemm_support.hpp"
#include "support/nki_run.hpp"

namespace trn::blas::test {
namespace {

GemmShape shape_of(const Case& t, DType in, DType out) {
  const bool ta = t.op_a == Op::T, tb = t.op_b == Op::T;
  const bool by_columns = t.c == Layout::ColumnMajor;
  GemmShape s{in, out, t.m, t.n, t.k, ta ? 1 : t.k, ta ? t.m : 1, tb ? 1 : t.n, tb ? t.k : 1};
  s.cm = by_columns ? 1 : t.n, s.cn = by_columns ? t.m : 1;
  s.alpha = t.alpha == 1 ? Factor::One : Factor::Input;
  s.beta = t.beta == 0 ? Factor::Zero : t.beta == 1 ? Factor::One : Factor::Input;
  return s;
}

// Its blocks of the long operand have this name.
bool is_skinny(const tile::Program& p) {
  return std::any_of(p.tiles().begin(), p.tiles().end(), [](const auto& t) { return t.name == "x_block"; });
}
tile::Program skinny_program(const GemmShape& s, const char* machine) {
  tile::Program p = gemm_program(s, tile::machine(machine));
  EXPECT_TRUE(is_skinny(p)) << s.m << " x " << s.n << " x " << s.k << " on " << machine;
  return p;
}

// C's rows and columns; the long operand's unit index that of C and not; one, two and four parts of the array; several
// tiles of k and a ragged one; rests of rests.
const std::vector<Case> kCases = {
    {5, 4100, 70, Op::T, Op::N},
    {4099, 17, 33, Op::T, Op::N, 1, 0, Layout::RowMajor, Layout::RowMajor, Layout::RowMajor},
    {24, 8151, 130, Op::N, Op::N, -1.5},
    {13, 4201, 20, Op::N, Op::N, 1, 1},
    {4111, 3, 260, Op::T, Op::N, 2, -0.5},
    {4103, 7, 40, Op::T, Op::T, 1, 0, Layout::RowMajor, Layout::RowMajor, Layout::ColumnMajor},
};

template <class In, class Out> void check_cases(const char* executor, const std::vector<std::size_t>& numbers) {
  const Executor e = Executor::open(executor);
  for (const std::size_t i : numbers) {
    const Case& t = kCases[i];
    (void)skinny_program(shape_of(t, dtype_of<In>, dtype_of<Out>), executor + 4);
    check<In, Out>(e, t, 100 + i);
  }
}

TEST(SkinnyProduct, EveryTypeWithinGemmsBound) {
  check_cases<float, float>("sim:trn2", {0, 1, 2, 3, 4, 5});
  check_cases<bfloat16, float>("sim:trn2", {0, 4});
  check_cases<bfloat16, bfloat16>("sim:trn2", {1, 4});
  check_cases<float16, float16>("sim:trn2", {1, 5});
  check_cases<tfloat32, float>("sim:trn2", {1, 5});
  check_cases<float, float>("sim:trn3", {0, 2, 4});
}

TEST(SkinnyProduct, LayoutsWithGaps) {
  const Executor e = Executor::open("sim:trn2");
  for (const Layout a : {Layout::ColumnMajor, Layout::PaddedColumns, Layout::Reversed}) {
    for (const Layout c : {Layout::PaddedRows, Layout::Scattered, Layout::ColumnMajor})
      check<float, float>(e, {2051, 9, 31, Op::N, Op::N, 1.25, -1, a, Layout::PaddedRows, c}, 7);
  }
}

TEST(SkinnyProduct, AnyOrderGivesTheSameBits) {
  for (const std::size_t i : {std::size_t{0}, std::size_t{3}, std::size_t{4}}) {
    const Case& t = kCases[i];
    const tile::Program program = skinny_program(shape_of(t, DType::Float32, DType::Float32), "trn2");
    std::mt19937_64 random(i);
    std::normal_distribution<float> normal;
    std::vector<float> a(static_cast<std::size_t>(t.m * t.k)), b(static_cast<std::size_t>(t.k * t.n)),
        c(static_cast<std::size_t>(t.m * t.n));
    for (auto* v : {&a, &b, &c}) {
      for (float& x : *v) x = normal(random);
    }
    const auto alpha = static_cast<float>(t.alpha), beta = static_cast<float>(t.beta);
    const auto run = [&](const neuron::SimOptions& options) {
      std::vector<float> d = c;
      const std::vector<tile::Binding> bindings{{"a", a.data()}, {"b", b.data()},   {"c_in", d.data()},
                                                {"c", d.data()}, {"alpha", &alpha}, {"beta", &beta}};
      (void)neuron::simulate(program, tile::machine("trn2"), bindings, options);
      return d;
    };
    const auto in_order = run({.order = neuron::Order::in_order()});
    for (std::uint64_t seed = 1; seed <= 3; ++seed) EXPECT_EQ(run({.order = neuron::Order::shuffled(seed)}), in_order);
    EXPECT_EQ(run({.order = neuron::Order::in_order(), .check_races = true}), in_order);
  }
}

TEST(SkinnyProduct, EmittedKernelGivesTheSimulatorsBits) {
  for (const char* machine : {"trn2", "trn3"}) {
    for (const Case& t : {Case{3, 4100, 33, Op::N, Op::N}, Case{4100, 2, 130, Op::T, Op::N, 2, 0.5}})
      neuron::testing::expect_agreement(skinny_program(shape_of(t, DType::Float32, DType::Float32), machine));
  }
}

// Seconds of the engines: bytes at the DMA engines' rate, matmuls of `short` columns in a warm array where k fills it.
TEST(SkinnyProduct, ModelledTimesAreNearTheEngines) {
  struct Row {
    Case c;
    double seconds;  // as modelled when this was written, five in a hundred more
  };
  for (const Row& row : {Row{{97344, 24, 312, Op::T, Op::N}, 417e-6}, Row{{24, 97344, 312}, 445e-6},
                         Row{{373248, 24, 72, Op::T, Op::N}, 553e-6}, Row{{24, 373248, 72}, 498e-6}}) {
    const tile::Machine& trn2 = tile::machine("trn2");
    const double seconds =
        neuron::estimate(skinny_program(shape_of(row.c, DType::Float32, DType::Float32), "trn2"), trn2).seconds;
    const auto m = static_cast<double>(row.c.m), n = static_cast<double>(row.c.n), k = static_cast<double>(row.c.k);
    const double moved = 4 * (m * k + k * n + m * n) / trn2.dma_bytes_per_s();
    EXPECT_LE(seconds, row.seconds);
    EXPECT_LE(seconds, 1.4 * moved);
    EXPECT_GE(seconds, 0.9 * moved);
  }
}

}  // namespace
}  // namespace trn::blas::test
