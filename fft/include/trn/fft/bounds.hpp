// The bounds that cosine.hpp, convolve.hpp and stft.hpp state, as numbers: real operands, one axis, `lines` of them in
// one call. `real` is their type; `mode` one that the executor offers for it, as chosen or asked for. Plans report
// their own (Plan::accuracy).
#pragma once

#include <trn/fft/convolve.hpp>
#include <trn/fft/cosine.hpp>

namespace trn::fft {

// || y - exact ||_2 <= bound || exact ||_2 of a cosine transform of n points.
[[nodiscard]] double dct_error_bound(const Executor& executor, CosineType type, std::int64_t n, std::int64_t lines,
                                     DType real, Mode mode);

// Lines of n points with the same m values. By transforms || y - exact ||_2 <= bound || a ||_2 || b ||_1, of the whole
// (fftconvolve) or of blocks (oaconvolve); by direct sums |y - exact| <= bound times the sum of moduli, each.
enum class ConvolveWay : std::uint8_t { Sums, Transform, Blocks };
[[nodiscard]] double convolve_error_bound(const Executor& executor, ConvolveWay way, std::int64_t n, std::int64_t m,
                                          std::int64_t lines, DType real, Mode mode);

// || Y - exact ||_2 <= bound || Y ||_2 of each frame of n_fft points; `frames` in one call.
[[nodiscard]] double stft_error_bound(const Executor& executor, std::int64_t n_fft, std::int64_t frames, DType real,
                                      Mode mode);

}  // namespace trn::fft
