// Tensors and evictions of the product kernels.
#include "tile_product.hpp"

namespace trn::sparse::device {

using namespace trn::tile;

ProductTensors::ProductTensors(Builder& builder, const TileProduct& p, std::int64_t tiles)
    : words(words_of(p.mode)), side(builder.machine().partitions), builder_(builder), p_(p) {
  if (tiles > 0) {
    a = builder.input("a", words.dtype, {side, tiles, words.count, side});
    b = builder.input("b", p.narrow ? DType::BFloat16 : DType::Float32, {p.columns, p.n}, {p.b_row, p.b_column});
  }
  if (p.added) {
    c_in = builder.input("c_in", DType::Float32, {p.rows, p.n}, {p.c_row, p.c_column});
    c = builder.output_over("c", c_in);
    beta_ = blocks::scalar_input(builder, "beta");
  } else {
    c = builder.output("c", DType::Float32, {p.rows, p.n}, {p.c_row, p.c_column});
  }
  if (p.scaled) alpha_ = blocks::scalar_input(builder, "alpha");
}

// A (P, 1) factor for the partitions of a tile that has fewer.
static ScalarOrTile rows_of(const ScalarOrTile& factor, std::int64_t rows) {
  if (std::holds_alternative<double>(factor)) return factor;
  return std::get<Access>(factor)(ds(0, rows), all);
}

void ProductTensors::evict(const Access& dst, const Access& sums, const Access& old, Engine engine) {
  const ScalarOrTile alpha = rows_of(alpha_, dst.partitions);
  if (!p_.added) return blocks::scale(builder_, dst, sums, alpha, engine);
  builder_.tensor_scalar(old, old, AluOp::Multiply, rows_of(beta_, dst.partitions), {.engine = Engine::Vector});
  builder_.scalar_tensor_tensor(dst, sums, AluOp::Multiply, alpha, AluOp::Add, old);
}

void ProductTensors::evict_nothing(const Access& dst, const Access& old) {
  if (p_.added)
    builder_.tensor_scalar(dst, old, AluOp::Multiply, rows_of(beta_, dst.partitions), {.engine = Engine::Vector});
  else
    builder_.memset(dst, 0.0);
}

}  // namespace trn::sparse::device
