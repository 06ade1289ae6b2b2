// Chunks of fitting shells: the integrals (P|mn) of one chunk are held at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include <trn/mp2/basis.hpp>

namespace trn::mp2 {

struct Chunk {
  std::int64_t first_shell, last_shell, first, size;  // functions [first, first + size)
};

// Shells in order, at most `elements` integrals of n x n orbitals a chunk, but at least one shell.
[[nodiscard]] inline std::vector<Chunk> chunks_of(std::int64_t n, const Basis& fitting, std::int64_t elements) {
  const std::int64_t most = std::max<std::int64_t>(1, elements / (n * n));
  std::vector<Chunk> chunks;
  const auto& shells = fitting.shells();
  for (std::size_t s = 0; s < shells.size(); ++s) {
    if (chunks.empty() || chunks.back().size + shells[s].size > most) {
      chunks.push_back({static_cast<std::int64_t>(s), static_cast<std::int64_t>(s), shells[s].first, 0});
    }
    chunks.back().last_shell = static_cast<std::int64_t>(s) + 1;
    chunks.back().size += shells[s].size;
  }
  return chunks;
}

[[nodiscard]] inline std::int64_t largest_chunk(const std::vector<Chunk>& chunks) {
  return std::ranges::max(chunks, {}, &Chunk::size).size;
}

}  // namespace trn::mp2
