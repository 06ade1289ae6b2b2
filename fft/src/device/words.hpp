// Operands as sums of narrower words: how a Mode multiplies fp32 matrices. x = w0 + w1 + ..., each word the rounded
// rest of those before it; the products that matter are summed in one PSUM group, smallest words first. The same
// schemes as trnblas's.
#pragma once

#include <trn/core/precision.hpp>
#include <trn/tile/builder.hpp>
#include <trn/tile/words.hpp>

namespace trn::fft::device {

using tile::Words;  // whose stationary word is of the data, the moving one of the constant
// Throws NotImplemented for Exact.
[[nodiscard]] const Words& words_of(Mode mode);

// The words of src: `word(w)` is the access of word w, of src's shape. src may be in PSUM unless GpSimd has a part in
// it.
template <class Word> void split_words(tile::Builder& b, const Words& words, Word word, const tile::Access& src,
                                       tile::Engine copies, tile::Engine differences = tile::Engine::Vector) {
  using namespace trn::tile;
  const auto copy = [&](const Access& to, const Access& from) {
    if (copies == Engine::Scalar)
      b.activation(to, ActFunction::Copy, from);
    else
      b.tensor_copy(to, from, copies);
  };
  copy(word(0), src);
  if (words.count == 1) return;
  if (words.count == 2) return b.tensor_tensor(word(1), src, word(0), AluOp::Subtract, differences);
  Shape free;
  for (const Dim& d : src.dims) free.push_back(d.size);
  const Access rest = b.sbuf("rest", src.partitions, free, DType::Float32, 2);
  b.tensor_tensor(rest, src, word(0), AluOp::Subtract, differences);
  copy(word(1), rest);
  b.tensor_tensor(word(2), rest, word(1), AluOp::Subtract, differences);
}

}  // namespace trn::fft::device
