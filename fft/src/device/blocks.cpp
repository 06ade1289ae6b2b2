// Kernel Blocks: lines of n = n1 n2 points, n1 and n2 up to 128, in one program and with all of a line in SBUF:
// Bailey's two steps.
//
// With j = j1 n2 + j2 and k = k1 + n1 k2:
//
//   z(j2, k1) = sum over j1 of x(j1, j2) w1^(j1 k1)      stationary: x, moving: F1. The product comes out with j2 on
//   partitions: nothing is
//                                                        turned
//   z(j2, k1) *= w^(j2 k1)                               on the way out of PSUM
//   y(k2, k1) = sum over j2 of z(j2, k1) w2^(j2 k2)      stationary: F2, moving: z. Row k2 of y is n1 neighbours of the
//   result
//
// Short factors share the array: G1 = 128/n1 lines lie above one another on the partitions of x and G2 = 128/n2 beside
// one another in its columns. F1 and F2 are then block diagonal and one product works on G1 G2 lines, as full as for n
// = 128 x 128. T such products make a tile:
//
//   line (g1 G2 + g2) T + t    x: partition (g1, j1), free (g2, t, j2)    z: partition (g2, j2), free (t, g1, k1)    y:
//   partition (g2, k2)
//
// Loads have runs of n2 points and stores of n1 where points are neighbours; where lines are neighbours (the last step
// of a longer transform writes so) the tiles keep t innermost and runs are T lines.
//
// Time on trn2 for 16384 points in fp32: DMA 256 KiB, 0.71 us with 1 KiB runs. Tensor Engine: two products of 1038
// cycles in each step, 1.73 us: the limit. Vector Engine: z times the table [cos, cos], z with its parts exchanged
// times [-sin, sin], and their sum, 256 numbers each: 0.80 us. Scalar Engine: y, 256 numbers, 0.21 us.
#include <algorithm>
#include <trn/tile/blocks/loops.hpp>
#include <trn/tile/stores.hpp>

#include "two_steps.hpp"

namespace trn::fft::device {

using namespace trn::tile;

namespace {

class BlocksKernel final : public TwoStepKernel {
 public:
  BlocksKernel(const LinesShape& shape, const Machine& machine)
      : TwoStepKernel("fft_blocks", shape, machine, shape.mode == Mode::Native ? 2 : 3), layout_(shape, machine) {}

  Program build() {
    const std::int64_t rows1 = layout_.above * n1_, rows2 = layout_.beside * n2_;
    first_[0] = constant("first_re", rows1, 2 * rows1, words_.dtype, words_.count);
    if (!s_.in.real) first_[1] = constant("first_im", rows1, 2 * rows1, words_.dtype, words_.count);
    declare_twiddles(rows2, 2 * rows1);
    a_ = constant("second_a", rows2, rows2, words_.dtype, words_.count);
    if (!s_.out.real) b_plus_ = constant("second_b", rows2, rows2, words_.dtype, words_.count);
    b_minus_ = constant("second_minus_b", rows2, rows2, words_.dtype, words_.count);
    const std::int64_t deep = deepest(layout_);
    for_pieces(layout_, deep, kProducts / deep, [&](const std::vector<BlockPiece>& pieces) { run(pieces); });
    return tile::static_stores(b_.finish());
  }

 private:
  struct Tile {
    BlockPiece piece;
    BlockPlaces px, py;
    Access x, y;
  };
  void run(const std::vector<BlockPiece>& pieces) {
    const auto [above, beside, deep] = most(pieces);
    const std::int64_t rows2 = beside * n2_;
    // Four products of the first step to two banks.
    Ring z_sums(b_.psum("z_sums", rows2, {2, 2 * bank_}), 2), y_sums(b_.psum("y_sums", rows2, {4, bank_}), 4);
    TwiddleTiles tiles = twiddle_tiles(rows2, deep, 2 * above * n1_);
    TilePool pool = tile_pool(pieces);
    pipeline<Tile>(
        pieces, [&](const BlockPiece& p) { return open(p, pool); },
        [&](const Tile& t, std::int64_t t0, std::int64_t count) {
          const Access z = z_sums.next()(ds(0, t.piece.beside * n2_), all);
          first_step(z, t, t0, count);
          return twiddle(z, count, 2 * t.piece.above * n1_, tiles,
                         words_.dtype == DType::Float32 ? Engine::Vector : spare_engine());
        },
        [&](const Tile& t, std::int64_t t0, std::int64_t count, const Access& z) {
          second_step(t, z, t0, count, y_sums);
        },
        [&](const Tile& t) { layout_.store(b_, y_, t.y, t.piece.out, t.piece.above, t.piece.beside, t.piece.deep); });
  }
  Tile open(const BlockPiece& p, TilePool& pool) {
    const std::int64_t lines = p.beside * p.deep;
    Tile t{p, layout_.x_places(lines), layout_.y_places(p.above, p.deep), {}, {}};
    t.x = pool.take("x_tile", p.above * n1_, t.px.total);
    t.y = pool.take("y_tile", p.beside * n2_, t.py.total);
    layout_.load(b_, x_, t.x, p.in, p.above, lines);
    if (words_.dtype != DType::Float32) t.x = split_ahead(pool, t.x, 1, t.px.total);
    return t;
  }

  // z (rows2, count, 2 rows1) in PSUM, before the twiddles.
  void first_step(const Access& z, const Tile& tile, std::int64_t t0, std::int64_t count) {
    const BlockPlaces& px = tile.px;
    const std::int64_t rows1 = tile.piece.above * n1_, beside = tile.piece.beside, deep = tile.piece.deep;
    for (std::int64_t i = 0; i < count; ++i) {
      std::int64_t step = 0;
      for (std::int64_t part = 0; part < (s_.in.real ? 1 : 2); ++part) {
        for (const auto& [data, matrix] : words_.products) {
          const Access stationary = pattern(tile.x, data * px.total + (t0 + i) * px.line + part * px.part,
                                            {{deep * px.line, beside}, {px.point, n2_}});
          b_.nc_matmul(pattern(z, i * pitch(), {{1, 2 * rows1}}), stationary,
                       word(first_[part], matrix, rows1, 2 * rows1), {.accumulate = step++});
        }
      }
    }
  }

  void second_step(const Tile& tile, const Access& z, std::int64_t t0, std::int64_t count, Ring& ring) {
    const Access& y = tile.y;
    const BlockPlaces& py = tile.py;
    const std::int64_t above = tile.piece.above, rows2 = y.partitions, columns = count * above * n1_,
                       total = 2 * columns;
    for (std::int64_t out = 0; out < (s_.out.real ? 1 : 2); ++out) {
      const Access sums = ring.next()(ds(0, rows2), ds(0, columns));
      std::int64_t step = 0;
      for (std::int64_t part = 0; part < 2; ++part) {
        const Access& matrix = out == part ? a_ : out == 0 ? b_minus_ : b_plus_;
        for (const auto& [data, w] : words_.products) {
          b_.nc_matmul(sums, word(matrix, w, rows2, rows2),
                       pattern(z(ds(0, rows2), all), data * total + part, {{2, columns}}), {.accumulate = step++});
        }
      }
      move(pattern(y, t0 * py.line + out * py.part, {{py.line, count}, {py.group, above}, {py.point, n1_}}), sums,
           Engine::Scalar);
    }
  }

  const BlockLayout layout_;
  Access first_[2], a_, b_plus_, b_minus_;
};

}  // namespace

Program blocks_program(const LinesShape& shape, const Machine& machine) { return BlocksKernel(shape, machine).build(); }

}  // namespace trn::fft::device
