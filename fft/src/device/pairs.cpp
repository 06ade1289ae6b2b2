// Kernel Pairs: the second step of long real lines, after RealColumns. Line l = k1 of z, of m = n1 n2 points, has real
// and imaginary parts u and v. Their transforms R and I, of which half is enough, are two results each, because X(n -
// k) = conj X(k):
//
//   X(l + N k) = R(k) + i I(k),   X((N - l) + N (k - 1)) = R(k) - i I(k),   N the lines of the first step, k = 0 .. m/2
//
// so N/2 lines give all points but those of residue N/2. In Bailey's two steps (blocks.cpp), with real lines:
//
//   A(j2, k1) = w^(j2 k1) sum over j1 of u(j1, j2) w1^(j1 k1),   B likewise from v: one product each
//   S = A + i B,  D = A - i B
//   y(k2, k1) = sum over j2 of S(j2, k1) w2^(j2 k2),  y'(k2, k1) the same of D: k2 < n2/2, real and imaginary parts 64
//   columns each of one
//                                                     stationary matrix, two products each
//
// Results of D lie backwards, line by line: each line's product goes to its place from behind, nothing else is turned.
// G = 128/n1 lines of the same number l, from transforms that follow one another, share the array (`across`); T lines
// make a piece:
//
//   x: partition (g, j1), free (t, j2, part)    z: partition j2, free (t, part, g, k1, part)    y: partition k2, free
//   (k1, g, t, part)
//
// Line 0 has v = 0 here; what lies in its place belongs to residue N/2. Of y' the point k = 0 is nobody's, and line 0
// is y's. The point k = m/2 is a row of its own: the sum of (-1)^j2 A(j2, 0), real, and -B's as imaginary part.
//
// Time on trn2 for a line of 16384 points in fp32: Tensor Engine 2 x 1038 + 2 x 516 + 2 x 519 cycles, 1.73 us, half of
// two complex lines. Vector Engine: two products with the twiddles, 1.3 us, half of S and D, 0.3 us; GpSimd: the sums,
// 0.9 us, the other half, 0.5 us.
#include <algorithm>

#include <trn/tile/stores.hpp>
#include "two_steps.hpp"

namespace trn::fft::device {

using namespace trn::tile;

namespace {

class PairsKernel final : public TwoStepKernel {
 public:
  PairsKernel(const LinesShape& shape, const Machine& machine)
      : TwoStepKernel("fft_pairs", shape, machine, 3),
        lines_(last().count),
        rows_(n2_ / 2),
        half_(machine.partitions / 2),
        together_(lines_together(n1_, machine)),
        deep_(std::min<std::int64_t>(kLines, lines_)),
        across_(shape.lines[shape.lines.size() - 2]) {}

  Program build() {
    const std::int64_t rows1 = together_ * n1_;
    first_ = constant("first_re", rows1, 2 * rows1, DType::Float32, 1);
    declare_twiddles(n2_, 2 * rows1);
    for (std::int64_t part = 0; part < 2; ++part)
      second_[part] = constant(part == 0 ? "second_re" : "second_im", n2_, half_ + rows_, DType::Float32, 1);
    lone_ = constant("lone", n2_, 1, DType::Float32, 1);
    declare_results();
    // Several pieces at a time, so that one's second step runs beside the next one's first.
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
  static constexpr std::int64_t kLines = 8, kPieces = 4;

  struct Tile {
    BlockPiece piece;
    std::int64_t line;  // the first
    Access x, y, mirror, lone;
  };

  // Results of D, ascending: lines N/2 + 1 .. N - 1 and, of the point m/2, N/2 + 1 .. N.
  void declare_results() {
    Shape shape, lone;
    Strides strides;
    for (std::size_t i = 0; i + 1 < s_.lines.size(); ++i)
      shape.push_back(s_.lines[i].count), strides.push_back(s_.lines[i].out);
    lone = shape;
    shape.push_back(lines_ - 1), strides.push_back(last().out);
    lone.push_back(lines_), lone.push_back(2);
    Strides lone_strides = strides;
    lone_strides.push_back(1);
    shape.push_back(s_.out.points - 1), shape.push_back(2);
    strides.push_back(s_.out.stride), strides.push_back(1);
    mirror_ = b_.output("y_mirror", DType::Float32, shape, strides);
    lone_out_ = b_.output("y_lone", DType::Float32, lone, lone_strides);
  }

  void some(const Affine& in, const Affine& out, const Affine& first, std::int64_t blocks) {
    std::vector<BlockPiece> pieces;
    std::vector<std::int64_t> lines;
    for (std::int64_t i = 0; i < blocks; ++i) {
      const Affine block = (first + i) * together_;
      for (std::int64_t l = 0; l < lines_; l += deep_) {
        pieces.push_back({in + block * across_.in + l * last().in, out + block * across_.out, together_, 1, 2 * deep_});
        lines.push_back(l);
      }
    }
    const std::int64_t columns = 2 * together_ * n1_;
    Ring z_sums(b_.psum("z_sums", n2_, {2, 2 * bank_}), 2), y_sums(b_.psum("y_sums", half_ + rows_, {3, bank_}), 3);
    const Access lone_sums = b_.psum("lone_sums", 1, {bank_});
    // A and B, and behind them S and D.
    TwiddleTiles tiles{Ring(b_.sbuf("z_cos", n2_, {2, kTogether * columns}, DType::Float32), 2),
                       Ring(b_.sbuf("z_sin", n2_, {2, kTogether * columns}, DType::Float32), 2),
                       Ring(b_.sbuf("z_tile", n2_, {lag_ + 2, 2 * kTogether * columns}, DType::Float32), lag_ + 2)};
    TilePool pool(b_, std::min<std::int64_t>(4, static_cast<std::int64_t>(pieces.size())));
    std::size_t opened = 0;
    pipeline<Tile>(
        pieces, [&](const BlockPiece& p) { return open(p, lines[opened++], pool); },
        [&](const Tile& t, std::int64_t t0, std::int64_t count) {
          const Access z = z_sums.next();
          first_step(z, t, t0, count);
          Turned turned = twiddle(z, count, columns, tiles, spare_engine());
          turned.size = count;
          return turned;
        },
        [&](const Tile& t, std::int64_t t0, std::int64_t count, const Access& z) {
          second_step(t, z, t0 / 2, count / 2, y_sums.next());
          last_point(t, z, t0 / 2, count / 2, lone_sums);
        },
        [&](const Tile& t) { close(t); });
  }

  Tile open(const BlockPiece& p, std::int64_t line, TilePool& pool) {
    const std::int64_t size = 2 * deep_ * together_ * n1_;
    Tile t{p,
           line,
           pool.take("x_tile", together_ * n1_, 2 * deep_ * n2_),
           pool.take("y_tile", rows_, size),
           pool.take("mirror_tile", rows_, size),
           pool.take("lone_tile", 1, 2 * deep_ * together_)};
    b_.dma_copy(t.x, pattern(x_.tensor[0], p.in,
                             {{across_.in, together_}, {2 * n2_, n1_}, {last().in, deep_}, {2, n2_}, {1, 2}}));
    if (line == 0) b_.memset(pattern(t.x, 1, {{2, n2_}}), 0, Engine::GpSimd);
    return t;
  }

  // A and B before their twiddles, in turn: (n2, count, 2 rows1) in PSUM.
  void first_step(const Access& z, const Tile& t, std::int64_t t0, std::int64_t count) {
    const std::int64_t rows1 = together_ * n1_;
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t line = (t0 + i) / 2, part = (t0 + i) % 2;
      b_.nc_matmul(pattern(z, i * pitch(), {{1, 2 * rows1}}), pattern(t.x, 2 * line * n2_ + part, {{2, n2_}}),
                   word(first_, 0, rows1, 2 * rows1));
    }
  }

  // S and D, each (lines, columns), behind A and B.
  void finish(const Turned& z) override {
    const std::int64_t columns = 2 * together_ * n1_, lines = z.size / 2, behind = kTogether * columns;
    const auto from = [&](std::int64_t which, std::int64_t part) {
      return pattern(z.words, which * columns + part, {{2 * columns, lines}, {2, columns / 2}});
    };
    const auto to = [&](std::int64_t which, std::int64_t part) {
      return pattern(z.words, behind + which * behind / 2 + part, {{columns, lines}, {2, columns / 2}});
    };
    b_.tensor_tensor(to(0, 0), from(0, 0), from(1, 1), AluOp::Subtract, Engine::Vector);
    b_.tensor_tensor(to(0, 1), from(0, 1), from(1, 0), AluOp::Add, spare_engine());
    b_.tensor_tensor(to(1, 0), from(0, 0), from(1, 1), AluOp::Add, Engine::Vector);
    b_.tensor_tensor(to(1, 1), from(0, 1), from(1, 0), AluOp::Subtract, spare_engine());
  }

  void second_step(const Tile& t, const Access& z, std::int64_t line, std::int64_t lines, const Access& bank) {
    const std::int64_t each = together_ * n1_, behind = kTogether * 2 * each;
    const auto product = [&](const Access& sums, std::int64_t which, std::int64_t from, std::int64_t count) {
      for (std::int64_t part = 0; part < 2; ++part) {
        b_.nc_matmul(sums, word(second_[part], 0, n2_, half_ + rows_),
                     pattern(z, behind + which * behind / 2 + from * 2 * each + part, {{2, count * each}}),
                     {.accumulate = part});
      }
    };
    const Access sums = bank(all, ds(0, lines * each)), mirror = bank(all, ds(lines * each, lines * each));
    product(sums, 0, 0, lines);
    for (std::int64_t i = 0; i < lines; ++i) product(mirror(all, ds((lines - 1 - i) * each, each)), 1, i, 1);
    const auto empty = [&](const Access& tile, const Access& from, std::int64_t first) {
      for (std::int64_t part = 0; part < 2; ++part) {
        move(pattern(tile, 2 * first + part, {{2, lines}, {2 * deep_, together_}, {2 * deep_ * together_, n1_}}),
             from(ds(part * half_, rows_), all), Engine::Scalar);
      }
    };
    empty(t.y, sums, line);
    empty(t.mirror, mirror, deep_ - lines - line);
  }

  // Point m/2 of y': (1; g, t backwards, part).
  void last_point(const Tile& t, const Access& z, std::int64_t line, std::int64_t lines, const Access& sums) {
    const std::int64_t columns = 2 * together_ * n1_, count = 2 * lines * together_;
    const Access here = pattern(sums, 0, {{1, count}});
    b_.nc_matmul(here, word(lone_, 0, n2_, 1), pattern(z, 0, {{columns, 2 * lines}, {2 * n1_, together_}}));
    for (std::int64_t i = 0; i < lines; ++i) {
      for (std::int64_t part = 0; part < 2; ++part) {
        b_.activation(pattern(t.lone, 2 * (deep_ - 1 - line - i) + part, {{2 * deep_, together_}}), ActFunction::Copy,
                      pattern(sums, (2 * i + part) * together_, {{1, together_}}), {.scale = part == 0 ? 1.0 : -1.0});
      }
    }
  }

  void close(const Tile& t) {
    const std::int64_t stride = s_.out.stride, d = last().out, point = 2 * deep_ * together_;
    // `count` rows from `row` on, points [from, n1) of each, and `lines` lines of the tile, to `at`.
    const auto store = [&](const Access& hbm, const Affine& at, const Access& tile, std::int64_t row,
                           std::int64_t count, std::int64_t from, std::int64_t lines) {
      if (count * lines * (n1_ - from) == 0) return;
      b_.dma_copy(
          pattern(hbm, at, {{n1_ * stride, count}, {stride, n1_ - from}, {across_.out, together_}, {d, lines}, {1, 2}}),
          pattern(tile(ds(row, count), all), from * point,
                  {{point, n1_ - from}, {2 * deep_, together_}, {2, lines}, {1, 2}}));
    };
    store(y_.tensor[0], t.piece.out + t.line * d, t.y, 0, rows_, 0, deep_);
    const Affine at = t.piece.out + (lines_ - t.line - deep_) * d;
    const std::int64_t lines = t.line == 0 ? deep_ - 1 : deep_;
    store(mirror_, at, t.mirror, 0, 1, 1, lines);
    store(mirror_, at + (n1_ - 1) * stride, t.mirror, 1, rows_ - 1, 0, lines);
    b_.dma_copy(pattern(lone_out_, at, {{0, 1}, {across_.out, together_}, {d, deep_}, {1, 2}}),
                pattern(t.lone, 0, {{1, 2 * deep_ * together_}}),
                {.dge = machine_.hardware_dge ? DgeMode::Static : DgeMode::Default});
  }

  const std::int64_t lines_, rows_, half_, together_, deep_;
  const LineDim across_;
  Access first_, second_[2], lone_, mirror_, lone_out_;
};

}  // namespace

bool pairs_fit(std::int64_t n1, std::int64_t n2, std::int64_t lines, std::int64_t across, const Machine& machine) {
  return n1 >= 2 && n1 <= machine.partitions && n2 % 2 == 0 && n2 > machine.partitions / 2 &&
         n2 <= machine.partitions && lines >= 2 && lines % std::min<std::int64_t>(8, lines) == 0 &&
         across % lines_together(n1, machine) == 0;
}

Program pairs_program(const LinesShape& shape, const Machine& machine) { return PairsKernel(shape, machine).build(); }

}  // namespace trn::fft::device
