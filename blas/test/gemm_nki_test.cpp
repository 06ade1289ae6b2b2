// The gemm kernel on its way to silicon: its emitted NKI text, run by the NumPy stand-in, gives the simulator's bits.
#include <gtest/gtest.h>

#include <limits>

#include <trn/blas/gemm_program.hpp>
#include <trn/neuron/nki.hpp>

#include "support/nki_run.hpp"

namespace trn::blas {
namespace {

GemmShape shape(DType in, DType out, std::int64_t m, std::int64_t n, std::int64_t k, bool ta, bool tb, Factor alpha,
                Factor beta) {
  return {in, out, m, n, k, ta ? 1 : k, ta ? m : 1, tb ? 1 : n, tb ? k : 1, n, 1, alpha, beta};
}

TEST(GemmNki, EmittedKernelGivesTheSimulatorsBits) {
  for (const char* name : {"trn1", "trn2", "trn3"}) {
    const tile::Machine& machine = tile::machine(name);
    SCOPED_TRACE(name);
    neuron::testing::expect_agreement(gemm_program(
        shape(DType::BFloat16, DType::Float32, 140, 530, 300, false, false, Factor::One, Factor::Zero), machine));
    neuron::testing::expect_agreement(gemm_program(
        shape(DType::Float32, DType::Float32, 70, 40, 130, false, true, Factor::One, Factor::Zero), machine));
    neuron::testing::expect_agreement(gemm_program(
        shape(DType::TFloat32, DType::Float32, 40, 70, 129, true, false, Factor::Input, Factor::Zero), machine));
    neuron::testing::expect_agreement(gemm_program(
        shape(DType::Float16, DType::Float16, 33, 65, 20, true, true, Factor::Input, Factor::Input), machine));
  }
}

// Column-major C and padded leading dimensions reach the kernel as flat memory.
TEST(GemmNki, StridedOperands) {
  GemmShape s{DType::Float32, DType::Float32, 20, 30, 40};
  s.am = 1, s.ak = 23, s.bk = 35, s.bn = 1, s.cm = 37, s.cn = 1;
  neuron::testing::expect_agreement(gemm_program(s, tile::machine("trn2")));
}

// The canonical shapes as people would read them.
TEST(GemmNki, Golden) {
  const tile::Machine& trn2 = tile::machine("trn2");
  neuron::testing::expect_golden(
      gemm_program(shape(DType::BFloat16, DType::BFloat16, 256, 512, 256, true, false, Factor::One, Factor::Zero),
                   trn2),
      "blas/test/golden/gemm_256x512x256_bf16_tn.py");
  neuron::testing::expect_golden(
      gemm_program(shape(DType::Float32, DType::Float32, 512, 512, 512, false, false, Factor::Input, Factor::Zero),
                   trn2),
      "blas/test/golden/gemm_512_fp32_nn_alpha.py");
}

// Both beyond what is written out: stores have the same descriptors.
TEST(GemmNki, TheTextDoesNotGrowWithTheShape) {
  const auto text = [](std::int64_t n, std::int64_t limit) {
    return neuron::emit_nki(
        gemm_program(shape(DType::BFloat16, DType::BFloat16, n, n, n, false, false, Factor::One, Factor::Zero),
                     tile::machine("trn2")),
        {.unroll_limit = limit});
  };
  const auto calls = [](const std::string& t) {
    int count = 0;
    for (std::size_t at = t.find("nisa."); at != std::string::npos; at = t.find("nisa.", at + 1)) ++count;
    return count;
  };
  constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(calls(text(16384, kNever)), calls(text(8192, kNever)));
  EXPECT_EQ(calls(text(16384, 1)), calls(text(8192, kNever)));
  // 16384^3 unrolls to far more than 20,000 instructions: by default its outer loop runs on the device.
  EXPECT_EQ(text(16384, neuron::NkiOptions{}.unroll_limit), text(16384, 1));
  EXPECT_NE(text(16384, 1).find("nl.fori_loop("), std::string::npos);
}

}  // namespace
}  // namespace trn::blas
