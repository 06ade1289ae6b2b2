// Kernel Blocks where only the first points of each result are wanted, above all the half line of a real one: Bailey's
// two steps as in blocks.cpp, with half the second step.
//
//   z(j2, k1) = sum over j1 of x(j1, j2) w1^(j1 k1)     stationary: x, moving: F1. One product for a real line
//   z(j2, k1) *= w^(j2 k1)
//   y(k2, k1) = sum over j2 of z(j2, k1) w2^(j2 k2)     k2 up to n2/2 only: real and imaginary parts are 64 columns
//   each of one stationary
//                                                       matrix. Two products instead of four
//   y(n2/2, 0), n2 even                                 the last point has a row of its own: a product with one column
//   per line, over
//                                                       z(., 0) alone
//
// Odd lines, y_k = sum of x_j w^(j (k + 1/2)) for real x_j, are the same with other constants: w^(j/2) is a factor of
// F1 and one of the twiddles. Their x_j are the imaginary parts of pairs.
//
// Imaginary parts come out on other partitions than real ones and are brought beside them when they leave PSUM.
//
// Time on trn2 for 16384 real points in fp32: Tensor Engine 1038 + 2 x 516 + 36 cycles, 0.88 us, half of a complex
// line. Vector Engine: two products with the twiddles, 0.65 us; their sum is GpSimd's, 0.46 us. Scalar Engine: y in two
// halves, 0.31 us. DMA: 128 KiB, 0.35 us.
#include <algorithm>
#include <trn/tile/blocks/loops.hpp>
#include <trn/tile/stores.hpp>

#include "half_layout.hpp"
#include "two_steps.hpp"

namespace trn::fft::device {

using namespace trn::tile;

namespace {

class HalfOutKernel final : public TwoStepKernel {
 public:
  HalfOutKernel(const LinesShape& shape, const Machine& machine)
      : TwoStepKernel("fft_half_out", shape, machine, 3),
        layout_(shape, machine),
        parts_(shape.in.real || shape.odd ? 1 : 2) {}

  Program build() {
    const BlockLayout& block = layout_.block;
    const std::int64_t rows1 = block.above * n1_, rows2 = block.beside * n2_;
    for (std::int64_t part = 0; part < parts_; ++part)
      first_[part] = constant(part == 0 ? "first_re" : "first_im", rows1, 2 * rows1, words_.dtype, words_.count);
    declare_twiddles(rows2, 2 * rows1);
    for (std::int64_t part = 0; part < 2; ++part)
      second_[part] =
          constant(part == 0 ? "second_re" : "second_im", rows2, layout_.all_rows(), words_.dtype, words_.count);
    if (layout_.lone) lone_ = constant("lone", rows2, block.beside, words_.dtype, words_.count);
    const std::int64_t deep = deepest(block);
    for_pieces(block, deep, kProducts / deep, [&](const std::vector<BlockPiece>& pieces) { run(pieces); });
    return tile::static_stores(b_.finish());
  }

 private:
  struct Tile {
    BlockPiece piece;
    BlockPlaces px, py;
    std::int64_t y_part;  // from a real part of y to the imaginary one
    Access x, y, last;    // last: point n/2, (g2; g1, t, part)
  };
  void run(const std::vector<BlockPiece>& pieces) {
    const auto [above, beside, deep] = most(pieces);
    const std::int64_t rows2 = beside * n2_;
    Ring z_sums(b_.psum("z_sums", rows2, {2, 2 * bank_}), 2),
        y_sums(b_.psum("y_sums", layout_.all_rows(), {3, bank_}), 3);
    const Access lone_sums = layout_.lone ? b_.psum("lone_sums", beside, {bank_}) : Access{};
    TwiddleTiles tiles = twiddle_tiles(rows2, deep, 2 * above * n1_);
    TilePool pool = tile_pool(pieces);
    pipeline<Tile>(
        pieces, [&](const BlockPiece& p) { return open(p, pool); },
        [&](const Tile& t, std::int64_t t0, std::int64_t count) {
          const Access z = z_sums.next()(ds(0, t.piece.beside * n2_), all);
          first_step(z, t, t0, count);
          return twiddle(z, count, 2 * t.piece.above * n1_, tiles, spare_engine());
        },
        [&](const Tile& t, std::int64_t t0, std::int64_t count, const Access& z) {
          second_step(t, z, t0, count, y_sums.next());
          if (layout_.lone) last_point(t, z, t0, count, lone_sums);
        },
        [&](const Tile& t) { close(t); });
  }
  Tile open(const BlockPiece& p, TilePool& pool) {
    const std::int64_t lines = p.beside * p.deep, pairs = y_.pairs() ? 2 : 1, halves = p.above * p.deep;
    Tile t{p, layout_.block.x_places(lines), layout_.places(p.above, p.deep, pairs), 1, {}, {}, {}};
    if (pairs == 1) t.y_part = t.py.total;
    t.x = pool.take("x_tile", p.above * n1_, t.px.total);
    layout_.block.load(b_, x_, t.x, p.in, p.above, lines);
    if (words_.dtype != DType::Float32) t.x = split_ahead(pool, t.x, 1, t.px.total);
    t.y = pool.take("y_tile", layout_.part_rows(), 2 / pairs * t.py.total);
    if (!layout_.lone) return t;
    t.last = pool.take("y_lone", p.beside, 2 * halves);
    if (parts_ == 1) b_.memset(pattern(t.last, 1, {{2, halves}}), 0, Engine::GpSimd);
    return t;
  }
  void close(const Tile& t) {
    const BlockPiece& p = t.piece;
    for (int i = 0; i < y_.tensors(); ++i)
      layout_.transfer(b_, HalfLayout::Way::Store, y_, i, t.y, i * t.py.total, t.py, p.out, p.above, p.beside, p.deep);
    if (layout_.lone) store_lone(t.last, p.out, p.above, p.beside, p.deep);
  }

  // z (rows2, count, 2 rows1) in PSUM, before the twiddles.
  void first_step(const Access& z, const Tile& tile, std::int64_t t0, std::int64_t count) {
    const BlockPlaces& px = tile.px;
    const std::int64_t rows1 = tile.piece.above * n1_, beside = tile.piece.beside, deep = tile.piece.deep;
    for (std::int64_t i = 0; i < count; ++i) {
      std::int64_t step = 0;
      for (std::int64_t part = 0; part < parts_; ++part) {
        for (const auto& [data, matrix] : words_.products) {
          const Access stationary =
              pattern(tile.x, data * px.total + (t0 + i) * px.line + (part + (s_.odd ? 1 : 0)) * px.part,
                      {{deep * px.line, beside}, {px.point, n2_}});
          b_.nc_matmul(pattern(z, i * pitch(), {{1, 2 * rows1}}), stationary,
                       word(first_[part], matrix, rows1, 2 * rows1), {.accumulate = step++});
        }
      }
    }
  }

  void second_step(const Tile& tile, const Access& z, std::int64_t t0, std::int64_t count, const Access& bank) {
    const BlockPlaces& py = tile.py;
    const std::int64_t above = tile.piece.above, rows2 = tile.piece.beside * n2_, columns = count * above * n1_,
                       total = 2 * columns;
    const Access sums = bank(all, ds(0, columns));
    std::int64_t step = 0;
    for (std::int64_t part = 0; part < 2; ++part) {
      for (const auto& [data, w] : words_.products) {
        b_.nc_matmul(sums, word(second_[part], w, rows2, layout_.all_rows()),
                     pattern(z(ds(0, rows2), all), data * total + part, {{2, columns}}), {.accumulate = step++});
      }
    }
    for (std::int64_t part = 0; part < 2; ++part) {
      move(pattern(tile.y, t0 * py.line + part * tile.y_part, {{py.line, count}, {py.group, above}, {py.point, n1_}}),
           sums(ds(part * layout_.upper, layout_.part_rows()), all), Engine::Scalar);
    }
  }

  // Point n/2, from the numbers with k1 = 0. A real line's has no imaginary part.
  void last_point(const Tile& tile, const Access& z, std::int64_t t0, std::int64_t count, const Access& bank) {
    const Access& y = tile.last;
    const std::int64_t above = tile.piece.above, deep = tile.piece.deep, rows2 = tile.piece.beside * n2_,
                       lines = count * above, total = 2 * lines * n1_;
    for (std::int64_t part = 0; part < parts_; ++part) {
      const Access sums = pattern(bank(ds(0, y.partitions), all), part * lines, {{1, lines}});
      std::int64_t step = 0;
      for (const auto& [data, w] : words_.products) {
        b_.nc_matmul(sums, word(lone_, w, rows2, y.partitions),
                     pattern(z(ds(0, rows2), all), data * total + part, {{2 * n1_, lines}}), {.accumulate = step++});
      }
      move(pattern(y, 2 * t0 + part, {{2, count}, {2 * deep, above}}), sums, Engine::Scalar);
    }
  }
  void store_lone(const Access& y, const Affine& out, std::int64_t above, std::int64_t beside, std::int64_t deep) {
    const std::int64_t d = layout_.distance, pairs = y_.pairs() ? 2 : 1;
    const Affine at = out + s_.n() / 2 * s_.out.stride;
    for (int t = 0; t < y_.tensors(); ++t) {
      b_.dma_copy(pattern(y_.tensor[t], at, {{deep * d, beside}, {beside * deep * d, above}, {d, deep}, {1, pairs}}),
                  pattern(y, t, {{2, above * deep}, {1, pairs}}),
                  {.dge = machine_.hardware_dge ? DgeMode::Static : DgeMode::Default});
    }
  }

  const HalfLayout layout_;
  const std::int64_t parts_;
  Access first_[2], second_[2], lone_;
};

}  // namespace

Program half_out_program(const LinesShape& shape, const Machine& machine) {
  return HalfOutKernel(shape, machine).build();
}

}  // namespace trn::fft::device
