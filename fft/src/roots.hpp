// Roots of unity with exact angles: the one place where trnfft does trigonometry.
//
// exp(-2 pi i k/n): k is reduced modulo n and folded into an eighth of the circle in integers, so the angle given to
// sine and cosine is one correctly rounded quotient below pi/4 in long double. The result, rounded once to double or
// float, is within 0.51 ulp of the true value in each part; 0, 1, -1 and sqrt(1/2) come out as the nearest numbers.
// Valid for 1 <= n < 2^60, any k.
#pragma once

#include <complex>
#include <cstdint>

namespace trn::fft {

[[nodiscard]] std::complex<long double> long_root(std::int64_t k, std::int64_t n);

template <class T> [[nodiscard]] std::complex<T> root(std::int64_t k, std::int64_t n) {
  const std::complex<long double> z = long_root(k, n);
  return {static_cast<T>(z.real()), static_cast<T>(z.imag())};
}

}  // namespace trn::fft
