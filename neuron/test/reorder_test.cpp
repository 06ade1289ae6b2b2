// tile::reorder: the same bits, copies out of PSUM merged, loads moved ahead, no dependence broken, and its limits.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <random>
#include <trn/core/convert.hpp>
#include <trn/core/error.hpp>
#include <trn/neuron/sim.hpp>
#include <trn/tile/builder.hpp>
#include <trn/tile/reorder.hpp>
#include <vector>

#include "validation/published.hpp"
#include "validation/replay.hpp"

namespace trn::neuron {
namespace {

using namespace trn::tile;

constexpr auto F32 = DType::Float32, BF16 = DType::BFloat16;

// The bytes of every output, inputs drawn at random.
std::map<std::string, std::vector<std::uint8_t>> outputs(const Program& program, const Machine& machine) {
  std::map<std::string, std::vector<std::uint8_t>> memory;
  std::mt19937_64 random(11);
  std::normal_distribution<double> normal;
  std::vector<Binding> bindings;
  for (const TensorDecl& t : program.tensors()) {
    if (t.kind == TensorKind::Scratch) continue;
    const auto count = static_cast<std::size_t>(element_count(t.shape));
    std::vector<std::uint8_t>& bytes = memory[t.name];
    bytes.assign(count * static_cast<std::size_t>(size_bytes(t.dtype)), 0);
    std::vector<double> values(count);
    std::ranges::generate(values, [&] { return normal(random); });
    if (t.kind == TensorKind::Input)
      from_double(values.data(), t.dtype, bytes.data(), static_cast<std::int64_t>(count));
    bindings.push_back({t.name, bytes.data()});
  }
  (void)simulate(program, machine, bindings, {.order = Order::in_order()});
  for (const TensorDecl& t : program.tensors()) {
    if (t.kind != TensorKind::Output) memory.erase(t.name);
  }
  return memory;
}

void same_bits(const Program& program, const Machine& machine) {
  const Program other = reorder(program, machine);
  const auto expected = outputs(program, machine), got = outputs(other, machine);
  ASSERT_FALSE(expected.empty());
  EXPECT_TRUE(expected == got) << program.name() << " on " << machine.name;
}

TEST(Reorder, PublishedKernelsKeepTheirBits) {
  using namespace validation;
  for (const char* name : {"trn1", "trn2", "trn3"}) {
    const Machine& m = machine(name);
    same_bits(vector_add(m, 3, 40), m);
    same_bits(streamed_matmul(m, {BF16, 256, 512, 256}), m);
    same_bits(blocked_matmul(m, {BF16, 256, 1024, 256}, {.bm = 2, .bn = 1}), m);
    same_bits(fully_blocked_matmul(m, {F32, 256, 512, 256}, {.bm = 2, .bn = 1, .bk = 1}), m);
    same_bits(mamba_v3(m, {.channels = 128, .length = 1024, .states = 2}), m);
    same_bits(rotary(m, 1024), m);
  }
  const Machine& trn2 = machine("trn2");
  same_bits(gelu_matmul(trn2, {F32, 128, 1024, 256}, Activated::InPlace), trn2);
  same_bits(transpose_1024(trn2), trn2);
}

// Four transposes, each followed by its copy: one copy of four.
Program transposes(const Machine& m, bool read_between) {
  Builder b("transposes", m);
  const Access x = b.input("x", BF16, {128, 512}), y = b.output("y", BF16, {128, 512});
  const Access from = b.sbuf("from", 128, {512}, BF16), to = b.sbuf("to", 128, {512}, BF16);
  const Access turned = b.psum("turned", 128, {512}, BF16);
  b.dma_copy(from, x);
  for (std::int64_t i = 0; i < 4; ++i) {
    const Slice here = ds(i * 128, 128);
    b.nc_transpose(turned(all, here), from(all, here));
    b.tensor_copy(to(all, here), turned(all, here), Engine::Vector);
    if (read_between) b.tensor_scalar(from(all, here), to(all, here), AluOp::Add, 1.0, {.engine = Engine::Vector});
  }
  b.dma_copy(y, read_between ? from : to);
  return b.finish();
}

std::int64_t copies(const Program& p) {
  return std::ranges::count_if(p.instructions(), [](const Instruction& i) { return i.opcode() == Opcode::TensorCopy; });
}

TEST(Reorder, CopiesOutOfPsumThatContinueOneAnotherAreMerged) {
  const Machine& m = machine("trn2");
  EXPECT_EQ(copies(reorder(transposes(m, false), m)), 1);
  same_bits(transposes(m, false), m);
}

// What is used before the next copy stays where it is.
TEST(Reorder, ACopyThatIsUsedStays) {
  const Machine& m = machine("trn2");
  EXPECT_EQ(copies(reorder(transposes(m, true), m)), 4);
  same_bits(transposes(m, true), m);
}

// Two chains one after the other, each engine idle half of the time: interleaved they overlap.
TEST(Reorder, IndependentTilesAreInterleaved) {
  const Machine& m = machine("trn2");
  Builder b("chains", m);
  const Access y = b.output("y", F32, {8, 128, 512});
  for (std::int64_t i = 0; i < 8; ++i) {
    const Access s = b.sbuf("s", 128, {512}, F32), t = b.sbuf("t", 128, {512}, F32);
    b.memset(s, static_cast<double>(i), Engine::Vector);
    for (int k = 0; k < 4; ++k) {
      b.tensor_copy(t, s, Engine::Scalar);
      b.tensor_scalar(s, t, AluOp::Add, 1.0, {.engine = Engine::Vector});
    }
    b.dma_copy(y(ds(i, 1), all, all), s);
  }
  const Program p = b.finish();
  same_bits(p, m);
  EXPECT_LT(estimate(reorder(p, m), m).seconds, 0.8 * estimate(p, m).seconds);
}

TEST(Reorder, KeepsEveryInstructionWhenNothingMerges) {
  const Machine& m = machine("trn2");
  const Program p = validation::streamed_matmul(m, {BF16, 256, 512, 256});
  const Program r = reorder(p, m);
  EXPECT_EQ(r.dynamic_instructions(), p.dynamic_instructions());
  EXPECT_EQ(estimate(r, m).hbm_read_bytes, estimate(p, m).hbm_read_bytes);
  EXPECT_TRUE(r.loops().empty());
}

TEST(Reorder, RefusesWhatIsTooLongToUnroll) {
  const Machine& m = machine("trn2");
  const Program p = validation::streamed_matmul(m, {BF16, 256, 512, 256});
  EXPECT_THROW((void)reorder(p, m, {.limit = p.dynamic_instructions() - 1}), NotImplemented);
  EXPECT_NO_THROW((void)reorder(p, m, {.limit = p.dynamic_instructions()}));
}

TEST(Replay, NamesTheLineItCannotRead) {
  const Machine& m = machine("trn2");
  const auto message = [&](const char* text) -> std::string {
    try {
      (void)validation::replay(m, "p", text);
    } catch (const InvalidArgument& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_NE(message("sbuf 4096\njump 0\n").find("line 2"), std::string::npos);
  EXPECT_NE(message("sbuf 4096\ncopy vector sbuf 0 16 float32 sbuf 64 16\n").find("ends too early"), std::string::npos);
  EXPECT_NE(message("copy vector sbuf 0 16 float32 sbuf 64 16 float32\n").find("SBUF size"), std::string::npos);
  EXPECT_EQ(message("sbuf 4096\nload hardware x 0 64 1\ncopy vector sbuf 0 16 float32 sbuf 64 16 float32\n"), "");
}

// The instructions of a stream, by engine, in number.
TEST(Replay, StreamsKeepTheirInstructions) {
  const Machine& m = machine("trn2");
  const RunReport r =
      estimate(validation::replay(m, "p", validation::attention_stream(validation::Attention::Fused, F32)), m);
  EXPECT_EQ(r.instructions, 69);
  EXPECT_EQ(r.lanes[0].instructions, 40);  // 20 transposes, 4 + 16 matmuls
  EXPECT_EQ(r.matmul_flops, 2.0 * 128 * 128 * (4 * 512 + 16 * 128));
}

}  // namespace
}  // namespace trn::neuron
