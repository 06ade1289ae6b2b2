// The private words of one element: what rejection samplers draw from. Element n of (seed, stream) has its own sequence
// of blocks a = 0, 1, ..., so a value that needs many attempts takes nothing from its neighbours. The blocks are never
// those of raw draws:
//
//   Philox4x32_10     counter words 0,1 = 2^63 + a 2^48 + n / 65536, words 2,3 = 65536 stream + n mod 65536; a < 2^15.
//                     Raw draws have words 0,1 below 2^46.
//   Threefry4x32_20   counter words 0,1 = n, words 2,3 = stream, key word 2 = a + 1. Raw draws have key word 2 = 0.
#pragma once

#include <bit>
#include <span>
#include <trn/core/error.hpp>

#include "algorithms.hpp"

namespace trn::rand {

inline constexpr std::uint64_t kElementBlocks = std::uint64_t{1} << 15;

// One block at a time, in plain integers.
[[nodiscard]] inline Words4 philox_block(Words4 c, const Words4& key) {
  for (int r = 0; r < philox::kRounds; ++r) {
    const std::uint64_t p0 = std::uint64_t{philox::kMultiplier0} * c[0],
                        p1 = std::uint64_t{philox::kMultiplier1} * c[2];
    c = {high_word(p1) ^ c[1] ^ philox::round_key(key, 0, r), low_word(p1),
         high_word(p0) ^ c[3] ^ philox::round_key(key, 1, r), low_word(p0)};
  }
  return c;
}

[[nodiscard]] inline Words4 threefry_block(Words4 c, const Words4& key) {
  for (int r = 0; r < threefry::kRounds; ++r) {
    if (r % threefry::kInjectionEvery == 0) {
      for (int i = 0; i < 4; ++i) {
        c[static_cast<std::size_t>(i)] += threefry::injection(key, r / threefry::kInjectionEvery, i);
      }
    }
    const std::size_t a = r % 2 == 0 ? 1 : 3, b = 4 - a;
    c[0] += c[a];
    c[a] = std::rotl(c[a], threefry::kRotations[r % 8][0]) ^ c[0];
    c[2] += c[b];
    c[b] = std::rotl(c[b], threefry::kRotations[r % 8][1]) ^ c[2];
  }
  for (int i = 0; i < 4; ++i) {
    c[static_cast<std::size_t>(i)] += threefry::injection(key, threefry::kRounds / threefry::kInjectionEvery, i);
  }
  return c;
}

[[nodiscard]] inline bool has_element_words(Algorithm a) { return is_block_algorithm(a); }

// Counter and key of block a of element n.
[[nodiscard]] inline Words4 element_counter(const State& state, std::uint64_t n, std::uint64_t a) {
  if (state.algorithm != Algorithm::Philox4x32_10) return threefry::counter(n, state.stream);
  const std::uint64_t low = std::uint64_t{1} << 63 | a << 48 | n >> 16;
  const std::uint64_t high = state.stream * philox::kSubsequences + (n & 0xffff);
  return {low_word(low), high_word(low), low_word(high), high_word(high)};
}
[[nodiscard]] inline Words4 element_key(const State& state, std::uint64_t a) {
  Words4 key = key_of(state.seed);
  if (state.algorithm != Algorithm::Philox4x32_10) key[2] = static_cast<std::uint32_t>(a + 1);
  return key;
}

// The words one after another. `ready`, where given, holds the first blocks: a kernel makes those of many elements at
// once.
class ElementWords {
 public:
  ElementWords(const State& state, std::uint64_t element, std::span<const Words4> ready = {})
      : state_(state), element_(element), ready_(ready) {}

  std::uint32_t next32() {
    if (used_ == 4) refill();
    return words_[used_++];
  }
  // Low word first.
  std::uint64_t next64() {
    const std::uint64_t low = next32();
    return low | std::uint64_t{next32()} << 32;
  }
  // (k + 1/2) 2^-52: in (0, 1), never an end.
  double uniform() { return (static_cast<double>(next64() >> 12) + 0.5) * 0x1p-52; }

 private:
  void refill() {
    ensure(block_ < kElementBlocks, "rand: element {} has used up its {} blocks of words", element_, kElementBlocks);
    if (block_ < ready_.size()) {
      words_ = ready_[block_];
    } else {
      const Words4 counter = element_counter(state_, element_, block_), key = element_key(state_, block_);
      words_ = state_.algorithm == Algorithm::Philox4x32_10 ? philox_block(counter, key) : threefry_block(counter, key);
    }
    ++block_;
    used_ = 0;
  }

  const State& state_;
  std::uint64_t element_, block_ = 0;
  std::span<const Words4> ready_;
  Words4 words_{};
  std::size_t used_ = 4;
};

}  // namespace trn::rand
