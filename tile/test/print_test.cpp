// The listing: one whole program, and each form an access, an index and an attribute can take.
#include <gtest/gtest.h>

#include <trn/tile/print.hpp>

#include "programs.hpp"

namespace trn::tile {
namespace {

TEST(Print, WholeListing) {
  EXPECT_EQ(print(test::scale_program(machine("trn2"))),
            "program scale for trn2\n"
            "input x: float32 (1024, 512)\n"
            "output y: float32 (1024, 512)\n"
            "\n"
            "for i in 0..8 (parallel)\n"
            "  t = sbuf(128 x 512, float32, 2 buffers)\n"
            "  dma     dma_copy dst=t[0:128, 0:512] src=x[i*128:i*128+128, 0:512]\n"
            "  vector  tensor_scalar dst=t[0:128, 0:512] data=t[0:128, 0:512] op0=multiply operand0_value=2\n"
            "  dma     dma_copy dst=y[i*128:i*128+128, 0:512] src=t[0:128, 0:512]\n");
}

TEST(Print, LoopsNestAndCloseInTheListing) {
  Builder b("nest", machine("trn3"));
  const Access acc = b.psum("acc", 32, {2, 4});
  b.sequential("i", 2, [&](const Affine&) {
    b.parallel("j", 3, [&](const Affine&) { b.memset(acc, 0, Engine::Vector); });
    b.memset(acc, 1, Engine::Vector);
  });
  b.memset(acc, 2, Engine::Vector);
  EXPECT_EQ(print(b.finish()),
            "program nest for trn3\n"
            "\n"
            "acc = psum(32 x 2 x 4, float32)\n"
            "for i in 0..2 (sequential)\n"
            "  for j in 0..3 (parallel)\n"
            "    vector  memset dst=acc[0:32, 0:2, 0:4]\n"
            "  vector  memset dst=acc[0:32, 0:2, 0:4] value=1\n"
            "vector  memset dst=acc[0:32, 0:2, 0:4] value=2\n");
}

TEST(Print, Indices) {
  Builder b("indices", machine("trn2"));
  Affine i, j;
  b.parallel("i", 4, [&](const Affine& x) { i = x, b.parallel("j", 4, [&](const Affine& y) { j = y; }); });
  const Program p = b.finish();
  EXPECT_EQ(print(p, Affine(-3)), "-3");
  EXPECT_EQ(print(p, i), "i");
  EXPECT_EQ(print(p, i * 128 + 4), "i*128+4");
  EXPECT_EQ(print(p, i * -1 + j * 2 - 5), "-i+j*2-5");
  EXPECT_EQ(print(p, i - j), "i-j");
}

TEST(Print, Accesses) {
  Builder b("accesses", machine("trn2"));
  const Access t = b.sbuf("t", 128, {4, 64}, DType::Float32);
  const Access x = b.input("x", DType::Float32, {128, 64});
  const Access c = b.input("c", DType::Float32, {16, 8}, {1, 16});
  std::string in_loop;
  Access moving;
  b.parallel("i", 2, [&](const Affine& i) { moving = t(ds(i * 32, 32), ds(i + 1, 2), ds(i * 8, 16)); });
  const Program p = b.finish();
  EXPECT_EQ(print(p, t), "t[0:128, 0:4, 0:64]");
  EXPECT_EQ(print(p, moving), "t[i*32:i*32+32, i+1:i+3, i*8:i*8+16]");
  EXPECT_EQ(print(p, x(ds(3, 1), ds(60, 4))), "x[3:4, 60:64]");
  EXPECT_EQ(print(p, c(ds(2, 3), ds(5, 1))), "c[2:5, 5:6]") << "column-major";
  EXPECT_EQ(print(p, t.permute({1, 0})), "t(0:128, offset 0, [1,64][64,4])");
  EXPECT_EQ(print(p, t(all, ds(1, 1), all).broadcast(2, 3)), "t(0:128, offset 64, [64,1][1,64][0,3])");
  EXPECT_EQ(print(p, x.permute({1, 0})), "x(offset 0, [1,64][64,128])");
  EXPECT_EQ(print(p, t.view(DType::UInt32)), "t.view(uint32)[0:128, 0:4, 0:64]");
  EXPECT_EQ(print(p, t.view(DType::BFloat16)), "t.view(bfloat16)(0:128, offset 0, [128,4][1,128])");
  EXPECT_EQ(print(p, Access{}), "none");
}

TEST(Print, OneInstructionAndItsAttributes) {
  Builder b("one", machine("trn2"));
  const Access t = b.sbuf("t", 32, {8}, DType::Float32);
  b.affine_select(t, {{-1, 8}}, 2, 1, AluOp::GreaterEqual, t, -0.0);
  b.tensor_scalar(t, t, AluOp::Abs, 0.0);
  const Program p = b.finish();
  EXPECT_EQ(print(p, p.instructions()[0]),
            "gpsimd affine_select dst=t[0:32, 0:8] on_true_tile=t[0:32, 0:8] cmp_op=greater_equal on_false_value=-0 "
            "pattern=[-1,8] offset=2 channel_multiplier=1");
  EXPECT_EQ(print(p, p.instructions()[1]), "any tensor_scalar dst=t[0:32, 0:8] data=t[0:32, 0:8] op0=abs");
}

TEST(Print, StridedAndScratchTensors) {
  Builder b("tensors", machine("trn2"));
  (void)b.input("c", DType::BFloat16, {16, 8}, {1, 16});
  (void)b.scratch("s", DType::Int32, {4});
  EXPECT_EQ(print(b.finish()),
            "program tensors for trn2\n"
            "input c: bfloat16 (16, 8) strides (1, 16)\n"
            "scratch s: int32 (4)\n"
            "\n");
}

}  // namespace
}  // namespace trn::tile
