// Philox4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", 2011): what stochastic
// rounding on the host and the device block of the same name share. trnrand draws the same words
// (trn/rand/generator.hpp) and its tests hold the two together.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace trn::philox {

using Words = std::array<std::uint32_t, 4>;

inline constexpr int kRounds = 10;
inline constexpr std::uint32_t kMultiplier0 = 0xD2511F53, kMultiplier1 = 0xCD9E8D57;  // of counter words 0 and 2
inline constexpr std::uint32_t kKeyStep0 = 0x9E3779B9, kKeyStep1 = 0xBB67AE85;        // added to the key every round
inline constexpr std::uint64_t kSubsequences = 65536;                                 // cuRAND's default order
inline constexpr int kStreamBits = 48;

[[nodiscard]] constexpr std::uint32_t low(std::uint64_t x) { return static_cast<std::uint32_t>(x); }
[[nodiscard]] constexpr std::uint32_t high(std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); }

// The counter of a block of four words, and the key; words 0 and 1 of the key are used.
[[nodiscard]] constexpr Words counter(std::uint64_t block, std::uint64_t stream) {
  const std::uint64_t first = block / kSubsequences, second = stream * kSubsequences + block % kSubsequences;
  return {low(first), high(first), low(second), high(second)};
}
[[nodiscard]] constexpr Words key(std::uint64_t seed) { return {low(seed), high(seed), 0, 0}; }
[[nodiscard]] constexpr std::uint32_t round_key(const Words& key, std::size_t word, int round) {
  return key[word] + static_cast<std::uint32_t>(round) * (word == 0 ? kKeyStep0 : kKeyStep1);
}

[[nodiscard]] constexpr Words block(Words c, const Words& key) {
  for (int round = 0; round < kRounds; ++round) {
    const std::uint64_t p0 = std::uint64_t{kMultiplier0} * c[0], p1 = std::uint64_t{kMultiplier1} * c[2];
    c = {high(p1) ^ c[1] ^ round_key(key, 0, round), low(p1), high(p0) ^ c[3] ^ round_key(key, 1, round), low(p0)};
  }
  return c;
}

}  // namespace trn::philox
