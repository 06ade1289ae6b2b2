// Files that a command reads: what has no end is refused before it is read.
#pragma once

#include <algorithm>
#include <string>

#include <trn/core/error.hpp>

namespace trn::tools {

// Throws InvalidArgument where `path` names a device, a socket or a folder; files and pipes are read, and what does not
// exist is left to the reader's own words. `what` opens the message.
void require_readable(const std::string& what, const std::string& path);

// Throws InvalidArgument where lists and objects of a JSON text nest deeper than anything that trnsci writes: readers
// go down by calling themselves. `hint` says which file would do.
inline void require_shallow(const std::string& path, const std::string& text, const std::string& hint) {
  constexpr int kDeepest = 100;
  int depth = 0, deepest = 0;
  bool quoted = false, escaped = false;  // inside a string; after a backslash there
  for (const char letter : text) {
    if (!quoted) depth += letter == '{' || letter == '[' ? 1 : letter == '}' || letter == ']' ? -1 : 0;
    deepest = std::max(deepest, depth);
    if (letter == '"' && !escaped) quoted = !quoted;
    escaped = quoted && letter == '\\' && !escaped;
  }
  require(deepest <= kDeepest, "'{}': lists or objects nest more than {} deep; {}", path, kDeepest, hint);
}

}  // namespace trn::tools
