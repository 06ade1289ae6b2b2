// Direction vectors of the Sobol sequences, 64 bits wide; the upper halves of the first 32 serve the 32-bit sequences.
//
// Point n is the sum (exclusive or) of the vectors k over the bits k of its Gray code n ^ (n >> 1). Vector k of a
// dimension has its lowest one at bit 63 - k. The data files hold Joe and Kuo's primitive polynomials and first
// numbers, and what cuRAND scrambles its first dimensions with; both are tables of published facts, packed bit by bit.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <trn/rand/generator.hpp>

namespace trn::rand {

inline constexpr std::uint32_t kSobolDimensions = 21201, kScrambledDimensions = 1024;

using Directions = std::array<std::uint64_t, 64>;

// dimension < kSobolDimensions.
[[nodiscard]] Directions directions(std::uint32_t dimension);

// cuRAND's scrambled vectors and the constant that is added to every point. dimension < kScrambledDimensions.
struct Scrambled {
  Directions directions;
  std::uint64_t shift;
};
[[nodiscard]] Scrambled scrambled_directions(std::uint32_t dimension);

// The vectors of a Sobol algorithm; only cuRAND's scrambled ones have a constant.
[[nodiscard]] inline Scrambled sobol_vectors(Algorithm algorithm, std::uint32_t dimension) {
  const bool scrambled = algorithm == Algorithm::ScrambledSobol32 || algorithm == Algorithm::ScrambledSobol64;
  return scrambled ? scrambled_directions(dimension) : Scrambled{directions(dimension), 0};
}

// Point n without the constant.
[[nodiscard]] inline std::uint64_t sobol_fraction(const Directions& v, std::uint64_t n) {
  std::uint64_t x = 0;
  for (std::uint64_t gray = n ^ n >> 1; gray != 0; gray &= gray - 1)
    x ^= v[static_cast<std::size_t>(std::countr_zero(gray))];
  return x;
}

}  // namespace trn::rand
