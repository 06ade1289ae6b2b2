// The words of each Mode: see words.hpp.
#include "words.hpp"

#include <algorithm>
#include <trn/core/error.hpp>
#include <trn/tile/blocks/elementwise.hpp>

namespace trn::blas::device {

using namespace trn::tile;

Words words_of(Mode mode, const char* operation) {
  // Rounding to p bits errs by 2^-p relative; two words of p bits leave 2^-2p (the second holds the rounded rest, of
  // magnitude 2^-p). A product then errs by twice that, plus the products left out.
  switch (mode) {
    case Mode::Native:
      return {};
    case Mode::Tf32:
      return {DType::TFloat32, 1, {{0, 0}}, 2 * 0x1p-11 + 0x1p-22};
    case Mode::Bf16:
      return {DType::BFloat16, 1, {{0, 0}}, 2 * 0x1p-8 + 0x1p-16};
    case Mode::Tf32x3:
      return {DType::TFloat32, 2, {{1, 0}, {0, 1}, {0, 0}}, 3 * 0x1p-22};
    case Mode::Bf16x6:
      return {DType::BFloat16, 3, {{2, 0}, {0, 2}, {1, 1}, {1, 0}, {0, 1}, {0, 0}}, 4 * 0x1p-24};
    case Mode::Exact:
      break;
  }
  fail<NotImplemented>("{}: mode {} has no float32 device kernel; use native, tf32, bf16, tf32x3 or bf16x6", operation,
                       name(mode));
}

void split_words(Builder& b, const std::vector<Access>& words, const Access& src, const Splitting& how) {
  Shape free;
  for (const Dim& d : src.dims) free.push_back(d.size);
  Access rest = src;
  for (std::size_t w = 0; w < words.size(); ++w) {
    const bool last = w + 1 == words.size();
    if (last && w > 0) return;
    how.rounding ? blocks::scale(b, words[w], rest, 1.0, *how.rounding) : b.tensor_copy(words[w], rest);
    if (last) return;
    const Access difference = w + 2 == words.size() ? words[w + 1] : b.sbuf(how.rest, src.partitions, free, DType::Float32, 2);
    b.tensor_tensor(difference, rest, words[w], AluOp::Subtract, how.difference);
    rest = difference;
  }
}

double words_error_bound(const Words& words, std::int64_t k) {
  const std::int64_t side =
      tile::machines().front().partitions;  // products that one matmul sums; the same on every machine
  const double inside = static_cast<double>(std::min(k, side)), outside = static_cast<double>((k + side - 1) / side);
  return (inside + static_cast<double>(words.products.size()) * outside + 3) * unit_roundoff(DType::Float32) +
         words.product_error;
}

}  // namespace trn::blas::device
