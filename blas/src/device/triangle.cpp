// Triangles in HBM.
//
// A triangle of a 128 x 128 block is its diagonal and, for s = 1, 2, 4, ..., 64, the squares of side s below the diagonal squares of side s
// at multiples of 2 s. The squares of one s lie at a constant distance, in a block and from one diagonal block to the next, so one DMA
// moves all of them: eight DMAs for the triangles of all diagonal blocks, and as many for a ragged last one. They have
// 4.5 n runs of bytes in all, some 6 us of DMA for n = 4096. Nothing of the other triangle is read or written.
#include "triangle.hpp"

#include <algorithm>

namespace trn::blas::device {

using namespace trn::tile;

namespace {

// The same rectangles of two tensors: (blocks, repeats, rows, columns[, 2]).
struct Pair { Access dst, src; };

// Blocks [first, first + count) on the diagonal as (count, row, column[, 2]).
Access diagonal_blocks(Access matrix, std::int64_t first, std::int64_t count, std::int64_t side) {
  const std::int64_t step = side * (matrix.dims[0].stride + matrix.dims[1].stride);
  matrix.offset = matrix.offset + Affine(first * step);
  matrix.dims[0].size = matrix.dims[1].size = side;
  matrix.dims.insert(matrix.dims.begin(), {step, count});
  return matrix;
}

// `count` rectangles of rows x columns, the first at (row, column), each next one `step` further down the diagonal, in every block.
Access rectangles(Access blocks, std::int64_t row, std::int64_t column, std::int64_t rows, std::int64_t columns, std::int64_t step,
                  std::int64_t count) {
  const std::int64_t down = blocks.dims[1].stride, right = blocks.dims[2].stride;
  blocks.offset = blocks.offset + Affine(row * down + column * right);
  blocks.dims[1].size = rows;
  blocks.dims[2].size = columns;
  blocks.dims.insert(blocks.dims.begin() + 1, {step * (down + right), count});
  return blocks;
}

// Diagonal blocks of side `size`.
void copy_triangle(Builder& b, const Access& dst, const Access& src, std::int64_t size, bool lower, bool whole_diagonal) {
  const auto copy = [&](std::int64_t row, std::int64_t column, std::int64_t rows, std::int64_t columns, std::int64_t step, std::int64_t count) {
    if (rows <= 0 || columns <= 0 || count <= 0) return;
    if (!lower) std::swap(row, column), std::swap(rows, columns);
    b.dma_copy(rectangles(dst, row, column, rows, columns, step, count), rectangles(src, row, column, rows, columns, step, count));
  };
  for (std::int64_t s = 1; s < size; s *= 2) {
    const std::int64_t count = size / (2 * s), rest = size - 2 * s * count;
    copy(s, 0, s, s, 2 * s, count);
    copy(2 * s * count + s, 2 * s * count, rest - s, s, 2 * s, 1);
  }
  Access to = rectangles(dst, 0, 0, 1, 1, 1, size), from = rectangles(src, 0, 0, 1, 1, 1, size);
  if (!whole_diagonal) to.dims.back().size = from.dims.back().size = 1;
  b.dma_copy(to, from);
}

}  // namespace

void copy_diagonal_triangles(Builder& b, const Access& tiles, const Access& matrix, std::int64_t n, Region triangle, bool whole_diagonal,
                             bool into_matrix) {
  const std::int64_t side = b.machine().partitions, whole = n / side, rest = n % side;
  const auto copy = [&](const Access& t, const Access& m, std::int64_t size) {
    copy_triangle(b, into_matrix ? m : t, into_matrix ? t : m, size, triangle == Region::Lower, whole_diagonal);
  };
  if (whole > 0) copy(tiles(ds(0, whole)), diagonal_blocks(matrix, 0, whole, side), side);
  if (rest > 0) copy(tiles(ds(whole, 1)), diagonal_blocks(matrix, whole, 1, side), rest);
}

void fill_zero(Builder& b, const Access& tiles) {
  const std::int64_t side = tiles.dims[1].size, row = side * (tiles.dims.size() > 3 ? 2 : 1);
  const Access zero = b.sbuf("zero", side, {row}, tiles.dtype);
  b.memset(zero, 0, Engine::Vector);
  std::vector<std::size_t> order{1, 0, 2};
  if (tiles.dims.size() > 3) order.push_back(3);
  b.dma_copy(tiles.permute(order), zero.broadcast(0, tiles.dims[0].size));
}

}  // namespace trn::blas::device
