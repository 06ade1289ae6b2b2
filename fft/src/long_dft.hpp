// The tables of convolutions: a transform in long double, done once per plan, so that the spectrum of a chirp is
// rounded once. Host and device plans share it.
#pragma once

#include <complex>
#include <vector>

namespace trn::fft {

// X_k = sum_j x_j exp(-2 pi i jk/n), for lengths whose prime factors are small: a factor p costs p operations a point.
[[nodiscard]] std::vector<std::complex<long double>> long_dft(const std::vector<std::complex<long double>>& x);

}  // namespace trn::fft
