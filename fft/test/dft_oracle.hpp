// An oracle for 1-D transforms that shares nothing with the product: long double, its own roots of unity, mixed radix by the definition, and for
// long primes a chirp convolution in long double. Its own test compares it with sums in __float128 by the definition.
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

namespace trn::fft::testing {

using Long = std::complex<long double>;

// X_k = sum_j x_j exp(-2 pi i jk/n).
[[nodiscard]] std::vector<Long> oracle_dft(const std::vector<Long>& x);

// ||a - b|| / ||b|| in the Euclidean norm.
[[nodiscard]] long double relative_error(const std::vector<Long>& a, const std::vector<Long>& b);

}  // namespace trn::fft::testing
