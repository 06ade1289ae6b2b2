// Diagonal blocks in SBUF: see diagonal_blocks.hpp.
#include "device/diagonal_blocks.hpp"

#include <trn/core/error.hpp>

namespace trn::solver::device {

using namespace trn::tile;

namespace {
Access of_matrix(const Access& values, std::int64_t t) {
  Access one = values(ds(t, 1));
  one.dims.erase(one.dims.begin());
  return one;
}
}  // namespace

Access along_partitions(Builder& b, const std::string& name, const Access& values, std::int64_t t) {
  const std::int64_t side = b.machine().partitions;
  const Access from = of_matrix(values, t);
  const Access tile = b.sbuf(fmt::format("{}{}", name, t), side, {from.dims[0].size / side}, DType::Float32);
  b.dma_copy(tile, from.split(0, side).permute({1, 0}));
  return tile;
}
Access along_columns(Builder& b, const std::string& name, const Access& values, std::int64_t t) {
  const std::int64_t side = b.machine().partitions;
  const Access from = of_matrix(values, t);
  const Access tile = b.sbuf(fmt::format("{}{}", name, t), side, {from.dims[0].size}, DType::Float32);
  b.dma_copy(tile, from.broadcast(0, side));
  return tile;
}

DiagonalBlocks::DiagonalBlocks(Builder& builder, const Access& ids) : b_(builder) {
  const std::int64_t tiles = ids.dims[0].size, n = ids.dims[1].size;
  for (std::int64_t t = 0; t < tiles; ++t) {
    rows_.push_back(along_partitions(b_, "row_ids", ids, t));
    columns_.push_back(along_columns(b_, "column_ids", ids, t));
  }
  mask_ = b_.sbuf("together", b_.machine().partitions, {2, n}, DType::Float32);
}

Access DiagonalBlocks::together(std::size_t t, std::int64_t block) {
  Access mask = mask_(all, ds(calls_++ % 2, 1));
  mask.dims.erase(mask.dims.begin());
  b_.tensor_scalar(mask, columns_[t], AluOp::Equal, rows_[t](all, ds(block, 1)), {.engine = Engine::Vector});
  return mask;
}

}  // namespace trn::solver::device
