// Lines times one real matrix of up to 128 points a side.
//
// The Tensor Engine contracts over partitions, so the points of x must lie there: x^T (K points, lines), one tile for
// each part.
//   points are neighbours in memory   lines on partitions first, R behind one another on each, loaded as one run a
//   partition (overlapping
//                                     lines are read once), then turned by the Tensor Engine
//   lines are neighbours              x^T as it lies
// And the result comes out either way:
//   points are neighbours             y (lines, points) = stationary x^T, moving matrix
//   lines are neighbours              y^T (points, lines) = stationary matrix, moving x^T, a part at a time
// The Vector and the Scalar Engine empty PSUM by turns.
//
// Time on trn2 for 128 real lines of 128 points: a transpose of 192 cycles and a product of 526 at 2.4 GHz, 0.3 us;
// PSUM 256 numbers, 0.3 us of Vector and Scalar together, DMA 128 KiB, 0.36 us at 368 GB/s. For 64 points or fewer DMA
// and PSUM have less to do, the product is no shorter than 64 columns: the Tensor Engine binds.
//
// Other modes than native multiply words (words.hpp): those of the matrix are made once, those of x as they leave PSUM
// turned, or from each tile that is not turned, copies by the Scalar and differences by the Vector Engine.
//
// Errors, relative to the largest norm that a result can have, || A || || x ||, u = 2^-24. n products summed in a row
// cost n u, by Parseval's identity (planner.cpp), the matrix rounded to float32 sqrt(n) u, its entries being n^2 that
// share the norm, and each of the P contributions to a sum one more u. Products of words err by E: x in words is x to
// E, once; the matrix to E in each entry, sqrt(n) E in norm. Sums of the smaller words add n u 2^-8 each, less than 1 u
// together, which the last u has room for. The results of cosine transforms and of windowed frames have at least half
// the largest norm.
#include "../matrix.hpp"

#include <algorithm>
#include <cmath>
#include <trn/core/error.hpp>
#include <trn/tile/blocks/loops.hpp>
#include <trn/tile/blocks/matmul.hpp>

#include <trn/tile/launch.hpp>
#include <trn/tile/stores.hpp>
#include "line_kernel.hpp"
#include "planner.hpp"

namespace trn::fft {

using namespace trn::tile;
using namespace device;
using blocks::ceil_div;

namespace {

constexpr std::int64_t kTileReals = 4096;  // of a partition's lines: 16 KiB
constexpr std::int64_t kMostLines = 32;    // of a partition: turned, pairs of them are 32 KiB
constexpr std::int64_t kSlots = 3;

class MatrixKernel {
 public:
  MatrixKernel(const MatrixShape& shape, const Machine& machine)
      : s_(shape),
        b_("fft_matrix", machine),
        words_(words_of(shape.mode)),
        split_(words_.dtype != DType::Float32),
        side_(machine.partitions),
        bank_(blocks::bank_columns(machine)) {
    const LineDim& d = s_.lines.back();
    turn_ = !(d.in == s_.in.parts && s_.in.stride != s_.in.parts);
    by_points_ = !(d.out == s_.out.parts && s_.out.stride != s_.out.parts);
    const std::int64_t reals = std::max(s_.in.points * s_.in.parts, s_.out.points * s_.out.parts);
    // Lines on partitions (p R + r), or, where neither side has them there, groups of a bank's columns (r P + p).
    on_partitions_ = turn_ || by_points_;
    block_lines_ = on_partitions_ ? side_ : bank_;
    const std::int64_t share = words_.count > 1 ? 2 : 1;  // more words take the place of half the lines
    each_ = on_partitions_ ? std::clamp<std::int64_t>(kTileReals / share / reals, 1, kMostLines / share) : 4;
  }

  Program build() {
    x_ = declare("x", s_.in, true);
    y_ = declare("y", s_.out, false);
    const std::int64_t columns = s_.out.points * s_.out.parts;
    const Access tensor = b_.input("matrix", DType::Float32, {s_.in.parts, s_.in.points, columns});
    matrix_ = b_.sbuf("matrix_tile", s_.in.points, {s_.in.parts, columns}, DType::Float32);
    b_.dma_copy(matrix_, tensor.permute({1, 0, 2}));
    if (split_) matrix_ = in_words("matrix_words", pattern(matrix_, 0, {{1, s_.in.parts * columns}}), 1);
    outer(0, 0, 0);
    return tile::static_stores(b_.finish());
  }

 private:
  // `group` lines at a time, `groups` times: line r group_step + p line_step.
  struct Block {
    std::int64_t group, groups, group_step, line_step;
    [[nodiscard]] std::int64_t lines() const { return group * groups; }
  };

  Access declare(const char* name, const MatrixSide& side, bool input) {
    Shape shape;
    Strides strides;
    for (const LineDim& d : s_.lines) shape.push_back(d.count), strides.push_back(input ? d.in : d.out);
    shape.push_back(side.points), strides.push_back(side.stride);
    if (side.parts > 1) shape.push_back(side.parts), strides.push_back(1);
    return input ? b_.input(name, DType::Float32, shape, strides) : b_.output(name, DType::Float32, shape, strides);
  }

  void outer(std::size_t dimension, const Affine& in, const Affine& out) {
    const LineDim& d = s_.lines[dimension];
    if (dimension + 1 < s_.lines.size()) {
      return b_.parallel(fmt::format("lines{}", dimension), d.count,
                         [&](Affine i) { outer(dimension + 1, in + i * d.in, out + i * d.out); });
    }
    const auto at = [&](const Affine& first, std::int64_t group, std::int64_t groups) {
      const Block k{group, groups, on_partitions_ ? 1 : group, on_partitions_ ? groups : 1};
      block(in + first * d.in, out + first * d.out, k);
    };
    const std::int64_t full = block_lines_ * each_, whole = d.count / full;
    b_.parallel("block", whole, [&](Affine i) { at(i * full, block_lines_, each_); });
    std::int64_t first = whole * full;
    const std::int64_t rest = d.count - first, each = ceil_div(rest, block_lines_);
    if (each == 0) return;
    // As many whole groups as there are, then what is left.
    const std::int64_t group = on_partitions_ ? rest / each : block_lines_,
                       groups = on_partitions_ ? each : rest / block_lines_;
    if (group * groups > 0) at(first, group, groups), first += group * groups;
    if (first < d.count) at(first, on_partitions_ ? 1 : d.count - first, on_partitions_ ? d.count - first : 1);
  }

  // (P, words, size) of a tile (P, size).
  Access in_words(const char* name, const Access& tile, std::int64_t buffers) {
    const std::int64_t size = tile.free_size();
    const Access made = b_.sbuf(name, tile.partitions, {words_.count * size}, words_.dtype, buffers);
    split_words(
        b_, words_,
        [&](std::int64_t w) {
          return pattern(made, w * size, {{1, size}});
        },
        pattern(tile, 0, {{1, size}}), Engine::Scalar);
    return made;
  }

  void block(const Affine& in, const Affine& out, const Block& k) {
    Access x = turn_ ? turned(in, k) : columns_of_x(in, k);
    if (split_ && !turn_) x = in_words("x_words", x, 2);
    if (by_points_)
      lines_of_y(x, out, k);
    else
      columns_of_y(x, out, k);
  }

  // x^T of part p in one word, groups [r, r + count): (K, count, group).
  [[nodiscard]] Access moving(const Access& x, const Block& k, std::int64_t word, std::int64_t p, std::int64_t r,
                              std::int64_t count) const {
    const std::int64_t parts = s_.in.parts, first = word * k.lines() * parts;
    if (turn_) return pattern(x, first + (p * k.groups + r) * k.group, {{k.group, count}, {1, k.group}});
    return pattern(x, first + p + r * k.group_step * parts,
                   {{k.group_step * parts, count}, {k.line_step * parts, k.group}});
  }
  // The rows of part p in one word of the matrix: every `step`th column from `first` on.
  [[nodiscard]] Access rows(std::int64_t word, std::int64_t p, std::int64_t first, std::int64_t step) const {
    const std::int64_t columns = s_.out.points * s_.out.parts;
    return pattern(matrix_, (word * s_.in.parts + p) * columns + first, {{step, columns / step}});
  }
  // body(part, word of the data, word of the matrix, accumulate): the products of one sum, the smallest words first.
  template <class Body> void each_product(const Body& body) const {
    std::int64_t step = 0;
    for (const auto& [data, constant] : words_.products) {
      for (std::int64_t p = 0; p < s_.in.parts; ++p) body(p, data, constant, step++);
    }
  }

  Access columns_of_x(const Affine& in, const Block& k) {
    const std::int64_t parts = s_.in.parts;
    const Access x = b_.sbuf("x_tile", s_.in.points, {k.lines() * parts}, DType::Float32, 2);
    b_.dma_copy(x, pattern(x_, in, {{s_.in.stride, s_.in.points}, {s_.lines.back().in, k.lines()}, {1, parts}}));
    return x;
  }

  // (points, words, parts, groups, group)
  Access turned(const Affine& in, const Block& k) {
    const std::int64_t points = s_.in.points, parts = s_.in.parts, distance = s_.lines.back().in,
                       reals = points * parts;
    const bool run = s_.in.stride == parts && distance > 0 &&
                     distance <= reals + reals / 4;  // one run a partition, small gaps included
    const std::int64_t step = run ? distance : reals,
                       length = run ? (k.groups - 1) * distance + reals : k.groups * reals;
    const Access x = b_.sbuf("x_tile", k.group, {length}, DType::Float32, 2);
    b_.dma_copy(
        x, run ? pattern(x_, in, {{k.groups * distance, k.group}, {1, length}})
               : pattern(x_, in,
                         {{k.groups * distance, k.group}, {distance, k.groups}, {s_.in.stride, points}, {1, parts}}));
    const std::int64_t size = parts * k.groups * k.group;
    const Access to = b_.sbuf("x_turned", points, {words_.count * size}, words_.dtype, 2);
    const std::int64_t per_bank = std::max<std::int64_t>(1, bank_ / k.group);
    Ring psum(b_.psum("turned", points, {kSlots, bank_}), kSlots);
    for (std::int64_t p = 0; p < parts; ++p) {
      for (std::int64_t r = 0; r < k.groups; r += per_bank) {
        const std::int64_t count = std::min(per_bank, k.groups - r);
        const Access bank = psum.next();
        for (std::int64_t i = 0; i < count; ++i) {
          b_.nc_transpose(pattern(bank, i * k.group, {{1, k.group}}),
                          pattern(x, (r + i) * step + p, {{parts, points}}));
        }
        const auto word = [&](std::int64_t w) {
          return pattern(to, w * size + (p * k.groups + r) * k.group, {{1, count * k.group}});
        };
        const Access full = pattern(bank, 0, {{1, count * k.group}});
        if (words_.count == 1)
          empty(word(0), full);
        else
          split_words(b_, words_, word, full, Engine::Scalar);
      }
    }
    return to;
  }

  // y (group, groups, points, parts)
  void lines_of_y(const Access& x, const Affine& out, const Block& k) {
    const std::int64_t points = s_.out.points, columns = points * s_.out.parts,
                       per_bank = std::max<std::int64_t>(1, bank_ / columns);
    const Access y = b_.sbuf("y_tile", k.group, {k.groups * columns}, DType::Float32, 2);
    Ring sums(b_.psum("sums", k.group, {kSlots, bank_}), kSlots);
    for (std::int64_t r = 0; r < k.groups; r += per_bank) {
      const std::int64_t count = std::min(per_bank, k.groups - r);
      const Access bank = sums.next();
      for (std::int64_t i = 0; i < count; ++i) {
        each_product([&](std::int64_t p, std::int64_t data, std::int64_t constant, std::int64_t step) {
          b_.nc_matmul(pattern(bank, i * columns, {{1, columns}}), moving(x, k, data, p, r + i, 1),
                       rows(constant, p, 0, 1), {.accumulate = step});
        });
      }
      empty(pattern(y, r * columns, {{1, count * columns}}), pattern(bank, 0, {{1, count * columns}}));
    }
    const std::int64_t distance = s_.lines.back().out;
    b_.dma_copy(
        pattern(y_, out,
                {{k.line_step * distance, k.group}, {distance, k.groups}, {s_.out.stride, points}, {1, s_.out.parts}}),
        y);
  }

  // y^T (points, lines, parts)
  void columns_of_y(const Access& x, const Affine& out, const Block& k) {
    const std::int64_t points = s_.out.points, parts = s_.out.parts,
                       per_bank = std::max<std::int64_t>(1, bank_ / k.group);
    const Access y = b_.sbuf("y_tile", points, {k.lines() * parts}, DType::Float32, 2);
    Ring sums(b_.psum("sums", points, {kSlots, bank_}), kSlots);
    for (std::int64_t r = 0; r < k.groups; r += per_bank) {
      const std::int64_t count = std::min(per_bank, k.groups - r);
      for (std::int64_t q = 0; q < parts; ++q) {
        const Access sum = pattern(sums.next(), 0, {{1, count * k.group}});
        each_product([&](std::int64_t p, std::int64_t data, std::int64_t constant, std::int64_t step) {
          b_.nc_matmul(sum, rows(constant, p, q, parts), moving(x, k, data, p, r, count), {.accumulate = step});
        });
        empty(pattern(y, q + r * k.group_step * parts, {{k.group_step * parts, count}, {k.line_step * parts, k.group}}),
              sum);
      }
    }
    b_.dma_copy(pattern(y_, out, {{s_.out.stride, points}, {s_.lines.back().out, k.lines()}, {1, parts}}), y);
  }

  void empty(const Access& to, const Access& psum) {
    if (++emptied_ % 2 == 0)
      b_.activation(to, ActFunction::Copy, psum);
    else
      b_.tensor_copy(to, psum, Engine::Vector);
  }

  const MatrixShape s_;
  tile::Builder b_;
  const Words words_;
  const bool split_;
  const std::int64_t side_, bank_;
  bool turn_ = true, by_points_ = true, on_partitions_ = true;
  std::int64_t block_lines_ = 1, each_ = 1, emptied_ = 0;
  Access x_, y_, matrix_;
};

}  // namespace

Program matrix_program(const MatrixShape& shape, const Machine& machine) {
  const std::int64_t most = std::max(shape.in.points, shape.out.points);
  require(most <= machine.partitions && !shape.lines.empty(), "fft: a matrix of {} points; {} has {} partitions", most,
          machine.name, machine.partitions);
  return MatrixKernel(shape, machine).build();
}

ProductError product_error(Mode mode) {
  const Words& words = words_of(mode);
  return {words.product_error, static_cast<std::int64_t>(chain_roundings(words, 0))};
}

double matrix_error_bound(std::int64_t points, Mode mode) {
  const auto [error, products] = product_error(mode);
  const double n = static_cast<double>(points), root = std::sqrt(n), u = 0x1p-24;
  return 2 * ((n + root + static_cast<double>(products) + 1) * u + error * (1 + root));
}

namespace device {

void matrix(const Executor& executor, const MatrixArgs& args) {
  MatrixShape shape = args.shape;
  shape.lines = merged_lines(shape.lines);
  launch(executor, matrix_program, shape, {{"x", args.x}, {"matrix", args.matrix}, {"y", args.y}});
}

std::int64_t matrix_points(const Executor& executor, const MatrixLimit&) {
  return device_of(executor).machine().partitions;
}

}  // namespace device

}  // namespace trn::fft
