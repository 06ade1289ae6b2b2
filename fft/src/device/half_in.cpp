// Kernel Blocks for real lines from half lines: half_out.cpp run backwards.
//
//   v(k1, j2) = 2 sum over k2 of X(k2, k1) w2^(j2 k2)    k2 up to n2/2: real and imaginary parts of X are 64 rows each
//   of one stationary
//                                                        matrix, moving: F2. One product instead of two
//   v(k1, j2) *= w^(j2 k1)
//   x(j1, j2) = Re sum over k1 of v(k1, j2) w1^(j1 k1)   stationary: F1, moving: v. Two products instead of four
//
// Every point but those that are their own mirror image stands for itself and its mirror image, hence the 2; the others
// count half in X, without their imaginary part. Point n/2, when n2 is even, would have a row of its own: X(n/2)
// (-1)^j2 is added when x leaves PSUM.
//
// Odd lines, x_j = 2 Re sum over k < n/2 of X_k w^(j (k + 1/2)), have no such points: w^(j/2) is a factor of the
// twiddles and one of F1.
//
// Time on trn2 for 16384 real points in fp32: Tensor Engine 1038 + 2 x 516 cycles, 0.86 us, half of a complex line.
// Vector Engine: two products with the twiddles and the last point, 0.82 us. GpSimd: imaginary parts to the other
// partitions, the sum of the twiddles, 0.57 us.
#include <algorithm>
#include <trn/tile/blocks/loops.hpp>
#include <trn/tile/stores.hpp>

#include "half_layout.hpp"
#include "two_steps.hpp"

namespace trn::fft::device {

using namespace trn::tile;

namespace {

constexpr std::int64_t kDeep = 16;  // products to a tile

class HalfInKernel final : public TwoStepKernel {
 public:
  HalfInKernel(const LinesShape& shape, const Machine& machine)
      : TwoStepKernel("fft_half_in", shape, machine, 3),
        layout_(shape, machine),
        block_(layout_.block),
        pairs_(x_.pairs() ? 2 : 1) {}

  Program build() {
    const std::int64_t rows1 = block_.above * n1_, rows2 = block_.beside * n2_;
    first_ = constant("first", layout_.all_rows(), 2 * rows2, words_.dtype, words_.count);
    declare_twiddles(rows1, 2 * rows2);
    second_[0] = constant("second_a", rows1, rows1, words_.dtype, words_.count);
    second_[1] = constant("second_minus_b", rows1, rows1, words_.dtype, words_.count);
    if (!s_.odd) ends_ = constant("ends", layout_.part_rows(), 2, DType::Float32, 1);
    zeros_ = b_.input("zeros", DType::Float32, {half_in_zeros(s_, machine_)});
    if (layout_.lone) spread_ = constant("spread", block_.above, rows1, DType::Float32, 1);
    const std::int64_t deep = deepest(block_);
    for_pieces(block_, deep, kProducts / deep, [&](const std::vector<BlockPiece>& pieces) { run(pieces); });
    return tile::static_stores(b_.finish());
  }

 private:
  struct Tile {
    BlockPiece piece;
    BlockPlaces px;
    Access x, y, ends;
  };
  void run(const std::vector<BlockPiece>& pieces) {
    const auto [above, beside, deep] = most(pieces);
    const std::int64_t rows1 = above * n1_;
    Ring z_sums(b_.psum("z_sums", rows1, {2, 2 * bank_}), 2), y_sums(b_.psum("y_sums", rows1, {3, bank_}), 3);
    const Access lone_sums = layout_.lone ? b_.psum("lone_sums", rows1, {bank_}) : Access{};
    TwiddleTiles tiles = twiddle_tiles(rows1, deep, 2 * beside * n2_);
    TilePool pool = tile_pool(pieces);
    pipeline<Tile>(
        pieces, [&](const BlockPiece& p) { return open(p, lone_sums, pool); },
        [&](const Tile& t, std::int64_t t0, std::int64_t count) {
          const Access z = z_sums.next()(ds(0, t.piece.above * n1_), all);
          first_step(z, t, t0, count);
          return twiddle(z, count, 2 * t.piece.beside * n2_, tiles, spare_engine());
        },
        [&](const Tile& t, std::int64_t t0, std::int64_t count, const Access& z) {
          second_step(t, z, t0, count, y_sums.next());
        },
        [&](const Tile& t) { store(t.y, t.piece.out, t.piece.above, t.piece.beside * t.piece.deep); });
  }
  Tile open(const BlockPiece& p, const Access& lone_sums, TilePool& pool) {
    Tile t{p, layout_.places(p.above, p.deep, pairs_), {}, {}, {}};
    t.x = half_lines(p.in, t.px, p.above, p.beside, p.deep, pool);
    if (words_.dtype != DType::Float32) {
      t.x = split_ahead(pool, t.x, pairs_, t.px.total / pairs_);
      for (std::int64_t* at : {&t.px.total, &t.px.line, &t.px.point, &t.px.group}) *at /= pairs_;
    }
    if (layout_.lone) t.ends = last_points(p.in, p.above, p.beside, p.deep, lone_sums, pool);
    t.y = pool.take("y_tile", p.above * n1_, p.beside * p.deep * n2_);
    return t;
  }

  // v (rows1, count, 2 rows2) in PSUM, before the twiddles.
  void first_step(const Access& z, const Tile& t, std::int64_t t0, std::int64_t count) {
    const std::int64_t columns = 2 * t.piece.beside * n2_;
    for (std::int64_t i = 0; i < count; ++i) {
      std::int64_t step = 0;
      for (const auto& [data, w] : words_.products) {
        const Access stationary =
            pattern(t.x, data * t.px.total + (t0 + i) * t.px.line, {{t.px.group, t.piece.above}, {t.px.point, n1_}});
        b_.nc_matmul(pattern(z, i * pitch(), {{1, columns}}), stationary, word(first_, w, layout_.all_rows(), columns),
                     {.accumulate = step++});
      }
    }
  }

  // (part, k2, g2; t, g1, k1), the points that are their own mirror image halved and without imaginary part.
  Access half_lines(const Affine& in, const BlockPlaces& px, std::int64_t above, std::int64_t beside, std::int64_t deep,
                    TilePool& pool) {
    const std::int64_t one = layout_.part_rows(), upper = layout_.upper, lines = above * deep;
    const Access x = pool.take("x_tile", layout_.all_rows(), px.total);
    // Rows and points that no transfer fills meet zeros of the matrix.
    if (beside < block_.beside)
      b_.memset(x, 0, Engine::GpSimd);
    else
      fill(x, px, above, deep);
    for (int t = 0; t < x_.tensors(); ++t)
      layout_.transfer(b_, HalfLayout::Way::Load, x_, t, x(ds(t * upper, one), all), 0, px, in, above, beside, deep);
    // GpSimd, which runs ahead of the others. `at` k1, rows from `first` to `end`.
    const auto mirror_image = [&](std::int64_t at, std::int64_t weight, std::int64_t first, std::int64_t end) {
      const std::vector<Dim> all_lines{{px.line, deep}, {px.group, above}};
      const Access re = pattern(x(ds(0, one), all), at * px.point, all_lines),
                   im = pairs_ == 2 ? pattern(x(ds(0, one), all), at * px.point + 1, all_lines)
                                    : pattern(x(ds(upper, one), all), at * px.point, all_lines);
      b_.tensor_tensor(re, re, pattern(word(ends_, 0, one, 2), weight, {{0, lines}}), AluOp::Multiply, Engine::GpSimd);
      if (first == 0)
        b_.affine_select(im, {{0, lines}}, -end, 1, AluOp::GreaterEqual, im, 0);
      else
        b_.affine_select(im, {{0, lines}}, -first, 1, AluOp::Less, im, 0);
    };
    if (!s_.odd) mirror_image(0, 0, 0, block_.beside);
    if (!s_.odd && !layout_.lone && s_.n() % 2 == 0) mirror_image(n1_ / 2, 1, (layout_.rows - 1) * block_.beside, one);
    if (pairs_ == 2)
      b_.tensor_copy(pattern(x(ds(upper, one), all), 0, {{2, px.total / 2}}),
                     pattern(x(ds(0, one), all), 1, {{2, px.total / 2}}), Engine::GpSimd);
    return x;
  }

  // Zeros by DMA, which runs ahead of every engine: in the partitions between real and imaginary parts, and behind the
  // points of the last row.
  void fill(const Access& x, const BlockPlaces& px, std::int64_t above, std::int64_t deep) {
    const DmaOptions apart{.dge = machine_.hardware_dge ? DgeMode::Static : DgeMode::Default};
    const std::int64_t one = layout_.part_rows(), upper = layout_.upper, behind = n1_ - layout_.rest,
                       beside = block_.beside;
    if (one < upper)
      b_.dma_copy(x(ds(one, upper - one), all), pattern(zeros_, 0, {{0, upper - one}, {1, px.total}}), apart);
    if (layout_.rest == 0) return;
    for (std::int64_t part = 0; part < 2 / pairs_; ++part) {
      b_.dma_copy(pattern(x(ds(part * upper + layout_.whole * beside, beside), all), layout_.rest * px.point,
                          {{px.line, deep}, {px.group, above}, {px.point, behind}, {1, pairs_}}),
                  pattern(zeros_, 0, {{0, beside}, {1, deep * above * behind * pairs_}}), apart);
    }
  }

  // (g1, j1; g2, t, 2): X(n/2) and -X(n/2) of each line on all partitions of the line, by a product with ones.
  Access last_points(const Affine& in, std::int64_t above, std::int64_t beside, std::int64_t deep, const Access& sums,
                     TilePool& pool) {
    const std::int64_t d = layout_.distance, lines = beside * deep, rows1 = above * n1_;
    const Access given = pool.take("x_lone", above, lines);
    b_.dma_copy(given, pattern(x_.tensor[0], in + s_.n() / 2 * s_.in.stride, {{lines * d, above}, {d, lines}}),
                {.dge = machine_.hardware_dge ? DgeMode::Static : DgeMode::Default});
    const Access ends = pool.take("x_ends", rows1, 2 * lines, DType::Float32, kOpen + lag_);
    for (std::int64_t first = 0; first < lines; first += bank_) {
      const std::int64_t count = std::min(bank_, lines - first);
      const Access here = sums(ds(0, rows1), ds(0, count));
      b_.nc_matmul(here, word(spread_, 0, above, rows1), pattern(given, first, {{1, count}}));
      for (std::int64_t i = 0; i < 2; ++i)
        b_.activation(pattern(ends, 2 * first + i, {{2, count}}), ActFunction::Copy, here,
                      {.scale = i == 0 ? 1.0 : -1.0});
    }
    return ends;
  }

  void second_step(const Tile& t, const Access& z, std::int64_t t0, std::int64_t count, const Access& bank) {
    const Access &y = t.y, &ends = t.ends;
    const std::int64_t beside = t.piece.beside, deep = t.piece.deep;
    const std::int64_t rows1 = y.partitions, columns = count * beside * n2_, total = 2 * columns;
    const Access sums = bank(ds(0, rows1), ds(0, columns));
    std::int64_t step = 0;
    for (std::int64_t part = 0; part < 2; ++part) {
      for (const auto& [data, w] : words_.products) {
        b_.nc_matmul(sums, word(second_[part], w, rows1, rows1),
                     pattern(z(ds(0, rows1), all), data * total + part, {{2, columns}}), {.accumulate = step++});
      }
    }
    const std::int64_t lines = beside * deep, line = block_.inner_out ? 1 : n2_, point = block_.inner_out ? lines : 1;
    if (!layout_.lone) {
      move(pattern(y, t0 * line, {{line, count}, {deep * line, beside}, {point, n2_}}), sums, Engine::Scalar);
      return;
    }
    // Even and odd j2 in one instruction where three dimensions are enough for that; two tiles are read, so four are
    // not to be had.
    const std::int64_t parities = count > 1 && beside > 1 && n2_ > 2 ? 1 : 2;
    for (std::int64_t i = 0; i < 2; i += parities) {
      b_.tensor_tensor(pattern(y, t0 * line + i * point,
                               {{line, count}, {deep * line, beside}, {2 * point, n2_ / 2}, {point, parities}}),
                       pattern(sums, i, {{2 / parities, columns / 2 * parities}}),
                       pattern(ends, 2 * t0 + i, {{2, count}, {2 * deep, beside}, {0, n2_ / 2}, {1, parities}}),
                       AluOp::Add, Engine::Vector);
    }
  }

  void store(const Access& y, const Affine& out, std::int64_t above, std::int64_t lines) {
    const std::int64_t stride = s_.out.stride, d = last().out;
    const Dim line{d, lines}, point{stride, n2_};
    b_.dma_copy(pattern(y_.tensor[0], out,
                        {{lines * d, above},
                         {n2_ * stride, n1_},
                         block_.inner_out ? point : line,
                         block_.inner_out ? line : point}),
                y);
  }

  const HalfLayout layout_;
  const BlockLayout& block_;
  const std::int64_t pairs_;
  Access first_, second_[2], ends_, spread_, zeros_;
};

}  // namespace

std::int64_t half_in_zeros(const LinesShape& shape, const Machine& machine) {
  const HalfLayout layout(shape, machine);
  return layout.places(layout.block.above, kDeep, 2).total;
}

Program half_in_program(const LinesShape& shape, const Machine& machine) {
  return HalfInKernel(shape, machine).build();
}

}  // namespace trn::fft::device
