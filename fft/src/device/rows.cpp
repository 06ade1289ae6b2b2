// Kernel Rows: lines of up to 128 points whose points are neighbours in memory, such as a batch of short transforms.
//
//   x (lines, points)      lines on partitions, R of them behind one another on each: one load with runs of R lines
//   x^T (K, 128 lines)     by transposes of the Tensor Engine, four to a PSUM bank, then to SBUF (split into words
//   where the mode has
//                          words)
//   y (128 lines, N)       = stationary x^T, moving W (K, N): the lines come back to the partitions, so y leaves as x
//   came
//
// W is a real matrix that acts on the K real numbers of G lines at once. What it is, by the length n:
//
//   complex, n <= 64   K = N = 2 n G: real and imaginary parts are rows and columns of one matrix, G = 64/n lines make
//   it block diagonal even n > 64        halves first: y_2k is the transform of x_j + x_(j+n/2), y_(2k+1) that of (x_j
//   - x_(j+n/2)) w^j. Two products, K = N
//                      = n: half the 2n x 2n matrix
//   odd n > 64         two products of K = n rows, summed in PSUM, N = 2 n
//   real in            K = n G real points, N = 2 (n/2 + 1) G, or n G where that is much less (rows_packed): half the
//   work of a
//                      complex line
//   real out           K = n G: the real parts of the n/2 + 1 points and the imaginary parts that are not mirror images
//   of themselves; N =
//                      n G
//
// Why the data is stationary: the other way round y^T would come out and need turning too. A bank of y is 128 lines x
// 512 numbers, whatever n.
//
// Time on trn2 for 128 complex lines of 128 in fp32 (2 x 128 KiB): DMA 712 ns at 368 GB/s. Tensor Engine: two
// transposes of 270 cycles and two products of 526 at 2.4 GHz, 663 ns. GpSimd Engine: halves, 256 sums of two, 430 ns,
// a tile ahead of the others. Emptying PSUM: 512 numbers, 427 ns of the Scalar Engine or 533 of the Vector Engine; they
// share. With the whole 2n x 2n matrix the products would take 865 ns; loading x^T by DMA would move 8 bytes a run. DMA
// and the Tensor Engine are both near their limit.
//
// One line's NaN or infinity reaches the G lines that share its matrix product (0 * NaN), n <= 64 only; on trn1, whose
// transposes are products with the identity, the 128 lines that are turned together.
#include <algorithm>
#include <trn/tile/blocks/loops.hpp>
#include <trn/tile/stores.hpp>

#include "line_kernel.hpp"

namespace trn::fft::device {

using namespace trn::tile;
using blocks::ceil_div;

namespace {

class RowsKernel final : public LineKernelBase {
 public:
  RowsKernel(const LinesShape& shape, const Machine& machine)
      : LineKernelBase("fft_rows", shape, machine),
        n_(shape.n2),
        parts_(rows_parts(shape)),
        together_(lines_together(parts_.rows, machine)) {
    per_bank_ =
        std::max<std::int64_t>(1, std::min(bank_ / side_ / parts_.chunks, bank_ / (together_ * parts_.columns)));
    // 16 KiB a partition: 2 MiB a load.
    const std::int64_t reals = std::max(line_reals(s_.in), line_reals(s_.out));
    lines_each_ = ceil_div(ceil_div(kTileReals, reals), together_) * together_;
  }

  Program build() {
    for (std::int64_t i = 0; i < parts_.parts * parts_.chunks; ++i) {
      matrix_[i] = constant(fmt::format("matrix{}", i), together_ * parts_.rows, together_ * parts_.columns,
                            words_.dtype, words_.count);
    }
    for_outer_lines([&](const Affine& in, const Affine& out) {
      const LineDim& d = last();
      const std::int64_t full = side_ * lines_each_, whole = d.count / full;
      b_.parallel("block", whole,
                  [&](Affine i) { block(in + i * (full * d.in), out + i * (full * d.out), side_, lines_each_); });
      std::int64_t first = whole * full;
      const auto piece = [&](std::int64_t partitions, std::int64_t each) {
        if (partitions * each == 0) return;
        block(in + first * d.in, out + first * d.out, partitions, each);
        first += partitions * each;
      };
      const std::int64_t each = ceil_div(d.count - first, side_);
      if (each > 0) piece((d.count - first) / each, each);
      piece(1, d.count - first);
    });
    return tile::static_stores(b_.finish());
  }

 private:
  static std::int64_t line_reals(const PointLayout& layout) { return layout.points * (layout.real ? 1 : 2); }

  // (P, lines, points) of one part of a tile of lines: (P, R, points, 2), planar (P, 2, R, points), real (P, R,
  // points).
  static Access part_of(const Access& tile, const SideTensors& side, std::int64_t part, std::int64_t lines) {
    const std::int64_t points = side.layout.points;
    if (side.pairs()) return pattern(tile, part, {{2 * points, lines}, {2, points}});
    return pattern(tile, part * lines * points, {{points, lines}, {1, points}});
  }
  // body(HBM, tile) for each tensor of a side.
  template <class Body> static void transfer(const SideTensors& side, const Affine& first, std::int64_t distance,
                                             std::int64_t partitions, std::int64_t lines, const Access& tile,
                                             Body body) {
    for (int t = 0; t < side.tensors(); ++t) {
      std::vector<Dim> dims{
          {lines * distance, partitions}, {distance, lines}, {side.layout.stride, side.layout.points}};
      if (side.pairs()) dims.push_back({1, 2});
      const std::int64_t reals = lines * side.layout.points * (side.pairs() ? 2 : 1);
      body(pattern(side.tensor[t], first, dims), pattern(tile, t * reals, {{1, reals}}));
    }
  }

  // Groups of lines that are turned and multiplied together: `groups` of G lines from `line` on, of one part.
  struct Bank {
    std::int64_t part, line, groups, together;
  };

  void block(const Affine& in, const Affine& out, std::int64_t partitions, std::int64_t lines) {
    const Access x = b_.sbuf("x_tile", partitions, {lines * line_reals(s_.in)}, DType::Float32, 3);
    transfer(x_, in, last().in, partitions, lines, x,
             [&](const Access& hbm, const Access& tile) { b_.dma_copy(tile, hbm); });
    const Access y = b_.sbuf("y_tile", partitions, {lines * line_reals(s_.out)}, DType::Float32, 2);
    const Access prepared = prepare(x, lines);
    std::vector<Bank> banks;
    const std::int64_t whole = lines / together_, rest = lines % together_;
    for (std::int64_t part = 0; part < parts_.parts; ++part) {
      for (std::int64_t g = 0; g < whole; g += per_bank_)
        banks.push_back({part, g * together_, std::min(per_bank_, whole - g), together_});
      if (rest > 0) banks.push_back({part, whole * together_, 1, rest});
    }
    const std::int64_t rows = together_ * parts_.rows, bank_size = per_bank_ * parts_.chunks * side_;
    Ring psum(b_.psum("turned", rows, {kSlots, bank_size > bank_ / 2 ? bank_ : bank_size}), kSlots),
        sums(b_.psum("sums", partitions, {kSlots, bank_}), kSlots);
    Ring words(b_.sbuf("x_turned", rows, {kSlots, words_.count * bank_size}, words_.dtype), kSlots);
    // Transposes run kAhead banks before the products, so that the Tensor Engine does not wait for its own results to
    // be moved.
    std::vector<Access> turned(banks.size());
    for (std::size_t i = 0; i < banks.size() + kAhead; ++i) {
      if (i < banks.size()) turned[i] = turn(banks[i], x, prepared, lines, i, psum.next(), words.next());
      if (i >= kAhead) multiply(banks[i - kAhead], turned[i - kAhead], y, lines, sums.next());
    }
    if (rows_packed(s_)) {
      const auto place = [&](std::int64_t at) { return pattern(y, at, {{n_ + 2, lines}}); };
      b_.tensor_copy(place(n_), place(1), Engine::GpSimd);
      b_.memset(place(1), 0, Engine::GpSimd);
      b_.memset(place(n_ + 1), 0, Engine::GpSimd);
    }
    transfer(y_, out, last().out, partitions, lines, y,
             [&](const Access& hbm, const Access& tile) { b_.dma_copy(hbm, tile); });
  }

  // What is turned instead of x: (P, parts, lines, n) halves of lines, or the independent numbers of half a line.
  // Nothing for other lines.
  Access prepare(const Access& x, std::int64_t lines) {
    if (s_.in.real || (!s_.out.real && parts_.parts == 1)) return {};
    const Access t = b_.sbuf("prepared", x.partitions, {parts_.parts, lines, n_}, DType::Float32, 2);
    if (s_.out.real) {
      const std::int64_t pairs = (n_ - 1) / 2, evens = n_ - pairs;
      const auto at = [&](std::int64_t first, std::int64_t count) {
        return pattern(t, first, {{n_, lines}, {1, count}});
      };
      b_.tensor_copy(at(0, evens), part_of(x, x_, 0, lines), Engine::GpSimd);
      if (pairs > 0) b_.tensor_copy(at(evens, pairs), part_of(x, x_, 1, lines)(all, all, ds(1, pairs)), Engine::GpSimd);
      return t;
    }
    // Interleaved halves are runs of n reals; planar ones n/2 of each part.
    const bool planar = x_.tensors() == 2;
    const auto half = [&](std::int64_t second) {
      if (planar) return pattern(x, second * n_ / 2, {{n_, lines}, {lines * n_, 2}, {1, n_ / 2}});
      return pattern(x, second * n_, {{2 * n_, lines}, {1, n_}});
    };
    for (std::int64_t part = 0; part < 2; ++part) {
      b_.tensor_tensor(pattern(t, part * lines * n_, {{1, lines * n_}}), half(0), half(1),
                       part == 0 ? AluOp::Add : AluOp::Subtract, Engine::GpSimd);
    }
    return t;
  }

  // (K, words, groups, P) in SBUF: the numbers of each group of lines on partitions.
  Access turn(const Bank& bank, const Access& x, const Access& prepared, std::int64_t lines, std::size_t number,
              const Access& in_psum, const Access& in_sbuf) {
    const std::int64_t rows = bank.together * parts_.rows, partitions = x.partitions;
    const Access psum = in_psum(ds(0, rows), all), turned = in_sbuf(ds(0, rows), all);
    const std::int64_t count = bank.groups * parts_.chunks;
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t line = bank.line + i / parts_.chunks * bank.together;
      b_.nc_transpose(pattern(psum, i * side_, {{1, partitions}}),
                      group(x, prepared, bank, line, i % parts_.chunks, lines));
    }
    const auto groups = [&](const Access& t, std::int64_t w) {
      return pattern(t, w * per_bank_ * parts_.chunks * side_, {{side_, count}, {1, partitions}});
    };
    const bool busy_vector = prepared.present() || words_.count > 1;
    split_words(
        b_, words_, [&](std::int64_t w) { return groups(turned, w); }, groups(psum, 0),
        busy_vector && number % 2 == 1 ? Engine::Scalar : Engine::Vector);
    return turned;
  }

  // (P, K): the numbers of `bank.together` lines from `line` on, or one chunk of a line's.
  Access group(const Access& x, const Access& prepared, const Bank& bank, std::int64_t line, std::int64_t chunk,
               std::int64_t lines) const {
    if (prepared.present()) return pattern(prepared, (bank.part * lines + line) * n_, {{1, bank.together * n_}});
    const bool planar = x_.tensors() == 2;
    if (parts_.chunks == 2)
      return pattern(x, planar ? (chunk * lines + line) * n_ : (2 * line + chunk) * n_, {{1, n_}});
    if (!planar) return pattern(x, line * parts_.rows, {{1, bank.together * parts_.rows}});
    return pattern(x, line * n_, {{n_, bank.together}, {lines * n_, 2}, {1, n_}});
  }

  void multiply(const Bank& bank, const Access& turned, const Access& y, std::int64_t lines, const Access& sums) {
    const std::int64_t rows = bank.together * parts_.rows, columns = bank.together * parts_.columns,
                       partitions = y.partitions;
    for (std::int64_t g = 0; g < bank.groups; ++g) {
      std::int64_t step = 0;
      for (const auto& [data, matrix] : words_.products) {
        for (std::int64_t chunk = 0; chunk < parts_.chunks; ++chunk) {
          b_.nc_matmul(pattern(sums, g * columns, {{1, columns}}),
                       pattern(turned, ((data * per_bank_ + g) * parts_.chunks + chunk) * side_, {{1, partitions}}),
                       word(matrix_[bank.part + chunk], matrix, rows, columns), {.accumulate = step++});
        }
      }
    }
    const std::int64_t here = bank.groups * bank.together, points = s_.out.points;
    const Access from = pattern(sums, 0, {{1, bank.groups * columns}});
    if (parts_.parts == 2) {  // every second point
      if (y_.tensors() == 2) {
        return move(pattern(y, bank.line * n_ + bank.part, {{n_, here}, {lines * n_, 2}, {2, n_ / 2}}), from,
                    Engine::Scalar);
      }
      return move(pattern(y, 2 * (bank.line * n_ + bank.part), {{2 * n_, here}, {4, n_ / 2}, {1, 2}}), from,
                  Engine::Scalar);
    }
    if (rows_packed(s_))
      return move(pattern(y, bank.line * 2 * points, {{2 * points, here}, {1, n_}}), from, Engine::Scalar);
    if (y_.tensors() == 1)
      return move(pattern(y, bank.line * parts_.columns, {{1, here * parts_.columns}}), from, Engine::Scalar);
    move(pattern(y, bank.line * points, {{points, here}, {lines * points, 2}, {1, points}}), from, Engine::Scalar);
  }

  static constexpr std::int64_t kTileReals = 4096, kSlots = 4;
  static constexpr std::size_t kAhead = 2;

  const std::int64_t n_;
  const RowsParts parts_;
  const std::int64_t together_;
  std::int64_t per_bank_ = 1, lines_each_ = 1;
  Access matrix_[2];
};

}  // namespace

Program rows_program(const LinesShape& shape, const Machine& machine) { return RowsKernel(shape, machine).build(); }

}  // namespace trn::fft::device
