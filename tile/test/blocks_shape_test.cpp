// The fragments record legal programs of the right shape at sizes around the hardware's edges: whole blocks and
// remainders, accumulators of several banks, pieces of a transpose.
#include <gtest/gtest.h>

#include <trn/core/error.hpp>
#include <trn/tile/allocate.hpp>
#include <trn/tile/blocks/elementwise.hpp>
#include <trn/tile/blocks/loops.hpp>
#include <trn/tile/blocks/matmul.hpp>
#include <trn/tile/blocks/reduce.hpp>
#include <trn/tile/blocks/transpose.hpp>

namespace trn::tile {
namespace {

constexpr auto F32 = DType::Float32, BF16 = DType::BFloat16;

std::int64_t count(const Program& p, Opcode opcode) {
  return std::ranges::count_if(p.instructions(), [&](const Instruction& i) { return i.opcode() == opcode; });
}

TEST(Blocks, ForBlocksCoversTheExtentOnce) {
  for (const std::int64_t extent : {1, 127, 128, 129, 511, 512, 513, 1021}) {
    for (const std::int64_t block : {1, 128, 512}) {
      Builder b("p", machine("trn2"));
      std::vector<int> covered(static_cast<std::size_t>(extent), 0);
      blocks::for_blocks(b, "i", extent, block, LoopKind::Parallel, [&](const Affine& start, std::int64_t size) {
        EXPECT_LE(size, block);
        const Affine::Term step = start.is_constant() ? Affine::Term{0, 1, 0} : start.terms().front();
        for (std::int64_t k = 0; k < step.trip; ++k) {
          const std::int64_t first = start.constant() + k * step.coefficient;
          for (std::int64_t i = first; i < first + size; ++i) ++covered.at(static_cast<std::size_t>(i));
        }
      });
      EXPECT_EQ(std::ranges::count(covered, 1), extent) << extent << " in blocks of " << block;
    }
  }
}

TEST(Blocks, AnAccumulatorHasOneBankPerPiece) {
  for (const std::int64_t rows : {1, 127, 128, 129, 256}) {
    for (const std::int64_t columns : {1, 511, 512, 513, 1024}) {
      Builder b("p", machine("trn2"));
      const blocks::Accumulator acc = blocks::accumulator(b, "acc", rows, columns);
      std::int64_t elements = 0;
      for (std::int64_t i = 0; i < acc.row_pieces(); ++i) {
        for (std::int64_t j = 0; j < acc.column_pieces(); ++j) {
          const Access piece = acc.piece(i, j);
          EXPECT_EQ(piece.partitions, acc.rows_of(i));
          EXPECT_EQ(piece.free_size(), acc.columns_of(j));
          EXPECT_EQ(piece.offset, Affine((i * acc.column_pieces() + j) * 512));
          elements += piece.size();
        }
      }
      EXPECT_EQ(elements, rows * columns);
      constexpr std::int64_t kDepth = 65, kTiles = 3;
      const Access s = b.sbuf("s", kDepth, {kTiles, rows}, BF16), m = b.sbuf("m", kDepth, {kTiles, columns}, BF16);
      blocks::multiply_into(b, acc, s, m, 0);
      const Program p = b.finish();  // verified
      EXPECT_EQ(p.dynamic_instructions(), kTiles * count(p, Opcode::NcMatmul));
      EXPECT_EQ(count(p, Opcode::NcMatmul), blocks::ceil_div(rows, 128) * blocks::ceil_div(columns, 512));
      EXPECT_EQ(allocate(p, machine("trn2")).psum_bytes, 2048 * count(p, Opcode::NcMatmul));
    }
  }
}

TEST(Blocks, TransposePiecesOfEveryShape) {
  for (const DType dtype : {BF16, F32}) {
    for (const std::int64_t rows : {32, 64, 128}) {
      for (const std::int64_t columns : {32, 128, 256, 544, 1024}) {
        Builder b("p", machine("trn2"));
        const Access src = b.sbuf("src", rows, {columns}, dtype);
        const Access dst = b.sbuf("dst", 128, {blocks::ceil_div(columns, 128), rows}, dtype);
        blocks::transpose_pieces(b, dst, src);
        const Program p = b.finish();
        EXPECT_LE(allocate(p, machine("trn2")).psum_bytes, 16384) << rows << " x " << columns;
        EXPECT_GE(count(p, Opcode::NcTranspose), 1);
      }
    }
  }
}

TEST(Blocks, ScaleIsACopyWhenAlphaIsOne) {
  for (const float alpha : {1.0F, 2.0F}) {
    Builder b("p", machine("trn2"));
    blocks::scale(b, b.sbuf("d", 128, {64}, F32), b.sbuf("x", 128, {64}, F32), alpha);
    const Program p = b.finish();
    EXPECT_EQ(count(p, Opcode::TensorCopy), alpha == 1 ? 1 : 0);
    EXPECT_EQ(count(p, Opcode::TensorScalar), alpha == 1 ? 0 : 1);
  }
}

TEST(Blocks, ScaleAddScalesYInFloat32) {
  Builder b("p", machine("trn2"));
  blocks::scale_add(b, b.sbuf("d", 128, {64}, BF16), b.psum("x", 128, {64}), 2.0, b.sbuf("y", 128, {64}, BF16), 0.5);
  const Program p = b.finish();
  EXPECT_EQ(count(p, Opcode::ScalarTensorTensor), 1);
  EXPECT_EQ(p.tiles().back().dtype, F32);
}

TEST(Blocks, SumPartitionsRefusesMoreThanABank) {
  Builder b("p", machine("trn2"));
  const Access x = b.sbuf("x", 128, {513}, F32), d = b.sbuf("d", 1, {513}, F32);
  EXPECT_THROW(blocks::sum_partitions(b, d, x), InvalidArgument);
  blocks::sum_partitions(b, d(all, ds(0, 512)), x(all, ds(0, 512)));
  EXPECT_EQ(count(b.finish(), Opcode::NcMatmul), 1);
}

TEST(Blocks, ReduceRowsLeavesOneColumn) {
  Builder b("p", machine("trn2"));
  blocks::reduce_rows(b, b.sbuf("d", 128, {1}, F32), AluOp::Maximum, b.sbuf("x", 128, {777}, F32));
  EXPECT_EQ(count(b.finish(), Opcode::TensorReduce), 1);
}

}  // namespace
}  // namespace trn::tile
