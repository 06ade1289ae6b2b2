// An einsum as the path search sees it: one row of bits per operand, one bit per label, and log2 of the extents.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include <trn/tensor/expression.hpp>

namespace trn::tensor {

using Word = std::uint64_t;

// Calls f(label) for each set bit of word(0), word(1), ...
template <class WordOf, class F> void for_labels(int words, WordOf word, F f) {
  for (int w = 0; w < words; ++w) {
    for (Word x = word(w); x != 0; x &= x - 1) f(64 * w + std::countr_zero(x));
  }
}

struct Network {
  Network(const Expression& expression, const Sizes& sizes);

  int operands = 0, labels = 0, words = 0;
  std::vector<double> extent, log2_extent;  // by label; at least 1
  std::vector<Word> rows;                   // operands x words: the labels that the first step sees
  std::vector<Word> output;                 // words
  std::vector<int> holders;                 // by label: how many operands have it

  [[nodiscard]] const Word* row(int operand) const {
    return rows.data() + static_cast<std::size_t>(operand) * static_cast<std::size_t>(words);
  }
  [[nodiscard]] bool in_output(int label) const {
    return (output[static_cast<std::size_t>(label / 64)] >> (label % 64) & 1) != 0;
  }
  void set_extent(int label, std::int64_t value);
  // Products of extents, exact below 2^53.
  template <class WordOf> [[nodiscard]] double elements(WordOf word) const {
    double product = 1;
    for_labels(words, word, [&](int l) { product *= extent[static_cast<std::size_t>(l)]; });
    return product;
  }
  [[nodiscard]] double log2_elements(const Word* bits) const {
    double sum = 0;
    for_labels(
        words, [&](int w) { return bits[w]; }, [&](int l) { sum += log2_extent[static_cast<std::size_t>(l)]; });
    return sum;
  }
};

// SplitMix64: the same numbers everywhere.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t bits() {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }  // in [0, 1)
  int below(int n) { return static_cast<int>(uniform() * n); }

 private:
  std::uint64_t state_;
};

}  // namespace trn::tensor
