// The constants of both algorithms (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", 2011)
// and how a state becomes counter words: what the host and the device kernels share.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <trn/rand/generator.hpp>

namespace trn::rand {

using Words4 = std::array<std::uint32_t, 4>;

[[nodiscard]] constexpr std::uint32_t low_word(std::uint64_t x) { return static_cast<std::uint32_t>(x); }
[[nodiscard]] constexpr std::uint32_t high_word(std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); }

namespace philox {
inline constexpr int kRounds = 10;
inline constexpr std::uint32_t kMultiplier0 = 0xD2511F53, kMultiplier1 = 0xCD9E8D57;  // of counter words 0 and 2
inline constexpr std::uint32_t kKeyStep0 = 0x9E3779B9, kKeyStep1 = 0xBB67AE85;        // added to the key every round
inline constexpr std::uint64_t kSubsequences = 65536;                                 // cuRAND's default order

[[nodiscard]] constexpr Words4 counter(std::uint64_t block, std::uint64_t stream) {
  const std::uint64_t low = block / kSubsequences, high = stream * kSubsequences + block % kSubsequences;
  return {low_word(low), high_word(low), low_word(high), high_word(high)};
}
// Words 0 and 1 of the key are used.
[[nodiscard]] constexpr std::uint32_t round_key(const Words4& key, std::size_t word, int round) {
  return key[word] + static_cast<std::uint32_t>(round) * (word == 0 ? kKeyStep0 : kKeyStep1);
}
}  // namespace philox

namespace threefry {
inline constexpr int kRounds = 20;
inline constexpr int kInjectionEvery = 4;                          // rounds
inline constexpr int kInjections = 1 + kRounds / kInjectionEvery;  // the first before round 0
inline constexpr std::uint32_t kParity = 0x1BD11BDA;
inline constexpr int kRotations[8][2] = {{10, 26}, {11, 21}, {13, 27}, {23, 5}, {6, 20}, {17, 11}, {25, 10}, {18, 20}};

[[nodiscard]] constexpr Words4 counter(std::uint64_t block, std::uint64_t stream) {
  return {low_word(block), high_word(block), low_word(stream), high_word(stream)};
}
// What injection s adds to counter word i.
[[nodiscard]] constexpr std::uint32_t injection(const Words4& key, int s, int i) {
  const std::uint32_t words[5] = {key[0], key[1], key[2], key[3], kParity ^ key[0] ^ key[1] ^ key[2] ^ key[3]};
  return words[(s + i) % 5] + (i == 3 ? static_cast<std::uint32_t>(s) : 0u);
}
}  // namespace threefry

// Blocks of four words, each from a counter of its own; any word costs the same.
[[nodiscard]] constexpr bool is_block_algorithm(Algorithm algorithm) {
  return algorithm == Algorithm::Philox4x32_10 || algorithm == Algorithm::Threefry4x32_20;
}
[[nodiscard]] constexpr Words4 key_of(std::uint64_t seed) { return {low_word(seed), high_word(seed), 0, 0}; }
[[nodiscard]] constexpr Words4 counter_of(Algorithm algorithm, std::uint64_t block, std::uint64_t stream) {
  return algorithm == Algorithm::Philox4x32_10 ? philox::counter(block, stream) : threefry::counter(block, stream);
}

}  // namespace trn::rand
