// What the two product kernels share: factors, words of B, and C's way out of PSUM.
#pragma once

#include <trn/sparse/tile_programs.hpp>
#include <trn/tile/blocks/elementwise.hpp>
#include <trn/tile/blocks/loops.hpp>
#include <trn/tile/blocks/matmul.hpp>
#include <trn/tile/builder.hpp>
#include <trn/tile/words.hpp>

namespace trn::sparse::device {

// Element i of the free dimension d, which goes away.
inline tile::Access at(const tile::Access& access, std::size_t d, const tile::Affine& i) {
  tile::Access one = access;
  one.offset = one.offset + i * one.dims[d].stride;
  one.dims.erase(one.dims.begin() + static_cast<std::ptrdiff_t>(d));
  return one;
}

// word(w) is the access of word w of src, of src's shape; `rest` a float32 tile of that shape, for three words.
template <class Word> void split_words(tile::Builder& b, const tile::Words& words, const Word& word,
                                       const tile::Access& src, const tile::Access& rest, tile::Engine copies) {
  using namespace trn::tile;
  blocks::scale(b, word(0), src, 1.0, copies);
  if (words.count == 1) return;
  if (words.count == 2) return b.tensor_tensor(word(1), src, word(0), AluOp::Subtract, Engine::Vector);
  b.tensor_tensor(rest, src, word(0), AluOp::Subtract, Engine::Vector);
  blocks::scale(b, word(1), rest, 1.0, copies);
  b.tensor_tensor(word(2), rest, word(1), AluOp::Subtract, Engine::Vector);
}

class ProductTensors {
 public:
  ProductTensors(tile::Builder& b, const TileProduct& p, std::int64_t tiles);
  // dst = alpha * sums + beta * old; `old`, where beta is read, is overwritten. Callers take turns of the engines.
  void evict(const tile::Access& dst, const tile::Access& sums, const tile::Access& old, tile::Engine engine);
  // dst = beta * old, or zero.
  void evict_nothing(const tile::Access& dst, const tile::Access& old);

  const tile::Words& words;
  const std::int64_t side;
  tile::Access a, b, c, c_in;

 private:
  tile::Builder& builder_;
  const TileProduct p_;
  tile::ScalarOrTile alpha_ = 1.0, beta_ = 0.0;
};

}  // namespace trn::sparse::device
