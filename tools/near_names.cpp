// Words that a user wrote, see near_names.hpp.
#include "near_names.hpp"

#include <algorithm>
#include <cctype>

#include <fmt/core.h>

#include "harmless.hpp"

namespace trn::tools {

namespace {

// The number of insertions, deletions, replacements and swaps of neighbours that make b of a (optimal string
// alignment: d[i][j] for the first i and j letters), capital letters as small ones.
std::size_t edits(const std::string& a, const std::string& b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  const auto small = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        d[i][j] = i + j;
        continue;
      }
      const std::size_t other = small(a[i - 1]) == small(b[j - 1]) ? 0 : 1;
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + other});
      if (i > 1 && j > 1 && small(a[i - 1]) == small(b[j - 2]) && small(a[i - 2]) == small(b[j - 1])) {
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
      }
    }
  }
  return d[a.size()][b.size()];
}

}  // namespace

std::string nearest(const std::string& word, const std::vector<std::string>& choices) {
  if (word.size() > 64) return "";
  for (const std::string& choice : choices) {
    if (!word.empty() && choice.ends_with("." + word)) return choice;  // an operation without its library
  }
  std::string best;
  std::size_t fewest = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string& choice : choices) {
    const std::size_t count = edits(word, choice);
    if (count < fewest) fewest = count, best = choice;
  }
  return best;
}

std::string meant(const std::string& word, const std::vector<std::string>& choices) {
  const std::string near = nearest(word, choices);
  return near.empty() ? "" : fmt::format("; did you mean '{}'?", near);
}

std::string printable(const std::string& word, std::size_t most) {
  std::string text;
  for (std::size_t i = 0; i < std::min(word.size(), most); ++i) {
    const unsigned char c = static_cast<unsigned char>(word[i]);
    text += c >= 32 && c < 127 ? std::string(1, word[i]) : fmt::format("\\x{:02x}", c);
  }
  return word.size() > most ? text + "..." : text;
}

std::string harmless(const std::string& text) {
  std::string shown;
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = [&](std::size_t at) { return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U; };
    const unsigned first = byte(i);
    // Bytes of the character that begins here; 0 where none does.
    std::size_t length = first < 0x80   ? 1
                         : first < 0xc2 ? 0
                         : first < 0xe0 ? 2
                         : first < 0xf0 ? 3
                         : first < 0xf5 ? 4
                                        : 0;
    for (std::size_t k = 1; k < length; ++k) {
      if ((byte(i + k) & 0xc0U) != 0x80U) length = 0;
    }
    const bool control = (first < 0x20 && first != '\n') || first == 0x7f || (first == 0xc2 && byte(i + 1) < 0xa0);
    if (length > 0 && !control) {
      shown += text.substr(i, length);
      i += length;
    } else {
      shown += fmt::format("\\x{:02x}", first);
      ++i;
    }
  }
  return shown;
}

}  // namespace trn::tools
