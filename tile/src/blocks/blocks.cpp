// The reusable fragments of device kernels: see the headers in trn/tile/blocks/.
#include <trn/core/error.hpp>
#include <trn/tile/blocks/elementwise.hpp>
#include <trn/tile/blocks/loops.hpp>
#include <trn/tile/blocks/matmul.hpp>
#include <trn/tile/blocks/reduce.hpp>
#include <trn/tile/blocks/transpose.hpp>

namespace trn::tile::blocks {

void for_blocks(Builder& b, const std::string& variable, std::int64_t extent, std::int64_t block, LoopKind kind,
                const BlockBody& body) {
  const std::int64_t whole = extent / block, rest = extent % block;
  const auto record = [&](Affine i) { body(i * block, block); };
  if (kind == LoopKind::Parallel)
    b.parallel(variable, whole, record);
  else
    b.sequential(variable, whole, record);
  if (rest > 0) body(Affine(whole * block), rest);
}

Access Accumulator::piece(std::int64_t i, std::int64_t j) const {
  Access bank = tile(ds(0, rows_of(i)), ds(i * column_pieces() + j, 1), ds(0, columns_of(j)));
  bank.dims = {bank.dims.back()};  // (rows, columns): the bank dimension has size 1
  return bank;
}

std::int64_t bank_columns(const Machine& machine) { return machine.psum_bank_bytes / size_bytes(DType::Float32); }

Accumulator accumulator(Builder& b, const std::string& name, std::int64_t rows, std::int64_t columns) {
  Accumulator acc;
  acc.rows = rows;
  acc.columns = columns;
  acc.piece_rows = b.machine().stationary_free_max;
  acc.piece_columns = bank_columns(b.machine());
  acc.tile = b.psum(name, std::min(rows, acc.piece_rows), {acc.row_pieces() * acc.column_pieces(), acc.piece_columns});
  return acc;
}

void multiply_into(Builder& b, const Accumulator& acc, const Access& stationary, const Access& moving,
                   const Affine& first) {
  const auto tile = [](const Access& operand, const Affine& t, std::int64_t from, std::int64_t size) {
    Access one = operand(all, ds(t, 1), ds(from, size));
    one.dims.erase(one.dims.begin());
    return one;
  };
  const std::int64_t tiles = stationary.dims.front().size;
  for (std::int64_t i = 0; i < acc.row_pieces(); ++i) {
    for (std::int64_t j = 0; j < acc.column_pieces(); ++j) {
      b.sequential("k", tiles, [&](Affine t) {
        b.nc_matmul(acc.piece(i, j), tile(stationary, t, i * acc.piece_rows, acc.rows_of(i)),
                    tile(moving, t, j * acc.piece_columns, acc.columns_of(j)), {.accumulate = first + t});
      });
    }
  }
}

void transpose_pieces(Builder& b, const Access& dst, const Access& src, std::int64_t psum_buffers) {
  const std::int64_t rows = src.partitions, columns = src.free_size(), side = b.machine().partitions;
  // nc_transpose writes PSUM in the source dtype; a group of pieces fills one bank.
  const std::int64_t group = std::max<std::int64_t>(1, b.machine().psum_bank_bytes / (side * size_bytes(src.dtype)));
  const auto move = [&](const Affine& first, std::int64_t pieces, std::int64_t height) {
    const Access bank = b.psum("transposed", height, {pieces, rows}, src.dtype, psum_buffers);
    for (std::int64_t t = 0; t < pieces; ++t) {
      Access to = bank(all, ds(t, 1), all);
      to.dims.erase(to.dims.begin());
      b.nc_transpose(to, src(all, ds((first + t) * side, height)));
    }
    b.tensor_copy(dst(ds(0, height), ds(first, pieces), all), bank);
  };
  const std::int64_t whole = columns / side;
  for_blocks(b, "t", whole, group, LoopKind::Parallel,
             [&](const Affine& first, std::int64_t pieces) { move(first, pieces, side); });
  if (columns % side > 0) move(Affine(whole), 1, columns % side);
}

Access scalar_input(Builder& b, const std::string& name) {
  const Access tile = b.sbuf(name + "_tile", b.machine().partitions, {1}, DType::Float32);
  b.dma_copy(tile, b.input(name, DType::Float32, {1}).broadcast(0, b.machine().partitions));
  return tile;
}

namespace {
bool is_one(const ScalarOrTile& factor) {
  return std::holds_alternative<double>(factor) && std::get<double>(factor) == 1;
}
}  // namespace

void scale(Builder& b, const Access& dst, const Access& x, const ScalarOrTile& alpha, Engine engine) {
  const bool copies = engine == Engine::Vector || b.machine().scalar_tensor_copy;
  if (is_one(alpha) && copies)
    b.tensor_copy(dst, x, engine);
  else if (engine == Engine::Vector)
    b.tensor_scalar(dst, x, AluOp::Multiply, alpha, {.engine = Engine::Vector});
  else
    b.activation(dst, ActFunction::Copy, x, {.scale = alpha});
}

void scale_add(Builder& b, const Access& dst, const Access& x, const ScalarOrTile& alpha, const Access& y,
               const ScalarOrTile& beta) {
  Access scaled = y;
  if (!is_one(beta)) {  // in fp32: y's own dtype would round the product
    scaled = b.sbuf("beta_y", y.partitions, {y.free_size()}, DType::Float32, 2);
    b.tensor_scalar(scaled, y, AluOp::Multiply, beta, {.engine = Engine::Vector});
  }
  b.scalar_tensor_tensor(dst, x, AluOp::Multiply, alpha, AluOp::Add, scaled);
}

void reduce_rows(Builder& b, const Access& dst, AluOp op, const Access& src) { b.tensor_reduce(dst, op, src); }

void sum_partitions(Builder& b, const Access& dst, const Access& src) {
  require(src.dtype == DType::Float32 && src.free_size() <= bank_columns(b.machine()),
          "sum_partitions: takes fp32 with at most {} columns, got {} {}", bank_columns(b.machine()), src.free_size(),
          name(src.dtype));
  const Access ones = b.sbuf("ones", src.partitions, {1}, DType::Float32);
  b.memset(ones, 1.0);
  const Access sum = b.psum("column_sum", 1, {src.free_size()});
  b.nc_matmul(sum, ones, src);
  b.tensor_copy(dst, sum);
}

}  // namespace trn::tile::blocks
