// Operands as sums of narrower words: how a Mode multiplies fp32 matrices. x = w0 + w1 + ..., each word the rounded
// rest of those before it; the products that matter are summed in one PSUM group, smallest words first.
#pragma once

#include <optional>
#include <string>
#include <trn/core/error.hpp>
#include <trn/core/precision.hpp>
#include <trn/tile/builder.hpp>
#include <trn/tile/words.hpp>
#include <vector>

namespace trn::blas::device {

using tile::Words;
// The words of a mode (trn/tile/words.hpp). Throws NotImplemented for Exact, in the name of `operation`.
[[nodiscard]] const Words& words_of(Mode mode, const char* operation);

// words[0] = round(src), words[1] = round(src - words[0]), ...; the last difference is rounded as it is made. The
// engines that round and that subtract: none leaves the choice to the scheduler.
struct Splitting {
  std::optional<tile::Engine> rounding{};
  tile::Engine difference = tile::Engine::Vector;
  std::string rest = "rest";  // the name of what is left after the first word of three
};
void split_words(tile::Builder& b, const std::vector<tile::Access>& words, const tile::Access& src,
                 const Splitting& how = {});

// The same where `dst_word(w)` is the access of word w.
template <class DstWord>
void split_words(tile::Builder& b, const Words& words, DstWord dst_word, const tile::Access& src) {
  std::vector<tile::Access> list;
  for (int w = 0; w < words.count; ++w) list.push_back(dst_word(w));
  split_words(b, list, src);
}

// Elementwise error of alpha A B + beta C, relative to |alpha| |A||B| + |beta C|, k products in one accumulator and
// three roundings for alpha and beta.
[[nodiscard]] double words_error_bound(const Words& words, std::int64_t k);

}  // namespace trn::blas::device
