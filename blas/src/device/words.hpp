// Operands as sums of narrower words: how a Mode multiplies fp32 matrices. x = w0 + w1 + ..., each word the rounded
// rest of those before it; the products that matter are summed in one PSUM group, smallest words first.
#pragma once

#include <trn/core/error.hpp>
#include <trn/core/precision.hpp>
#include <trn/tile/builder.hpp>
#include <utility>
#include <vector>

namespace trn::blas::device {

struct Words {
  DType dtype = DType::Float32;
  std::int64_t count = 1;
  std::vector<std::pair<std::int64_t, std::int64_t>> products{{0, 0}};  // (word of stationary, word of moving)
  // Relative error of one product of two fp32 numbers before it is summed.
  double product_error = 0;
};
// Throws NotImplemented for Exact.
[[nodiscard]] Words words_of(Mode mode, const char* operation);

// dst (P, ..., words, columns) = the words of src (P, ..., columns) fp32: `dst_word(w)` is the access of word w.
template <class DstWord>
void split_words(tile::Builder& b, const Words& words, DstWord dst_word, const tile::Access& src) {
  using namespace trn::tile;
  b.tensor_copy(dst_word(0), src);
  if (words.count == 1) return;
  if (words.count == 2) return b.tensor_tensor(dst_word(1), src, dst_word(0), AluOp::Subtract, Engine::Vector);
  Shape free;
  for (const Dim& d : src.dims) free.push_back(d.size);
  const Access rest = b.sbuf("rest", src.partitions, free, DType::Float32, 2);
  b.tensor_tensor(rest, src, dst_word(0), AluOp::Subtract, Engine::Vector);
  b.tensor_copy(dst_word(1), rest);
  b.tensor_tensor(dst_word(2), rest, dst_word(1), AluOp::Subtract, Engine::Vector);
}

// Elementwise error of a sum of k such products, relative to |A||B|: up to 128 fused products per matmul, one addition
// to PSUM each, and three roundings for alpha and beta.
[[nodiscard]] double words_error_bound(const Words& words, std::int64_t k);

}  // namespace trn::blas::device
