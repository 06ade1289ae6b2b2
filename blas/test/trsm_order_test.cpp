// The trsm kernel does not depend on the order its parallel parts run in, touches nothing twice, and reaches the speed
// that its documents state.
#include "support/nki_run.hpp"
#include "trsm_support.hpp"

namespace trn::blas::test {
namespace {

using neuron::Order;

TEST(TrsmOrder, ShuffledEqualsInOrder) {
  for (const char* machine : {"trn1", "trn2", "trn3"}) {
    for (const TrsmCase& c :
         {TrsmCase{false, 300, 30, 0b0011001, Mode::Tf32x3}, TrsmCase{false, 520, 70, 0b100, Mode::Native},
          TrsmCase{true, 100, 20, 0b0111001, Mode::Native}}) {
      TriangularProblem p(shape_of(c), 0.05, 1, 21);
      p.run(machine);
      const std::vector<float> in_order = p.x, residual = p.residual;
      for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        p.run(machine, {.order = Order::shuffled(seed)});
        EXPECT_EQ(std::memcmp(p.x.data(), in_order.data(), in_order.size() * sizeof(float)), 0)
            << machine << " seed " << seed;
        EXPECT_EQ(p.residual, residual) << machine << " seed " << seed;
      }
    }
  }
}

TEST(TrsmOrder, NoTwoParallelIterationsTouchTheSameBytes) {
  for (const int variant : {0b0011001, 0b0000100}) {
    TriangularProblem real(shape_of({false, 660, 1100, variant}), 0.02, 1, 22);
    EXPECT_NO_THROW(real.run("trn2", {.order = Order::in_order(), .check_races = true}));
    TriangularProblem complex(shape_of({true, 140, 30, variant, Mode::Tf32x3}), 0.05, 1, 23);
    EXPECT_NO_THROW(complex.run("trn1", {.order = Order::in_order(), .check_races = true}));
  }
}

// Wide storage removes every rounding on the chip but that of X in HBM.
TEST(TrsmOrder, WideIsTheAlgorithmWithoutRounding) {
  TriangularProblem p(shape_of({false, 200, 10, 0b0010001}), 0.05, 1, 24);
  p.run("trn2", {.storage = neuron::Storage::Wide, .order = Order::in_order()});
  EXPECT_LE(p.measure().to_terms, 1.01 * 0x1p-24);
}

TEST(TrsmNki, EmittedKernelGivesTheSimulatorsBits) {
  // A triangle that random inputs would not be: a dominant diagonal.
  const auto inputs = [](std::int64_t m, std::int64_t planes) {
    return neuron::testing::Inputs{{"a", [=](std::int64_t e) {
                                      const std::int64_t i = e / planes / m, j = e / planes % m;
                                      return i == j ? 2.0 + 0.01 * static_cast<double>(i % 7)
                                                    : 0.02 * static_cast<double>((i * 31 + j * 17) % 13 - 6);
                                    }}};
  };
  const auto agree = [&](const char* machine, const TrsmCase& c) {
    SCOPED_TRACE(machine);
    neuron::testing::expect_agreement(trsm_program(shape_of(c), tile::machine(machine)),
                                      inputs(c.m, c.complex ? 2 : 1));
  };
  agree("trn1", {false, 150, 20, 0b0010001, Mode::Tf32x3});
  agree("trn2", {true, 70, 10, 0b0101010});
  agree("trn2", {false, 260, 70, 0b1100});
  agree("trn3", {false, 140, 30, 0b0001});
}

// T and B of 4096 rows and 4096 right-hand sides, modelled, launch included: against the product of the same size and
// mode.
TEST(TrsmModel, HalfOfGemmsRate) {
  const tile::Machine& trn2 = tile::machine("trn2");
  constexpr std::int64_t n = 4096;
  const double gemm_flops =
      2.0 * n * n * n /
      neuron::estimate(gemm_program({DType::Float32, DType::Float32, n, n, n, n, 1, n, 1, n, 1}, trn2), trn2).seconds;
  for (const int variant : {0b0000, 0b0001, 0b0101, 0b1001, 0b1101}) {
    const double flops =
        1.0 * n * n * n / neuron::estimate(trsm_program(shape_of({false, n, n, variant}), trn2), trn2).seconds;
    EXPECT_GE(flops, 0.5 * gemm_flops) << variant;
    EXPECT_GE(flops, 10e12) << variant;
  }
}

}  // namespace
}  // namespace trn::blas::test
