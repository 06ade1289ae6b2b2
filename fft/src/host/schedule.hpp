// Number theory and choices of the host engines: how a length is cut into passes, which lengths are convenient for
// convolutions. Pure functions.
#pragma once

#include <cstdint>
#include <vector>

#include "codelets.hpp"

namespace trn::fft::host {

// Primes above this get Rader's or Bluestein's algorithm; up to it a pass computes the definition, O(p^2), with the
// symmetry of the roots.
inline constexpr std::int64_t kLargestDirect = 61;

[[nodiscard]] std::vector<std::int64_t> prime_factors(std::int64_t n);  // ascending, with multiplicity
[[nodiscard]] bool is_smooth(std::int64_t n);                           // no prime factor above kLargestDirect
[[nodiscard]] std::int64_t smooth_part(std::int64_t n);  // the product of the prime factors that a pass can do

// The radices of the passes for a smooth n, their product, and an estimate of the vector operations.
[[nodiscard]] std::vector<int> radices(std::int64_t n);
[[nodiscard]] double passes_cost(std::int64_t n);
[[nodiscard]] double codelet_cost(std::int64_t radix);  // of a codelet, or of a prime above 13
[[nodiscard]] std::int64_t power_modulo(std::int64_t base, std::int64_t exponent, std::int64_t modulus);
[[nodiscard]] std::int64_t primitive_root(std::int64_t p);

// Lengths >= n with prime factors 2, 3, 5 only, at most a few per cent longer; ascending.
[[nodiscard]] std::vector<std::int64_t> convolution_lengths(std::int64_t n);

}  // namespace trn::fft::host
