// The words every trnfft header uses.
#pragma once

#include <complex>
#include <concepts>
#include <cstdint>

#include <trn/core/precision.hpp>
#include <trn/core/view.hpp>

namespace trn::fft {

// The real type of a transform: single or double precision.
template <class T>
concept Real = std::same_as<T, float> || std::same_as<T, double>;

// cuFFT: CUFFT_C2C/Z2Z, CUFFT_R2C/D2Z, CUFFT_C2R/Z2D.
enum class Kind : std::uint8_t { ComplexToComplex, RealToComplex, ComplexToReal };

// The sign of the exponent: Forward is exp(-2 pi i jk/n), Inverse exp(+2 pi i jk/n). RealToComplex is Forward and
// ComplexToReal Inverse unless the caller says otherwise (SciPy's ihfft and hfft are the other two).
enum class Direction : std::uint8_t { Forward, Inverse };

// The factor on the result, N being the product of the transformed lengths: 1, 1/N, 1/sqrt(N).
enum class Scale : std::uint8_t { None, ByLength, Orthonormal };

// Where real and imaginary parts lie: pairs (std::complex) or two arrays of the same layout.
enum class Format : std::uint8_t { Interleaved, Planar };

[[nodiscard]] const char* name(Kind kind);
[[nodiscard]] const char* name(Direction direction);
[[nodiscard]] const char* name(Scale scale);
[[nodiscard]] const char* name(Format format);

// A complex array as two real ones of the same shape, strides and executor: what the Tensor Engine likes best.
template <Element T> struct PlanarView { View<T> re, im; };
// The same as two addresses of an executor's memory.
template <Element T> struct PlanarPointer { T *re = nullptr, *im = nullptr; };

}  // namespace trn::fft
