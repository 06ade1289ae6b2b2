// What a simulated matmul costs this machine rests on one thing: the simulator multiplies whole tiles at the host's
// speed, and nothing else grows with the arithmetic. Counted, not timed: the instructions of a gemm and the
// multiplications they stand for. The ratio of the times themselves is printed by `trnsci bench blas.gemm --exec
// host,sim:trn2`.
#include <trn/blas/gemm_program.hpp>
#include <trn/neuron/sim.hpp>

#include <gtest/gtest.h>

namespace trn::blas::test {
namespace {

TEST(GemmSpeed, AFewInstructionsPerTileOfTheProduct) {
  constexpr std::int64_t n = 2048, tiles = (n / 128) * (n / 128) * (n / 512);
  GemmShape s;
  s.m = s.n = s.k = n;
  s.am = s.bk = s.cm = n;
  for (const char* name : {"trn1", "trn2", "trn3"}) {
    const tile::Machine& machine = tile::machine(name);
    const neuron::RunReport report = neuron::estimate(gemm_program(s, machine), machine);
    EXPECT_EQ(report.matmul_flops, 2.0 * n * n * n) << name;
    EXPECT_GE(report.instructions, tiles) << name;
    EXPECT_LE(report.instructions, 2 * tiles) << name;
  }
}

}  // namespace
}  // namespace trn::blas::test
