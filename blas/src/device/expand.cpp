// Structured matrices written out: strips of rows by DMA, the mirrored ones with exchanged strides, and the blocks on the diagonal
// put together under a mask. Row on partitions; every element moves as 32-bit words, so no bit changes.
#include <algorithm>

#include <trn/blas/expand_program.hpp>
#include <trn/core/error.hpp>
#include <trn/tile/builder.hpp>

namespace trn::blas {

using namespace trn::tile;

namespace {

class ExpandKernel {
 public:
  ExpandKernel(const ExpandShape& shape, const Machine& machine)
      : s_(shape), b_("blas_expand", machine), side_(machine.partitions), real_words_(size_bytes(real_of(shape.dtype)) / 4),
        words_(size_bytes(shape.dtype) / 4) {}

  Program build() {
    const Access a = b_.input("a", DType::UInt32, {s_.m, s_.m, words_}, {s_.am * words_, s_.an * words_, 1});
    const Access mirrored = a.permute({1, 0, 2});
    const Access full = b_.output("full", DType::UInt32, {s_.m, s_.m, words_});
    const bool triangular = s_.structure == Expansion::Triangular;
    const bool conj_mirrored = (s_.structure == Expansion::Hermitian) != s_.conj;
    for (std::int64_t r0 = 0; r0 < s_.m; r0 += side_) {
      const std::int64_t rows = std::min(side_, s_.m - r0), end = r0 + rows;
      strips(full, a, mirrored, r0, rows, 0, r0, triangular && !s_.lower ? Source::Zero : Source::Stored);
      strips(full, a, mirrored, r0, rows, end, s_.m, !triangular ? Source::Mirrored : s_.lower ? Source::Zero : Source::Stored);
      diagonal(full, a, mirrored, r0, rows, conj_mirrored);
    }
    return b_.finish();
  }

 private:
  enum class Source { Stored, Mirrored, Zero };

  void conjugate(const Access& tile, bool conj) {
    if (!conj || words_ == real_words_) return;
    const Access sign = tile(all, all, ds(words_ - 1, 1));
    b_.tensor_scalar(sign, sign, AluOp::BitwiseXor, 0x1p31, {.engine = Engine::Vector});
  }

  void strips(const Access& full, const Access& a, const Access& mirrored, std::int64_t r0, std::int64_t rows, std::int64_t begin,
              std::int64_t end, Source source) {
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
    const Access ones = b_.sbuf("ones", rows, {rows}, DType::Float32), chosen = b_.sbuf(name, rows, {rows}, DType::UInt32);
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

  void diagonal(const Access& full, const Access& a, const Access& mirrored, std::int64_t r0, std::int64_t rows, bool conj_mirrored) {
    const auto here = [&](const Access& x) { return x(ds(r0, rows), ds(r0, rows), all); };
    const auto tile = [&](const char* name) { return b_.sbuf(name, rows, {rows, words_}, DType::UInt32); };
    const Access stored = tile("stored"), out = tile("out");
    b_.dma_copy(stored, here(a));
    conjugate(stored, s_.conj);
    if (s_.structure == Expansion::Triangular) {
      b_.memset(out, 0);
    } else {
      b_.dma_copy(out, here(mirrored));
      conjugate(out, conj_mirrored);
    }
    choose(out, stored, mask("inside", rows, s_.lower ? 1 : -1, AluOp::GreaterEqual), 0, words_);
    const bool real_diagonal = s_.structure == Expansion::Hermitian;
    if (s_.unit || real_diagonal) {
      const Access on = mask("on", rows, 1, AluOp::Equal), value = tile("value");
      b_.memset(value, 0);
      if (s_.unit) b_.memset(value(all, all, ds(real_words_ - 1, 1)), real_words_ == 2 ? 0x3ff00000 : 0x3f800000);
      if (s_.unit) choose(out, value, on, 0, words_);
      else choose(out, value, on, real_words_, words_ - real_words_);
    }
    b_.dma_copy(here(full), out);
  }

  static constexpr std::int64_t kColumns = 2048;
  ExpandShape s_;
  Builder b_;
  std::int64_t side_, real_words_, words_;
};

}  // namespace

tile::Program expand_program(const ExpandShape& shape, const Machine& machine) {
  require(shape.m >= 1, "blas.expand: m is {}; it must be >= 1", shape.m);
  require(shape.lower || shape.structure == Expansion::Triangular, "blas.expand: symmetric and Hermitian matrices store the lower triangle");
  const DType real = real_of(shape.dtype);
  require(real == DType::Float64 || real == DType::Float32, "blas.expand: takes float64, float32 and their complex types, not {}", name(shape.dtype));
  return ExpandKernel(shape, machine).build();
}

}  // namespace trn::blas
