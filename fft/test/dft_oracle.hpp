// Oracles for 1-D transforms that share nothing with the product: one fast transform, written once and compiled for
// __float128 and for long double. Mixed radix by the definition, its own roots of unity (turn.hpp), and for long primes
// its own chirp convolution over a power of two. The tests of DftOracle compare it with __float128 sums by the
// definition, and the two types with each other.
//
// Relative L2 errors: about 1e-33 in __float128, 1e-19 in long double, a thousandth of what a transform in double may
// err by.
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

#include "turn.hpp"

namespace trn::fft::testing {

using test::Quad;
using Long = std::complex<long double>;
using QuadPoint = test::Wide<Quad>;

// X_k = sum_j x_j exp(-2 pi i jk/n).
[[nodiscard]] std::vector<Long> oracle_dft(const std::vector<Long>& x);
[[nodiscard]] std::vector<QuadPoint> quad_dft(const std::vector<QuadPoint>& x);
// The same by the definition, for the oracles' own tests.
[[nodiscard]] std::vector<QuadPoint> quad_sums(const std::vector<QuadPoint>& x);

// ||a - b|| / ||b|| in the Euclidean norm.
[[nodiscard]] long double relative_error(const std::vector<Long>& a, const std::vector<Long>& b);
[[nodiscard]] double relative_error(const std::vector<QuadPoint>& a, const std::vector<QuadPoint>& b);

}  // namespace trn::fft::testing
