// schedule: engines by least work, descriptor sources by machine, rings by direction and tensor; what the kernel fixed
// stays.
#include <gtest/gtest.h>

#include <set>
#include <trn/tile/builder.hpp>
#include <trn/tile/schedule.hpp>

namespace trn::tile {
namespace {

constexpr auto F32 = DType::Float32, BF16 = DType::BFloat16;

std::vector<Instruction> scheduled(Builder& b) { return schedule(b.finish(), b.machine()).instructions(); }

TEST(Schedule, CopiesAlternateBetweenEqualEngines) {
  Builder b("p", machine("trn2"));
  const Access s = b.psum("s", 128, {512});
  for (int i = 0; i < 5; ++i) b.tensor_copy(b.sbuf("t", 128, {512}, F32), s);
  // Out of PSUM: Vector (512 + 60) / 0.96 GHz = 596 ns, Scalar (512 + 54) / 1.2 GHz = 472 ns a copy. Loads after each
  // choice, (Vector, Scalar): (0, 472), (596, 472), (596, 943), (1192, 943), (1192, 1415).
  const auto i = scheduled(b);
  const Engine expected[] = {Engine::Scalar, Engine::Vector, Engine::Scalar, Engine::Vector, Engine::Scalar};
  for (std::size_t n = 0; n < 5; ++n) EXPECT_EQ(i[n].engine, expected[n]) << n;
}

TEST(Schedule, LoopsWeighTheirInstructions) {
  Builder b("p", machine("trn2"));
  const Access s = b.psum("s", 128, {512}), t = b.sbuf("t", 128, {512}, F32), u = b.sbuf("u", 128, {512}, F32);
  b.parallel("i", 100, [&](const Affine&) { b.tensor_copy(t, s, Engine::Scalar); });
  for (int n = 0; n < 3; ++n) b.tensor_copy(u, s);  // Scalar has a hundred copies already
  const auto i = scheduled(b);
  for (std::size_t n = 1; n < 4; ++n) EXPECT_EQ(i[n].engine, Engine::Vector);
}

TEST(Schedule, OnlyEnginesThatCanRunIt) {
  Builder b("p", machine("trn1"));
  const Access s = b.sbuf("s", 128, {512}, F32), i32 = b.sbuf("i", 128, {64}, DType::Int32),
               acc = b.psum("acc", 128, {64});
  b.memset(acc, 0);                                   // PSUM: not on GpSimd
  b.tensor_copy(s, s);                                // trn1's Scalar Engine has no tensor_copy
  b.tensor_tensor(i32, i32, i32, AluOp::Add);         // exact 32-bit integers: GpSimd
  b.tensor_tensor(s, s, s, AluOp::Power);             // GpSimd only
  b.tensor_tensor(i32, i32, i32, AluOp::BitwiseAnd);  // bits: Vector
  const auto i = scheduled(b);
  const Engine expected[] = {Engine::Vector, Engine::Vector, Engine::GpSimd, Engine::GpSimd, Engine::Vector};
  for (std::size_t n = 0; n < 5; ++n) EXPECT_EQ(i[n].engine, expected[n]) << n;
}

TEST(Schedule, DescriptorSources) {
  const auto sources = [](const char* machine_name) {
    Builder b("p", machine(machine_name));
    const Access x = b.input("x", F32, {128, 64}), t = b.sbuf("t", 128, {64}, F32);
    const Access row = b.sbuf("row", 128, {1}, DType::UInt32);
    b.iota(row, {{0, 1}}, 0, 1);
    b.dma_copy(t, x);
    if (b.machine().indirect_dma)
      b.dma_gather(t, x, row);
    else
      b.dma_copy(b.sbuf("half", 128, {64}, BF16), x);
    b.dma_copy(t, x, {.dge = DgeMode::Static});
    const auto i = scheduled(b);
    return std::vector<DgeMode>{dma_route(i[1])->dge, dma_route(i[2])->dge, dma_route(i[3])->dge};
  };
  EXPECT_EQ(sources("trn1"), (std::vector{DgeMode::Static, DgeMode::Static, DgeMode::Static}));
  EXPECT_EQ(sources("trn2"), (std::vector{DgeMode::Hardware, DgeMode::Software, DgeMode::Static}));
}

TEST(Schedule, ACastingDmaNeedsSoftware) {
  Builder b("p", machine("trn2"));
  b.dma_copy(b.sbuf("t", 128, {64}, BF16), b.input("x", F32, {128, 64}));
  EXPECT_EQ(dma_route(scheduled(b)[0])->dge, DgeMode::Software);
}

TEST(Schedule, HardwareRingsSeparateLoadsAndStores) {
  Builder b("p", machine("trn2"));
  const Access x = b.input("x", F32, {128, 64}), y = b.output("y", F32, {128, 64});
  const Access t = b.sbuf("t", 128, {64}, F32), u = b.sbuf("u", 128, {64}, F32);
  b.dma_copy(t, x);
  b.dma_copy(u, t);  // within SBUF
  b.dma_copy(y, u);
  b.dma_copy(y, u, {.ring = 0});
  const auto i = scheduled(b);
  const std::int32_t expected[] = {0, 0, 1, 0};
  for (std::size_t n = 0; n < 4; ++n) EXPECT_EQ(dma_route(i[n])->ring, expected[n]) << n;
}

TEST(Schedule, StaticRingsSeparateTensorsAndDirections) {
  Builder b("p", machine("trn1"));
  const Access x = b.input("x", F32, {128, 64}), y = b.output("y", F32, {128, 64}), h = b.scratch("h", F32, {128, 64});
  const Access t = b.sbuf("t", 128, {64}, F32);
  b.dma_copy(t, x);
  b.dma_copy(h, t);
  b.dma_copy(t, h);
  b.dma_copy(y, t);
  b.dma_copy(t, x);
  const auto i = scheduled(b);
  std::set<std::int32_t> rings;
  for (std::size_t n = 0; n < 4; ++n) rings.insert(dma_route(i[n])->ring);
  EXPECT_EQ(rings.size(), 4U);
  EXPECT_EQ(dma_route(i[4])->ring, dma_route(i[0])->ring);
}

TEST(Schedule, SettledProgramsStayAsTheyAre) {
  Builder b("p", machine("trn2"));
  const Access t = b.sbuf("t", 128, {64}, F32);
  b.dma_copy(t, b.input("x", F32, {128, 64}));
  b.memset(t, 0);
  const Program once = schedule(b.finish(), machine("trn2"));
  EXPECT_EQ(schedule(once, machine("trn2")), once);
}

TEST(Schedule, OpenTransposesGoWhereTheMemoriesAllow) {
  const Machine& m = machine("trn2");
  Builder b("turn", m);
  const Access x = b.sbuf("x", 32, {32}, DType::Float32), y = b.sbuf("y", 32, {32}, DType::Float32),
               p = b.psum("p", 32, {32});
  b.memset(x, 1);
  b.nc_transpose(y, x, Engine::Any);  // SBUF to SBUF: the Tensor Engine cannot
  b.nc_transpose(p, x, Engine::Any);
  const Program scheduled = schedule(b.finish(), m);
  EXPECT_EQ(scheduled.instructions()[1].engine, Engine::Vector);
  EXPECT_EQ(scheduled.instructions()[2].engine, Engine::Tensor);
}

}  // namespace
}  // namespace trn::tile
