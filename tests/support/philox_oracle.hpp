// Random words of stochastic rounding by their definition: Philox4x32-10 as published by Salmon, Moraes, Dror and Shaw
// (2011), in the order that trn/rand/generator.hpp states. Written apart from the product's; core's tests hold it
// against the authors' known answers.
#pragma once

#include <array>
#include <cstdint>

namespace trn::testing_support {

// A counter of 128 bits, a key of 64.
inline std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> c, std::array<std::uint32_t, 2> k) {
  const auto high = [](std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); };
  const auto low = [](std::uint64_t x) { return static_cast<std::uint32_t>(x); };
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = 0xD2511F53ull * c[0], b = 0xCD9E8D57ull * c[2];
    c = {high(b) ^ c[1] ^ k[0], low(b), high(a) ^ c[3] ^ k[1], low(a)};
    k = {k[0] + 0x9E3779B9u, k[1] + 0xBB67AE85u};
  }
  return c;
}

// Word number n of a stream: counter words 0, 1 are b / 65536 and words 2, 3 are 65536 stream + b mod 65536, b = n / 4.
inline std::uint32_t philox_word(std::uint64_t seed, std::uint64_t stream, std::uint64_t n) {
  const std::uint64_t b = n / 4, first = b / 65536, second = 65536 * stream + b % 65536;
  const auto half = [](std::uint64_t x, int h) { return static_cast<std::uint32_t>(x >> (32 * h)); };
  return philox({half(first, 0), half(first, 1), half(second, 0), half(second, 1)},
                {half(seed, 0), half(seed, 1)})[n % 4];
}

}  // namespace trn::testing_support
