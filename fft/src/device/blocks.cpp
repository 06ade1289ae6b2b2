// Kernel Blocks: lines of n = n1 n2 points, n1 and n2 up to 128, in one program and with all of a line in SBUF: Bailey's two steps.
//
// With j = j1 n2 + j2 and k = k1 + n1 k2:
//
//   z(j2, k1) = sum over j1 of x(j1, j2) w1^(j1 k1)      stationary: x, moving: F1. The product comes out with j2 on partitions: nothing is
//                                                        turned
//   z(j2, k1) *= w^(j2 k1)                               on the way out of PSUM
//   y(k2, k1) = sum over j2 of z(j2, k1) w2^(j2 k2)      stationary: F2, moving: z. Row k2 of y is n1 neighbours of the result
//
// Short factors share the array: G1 = 128/n1 lines lie above one another on the partitions of x and G2 = 128/n2 beside one another in its
// columns. F1 and F2 are then block diagonal and one product works on G1 G2 lines, as full as for n = 128 x 128. T such products make a
// tile:
//
//   line (g1 G2 + g2) T + t    x: partition (g1, j1), free (g2, t, j2)    z: partition (g2, j2), free (t, g1, k1)    y: partition (g2, k2)
//
// Loads have runs of n2 points and stores of n1 where points are neighbours; where lines are neighbours (the last step of a longer
// transform writes so) the tiles keep t innermost and runs are T lines.
//
// Time on trn2 for 16384 points in fp32: DMA 256 KiB, 0.71 us with 1 KiB runs. Tensor Engine: two products of 1038 cycles in each step,
// 1.73 us: the limit. Vector Engine: z times the table [cos, cos], z with its parts exchanged times [-sin, sin], and their sum, 256 numbers
// each: 0.80 us. Scalar Engine: y, 256 numbers, 0.21 us.
#include <algorithm>
#include <trn/tile/blocks/loops.hpp>
#include <trn/tile/blocks/warm_up.hpp>

#include "block_layout.hpp"

namespace trn::fft::device {

using namespace trn::tile;
using blocks::ceil_div;

namespace {

class BlocksKernel final : public LineKernelBase {
 public:
  BlocksKernel(const LinesShape& shape, const Machine& machine)
      : LineKernelBase("fft_blocks", shape, machine), layout_(shape, machine), n1_(shape.n1), n2_(shape.n2) {}

  Program build() {
    const std::int64_t rows1 = layout_.above * n1_, rows2 = layout_.beside * n2_;
    first_[0] = constant("first_re", rows1, 2 * rows1, words_.dtype, words_.count);
    if (!s_.in.real) first_[1] = constant("first_im", rows1, 2 * rows1, words_.dtype, words_.count);
    cos_ = constant("twiddle_cos", rows2, 2 * rows1, DType::Float32, 1);
    sin_ = constant("twiddle_sin", rows2, 2 * rows1, DType::Float32, 1);
    a_ = constant("second_a", rows2, rows2, words_.dtype, words_.count);
    if (!s_.out.real) b_plus_ = constant("second_b", rows2, rows2, words_.dtype, words_.count);
    b_minus_ = constant("second_minus_b", rows2, rows2, words_.dtype, words_.count);
    if (total_lines() >= 8 * layout_.above * layout_.beside) blocks::warm_tensor_engine(b_, 3 * machine_.timing.dma_start_s);
    // As deep as SBUF holds with words; deeper tiles lengthen the first load and the last store. With a real side the first fours of a tile
    // find the twiddles unfinished, so fewer tiles are better.
    const bool words = words_.dtype != DType::Float32, real = s_.in.real || s_.out.real;
    const std::int64_t deep = words ? (layout_.inner_in || layout_.inner_out ? 16 : 8) : real ? 32 : 16;
    for_outer_lines([&](const Affine& in, const Affine& out) {
      layout_.each(b_, in, out, deep, [&](const Affine& i, const Affine& o, std::int64_t above, std::int64_t beside, std::int64_t here) {
        block(i, o, above, beside, here);
      });
    });
    return b_.finish();
  }

 private:
  void block(const Affine& in, const Affine& out, std::int64_t above, std::int64_t beside, std::int64_t deep) {
    const std::int64_t lines = beside * deep, rows1 = above * n1_, rows2 = beside * n2_;
    const BlockPlaces px = layout_.x_places(lines), py = layout_.y_places(above, deep);
    const std::int64_t buffers = deep > 16 ? 2 : 3;
    const Access x = b_.sbuf("x_tile", rows1, {px.total}, DType::Float32, buffers),
                 y = b_.sbuf("y_tile", rows2, {py.total}, DType::Float32, 2);
    if (s_.in.points < s_.n())
      layout_.load_half(b_, x_, x, in, above, lines);
    else
      layout_.load(b_, x_, x, in, above, lines);
    Access split = x;  // into words by GpSimd, which has nothing else to do and so runs a tile ahead
    if (words_.dtype != DType::Float32) {
      split = b_.sbuf("x_words", rows1, {words_.count, px.total}, words_.dtype, deep > 8 ? 1 : 2);
      split_words(
          b_, words_,
          [&](std::int64_t w) {
            return pattern(split, w * px.total, {{1, px.total}});
          },
          x, Engine::GpSimd, Engine::GpSimd);
    }
    // Four products of the first step to two banks. The second step of one four comes after the first step of the next, so that the Tensor
    // Engine does not wait for the twiddles.
    std::vector<Access> z;
    Ring z_sums(b_.psum("z_sums", rows2, {2, 2 * bank_}), 2), y_sums(b_.psum("y_sums", rows2, {4, bank_}), 4);
    const std::int64_t most = std::min(kTogether, deep) * 2 * rows1;
    Ring straight(b_.sbuf("z_cos", rows2, {2, most}, DType::Float32), 2), crossed(b_.sbuf("z_sin", rows2, {2, most}, DType::Float32), 2);
    Ring turned(b_.sbuf("z_tile", rows2, {3, words_.count * most}, words_.dtype), 3);
    const std::int64_t fours = ceil_div(deep, kTogether);
    const auto count = [&](std::int64_t f) { return std::min(kTogether, deep - f * kTogether); };
    for (std::int64_t f = 0; f <= fours; ++f) {
      if (f < fours) {
        const Access sums = z_sums.next();
        first_step(sums, split, px, f * kTogether, count(f), rows1, beside, deep);
        z.push_back(twiddle(sums, count(f), 2 * rows1, straight.next(), crossed.next(), turned.next()));
      }
      if (f > 0) second_step(y, py, z[static_cast<std::size_t>(f - 1)], (f - 1) * kTogether, count(f - 1), above, y_sums);
    }
    layout_.store(b_, y_, y, out, above, beside, deep);
  }

  // z (rows2, count, 2 rows1) in PSUM, before the twiddles.
  void first_step(const Access& z, const Access& split, const BlockPlaces& px, std::int64_t t0, std::int64_t count, std::int64_t rows1,
                  std::int64_t beside, std::int64_t deep) {
    for (std::int64_t i = 0; i < count; ++i) {
      std::int64_t step = 0;
      for (std::int64_t part = 0; part < (s_.in.real ? 1 : 2); ++part) {
        for (const auto& [data, matrix] : words_.products) {
          const Access stationary =
              pattern(split, data * px.total + (t0 + i) * px.line + part * px.part, {{deep * px.line, beside}, {px.point, n2_}});
          b_.nc_matmul(pattern(z, i * (bank_ / 2), {{1, 2 * rows1}}), stationary, word(first_[part], matrix, rows1, 2 * rows1),
                       {.accumulate = step++});
        }
      }
    }
  }

  // (words, count, columns) of z times the twiddles; a column is a real or imaginary part.
  Access twiddle(const Access& z, std::int64_t count, std::int64_t columns, const Access& straight, const Access& crossed,
                 const Access& turned) {
    const std::int64_t rows = z.partitions, pitch = bank_ / 2;
    const auto table = [&](const Access& t) { return pattern(word(t, 0, rows, columns), 0, {{0, count}, {1, columns}}); };
    b_.tensor_tensor(pattern(straight, 0, {{columns, count}, {1, columns}}), pattern(z, 0, {{pitch, count}, {1, columns}}), table(cos_),
                     AluOp::Multiply, Engine::Vector);
    for (std::int64_t part = 0; part < 2; ++part) {  // the other part of z
      b_.tensor_tensor(pattern(crossed, part, {{columns, count}, {2, columns / 2}}),
                       pattern(z, 1 - part, {{pitch, count}, {2, columns / 2}}),
                       pattern(word(sin_, 0, rows, columns), part, {{0, count}, {2, columns / 2}}), AluOp::Multiply, Engine::Vector);
    }
    const auto flat = [&](const Access& t, std::int64_t w) { return pattern(t, w * count * columns, {{1, count * columns}}); };
    if (words_.dtype == DType::Float32) {
      b_.tensor_tensor(flat(turned, 0), flat(straight, 0), flat(crossed, 0), AluOp::Add, Engine::Vector);
      return turned;
    }
    b_.tensor_tensor(flat(straight, 0), flat(straight, 0), flat(crossed, 0), AluOp::Add, Engine::Vector);
    split_words(
        b_, words_, [&](std::int64_t w) { return flat(turned, w); }, flat(straight, 0), Engine::Scalar);
    return turned;
  }

  void second_step(const Access& y, const BlockPlaces& py, const Access& z, std::int64_t t0, std::int64_t count, std::int64_t above,
                   Ring& ring) {
    const std::int64_t rows2 = y.partitions, columns = count * above * n1_, total = 2 * columns;
    for (std::int64_t out = 0; out < (s_.out.real ? 1 : 2); ++out) {
      const Access sums = ring.next()(all, ds(0, columns));
      std::int64_t step = 0;
      for (std::int64_t part = 0; part < 2; ++part) {
        const Access& matrix = out == part ? a_ : out == 0 ? b_minus_ : b_plus_;
        for (const auto& [data, w] : words_.products) {
          b_.nc_matmul(sums, word(matrix, w, rows2, rows2), pattern(z, data * total + part, {{2, columns}}), {.accumulate = step++});
        }
      }
      move(pattern(y, t0 * py.line + out * py.part, {{py.line, count}, {py.group, above}, {py.point, n1_}}), sums, Engine::Scalar);
    }
  }

  static constexpr std::int64_t kTogether = 4;

  const BlockLayout layout_;
  const std::int64_t n1_, n2_;
  Access first_[2], cos_, sin_, a_, b_plus_, b_minus_;
};

}  // namespace

Program blocks_program(const LinesShape& shape, const Machine& machine) { return BlocksKernel(shape, machine).build(); }

}  // namespace trn::fft::device
