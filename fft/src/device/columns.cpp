// Kernel Columns: lines of up to 128 points that are neighbours of one another, such as the columns of a matrix.
//
//   x (points, lines)    points on partitions: nothing is turned. G = 128/n groups of lines lie above one another
//   y = A x              stationary: cos and sin, block diagonal for G groups; moving: real and imaginary parts of x,
//   every second number
//                        of the tile
//                          Re y = a . Re x - b . Im x,   Im y = b . Re x + a . Im x,   a + i b = s exp(-+ 2 pi i jk/n)
//                        four products, in pairs that PSUM adds up, two for a real input; 512 lines at a time
//
// Lines come in runs: of the last dimension whole where it is short, else in pieces of 512. A tile holds G x O runs.
//
// Time on trn2 for 512 complex lines of 128 in fp32: DMA 1 MiB, 2.52 us. Tensor Engine: four products of 2062
// cycles, 3.44 us: the limit. Emptying PSUM: 1024 numbers, 0.96 us of the Scalar Engine. With a table (the twiddles of
// a longer transform): two products and a sum for each number that leaves, on the Vector Engine 4 x 533 ns from PSUM
// and 2 x 533 ns in SBUF, 3.2 us, and the table's bytes are read too, DMA 3.8 us.
//
// Half lines (the first step of a long transform to real numbers): of 128 points the first 64 are given, all with
// weight 2 but X(0), point 0 of line 0, which counts half and without its imaginary part. Real and imaginary parts are
// 64 rows each of the moving tile, so that two products do. X(n/2), of weight 1, is added to line 0 with the sign
// (-1)^j1.
//
// One line's NaN or infinity reaches the G lines on the same column of the tile (0 * NaN), n <= 64 only.
#include <algorithm>
#include <trn/tile/blocks/loops.hpp>
#include <trn/tile/stores.hpp>

#include "line_kernel.hpp"

namespace trn::fft::device {

using namespace trn::tile;
using blocks::ceil_div;

namespace {

class ColumnsKernel final : public LineKernelBase {
 public:
  ColumnsKernel(const LinesShape& shape, const Machine& machine)
      : LineKernelBase("fft_columns", shape, machine),
        n_(shape.n2),
        together_(lines_together(n_, machine)),
        half_(shape.in.points < shape.n2) {}

  Program build() {
    const std::int64_t rows = together_ * n_;
    if (half_) {
      a_ = constant("matrix_re", rows, rows, words_.dtype, words_.count);
      b_plus_ = constant("matrix_im", rows, rows, words_.dtype, words_.count);
      signs_ = constant("signs", 1, rows, DType::Float32, 1);
      Shape outer{1};
      Strides strides{1};
      for (std::size_t i = 0; i + 1 < s_.lines.size(); ++i) {
        outer.push_back(s_.lines[i].count);
        strides.push_back(s_.lines[i].in);
      }
      x_last_ = b_.input("x_last", DType::Float32, outer, strides);
      zero_ = b_.sbuf("zero", 1, {1}, DType::Float32);
      b_.memset(zero_, 0, Engine::GpSimd);
    } else {
      a_ = constant("matrix_a", rows, rows, words_.dtype, words_.count);
      b_plus_ = constant("matrix_b", rows, rows, words_.dtype, words_.count);
      b_minus_ = constant("matrix_minus_b", rows, rows, words_.dtype, words_.count);
    }
    if (s_.table) table_ = b_.input("table", DType::Float32, {n_, last().count, 2});
    runs();
    return tile::static_stores(b_.finish());
  }

 private:
  // Runs of neighbouring lines, and the dimension along which runs are taken together.
  struct Runs {
    Affine in, out, line;    // of the first run; line counts lines of the last dimension
    LineDim across;          // the runs
    std::int64_t line_step;  // lines of the last dimension from one run to the next
    std::int64_t length;     // lines in a run
    Access table;            // for one run, where all runs have the same
    bool first = false;      // with line 0 of half lines
  };

  void runs() {
    const LineDim& d = last();
    const std::int64_t whole = d.count / bank_, rest = d.count % bank_;
    const std::int64_t alone = half_ && whole > 0 ? 1 : 0;  // the piece that has line 0 of half lines
    const bool several = s_.lines.size() > 1;
    const LineDim across = several ? s_.lines[s_.lines.size() - 2] : LineDim{};
    // Pieces of the last dimension; the dimension before it is taken apart. A piece of the table serves all of them.
    const auto piece = [&](const Affine& first, std::int64_t length, bool zero) {
      const Access table = s_.table ? load_table(first, 0, together_, 1, length) : Access{};
      for_outer_lines(
          [&](const Affine& in, const Affine& out) {
            tiles({in + first * d.in, out + first * d.out, first, across, 0, length, table, zero});
          },
          2);
    };
    if (several && (s_.table ? across.count > 1 && across.count >= together_ : d.count < bank_)) {
      if (alone > 0) piece(0, bank_, true);
      b_.parallel("piece", whole - alone, [&](Affine i) { piece((i + alone) * bank_, bank_, false); });
      if (rest > 0) piece(whole * bank_, rest, half_ && whole == 0);
      return;
    }
    for_outer_lines([&](const Affine& in, const Affine& out) {
      if (alone > 0) tiles({in, out, 0, {1, 0, 0}, 0, bank_, {}, true});
      if (const std::int64_t from = alone * bank_; whole > alone)
        tiles({in + from * d.in,
               out + from * d.out,
               from,
               {whole - alone, bank_ * d.in, bank_ * d.out},
               bank_,
               bank_,
               {}});
      if (rest > 0) {
        // Short runs side by side on the groups of partitions, as many as there are.
        const std::int64_t length = ceil_div(rest, together_), count = rest / length, left = rest - count * length,
                           first = whole * bank_;
        tiles({in + first * d.in,
               out + first * d.out,
               first,
               {count, length * d.in, length * d.out},
               length,
               length,
               {},
               half_ && first == 0});
        const std::int64_t then = first + count * length;
        if (left > 0) tiles({in + then * d.in, out + then * d.out, then, {1, 0, 0}, 0, left, {}});
      }
    });
  }
  // (groups, k; runs, lines, 2): the table of `length` lines from `line` on for each run, `step` lines apart.
  Access load_table(const Affine& line, std::int64_t step, std::int64_t groups, std::int64_t runs,
                    std::int64_t length) {
    const Access table = b_.sbuf("table_tile", groups * n_, {2 * runs * length}, DType::Float32, 2);
    b_.dma_copy(table,
                pattern(table_, line * 2,
                        {{2 * runs * step, groups}, {2 * last().count, n_}, {2 * step, runs}, {2, length}, {1, 2}}),
                {.dge = machine_.hardware_dge ? DgeMode::Static : DgeMode::Default});
    return table;
  }

  void tiles(const Runs& r) {
    const std::int64_t wanted = std::max<std::int64_t>(1, tile_lines() / r.length);
    const std::int64_t each = std::min(wanted, ceil_div(r.across.count, together_)), full = together_ * each,
                       whole = r.across.count / full;
    const auto at = [&](const Affine& first, std::int64_t groups, std::int64_t runs) {
      tile(r.in + first * r.across.in, r.out + first * r.across.out, r.line + first * r.line_step, groups, runs, r);
    };
    b_.parallel("tile", whole, [&](Affine i) { at(i * full, together_, each); });
    std::int64_t first = whole * full, left = r.across.count - first;
    if (const std::int64_t runs = left / together_; runs > 0) {
      at(first, together_, runs);
      first += runs * together_;
      left -= runs * together_;
    }
    if (left > 0) at(first, left, 1);
  }
  [[nodiscard]] std::int64_t tile_lines() const { return 2 * bank_; }

  // Real or imaginary part of a tile of lines, interleaved (P, lines, 2) or planar (P, 2, lines): lines [first, first +
  // count).
  static Access part_of(const Access& tile, bool pairs, std::int64_t part, std::int64_t lines, std::int64_t first,
                        std::int64_t count) {
    return pairs ? pattern(tile, 2 * first + part, {{2, count}}) : pattern(tile, part * lines + first, {{1, count}});
  }
  template <class Body> static void transfer(const SideTensors& side, const Affine& at, std::int64_t distance_across,
                                             std::int64_t distance, std::int64_t groups, std::int64_t runs,
                                             std::int64_t length, const Access& tile, Body body) {
    for (int t = 0; t < side.tensors(); ++t) {
      std::vector<Dim> dims{{runs * distance_across, groups},
                            {side.layout.stride, side.layout.points},
                            {distance_across, runs},
                            {distance, length}};
      if (side.pairs()) dims.push_back({1, 2});
      const std::int64_t reals = runs * length * (side.pairs() ? 2 : 1);
      body(pattern(side.tensor[t], at, dims), pattern(tile, t * reals, {{1, reals}}));
    }
  }

  void tile(const Affine& in, const Affine& out, const Affine& line, std::int64_t groups, std::int64_t runs,
            const Runs& r) {
    const std::int64_t rows = groups * n_, lines = runs * r.length;
    // A number of half lines is one part, in memory one of two.
    const std::int64_t unit = half_ && x_.pairs() ? 2 : 1, reals = s_.in.real || half_ ? lines : 2 * lines;
    const Access x = half_ ? half_lines(in, runs, r) : b_.sbuf("x_tile", rows, {reals}, DType::Float32, 3),
                 y = b_.sbuf("y_tile", rows, {2 * lines}, DType::Float32, 3);
    if (!half_)
      transfer(x_, in, r.across.in, last().in, groups, runs, r.length, x,
               [&](const Access& hbm, const Access& t) { b_.dma_copy(t, hbm); });
    const Access end = r.first ? last_point(in, runs, r) : Access{};
    const Access table =
        s_.table && !r.table.present() ? load_table(line, r.line_step, groups, runs, r.length) : Access{};
    Access split = x;
    if (words_.count > 1 || words_.dtype != DType::Float32) {
      split = b_.sbuf("x_words", rows, {words_.count, reals}, words_.dtype, 2);
      split_words(
          b_, words_,
          [&](std::int64_t w) {
            return pattern(split, w * reals, {{1, reals}});
          },
          pattern(x, 0, {{unit, reals}}), s_.table ? Engine::Scalar : Engine::Vector);
    }
    // Part `part` of lines [first, first + count), or both parts of half lines.
    const auto moving = [&](std::int64_t data, std::int64_t part, std::int64_t first, std::int64_t count) {
      const std::int64_t step = split.id == x.id ? unit : 1;
      if (half_) return pattern(split, data * reals + step * first, {{step, count}});
      return part_of(pattern(split, data * reals, {{1, reals}}), x_.pairs(), part, lines, first, count);
    };
    Ring sums(b_.psum("sums", rows, {machine_.psum_banks, bank_}), machine_.psum_banks);
    const std::int64_t chunk = r.table.present() ? bank_ / r.length * r.length : bank_;
    const auto table_of = [&](std::int64_t part, std::int64_t first, std::int64_t count) {
      if (!r.table.present()) return part_of(table, true, part, lines, first, count);
      return pattern(r.table(ds(0, rows), all), part, {{0, count / r.length}, {2, r.length}});
    };
    for (std::int64_t first = 0, number = 0; first < lines; first += chunk, ++number) {
      const std::int64_t count = std::min(chunk, lines - first);
      const auto sum = [&](const Access& dst, const Access& with_re, const Access& with_im) {
        std::int64_t step = 0;
        for (std::int64_t part = 0; part < (s_.in.real || half_ ? 1 : 2); ++part) {
          for (const auto& [data, matrix] : words_.products) {
            b_.nc_matmul(dst, word(part == 0 ? with_re : with_im, matrix, rows, rows), moving(data, part, first, count),
                         {.accumulate = step++});
          }
        }
        return step;
      };
      const Access re = sums.next()(all, ds(0, count)), im = sums.next()(all, ds(0, count));
      const std::int64_t step = sum(re, a_, b_minus_);
      if (end.present()) {
        const std::int64_t here = count / r.length;
        b_.nc_matmul(pattern(re, 0, {{r.length, here}}), word(signs_, 0, 1, rows),
                     pattern(end, first / r.length, {{1, here}}), {.accumulate = step});
      }
      sum(im, b_plus_, a_);
      const Access to_re = part_of(y, y_.pairs(), 0, lines, first, count),
                   to_im = part_of(y, y_.pairs(), 1, lines, first, count);
      if (s_.table) {
        turn_by_table(to_re, to_im, re, im, table_of(0, first, count), table_of(1, first, count));
      } else {
        const Engine engine = number % 2 == 0 || words_.dtype != DType::Float32 ? Engine::Scalar : Engine::Vector;
        move(to_re, re, engine);
        move(to_im, im, engine);
      }
    }
    transfer(y_, out, r.across.out, last().out, groups, runs, r.length, y,
             [&](const Access& hbm, const Access& t) { b_.dma_copy(hbm, t); });
  }

  // (part, k; runs, lines), for pairs every second number of it, from half lines. By the Scalar Engine, which has
  // nothing else to do and so runs ahead.
  Access half_lines(const Affine& in, std::int64_t runs, const Runs& r) {
    const std::int64_t lines = runs * r.length, given = s_.in.points, unit = x_.pairs() ? 2 : 1;
    const Access x = b_.sbuf("x_tile", 2 * given, {unit * lines}, DType::Float32, 3);
    for (int t = 0; t < x_.tensors(); ++t) {
      std::vector<Dim> dims{{s_.in.stride, given}, {r.across.in, runs}, {last().in, r.length}};
      if (unit == 2) dims.push_back({1, 2});
      b_.dma_copy(x(ds(t * given, given), all), pattern(x_.tensor[t], in, dims));
    }
    if (r.first) {
      const std::vector<Dim> zeros{{unit * r.length, runs}};
      const Access re = pattern(x(ds(0, 1), all), 0, zeros),
                   im = unit == 2 ? pattern(x(ds(0, 1), all), 1, zeros) : pattern(x(ds(given, 1), all), 0, zeros);
      b_.activation(re, ActFunction::Copy, re, {.scale = 0.5});
      move(im, pattern(zero_, 0, {{0, runs}}), Engine::Scalar);
    }
    if (unit == 2)
      move(pattern(x(ds(given, given), all), 0, {{2, lines}}), pattern(x(ds(0, given), all), 1, {{2, lines}}),
           Engine::Scalar);
    return x;
  }
  // X(n/2) of each run: (1; runs).
  Access last_point(const Affine& in, std::int64_t runs, const Runs& r) {
    const Access end = b_.sbuf("x_end", 1, {runs}, DType::Float32, 2);
    b_.dma_copy(end, pattern(x_last_, in, {{r.across.in, runs}}),
                {.dge = machine_.hardware_dge ? DgeMode::Static : DgeMode::Default});
    return end;
  }

  // (re + i im) (c + i d)
  void turn_by_table(const Access& to_re, const Access& to_im, const Access& re, const Access& im, const Access& c,
                     const Access& d) {
    const auto product = [&](const Access& u, const Access& v) {
      const Access t = b_.sbuf("product", u.partitions, {u.free_size()}, DType::Float32, 4);
      b_.tensor_tensor(t, u, v, AluOp::Multiply, Engine::Vector);
      return t;
    };
    const Access rc = product(re, c), id = product(im, d), rd = product(re, d), ic = product(im, c);
    b_.tensor_tensor(to_re, rc, id, AluOp::Subtract, Engine::GpSimd);
    b_.tensor_tensor(to_im, rd, ic, AluOp::Add, Engine::GpSimd);
  }

  const std::int64_t n_, together_;
  const bool half_;
  Access a_, b_plus_, b_minus_, table_, signs_, x_last_, zero_;
};

}  // namespace

Program columns_program(const LinesShape& shape, const Machine& machine) {
  return ColumnsKernel(shape, machine).build();
}

}  // namespace trn::fft::device
