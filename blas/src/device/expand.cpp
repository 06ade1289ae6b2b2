// Structured matrices written out: strips of rows by DMA, the mirrored ones with exchanged strides, and the blocks on
// the diagonal put together under a mask from copies that hold zeros in place of the other triangle. Row on partitions;
// every element moves as 32-bit words, so no bit changes. What the structure leaves unnamed is never read: the other
// triangle, a unit diagonal, imaginary parts on a Hermitian one.
#include <algorithm>

#include <trn/blas/expand_program.hpp>
#include <trn/core/error.hpp>
#include <trn/tile/builder.hpp>
#include <trn/tile/stores.hpp>

#include "triangle.hpp"

namespace trn::blas {

using namespace trn::tile;

namespace {

class ExpandKernel {
 public:
  ExpandKernel(const ExpandShape& shape, const Machine& machine)
      : s_(shape),
        b_("blas_expand", machine),
        side_(machine.partitions),
        real_words_(size_bytes(real_of(shape.dtype)) / 4),
        words_(size_bytes(shape.dtype) / 4) {}

  Program build() {
    const Access a = b_.input("a", DType::UInt32, {s_.m, s_.m, words_}, {s_.am * words_, s_.an * words_, 1});
    const Access mirrored = a.permute({1, 0, 2});
    const Access full = b_.output("full", DType::UInt32, {s_.m, s_.m, words_});
    const bool triangular = s_.structure == Expansion::Triangular;
    blocks_ = b_.scratch("diagonal_blocks", DType::UInt32, {(s_.m + side_ - 1) / side_, side_, side_, words_});
    device::fill_zero(b_, blocks_);
    device::copy_strict_triangles(b_, blocks_, a, s_.m, s_.lower ? Region::Lower : Region::Upper);
    if (!s_.unit) copy_diagonal(a, s_.structure == Expansion::Hermitian ? real_words_ : words_);
    const bool conj_mirrored = (s_.structure == Expansion::Hermitian) != s_.conj;
    for (std::int64_t r0 = 0; r0 < s_.m; r0 += side_) {
      const std::int64_t rows = std::min(side_, s_.m - r0), end = r0 + rows;
      strips(full, a, mirrored, r0, rows, 0, r0, triangular && !s_.lower ? Source::Zero : Source::Stored);
      strips(full, a, mirrored, r0, rows, end, s_.m,
             !triangular ? Source::Mirrored
             : s_.lower  ? Source::Zero
                         : Source::Stored);
      diagonal(full, r0, rows, conj_mirrored);
    }
    return tile::static_stores(b_.finish());
  }

 private:
  enum class Source { Stored, Mirrored, Zero };

  void conjugate(const Access& tile, bool conj) {
    if (!conj || words_ == real_words_) return;
    const Access sign = tile(all, all, ds(words_ - 1, 1));
    b_.tensor_scalar(sign, sign, AluOp::BitwiseXor, 0x1p31, {.engine = Engine::Vector});
  }

  void strips(const Access& full, const Access& a, const Access& mirrored, std::int64_t r0, std::int64_t rows,
              std::int64_t begin, std::int64_t end, Source source) {
    for (std::int64_t c0 = begin; c0 < end; c0 += kColumns) {
      const std::int64_t width = std::min(kColumns, end - c0);
      const Access strip = b_.sbuf("strip", rows, {width, words_}, DType::UInt32, 2);
      const auto here = [&](const Access& x) { return x(ds(r0, rows), ds(c0, width), all); };
      if (source == Source::Zero) {
        b_.memset(strip, 0);
      } else {
        b_.dma_copy(strip, here(source == Source::Stored ? a : mirrored));
        conjugate(strip, source == Source::Stored ? s_.conj : (s_.structure == Expansion::Hermitian) != s_.conj);
      }
      b_.dma_copy(here(full), strip);
    }
  }

  // 1 where sign * (row - column) compares with 0, for every word of an element.
  Access mask(const char* name, std::int64_t rows, std::int64_t sign, AluOp compare) {
    const Access ones = b_.sbuf("ones", rows, {rows}, DType::Float32),
                 chosen = b_.sbuf(name, rows, {rows}, DType::UInt32);
    b_.memset(ones, 1.0);
    b_.affine_select(chosen, {{-sign, rows}}, 0, sign, compare, ones, 0.0);
    return chosen;
  }

  // dst = src where the mask is 1, in `count` words from `first`.
  void choose(const Access& dst, const Access& src, const Access& chosen, std::int64_t first, std::int64_t count) {
    for (std::int64_t w = first; w < first + count; ++w) {
      const auto word = [&](const Access& x) {
        Access one = x(all, all, ds(w, 1));
        one.dims.pop_back();
        return one;
      };
      b_.tensor_copy_predicated(word(dst), word(src), chosen);
    }
  }

  // The first words of every element on the diagonal to its place in the blocks.
  void copy_diagonal(const Access& a, std::int64_t words) {
    const std::int64_t whole = s_.m / side_ * side_;
    const auto copy = [&](std::int64_t first, std::int64_t outer, std::int64_t count) {
      Access to = blocks_, from = a;
      const std::int64_t step = a.dims[0].stride + a.dims[1].stride;
      to.offset = Affine(first / side_ * side_ * side_ * words_);
      to.dims = {{side_ * side_ * words_, outer}, {(side_ + 1) * words_, count}, {1, words}};
      from.offset = Affine(first * step);
      from.dims = {{side_ * step, outer}, {step, count}, {1, words}};
      b_.dma_copy(to, from);
    };
    if (whole > 0) copy(0, s_.m / side_, side_);
    if (whole < s_.m) copy(whole, 1, s_.m - whole);
  }

  void diagonal(const Access& full, std::int64_t r0, std::int64_t rows, bool conj_mirrored) {
    Access block = blocks_(ds(r0 / side_, 1), ds(0, rows), ds(0, rows), all);
    block.dims.erase(block.dims.begin());
    const auto tile = [&](const char* name) { return b_.sbuf(name, rows, {rows, words_}, DType::UInt32); };
    Access out = tile("out");
    b_.dma_copy(out, block);
    conjugate(out, s_.conj);
    if (s_.structure != Expansion::Triangular) {
      const Access turned = tile("turned");
      b_.dma_copy(turned, block.permute({1, 0, 2}));
      conjugate(turned, conj_mirrored);
      choose(turned, out, mask("inside", rows, s_.lower ? 1 : -1, AluOp::GreaterEqual), 0, words_);
      out = turned;
    }
    if (s_.structure == Expansion::Hermitian) {  // +0, whatever conjugation made of it
      const Access on = mask("on", rows, 1, AluOp::Equal), zero = tile("zero_part");
      b_.memset(zero, 0);
      choose(out, zero, on, real_words_, words_ - real_words_);
    }
    if (s_.unit) {
      const Access on = mask("on", rows, 1, AluOp::Equal), one = tile("one");
      b_.memset(one, 0);
      b_.memset(one(all, all, ds(real_words_ - 1, 1)), real_words_ == 2 ? 0x3ff00000 : 0x3f800000);
      choose(out, one, on, 0, words_);
    }
    b_.dma_copy(full(ds(r0, rows), ds(r0, rows), all), out);
  }

  static constexpr std::int64_t kColumns = 2048;
  ExpandShape s_;
  Builder b_;
  std::int64_t side_, real_words_, words_;
  Access blocks_;  // scratch (tiles, 128, 128, words): the blocks on the diagonal
};

}  // namespace

tile::Program expand_program(const ExpandShape& shape, const Machine& machine) {
  require(shape.m >= 1, "blas.expand: m is {}; it must be >= 1", shape.m);
  require(shape.lower || shape.structure == Expansion::Triangular,
          "blas.expand: symmetric and Hermitian matrices store the lower triangle");
  const DType real = real_of(shape.dtype);
  require(real == DType::Float64 || real == DType::Float32,
          "blas.expand: takes float64, float32 and their complex types, not {}", name(shape.dtype));
  return ExpandKernel(shape, machine).build();
}

}  // namespace trn::blas
