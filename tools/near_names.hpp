// Words that a user wrote, as messages show them: names that were probably meant, and unprintable bytes made visible.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace trn::tools {

// The choice that differs from `word` by the fewest insertions, deletions, replacements and swaps of neighbours, if
// these are at most a third of its letters, or the one that ends with ".word"; else an empty text.
[[nodiscard]] std::string nearest(const std::string& word, const std::vector<std::string>& choices);

// "; did you mean 'x'?" or nothing.
[[nodiscard]] std::string meant(const std::string& word, const std::vector<std::string>& choices);

// At most 60 bytes of a word, control characters and bytes above 126 as \xNN.
[[nodiscard]] std::string printable(const std::string& word, std::size_t most = 60);

}  // namespace trn::tools
