// Permutations of 0 .. size - 1 that need no table, and the keys that choose one.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace trn::rand::host {

// The finaliser of splitmix64 (Steele, Lea, Flood 2014): 64 bits that all depend on all of x.
[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}
[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t a, std::uint64_t b) { return mix(mix(a) ^ b); }

// Rounds of odd multiples, xors with their own upper half and sums permute the numbers of as many bits as size - 1 has;
// what leaves the range goes round again, until it comes back: a permutation of the range. size < 2^63.
class Permutation {
 public:
  Permutation(std::uint64_t size, std::uint64_t key) : size_(size) {
    const int bits = std::bit_width(size - 1);
    mask_ = (std::uint64_t{1} << bits) - 1;
    half_ = bits / 2 > 0 ? bits / 2 : 1;
    for (std::uint64_t round = 0; round < kRounds; ++round) keys_[round] = mix(key, round);
  }
  [[nodiscard]] std::uint64_t operator()(std::uint64_t x) const {
    do {
      for (const std::uint64_t k : keys_) {
        x = (x * (k | 1) + (k >> 32)) & mask_;
        x ^= x >> half_;
      }
    } while (x >= size_);
    return x;
  }

 private:
  static constexpr std::uint64_t kRounds = 8;
  std::uint64_t size_, mask_;
  std::array<std::uint64_t, kRounds> keys_;
  int half_;
};

}  // namespace trn::rand::host
