// The triangular matrix of a blocked solve: see trsm_blocks.hpp.
#include "trsm_blocks.hpp"

#include <algorithm>
#include <trn/tile/blocks/loops.hpp>

#include "views.hpp"

namespace trn::blas::device {

using namespace trn::tile;
using blocks::ceil_div;
using blocks::for_blocks;

TriangleBlocks::TriangleBlocks(Builder& b, const TrsmShape& shape, const Access& a)
    : g_(shape),
      b_(b),
      a_(a),
      words_(words_of(shape.mode, "blas.trsm")),
      complex_(is_complex(shape.dtype)),
      planes_(complex_ ? 2 : 1),
      side_(b.machine().partitions),
      block_(side_ / planes_),
      steps_(ceil_div(shape.m, block_)),
      layout_{complex_, shape.lower, shape.unit, shape.conj, shape.am, shape.an},
      turned_(shape.m > 1 && shape.am != 1 && shape.an == 1),
      direct_(!complex_ && shape.mode == Mode::Native && !turned_) {}

void TriangleBlocks::prepare() {
  prepare_diagonal();
  if (!direct_ && steps_ > 1) prepare_blocks();
}

// Blocks left of T_t by position in memory: s itself, or t - 1 - s for an upper T, whose X_0 belongs to its last
// columns.
std::int64_t TriangleBlocks::position(std::int64_t t, std::int64_t s, std::int64_t count) const {
  return g_.lower ? s : t - s - count;
}

// HBM access of `count` blocks of block row t from position q on, as (columns, blocks, rows[, 2]) or, by_rows, (rows,
// blocks, columns[, 2]).
Access TriangleBlocks::blocks_of_a(std::int64_t t, const Affine& q, std::int64_t count, bool by_rows) const {
  Access v = a_;
  const std::int64_t rows = rows_of(t), left = g_.lower ? 0 : g_.m - t * block_;
  v.offset = v.offset + (start_of(t) * g_.am + (q * block_ + left) * g_.an) * planes_;
  const Dim r{g_.am * planes_, rows}, c{g_.an * planes_, block_}, s{block_ * g_.an * planes_, count};
  v.dims = by_rows ? std::vector<Dim>{r, s, c} : std::vector<Dim>{c, s, r};
  if (complex_) v.dims.push_back({1, 2});
  return v;
}

// The diagonal blocks' triangles, and nothing but them, with zeros around: (blocks, lines, elements[, 2]) of scratch,
// whole blocks by position in memory, the ragged one last. Lines are what is contiguous in A.
void TriangleBlocks::copy_diagonal() {
  const bool by_rows = g_.am != 1;
  const std::int64_t whole = g_.m / block_, rest = g_.m % block_;
  Shape shape{steps_, block_, block_};
  if (complex_) shape.push_back(2);
  triangles_ = b_.scratch("triangles", DType::Float32, shape);
  const Access zeros = b_.sbuf("zeros", block_, {block_ * planes_}, DType::Float32);
  b_.memset(zeros, 0);
  const Access lines = complex_ ? triangles_.permute({1, 0, 2, 3}) : triangles_.permute({1, 0, 2});
  b_.dma_copy(lines, zeros.broadcast(0, steps_));
  const auto copy = [&](std::int64_t first, std::int64_t count, std::int64_t start, std::int64_t order) {
    Access from = a_(ds(start, order), ds(start, order));
    if (!by_rows) std::swap(from.dims[0], from.dims[1]);
    from.dims.insert(from.dims.begin(), {block_ * (g_.am + g_.an) * planes_, count});
    copy_triangles(b_, triangles_(ds(first, count), ds(0, order), ds(0, order)), from, g_.lower == by_rows, g_.unit);
  };
  if (whole > 0) copy(0, whole, g_.lower ? 0 : rest, block_);
  if (rest > 0) copy(whole, 1, g_.lower ? whole * block_ : 0, rest);
  layout_.row_stride = by_rows ? block_ : 1;
  layout_.column_stride = by_rows ? 1 : block_;
  if (!by_rows) std::swap(triangles_.dims[1], triangles_.dims[2]);  // (blocks, rows, columns[, 2])
}

// scratch: per block, partition by partition, [T^T | T^-T | 1 / row maximum | poison].
void TriangleBlocks::prepare_diagonal() {
  copy_diagonal();
  diagonal_ = b_.scratch("diagonal", DType::Float32, {steps_, side_, 2 * side_ + 2});
  const std::int64_t whole = g_.m / block_;
  const auto group = [&](const Affine& t0, std::int64_t count, std::int64_t rows) {
    std::vector<Access> blocks;
    for (std::int64_t i = 0; i < count; ++i) {
      const Affine number = rows < block_ ? Affine(whole) : g_.lower ? t0 + i : Affine(whole - 1 - i) - t0;
      blocks.push_back(entry(triangles_, number)(ds(0, rows), ds(0, rows)));
    }
    const DiagonalBlocks d = invert_diagonal(b_, layout_, blocks, rows);
    const std::int64_t side = d.turned.partitions;
    const auto to = [&](std::int64_t first, std::int64_t size) {
      return diagonal_(ds(t0, count), ds(0, side), ds(first, size)).permute({1, 0, 2});
    };
    b_.dma_copy(to(0, side), d.turned);
    b_.dma_copy(to(side_, side), d.inverse);
    b_.dma_copy(to(2 * side_, 1), d.row_scale);
    b_.dma_copy(to(2 * side_ + 1, 1), d.poison);
  };
  for_blocks(b_, "diagonal_blocks", whole, 4, LoopKind::Parallel,
             [&](const Affine& t0, std::int64_t count) { group(t0, count, block_); });
  if (g_.m % block_ > 0) group(Affine(whole), 1, g_.m % block_);
}

// scratch: block number t (t - 1) / 2 + position as (column, word, row).
void TriangleBlocks::prepare_blocks() {
  ready_ = b_.scratch("blocks", words_.dtype, {block_number(steps_, 0), side_, words_.count, side_});
  const std::int64_t group = complex_ ? kChunk / 2 : kChunk;  // one bank of turned complex blocks has two planes
  for (std::int64_t t = 1; t < steps_; ++t) {
    for_blocks(b_, "q", t, group, LoopKind::Parallel,
               [&](const Affine& q, std::int64_t count) { prepare_row(t, q, count); });
  }
}

void TriangleBlocks::prepare_row(std::int64_t t, const Affine& q, std::int64_t count) {
  const std::int64_t rows = rows_of(t), wide = tile_rows(t);
  Access fp32 = b_.sbuf("blocks_fp32", side_, {count, wide}, DType::Float32, 2);
  const std::int64_t across = turned_ ? rows : block_, along = turned_ ? block_ : rows;
  const Access raw =
      b_.sbuf("blocks_raw", across, complex_ ? Shape{count, along, 2} : Shape{count, along}, DType::Float32, 2);
  b_.dma_copy(raw, blocks_of_a(t, q, count, turned_));
  if (!complex_ && turned_) {
    for_blocks(b_, "turn", count, 4, LoopKind::Parallel, [&](const Affine& k, std::int64_t n) {
      b_.tensor_copy(fp32(all, ds(k, n), all), turn(raw(all, ds(k, n), all)));
    });
  } else if (complex_) {
    if (rows < block_) b_.memset(fp32, 0);
    const Access to = fp32.split(1, block_);
    if (turned_) {
      const Access re = turn(plane(raw, 0)), im = turn(plane(raw, 1));
      embed(b_, to, re, im, g_.conj);
    } else {
      embed(b_, to, plane(raw, 0), plane(raw, 1), g_.conj);
    }
  } else {
    fp32 = raw;
  }
  Access out = fp32;
  if (g_.mode != Mode::Native) {
    out = b_.sbuf("blocks_words", side_, {count, words_.count, wide}, words_.dtype, 2);
    split_words(
        b_, words_, [&](std::int64_t w) { return word_of(out, w); }, fp32);
  } else {
    out = out.split(1, wide);
  }
  b_.dma_copy(ready_(ds(q + block_number(t, 0), count), all, all, ds(0, wide)).permute({1, 0, 2, 3}), out);
}

// PSUM (columns, blocks, rows) of (rows, blocks, columns): at most a bank.
Access TriangleBlocks::turn(const Access& src) {
  const std::int64_t rows = src.partitions, count = src.dims[0].size, columns = src.dims[1].size;
  const Access bank = b_.psum("turned_blocks", columns, {count, rows}, DType::Float32, 2);
  for (std::int64_t k = 0; k < count; ++k) b_.nc_transpose(entry(bank, k), entry(src, k));
  return bank;
}
void TriangleBlocks::load_diagonal(const Access& to, std::int64_t t) {
  const std::int64_t side = block_side(b_.machine(), complex_, rows_of(t));
  const Access from = entry(diagonal_, t);
  if (side == side_) return b_.dma_copy(to, from);
  // A small last block.
  for (const auto& [first, size] :
       {std::pair(std::int64_t(0), side), std::pair(side_, side), std::pair(2 * side_, std::int64_t(2))}) {
    b_.dma_copy(to(ds(0, side), ds(first, size)), from(ds(0, side), ds(first, size)));
  }
}

void TriangleBlocks::load(const Access& chunk, std::int64_t t, std::int64_t s0, std::int64_t count) {
  const std::int64_t q = position(t, s0, count);
  if (direct_) return b_.dma_copy(word_of(chunk, 0), blocks_of_a(t, q, count, false));
  b_.dma_copy(chunk, ready_(ds(block_number(t, q), count), all, all, ds(0, tile_rows(t))).permute({1, 0, 2, 3}));
}

}  // namespace trn::blas::device
