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
//
// Kernel PairsIn: the first step of long half lines to real ones, Pairs run backwards. With L(k) = X(l + N k) and
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

// What both have in common: G lines of the same number share the array, `deep_` numbers make a piece, and several
// pieces are recorded at a time, so that one's second step runs beside the next one's first.
class PairsBase : public TwoStepKernel {
 protected:
  PairsBase(const char* name, const LinesShape& shape, const Machine& machine)
      : TwoStepKernel(name, shape, machine, 3),
        lines_(last().count),
        rows_(n2_ / 2),
        half_(machine.partitions / 2),
        together_(lines_together(n1_, machine)),
        deep_(std::min<std::int64_t>(kLines, lines_)),
        across_(shape.lines[shape.lines.size() - 2]) {}

  virtual void some(const std::vector<BlockPiece>& pieces, const std::vector<std::int64_t>& first_lines) = 0;

  // some() for all lines. The side whose lines are whole in `x` or `y` counts them in the piece's address; of the other
  // one, where results and images lie in both directions, the piece has the block's.
  Program all_blocks(std::int64_t LineDim::*counted) {
    const std::int64_t blocks = across_.count / together_, pieces = lines_ / deep_;
    const std::int64_t most = std::clamp<std::int64_t>(kPieces / pieces, 1, blocks), whole = blocks / most;
    const auto few = [&](const Affine& in, const Affine& out, const Affine& first, std::int64_t count) {
      std::vector<BlockPiece> list;
      std::vector<std::int64_t> lines;
      for (std::int64_t i = 0; i < count; ++i) {
        const Affine block = (first + i) * together_;
        for (std::int64_t l = 0; l < lines_; l += deep_) {
          Affine from = in + block * across_.in, to = out + block * across_.out;
          Affine& moved = counted == &LineDim::in ? from : to;
          moved = moved + l * (last().*counted);
          list.push_back({from, to, together_, 1, 2 * deep_});
          lines.push_back(l);
        }
      }
      some(list, lines);
    };
    for_outer_lines(
        [&](const Affine& in, const Affine& out) {
          b_.parallel("block", whole, [&](Affine i) { few(in, out, i * most, most); });
          if (blocks % most > 0) few(in, out, whole * most, blocks % most);
        },
        2);
    return tile::static_stores(b_.finish());
  }

  // Shape and strides of what lies beside the lines of one side: the outer dimensions, then `more`, whose first is of
  // lines and whose last is of real and imaginary parts. Ascending: lines N/2 + 1 .. N - 1 and, of the point m/2, N/2 +
  // 1 .. N.
  std::pair<Shape, Strides> rows_of(std::int64_t LineDim::*side, const Shape& more, std::int64_t point = 0) const {
    Shape shape;
    Strides strides;
    for (std::size_t i = 0; i + 1 < s_.lines.size(); ++i)
      shape.push_back(s_.lines[i].count), strides.push_back(s_.lines[i].*side);
    shape.insert(shape.end(), more.begin(), more.end());
    if (more.size() > 1) strides.push_back(last().*side);
    if (more.size() > 2) strides.push_back(point);
    if (more.size() > 1) strides.push_back(1);
    return {shape, strides};
  }

  // `count` rows, points [from, n1) of each, and `lines` lines: in HBM from `at` on, and in a tile (k2; k1, g, t, part)
  // from row `row` and line `position` on.
  Access there(const Access& hbm, const Affine& at, std::int64_t stride, std::int64_t LineDim::*side,
               std::int64_t count, std::int64_t from, std::int64_t lines) const {
    return pattern(
        hbm, at,
        {{n1_ * stride, count}, {stride, n1_ - from}, {across_.*side, together_}, {last().*side, lines}, {1, 2}});
  }
  Access here(const Access& tile, std::int64_t row, std::int64_t count, std::int64_t from, std::int64_t position,
              std::int64_t lines) const {
    return pattern(tile(ds(row, count), all), from * point() + 2 * position,
                   {{point(), n1_ - from}, {2 * deep_, together_}, {2, lines}, {1, 2}});
  }
  [[nodiscard]] std::int64_t point() const { return 2 * deep_ * together_; }

  static constexpr std::int64_t kLines = 8, kPieces = 4;
  const std::int64_t lines_, rows_, half_, together_, deep_;
  const LineDim across_;
};

class PairsKernel final : public PairsBase {
 public:
  PairsKernel(const LinesShape& shape, const Machine& machine) : PairsBase("fft_pairs", shape, machine) {}

  Program build() {
    const std::int64_t rows1 = together_ * n1_;
    first_ = constant("first_re", rows1, 2 * rows1, DType::Float32, 1);
    declare_twiddles(n2_, 2 * rows1);
    for (std::int64_t part = 0; part < 2; ++part)
      second_[part] = constant(part == 0 ? "second_re" : "second_im", n2_, half_ + rows_, DType::Float32, 1);
    lone_ = constant("lone", n2_, 1, DType::Float32, 1);
    declare_results();
    return all_blocks(&LineDim::in);
  }

 private:
  struct Tile {
    BlockPiece piece;
    std::int64_t line;  // the first
    Access x, y, mirror, lone;
  };

  void declare_results() {
    const auto [shape, strides] = rows_of(&LineDim::out, {lines_ - 1, s_.out.points - 1, 2}, s_.out.stride);
    const auto [lone, lone_strides] = rows_of(&LineDim::out, {lines_, 2});
    mirror_ = b_.output("y_mirror", DType::Float32, shape, strides);
    lone_out_ = b_.output("y_lone", DType::Float32, lone, lone_strides);
  }

  void some(const std::vector<BlockPiece>& pieces, const std::vector<std::int64_t>& lines) override {
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
    const std::int64_t stride = s_.out.stride, d = last().out;
    const auto store = [&](const Access& hbm, const Affine& at, const Access& tile, std::int64_t row,
                           std::int64_t count, std::int64_t from, std::int64_t lines) {
      if (count * lines * (n1_ - from) > 0)
        b_.dma_copy(there(hbm, at, stride, &LineDim::out, count, from, lines), here(tile, row, count, from, 0, lines));
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

  Access first_, second_[2], lone_, mirror_, lone_out_;
};

class PairsInKernel final : public PairsBase {
 public:
  PairsInKernel(const LinesShape& shape, const Machine& machine) : PairsBase("fft_pairs_in", shape, machine) {}

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
    return all_blocks(&LineDim::out);
  }

 private:
  static constexpr std::int64_t kAhead = 3;  // fours

  struct Tile {
    BlockPiece piece;
    Access x, mirror, ends, y;
    bool first = false;  // with line 0
  };

  // Row N/2 lies behind the lines of y.
  void declare_inputs() {
    const auto [shape, strides] = rows_of(&LineDim::in, {lines_ - 1, s_.in.points - 1, 2}, s_.in.stride);
    const auto [lone, lone_strides] = rows_of(&LineDim::in, {lines_, 2});
    auto [middle, middle_strides] = rows_of(&LineDim::out, {});
    middle.push_back(s_.n()), middle_strides.push_back(1);
    middle_ = b_.input("x_middle", DType::Float32, middle, middle_strides);
    mirror_ = b_.input("x_mirror", DType::Float32, shape, strides);
    lone_ = b_.input("x_lone", DType::Float32, lone, lone_strides);
  }

  void some(const std::vector<BlockPiece>& pieces, const std::vector<std::int64_t>& lines) override {
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
      if (count * lines * (n1_ - from) > 0)
        b_.dma_copy(here(tile, row, count, from, position, lines),
                    there(hbm, at, stride, &LineDim::in, count, from, lines));
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

  Access first_[2], second_[2], spread_, mirror_, lone_, middle_;
};

}  // namespace

bool pairs_fit(std::int64_t n1, std::int64_t n2, std::int64_t lines, std::int64_t across, const Machine& machine) {
  return n1 >= 2 && n1 <= machine.partitions && n2 % 2 == 0 && n2 > machine.partitions / 2 &&
         n2 <= machine.partitions && lines >= 2 && lines % std::min<std::int64_t>(8, lines) == 0 &&
         across % lines_together(n1, machine) == 0;
}

Program pairs_program(const LinesShape& shape, const Machine& machine) { return PairsKernel(shape, machine).build(); }

Program pairs_in_program(const LinesShape& shape, const Machine& machine) {
  return PairsInKernel(shape, machine).build();
}

}  // namespace trn::fft::device
