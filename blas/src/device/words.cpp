// The words of each Mode: see words.hpp.
#include "words.hpp"

#include <trn/core/error.hpp>
#include <trn/tile/blocks/elementwise.hpp>

namespace trn::blas::device {

using namespace trn::tile;

const Words& words_of(Mode mode, const char* operation) {
  if (mode != Mode::Exact) return tile::words_of(mode);
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
    const Access difference =
        w + 2 == words.size() ? words[w + 1] : b.sbuf(how.rest, src.partitions, free, DType::Float32, 2);
    b.tensor_tensor(difference, rest, words[w], AluOp::Subtract, how.difference);
    rest = difference;
  }
}

double words_error_bound(const Words& words, std::int64_t k) {
  return sum_error(words, k) + 3 * unit_roundoff(DType::Float32);
}

}  // namespace trn::blas::device
