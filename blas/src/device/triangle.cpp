// Triangles in HBM.
//
// A triangle of a 128 x 128 block is its diagonal and, for s = 1, 2, 4, ..., 64, the squares of side s below the
// diagonal squares of side s at multiples of 2 s. The squares of one s lie at a constant distance, in a block and from
// one diagonal block to the next, so one DMA moves all of them: eight DMAs for the triangles of all diagonal blocks,
// and as many for a ragged last one. They have 4.5 n runs of bytes in all, some 6 us of DMA for n = 4096. Nothing of
// the other triangle is read or written.
#include "triangle.hpp"

#include <algorithm>
#include <trn/tile/blocks/loops.hpp>
#include <trn/tile/blocks/transpose.hpp>

namespace trn::blas::device {

using namespace trn::tile;

namespace {

// The same rectangles of two tensors: (blocks, repeats, rows, columns[, 2]).
struct Pair {
  Access dst, src;
};

// Blocks [first, first + count) on the diagonal as (count, row, column[, 2]).
Access diagonal_blocks(Access matrix, std::int64_t first, std::int64_t count, std::int64_t side) {
  const std::int64_t step = side * (matrix.dims[0].stride + matrix.dims[1].stride);
  matrix.offset = matrix.offset + Affine(first * step);
  matrix.dims[0].size = matrix.dims[1].size = side;
  matrix.dims.insert(matrix.dims.begin(), {step, count});
  return matrix;
}

// `count` rectangles of rows x columns, the first at (row, column), each next one `step` further down the diagonal, in
// every block.
Access rectangles(Access blocks, std::int64_t row, std::int64_t column, std::int64_t rows, std::int64_t columns,
                  std::int64_t step, std::int64_t count) {
  const std::int64_t down = blocks.dims[1].stride, right = blocks.dims[2].stride;
  blocks.offset = blocks.offset + Affine(row * down + column * right);
  blocks.dims[1].size = rows;
  blocks.dims[2].size = columns;
  blocks.dims.insert(blocks.dims.begin() + 1, {step * (down + right), count});
  return blocks;
}

// What lies strictly inside the triangle of diagonal blocks of side `size`; mirrored: it is written across the
// diagonal.
void copy_strict(Builder& b, Access dst, const Access& src, std::int64_t size, bool lower, bool mirrored = false) {
  if (mirrored) std::swap(dst.dims[1], dst.dims[2]);
  const auto copy = [&](std::int64_t row, std::int64_t column, std::int64_t rows, std::int64_t columns,
                        std::int64_t step, std::int64_t count) {
    if (rows <= 0 || columns <= 0 || count <= 0) return;
    if (!lower) std::swap(row, column), std::swap(rows, columns);
    b.dma_copy(rectangles(dst, row, column, rows, columns, step, count),
               rectangles(src, row, column, rows, columns, step, count));
  };
  for (std::int64_t s = 1; s < size; s *= 2) {
    const std::int64_t count = size / (2 * s), rest = size - 2 * s * count;
    copy(s, 0, s, s, 2 * s, count);
    copy(2 * s * count + s, 2 * s * count, rest - s, s, 2 * s, 1);
  }
}

// The diagonals of blocks; of complex ones all of them or the real parts only.
Access diagonals(const Access& blocks, std::int64_t size, bool whole) {
  Access result = rectangles(blocks, 0, 0, 1, 1, 1, size);
  if (!whole) result.dims.back().size = 1;
  return result;
}

void copy_triangle(Builder& b, const Access& dst, const Access& src, std::int64_t size, bool lower,
                   bool whole_diagonal) {
  copy_strict(b, dst, src, size, lower);
  b.dma_copy(diagonals(dst, size, whole_diagonal), diagonals(src, size, whole_diagonal));
}

// Free dimension d, of which `index` is taken, removed.
Access at(Access access, std::size_t d, std::int64_t index) {
  access.offset = access.offset + Affine(index * access.dims[d].stride);
  access.dims.erase(access.dims.begin() + static_cast<std::ptrdiff_t>(d));
  return access;
}

// Makes the whole of an operand from a triangle of it.
//
// Beside the diagonal: rows of the stored triangle, 128 at a time and up to eight tiles wide, go to their own place, to
// the mirrored place after a transpose on the Tensor Engine, or both; which of the two is "their own" depends on the
// direction that is contiguous. On the diagonal: DMA alone puts the elements of the triangle where they belong, and of
// a symmetric block each a second time across the diagonal.
class WholeOperand {
 public:
  WholeOperand(Builder& b, std::string name, const Access& x, Region stored, Structure structure, bool unit)
      : b_(b),
        name_(std::move(name)),
        x_(x),
        structure_(structure),
        unit_(unit),
        complex_(x.dims.size() == 3),
        side_(b.machine().partitions),
        n_(x.dims[0].size),
        lower_(stored == Region::Lower),
        whole_(b.scratch(name_ + "_whole", x.dtype, complex_ ? Shape{n_, n_, 2} : Shape{n_, n_})) {}

  Access make() {
    const std::int64_t tiles = n_ / side_, rest = n_ % side_;
    if (tiles > 0) diagonal(0, tiles, side_);
    if (rest > 0) diagonal(tiles, 1, rest);
    for (std::int64_t i = 0; i * side_ < n_; ++i) row_of_tiles(i * side_, std::min(side_, n_ - i * side_));
    return whole_;
  }

 private:
  bool both() const { return structure_ != Structure::Triangular; }

  void diagonal(std::int64_t first, std::int64_t count, std::int64_t size) {
    Access to = diagonal_blocks(whole_, first, count, side_), from = diagonal_blocks(x_, first, count, side_);
    for (Access* a : {&to, &from}) a->dims[1].size = a->dims[2].size = size;
    fill_zero(b_, to);
    copy_strict(b_, to, from, size, lower_);
    if (both()) copy_strict(b_, to, from, size, lower_, true);
    const bool whole = structure_ != Structure::Hermitian;
    if (unit_)
      ones(diagonals(to, size, false));
    else
      b_.dma_copy(diagonals(to, size, whole), diagonals(from, size, whole));
    if (structure_ == Structure::Hermitian) conjugate_mirrored(to, size);
  }

  void ones(const Access& dst) {
    Access one = b_.sbuf(name_ + "_one", 1, {1}, dst.dtype);
    b_.memset(one, 1, Engine::Vector);
    one.dims = {{0, dst.free_size()}};
    b_.dma_copy(dst, one);
  }

  // The imaginary parts of the mirrored triangle change their sign.
  void conjugate_mirrored(const Access& blocks, std::int64_t size) {
    const Access sign = b_.sbuf(name_ + "_sign", size, {size}, DType::Float32);
    b_.memset(sign, 1, Engine::Vector);
    // row - column >= 0 is the stored triangle of a lower one
    b_.affine_select(sign, {{lower_ ? -1 : 1, size}}, 0, lower_ ? 1 : -1, AluOp::GreaterEqual, sign, -1);
    b_.parallel("tile", blocks.dims[0].size, [&](Affine i) {
      Access block = blocks(ds(i, 1));
      block.dims.erase(block.dims.begin());
      const Access t = b_.sbuf(name_ + "_tile", size, {size, 2}, x_.dtype, 2);
      b_.dma_copy(t, block);
      b_.tensor_tensor(at(t, 1, 1), at(t, 1, 1), sign, AluOp::Multiply, Engine::Vector);
      b_.dma_copy(block, t);
    });
  }

  void row_of_tiles(std::int64_t i0, std::int64_t rows) {
    // As rows of contiguous elements: of a column-major matrix those of its transpose, whose triangle is the other one.
    const bool by_columns = std::abs(x_.dims[0].stride) < std::abs(x_.dims[1].stride);
    Access x = x_;
    if (by_columns) std::swap(x.dims[0], x.dims[1]);
    const bool lower = lower_ != by_columns;
    const std::int64_t begin = lower ? 0 : i0 + rows, end = lower ? i0 : n_;
    if (begin >= end) return;
    blocks::for_blocks(
        b_, name_ + "j", end - begin, kTiles * side_, LoopKind::Parallel, [&](const Affine& j, std::int64_t columns) {
          const Affine j0 = j + begin;
          const Access strip =
              b_.sbuf(name_ + "_strip", rows, complex_ ? Shape{columns, 2} : Shape{columns}, x_.dtype, 2);
          b_.dma_copy(strip, x(ds(i0, rows), ds(j0, columns)));
          if (both() || by_columns) turned(strip, i0, j0, rows, columns, !by_columns);
          if (!both() && by_columns) return;
          if (by_columns) conjugate(at_im(strip));
          b_.dma_copy(whole_(ds(i0, rows), ds(j0, columns)), strip);
        });
  }

  // whole(j, i) from the strip (i, j).
  void turned(const Access& strip, const Affine& i0, const Affine& j0, std::int64_t rows, std::int64_t columns,
              bool mirrored) {
    const std::int64_t tiles = blocks::ceil_div(columns, side_), full = columns / side_;
    const Access piece = b_.sbuf(name_ + "_piece", std::min(side_, columns),
                                 complex_ ? Shape{tiles, rows, 2} : Shape{tiles, rows}, x_.dtype, 2);
    for (int p = 0; p < (complex_ ? 2 : 1); ++p) {
      blocks::transpose_pieces(b_, complex_ ? at(piece, 2, p) : piece, complex_ ? at(strip, 1, p) : strip);
    }
    const auto order = complex_ ? std::vector<std::size_t>{1, 0, 2, 3} : std::vector<std::size_t>{1, 0, 2};
    const auto store = [&](const Affine& j1, std::int64_t depth,
                           const Access& from) {  // from (depth, tiles, rows[, 2])
      if (mirrored && complex_) conjugate(at(from, 2, 1));
      b_.dma_copy(whole_(ds(j1, depth * from.dims[0].size), ds(i0, rows)).split(0, depth).permute(order), from);
    };
    if (full > 0) store(j0, side_, piece(all, ds(0, full)));
    if (columns % side_ > 0) store(j0 + full * side_, columns % side_, piece(ds(0, columns % side_), ds(full, 1)));
  }

  Access at_im(const Access& strip) const { return complex_ ? at(strip, 1, 1) : Access{}; }
  void conjugate(const Access& im) {
    if (structure_ == Structure::Hermitian && im.present())
      b_.tensor_scalar(im, im, AluOp::Multiply, -1.0, {.engine = Engine::Vector});
  }

  static constexpr std::int64_t kTiles = 8;

  Builder& b_;
  std::string name_;
  Access x_;
  Structure structure_;
  bool unit_, complex_;
  std::int64_t side_, n_;
  bool lower_;
  Access whole_;
};

}  // namespace

void copy_diagonal_triangles(Builder& b, const Access& tiles, const Access& matrix, std::int64_t n, Region triangle,
                             bool whole_diagonal, bool into_matrix) {
  const std::int64_t side = b.machine().partitions, whole = n / side, rest = n % side;
  const auto copy = [&](const Access& t, const Access& m, std::int64_t size) {
    copy_triangle(b, into_matrix ? m : t, into_matrix ? t : m, size, triangle == Region::Lower, whole_diagonal);
  };
  if (whole > 0) copy(tiles(ds(0, whole)), diagonal_blocks(matrix, 0, whole, side), side);
  if (rest > 0) copy(tiles(ds(whole, 1)), diagonal_blocks(matrix, whole, 1, side), rest);
}

void copy_strict_triangles(Builder& b, const Access& tiles, const Access& matrix, std::int64_t n, Region triangle) {
  const std::int64_t side = b.machine().partitions, whole = n / side, rest = n % side;
  const bool lower = triangle == Region::Lower;
  if (whole > 0) copy_strict(b, tiles(ds(0, whole)), diagonal_blocks(matrix, 0, whole, side), side, lower);
  if (rest > 0) copy_strict(b, tiles(ds(whole, 1)), diagonal_blocks(matrix, whole, 1, side), rest, lower);
}

void fill_zero(Builder& b, const Access& tiles) {
  const std::int64_t side = tiles.dims[1].size, row = side * (tiles.dims.size() > 3 ? tiles.dims[3].size : 1);
  const Access zero = b.sbuf("zero", side, {row}, tiles.dtype);
  b.memset(zero, 0, Engine::Vector);
  std::vector<std::size_t> order{1, 0, 2};
  if (tiles.dims.size() > 3) order.push_back(3);
  b.dma_copy(tiles.permute(order), zero.broadcast(0, tiles.dims[0].size));
}

Access whole_operand(Builder& b, const std::string& name, const Access& x, Region stored, Structure structure,
                     bool unit_diagonal) {
  return WholeOperand(b, name, x, stored, structure, unit_diagonal).make();
}

Access copy_of(Builder& b, const std::string& name, const Access& x) {
  Shape shape;
  for (const Dim& d : x.dims) shape.push_back(d.size);
  const Access copy = b.scratch(name + "_copy", x.dtype, shape);
  blocks::for_blocks(b, name + "r", shape[0], 4 * b.machine().partitions, LoopKind::Parallel,
                     [&](const Affine& r, std::int64_t rows) { b.dma_copy(copy(ds(r, rows)), x(ds(r, rows))); });
  return copy;
}

}  // namespace trn::blas::device
