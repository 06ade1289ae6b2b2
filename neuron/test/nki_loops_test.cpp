// Loops of long programs as nl.fori_loop: which ones, how addresses follow the register, and that the kernel still does
// the same.
#include <gtest/gtest.h>

#include <trn/neuron/nki.hpp>
#include <trn/tile/builder.hpp>

#include "support/nki_run.hpp"

namespace trn::neuron {
namespace {

using namespace trn::tile;

constexpr auto F32 = DType::Float32;
constexpr NkiOptions kAlways{.unroll_limit = 1};

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// y = 2 x, `rows` rows of 6 at a time.
Program doubled(std::int64_t blocks, std::int64_t rows, Strides strides = {}, DmaOptions options = {}) {
  Builder b("doubled", machine("trn2"));
  const Access x = b.input("x", F32, {blocks * rows, 6}, strides), y = b.output("y", F32, {blocks * rows, 6}, strides);
  b.parallel("i", blocks, [&](const Affine& i) {
    const Access t = b.sbuf("t", rows, {6}, F32, 2);
    b.dma_copy(t, x(ds(i * rows, rows)), options);
    b.tensor_scalar(t, t, AluOp::Multiply, 2.0);
    b.dma_copy(y(ds(i * rows, rows)), t);
  });
  return b.finish();
}

TEST(NkiLoops, ShortProgramsAreUnrolled) {
  const Program p = doubled(8, 4);
  EXPECT_TRUE(holds(emit_nki(p), "for i in range(8):")) << emit_nki(p);
  EXPECT_TRUE(holds(emit_nki(p, {.unroll_limit = 24}), "for i in range(8):"));
  EXPECT_FALSE(holds(emit_nki(p, {.unroll_limit = 23}), "range"));
}

TEST(NkiLoops, AnAddressFollowsTheRegister) {
  const std::string text = emit_nki(doubled(8, 4), kAlways);
  EXPECT_TRUE(holds(text, "    def each_i(i):\n")) << text;
  // 4 rows of 6 elements divide the array: the register counts blocks of 24.
  EXPECT_TRUE(holds(text, "x.reshape((8, 24)).ap(pattern=[[6, 4], [1, 6]], scalar_offset=i, indirect_dim=0)")) << text;
  EXPECT_TRUE(holds(text, "    nl.fori_loop(0, 8, each_i)\n")) << text;
  testing::expect_agreement(doubled(8, 4), {}, 0, kAlways);
}

// 40 elements of memory between blocks of 4 rows; 157 elements in all have no divisor but themselves: the register
// holds elements.
TEST(NkiLoops, TheRegisterTakesTheStepThatFits) {
  const Program p = doubled(4, 4, {10, 1});
  const std::string text = emit_nki(p, kAlways);
  EXPECT_TRUE(holds(text, "scalar_offset=i, indirect_dim=0")) << text;
  EXPECT_TRUE(holds(text, "nl.fori_loop(0, 160, each_i, step=40)")) << text;
  testing::expect_agreement(p, {}, 0, kAlways);
}

TEST(NkiLoops, InnerLoopsStayRangesAndAddTheirOffset) {
  Builder b("nest", machine("trn2"));
  const Access x = b.input("x", F32, {6, 8, 5}), y = b.output("y", F32, {6, 8, 5});
  b.parallel("i", 6, [&](const Affine& i) {
    b.sequential("j", 2, [&](const Affine& j) {
      const Access t = b.sbuf("t", 4, {5}, F32), from = x(ds(i, 1), ds(j * 4, 4)), to = y(ds(i, 1), ds(j * 4, 4));
      b.dma_copy(t, from);
      b.tensor_scalar(t, t, AluOp::Add, 1.0);
      b.dma_copy(to, t);
    });
  });
  const Program p = b.finish();
  const std::string text = emit_nki(p, kAlways);
  EXPECT_TRUE(holds(text, "def each_i(i):")) << text;
  EXPECT_TRUE(holds(text, "for j in range(2):")) << text;
  EXPECT_TRUE(holds(text, "x.ap(pattern=[[40, 1], [5, 4], [1, 5]], offset=j*20, scalar_offset=i, indirect_dim=0)"))
      << text;
  testing::expect_agreement(p, {}, 0, kAlways);
}

// What a register cannot reach: tiles, accumulation, descriptors made beforehand.
TEST(NkiLoops, OthersStayRanges) {
  EXPECT_TRUE(holds(emit_nki(doubled(8, 4, {}, {.dge = DgeMode::Static}), kAlways), "for i in range(8):"));
  Builder b("sums", machine("trn2"));
  const Access x = b.input("x", DType::BFloat16, {256, 32}), out = b.output("out", F32, {32, 32});
  const Access ps = b.psum("ps", 32, {32}), kept = b.sbuf("kept", 128, {2, 32}, DType::BFloat16),
               o = b.sbuf("o", 32, {32}, F32);
  b.sequential("k", 2, [&](const Affine& k) {
    const Access t = b.sbuf("t", 128, {32}, DType::BFloat16);
    b.dma_copy(t, x(ds(k * 128, 128)));
    b.nc_matmul(ps, t, t, {.accumulate = k});
  });
  b.parallel("n", 2, [&](const Affine& n) { b.memset(kept(all, ds(n, 1), all), 1); });
  b.tensor_copy(o, ps);
  b.tensor_tensor(o, o, kept(ds(0, 32), ds(0, 1), all), AluOp::Add);
  b.dma_copy(out, o);
  const std::string text = emit_nki(b.finish(), kAlways);
  EXPECT_TRUE(holds(text, "for k in range(2):")) << text;
  EXPECT_TRUE(holds(text, "for n in range(2):")) << text;
}

}  // namespace
}  // namespace trn::neuron
