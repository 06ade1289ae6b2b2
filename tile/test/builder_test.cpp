// Recording: declarations, loops and the operands and attributes each method leaves behind.
#include <gtest/gtest.h>

#include <trn/core/error.hpp>
#include <trn/tile/builder.hpp>

#include "programs.hpp"

namespace trn::tile {
namespace {

TEST(Builder, RecordsALoopOnce) {
  const Program p = test::scale_program(machine("trn2"));
  EXPECT_EQ(p.name(), "scale");
  EXPECT_EQ(p.machine(), "trn2");
  ASSERT_EQ(p.loops().size(), 1u);
  EXPECT_EQ(p.loops()[0], (LoopDecl{"i", 8, LoopKind::Parallel}));
  EXPECT_EQ(p.instructions().size(), 3u);
  EXPECT_EQ(p.dynamic_instructions(), 24);
  ASSERT_EQ(p.statements().size(), 5u);
  EXPECT_EQ(p.statements()[0], (Statement{StatementKind::Loop, 0, 5}));
  EXPECT_EQ(p.statements()[1], (Statement{StatementKind::Alloc, 0, 0}));
  EXPECT_EQ(p.tiles()[0], (TileDecl{"t", Space::Sbuf, DType::Float32, 128, {512}, 2}));
  EXPECT_EQ(p.instructions()[0].operands[isa::DmaCopy::src].offset, Affine::variable(0, 8) * (128 * 512));
}

TEST(Builder, ShortLoopsLeaveNoLoop) {
  Builder b("short", machine("trn2"));
  const Access t = b.sbuf("t", 32, {8}, DType::Float32);
  b.sequential("none", 0, [&](const Affine&) { b.memset(t, 1); });
  b.sequential("once", 1, [&](const Affine& i) { b.memset(t(all, ds(i, 1)), 2); });
  EXPECT_THROW(b.parallel("negative", -1, [](const Affine&) {}), InvalidArgument);
  const Program p = b.finish();
  EXPECT_TRUE(p.loops().empty());
  ASSERT_EQ(p.instructions().size(), 1u);
  EXPECT_EQ(p.instructions()[0].as<isa::Memset>()->value, 2);
}

TEST(Builder, NestedLoopsMultiply) {
  Builder b("nest", machine("trn2"));
  const Access t = b.sbuf("t", 32, {8}, DType::Float32);
  b.sequential("i", 3, [&](const Affine&) {
    b.memset(t, 0);
    b.parallel("j", 4, [&](const Affine&) { b.memset(t, 1); });
    b.memset(t, 2);
  });
  b.memset(t, 3);
  EXPECT_EQ(b.finish().dynamic_instructions(), 3 * (1 + 4 + 1) + 1);
}

TEST(Builder, RefusesBadDeclarations) {
  Builder b("bad", machine("trn2"));
  (void)b.input("x", DType::Float32, {4});
  EXPECT_THROW((void)b.output("x", DType::Float32, {4}), InvalidArgument) << "names are unique";
  EXPECT_THROW((void)b.input("e", DType::Float32, {4, 0}), InvalidArgument);
  EXPECT_THROW((void)b.input("r", DType::Float32, {4, 4}, {1}), InvalidArgument);
  EXPECT_THROW((void)b.input("s", DType::Float32, {}), InvalidArgument);
  EXPECT_THROW((void)b.sbuf("t", 0, {4}, DType::Float32), InvalidArgument);
  EXPECT_THROW((void)b.sbuf("t", 4, {0}, DType::Float32), InvalidArgument);
  EXPECT_THROW((void)b.psum("t", 4, {4}, DType::Float32, 0), InvalidArgument);
}

TEST(Builder, StridedTensorsKeepTheirStrides) {
  Builder b("strided", machine("trn2"));
  const Access x = b.input("x", DType::Float32, {4, 8}, {1, 4});
  EXPECT_EQ(x.dims, (std::vector<Dim>{{1, 4}, {4, 8}}));
  EXPECT_EQ(b.scratch("s", DType::Float32, {4, 8}).dims, (std::vector<Dim>{{8, 4}, {1, 8}}));
}

TEST(Builder, NumbersAndTilesShareASlot) {
  Builder b("slots", machine("trn2"));
  const Access t = b.sbuf("t", 32, {8}, DType::Float32), c = b.sbuf("c", 32, {1}, DType::Float32);
  b.tensor_scalar(t, t, AluOp::Multiply, 3.0, {.op1 = AluOp::Add, .operand1 = c, .reverse1 = true});
  b.activation(t, ActFunction::Exp, t, {.bias = c, .scale = 2.0, .reduce_res = c});
  b.activation(t, ActFunction::Exp, t, {.bias = 0.5, .scale = c});
  const Program p = b.finish();
  const Instruction &scalar = p.instructions()[0], &tile_bias = p.instructions()[1], &tile_scale = p.instructions()[2];
  EXPECT_FALSE(scalar.operands[isa::TensorScalar::operand0].present());
  EXPECT_EQ(scalar.as<isa::TensorScalar>()->operand0_value, 3.0);
  EXPECT_EQ(scalar.operands[isa::TensorScalar::operand1], c);
  EXPECT_TRUE(scalar.as<isa::TensorScalar>()->reverse1);
  EXPECT_EQ(scalar.as<isa::Activation>(), nullptr);
  EXPECT_EQ(tile_bias.operands[isa::Activation::bias], c);
  EXPECT_EQ(tile_bias.as<isa::Activation>()->scale_value, 2.0);
  EXPECT_EQ(tile_bias.as<isa::Activation>()->reduce_op, AluOp::Add);
  EXPECT_EQ(tile_scale.as<isa::Activation>()->bias_value, 0.5);
  EXPECT_EQ(tile_scale.operands[isa::Activation::scale], c);
  EXPECT_EQ(tile_scale.as<isa::Activation>()->reduce_op, AluOp::None);
}

TEST(Builder, ATransposeCannotChooseItsIssuer) {
  Builder b("issuer", machine("trn2"));
  const Access t = b.sbuf("t", 32, {32}, DType::Float32), x = b.input("x", DType::Float32, {32, 32});
  EXPECT_THROW(b.dma_transpose(t, x, {.dge = DgeMode::Hardware, .issuer = DmaIssuer::Sync}), InvalidArgument);
  EXPECT_NO_THROW(b.dma_transpose(t, x, {.dge = DgeMode::Hardware}));
}

TEST(Builder, OneEngineOpcodesGetTheirEngine) {
  Builder b("engines", machine("trn2"));
  const Access t = b.sbuf("t", 32, {8}, DType::Float32);
  b.reciprocal(t, t);
  b.tensor_copy(t, t);
  b.iota(t, {{1, 8}});
  const Program p = b.finish();
  EXPECT_EQ(p.instructions()[0].engine, Engine::Vector);
  EXPECT_EQ(p.instructions()[1].engine, Engine::Any);
  EXPECT_EQ(p.instructions()[2].engine, Engine::GpSimd);
}

TEST(Builder, MatmulDestinationIsReadWhenItAccumulates) {
  const Program p = test::every_opcode(machine("trn2"));
  int plain = 0, accumulating = 0;
  for (const Instruction& i : p.instructions()) {
    const auto* matmul = i.as<isa::NcMatmul>();
    if (!matmul) continue;
    const bool constant_zero = matmul->accumulate == Affine(0);
    EXPECT_EQ(operand_role(i, isa::NcMatmul::dst), constant_zero ? Role::Write : Role::ReadWrite);
    ++(constant_zero ? plain : accumulating);
  }
  EXPECT_GT(plain, 0);
  EXPECT_GT(accumulating, 0);
}

}  // namespace
}  // namespace trn::tile
