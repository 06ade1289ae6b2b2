// Kernel PairsIn: the first step of long half lines to real ones, pairs.cpp run backwards. With L(k) = X(l + N k) and
// U(k) = X((N - l) + N (k - 1)), line l of m = n1 n2 points is u + i v, both real:
//
//   R = (L + U)/2,  I = (L - U)/(2 i),   u(j) = sum over k of R(k) w^(jk),  v from I likewise
//
// R and I have mirror images, so k = 0 .. m/2 is enough, all but the ends counted twice: S = L + U and D = L - U as
// they are. In two steps:
//
//   z(k1, j2) = sum over k2 < n2/2 of S(k2, k1) w2^(j2 k2)    real and imaginary parts of S are 64 rows each of the
//   stationary matrix; of D
//                                                             with a factor -i in the moving one. A product each
//   z(k1, j2) *= w^(j2 k1)
//   u(j1, j2) = Re sum over k1 of z(k1, j2) w1^(j1 k1)        two products for u and v of two lines
//
// At k = 0, R and I are the real and the imaginary part of L: S and D with U = 0 are made real and imaginary. At k =
// m/2 they are real and -imaginary part of U, times (-1)^j2: a bias of the Scalar Engine's when u and v leave PSUM.
// Line 0 has U = L and no v; another program's results go there, row N/2.
//
//   x: partition k2, free (k1, g, t, part), of U t backwards    S, D: partition (part, k2), free (g, k1)    y:
//   partition (g, j1), free (t, j2, part)
//
// Time on trn2 for a line of 16384 points in fp32: Tensor Engine 2 x 1038 + 2 x 1031 cycles, 1.72 us; Vector Engine two
// products with the twiddles and S, 1.5 us; GpSimd the sums and D, 1.2 us; Scalar Engine L and U for these and the
// pieces of u and v, 1.6 us.
#include <algorithm>

#include <trn/tile/stores.hpp>
#include "two_steps.hpp"

namespace trn::fft::device {

using namespace trn::tile;

namespace {

class PairsInKernel final : public TwoStepKernel {
 public:
  PairsInKernel(const LinesShape& shape, const Machine& machine)
      : TwoStepKernel("fft_pairs_in", shape, machine, 3),
        lines_(last().count),
        rows_(n2_ / 2),
        half_(machine.partitions / 2),
        together_(lines_together(n1_, machine)),
        deep_(std::min<std::int64_t>(kLines, lines_)),
        across_(shape.lines[shape.lines.size() - 2]) {}

  Program build() {
    const std::int64_t rows1 = together_ * n1_;
    for (std::int64_t which = 0; which < 2; ++which)
      first_[which] =
          constant(which == 0 ? "first_sum" : "first_difference", half_ + rows_, 2 * n2_, DType::Float32, 1);
    declare_twiddles(rows1, 2 * n2_);
    second_[0] = constant("second_a", rows1, rows1, DType::Float32, 1);
    second_[1] = constant("second_minus_b", rows1, rows1, DType::Float32, 1);
    spread_ = constant("spread", together_, rows1, DType::Float32, 1);
    declare_inputs();
    const std::int64_t blocks = across_.count / together_, pieces = lines_ / deep_;
    const std::int64_t most = std::clamp<std::int64_t>(kPieces / pieces, 1, blocks), whole = blocks / most;
    for_outer_lines(
        [&](const Affine& in, const Affine& out) {
          b_.parallel("block", whole, [&](Affine i) { some(in, out, i * most, most); });
          if (blocks % most > 0) some(in, out, whole * most, blocks % most);
        },
        2);
    return tile::static_stores(b_.finish());
  }

 private:
  static constexpr std::int64_t kLines = 8, kPieces = 4, kAhead = 3;  // kAhead: fours

  struct Tile {
    BlockPiece piece;
    Access x, mirror, ends, y;
    bool first = false;  // with line 0
  };

  // Row N/2 behind the lines of y. U, ascending: lines N/2 + 1 .. N - 1 and, of the point m/2, N/2 + 1 .. N.
  void declare_inputs() {
    Shape shape;
    Strides strides;
    for (std::size_t i = 0; i + 1 < s_.lines.size(); ++i)
      shape.push_back(s_.lines[i].count), strides.push_back(s_.lines[i].in);
    Shape lone = shape;
    Strides lone_strides = strides;
    lone.insert(lone.end(), {lines_, 2}), lone_strides.insert(lone_strides.end(), {last().in, 1});
    shape.insert(shape.end(), {lines_ - 1, s_.in.points - 1, 2});
    strides.insert(strides.end(), {last().in, s_.in.stride, 1});
    Shape middle;
    Strides middle_strides;
    for (std::size_t i = 0; i + 1 < s_.lines.size(); ++i)
      middle.push_back(s_.lines[i].count), middle_strides.push_back(s_.lines[i].out);
    middle.push_back(s_.n()), middle_strides.push_back(1);
    middle_ = b_.input("x_middle", DType::Float32, middle, middle_strides);
    mirror_ = b_.input("x_mirror", DType::Float32, shape, strides);
    lone_ = b_.input("x_lone", DType::Float32, lone, lone_strides);
  }

  void some(const Affine& in, const Affine& out, const Affine& first, std::int64_t blocks) {
    std::vector<BlockPiece> pieces;
    std::vector<std::int64_t> lines;
    for (std::int64_t i = 0; i < blocks; ++i) {
      const Affine block = (first + i) * together_;
      for (std::int64_t l = 0; l < lines_; l += deep_) {
        pieces.push_back(
            {in + block * across_.in, out + block * across_.out + l * last().out, together_, 1, 2 * deep_});
        lines.push_back(l);
      }
    }
    const std::int64_t rows1 = together_ * n1_;
    Ring z_sums(b_.psum("z_sums", rows1, {2, 2 * bank_}), 2), y_sums(b_.psum("y_sums", rows1, {3, bank_}), 3);
    const Access lone_sums = b_.psum("lone_sums", rows1, {bank_});
    TwiddleTiles tiles = twiddle_tiles(rows1, 2 * deep_, 2 * n2_);
    TilePool pool(b_, std::min<std::int64_t>(4, static_cast<std::int64_t>(pieces.size())));
    Ring both(b_.sbuf("both_tile", half_ + rows_, {kAhead + 3, kTogether * rows1}, DType::Float32), kAhead + 3);
    const Access dense_tile = b_.sbuf("dense_tile", half_ + rows_, {3, kTogether * rows1}, DType::Float32);
    if (rows_ < half_)
      b_.memset(dense_tile, 0, Engine::GpSimd);  // between real and imaginary parts, where the matrix has zeros
    Ring dense(dense_tile, 3);
    std::size_t opened = 0, taken = 0;
    // S and D of the fours in their order, one ahead of the products: behind the twiddles of this four they would come
    // too late for the next.
    struct Job {
      Tile tile;
      std::int64_t t0, count;
    };
    std::vector<Job> jobs;
    std::vector<Access> ready;
    const auto prepare = [&] {
      const Job& job = jobs[ready.size()];
      ready.push_back(both.next());
      sums_of_lines(ready.back(), dense.next(), job.tile, job.t0, job.count);
    };
    pipeline<Tile>(
        pieces,
        [&](const BlockPiece& p) {
          const Tile t = open(p, lines[opened++], pool, lone_sums);
          for (std::int64_t t0 = 0; t0 < p.deep; t0 += kTogether)
            jobs.push_back({t, t0, std::min(kTogether, p.deep - t0)});
          return t;
        },
        [&](const Tile&, std::int64_t, std::int64_t count) {
          const Access z = z_sums.next();
          if (ready.size() == taken) prepare();
          const Access here = ready[taken++];
          for (std::int64_t i = 0; i < count; ++i) {
            b_.nc_matmul(pattern(z, i * pitch(), {{1, 2 * n2_}}), pattern(here, i * rows1, {{1, rows1}}),
                         word(first_[i % 2], 0, half_ + rows_, 2 * n2_));
          }
          const Turned turned = twiddle(z, count, 2 * n2_, tiles, spare_engine());
          while (ready.size() < std::min(jobs.size(), taken + kAhead)) prepare();
          return turned;
        },
        [&](const Tile& t, std::int64_t t0, std::int64_t count, const Access& z) {
          second_step(t, z, t0, count, y_sums.next());
        },
        [&](const Tile& t) { close(t); });
  }

  [[nodiscard]] std::int64_t point() const { return 2 * deep_ * together_; }

  Tile open(const BlockPiece& p, std::int64_t line, TilePool& pool, const Access& lone_sums) {
    const std::int64_t size = 2 * deep_ * together_ * n1_, d = last().in, stride = s_.in.stride;
    Tile t{p,
           pool.take("x_tile", rows_, size),
           pool.take("mirror_tile", rows_, size),
           {},
           pool.take("y_tile", together_ * n1_, 2 * deep_ * n2_),
           line == 0};
    const auto load = [&](const Access& hbm, const Affine& at, const Access& tile, std::int64_t row, std::int64_t count,
                          std::int64_t from, std::int64_t position, std::int64_t lines) {
      if (count * lines * (n1_ - from) == 0) return;
      b_.dma_copy(
          pattern(tile(ds(row, count), all), from * point() + 2 * position,
                  {{point(), n1_ - from}, {2 * deep_, together_}, {2, lines}, {1, 2}}),
          pattern(hbm, at, {{n1_ * stride, count}, {stride, n1_ - from}, {across_.in, together_}, {d, lines}, {1, 2}}));
    };
    load(x_.tensor[0], p.in + line * d, t.x, 0, rows_, 0, 0, deep_);
    const Affine at = p.in + (lines_ - line - deep_) * d;
    const std::int64_t lines = line == 0 ? deep_ - 1 : deep_;
    load(mirror_, at, t.mirror, 0, 1, 1, 0, lines);
    load(mirror_, at + (n1_ - 1) * stride, t.mirror, 1, rows_ - 1, 0, 0, lines);
    if (line == 0) {
      load(x_.tensor[0], p.in + stride, t.mirror, 0, 1, 1, deep_ - 1, 1);
      load(x_.tensor[0], p.in + n1_ * stride, t.mirror, 1, rows_ - 1, 0, deep_ - 1, 1);
      const Access middle = pool.take("middle_tile", together_ * n1_, n2_);
      b_.dma_copy(middle, pattern(middle_, p.out, {{across_.out, together_}, {n2_, n1_}, {1, n2_}}));
      move(pattern(t.y, 1, {{2, n2_}}), middle, Engine::Scalar);
    }
    b_.memset(pattern(t.mirror(ds(0, 1), all), 0, {{1, point()}}), 0, Engine::GpSimd);
    t.ends = last_points(at, pool, lone_sums);
    return t;
  }

  // (g, j1; t backwards, part, sign): what u and v of each line get at even and odd j2, by a product with ones.
  Access last_points(const Affine& at, TilePool& pool, const Access& sums) {
    const std::int64_t rows1 = together_ * n1_;
    const Access given = pool.take("x_lone", together_, 2 * deep_),
                 ends = pool.take("x_ends", rows1, 4 * deep_, DType::Float32, kOpen + lag_);
    b_.dma_copy(given, pattern(lone_, at, {{across_.in, together_}, {last().in, deep_}, {1, 2}}),
                {.dge = machine_.hardware_dge ? DgeMode::Static : DgeMode::Default});
    const Access here = pattern(sums, 0, {{1, 2 * deep_}});
    b_.nc_matmul(here, word(spread_, 0, together_, rows1), given);
    for (std::int64_t part = 0; part < 2; ++part) {
      for (std::int64_t sign = 0; sign < 2; ++sign) {
        b_.activation(pattern(ends, 2 * part + sign, {{4, deep_}}), ActFunction::Copy,
                      pattern(sums, part, {{2, deep_}}), {.scale = part == sign ? 1.0 : -1.0});
      }
    }
    return ends;
  }

  // (part, k2; S and D in turn, g, k1). The Scalar Engine lays both lines out like that first, U's forwards: sums of
  // what lies densely take half the time.
  void sums_of_lines(const Access& both, const Access& dense, const Tile& t, std::int64_t t0, std::int64_t count) {
    const std::int64_t rows1 = together_ * n1_, lines = count / 2;
    for (std::int64_t i = 0; i < lines; ++i) {
      for (std::int64_t which = 0; which < 2; ++which) {
        const std::int64_t line = t0 / 2 + i, position = which == 0 ? line : deep_ - 1 - line;
        for (std::int64_t part = 0; part < 2; ++part) {
          move(pattern(dense(ds(part * half_, rows_), all), (which * lines + i) * rows1, {{n1_, together_}, {1, n1_}}),
               pattern(which == 0 ? t.x : t.mirror, 2 * position + part, {{2 * deep_, together_}, {point(), n1_}}),
               which * part * i == 1 ? Engine::Vector : Engine::Scalar);
        }
      }
    }
    for (std::int64_t which = 0; which < 2; ++which) {
      const Engine engine = which == 0 ? Engine::Vector : spare_engine();
      const auto from = [&](std::int64_t side) {
        return pattern(dense, side * lines * rows1, {{rows1, lines}, {1, rows1}});
      };
      b_.tensor_tensor(pattern(both, which * rows1, {{2 * rows1, lines}, {1, rows1}}), from(0), from(1),
                       which == 0 ? AluOp::Add : AluOp::Subtract, engine);
      // Point 0 of S is real, that of D imaginary.
      b_.memset(pattern(both(ds((1 - which) * half_, 1), all), which * rows1, {{2 * rows1, lines}, {n1_, together_}}),
                0, engine);
    }
  }

  void second_step(const Tile& t, const Access& z, std::int64_t t0, std::int64_t count, const Access& bank) {
    const std::int64_t rows1 = together_ * n1_, columns = count * n2_;
    const Access sums = bank(all, ds(0, columns));
    for (std::int64_t part = 0; part < 2; ++part)
      b_.nc_matmul(sums, word(second_[part], 0, rows1, rows1), pattern(z, part, {{2, columns}}), {.accumulate = part});
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t line = (t0 + i) / 2, part = i % 2;
      if (t.first && line == 0 && part == 1) continue;
      for (std::int64_t odd = 0; odd < 2; ++odd) {
        b_.activation(pattern(t.y, 2 * (line * n2_ + odd) + part, {{4, rows_}}), ActFunction::Copy,
                      pattern(sums, i * n2_ + odd, {{2, rows_}}),
                      {.bias = pattern(t.ends, 4 * (deep_ - 1 - line) + 2 * part + odd, {{1, 1}})});
      }
    }
  }

  void close(const Tile& t) {
    b_.dma_copy(pattern(y_.tensor[0], t.piece.out,
                        {{across_.out, together_}, {2 * n2_, n1_}, {last().out, deep_}, {1, 2 * n2_}}),
                t.y);
  }

  const std::int64_t lines_, rows_, half_, together_, deep_;
  const LineDim across_;
  Access first_[2], second_[2], spread_, mirror_, lone_, middle_;
};

}  // namespace

Program pairs_in_program(const LinesShape& shape, const Machine& machine) {
  return PairsInKernel(shape, machine).build();
}

}  // namespace trn::fft::device
