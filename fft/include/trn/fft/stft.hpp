// Short-time Fourier transform and its inverse, with the conventions of torch.stft and of scipy.signal.stft both.
//
//   Y[..., k, t] = s * sum_j w_j x[..., t * hop + j - offset] exp(-2 pi i jk / n_fft)        frames t along the last
//     axis, frequencies
//     before it
//
// The signal lies along the last axis. It is first extended at both ends (`boundary`), then cut into frames of n_fft
// points; torch puts a window that is shorter than n_fft in the middle of the frame, SciPy at its start. istft adds the
// frames' windowed inverses and divides by the sum of squared windows: the least-squares signal (Griffin and Lim),
// which is the signal itself wherever that sum is not zero. Where a point of the result is covered by no non-zero
// window value, istft throws InvalidArgument instead of inventing it.
//
//   auto y = stft(exec, x, {.n_fft = 512, .hop = 128});                     // torch.stft(x, 512, 128,
//     window=torch.hann_window(512),
//     return_complex=True)
//   auto z = stft(exec, x, scipy_stft(256, n));                             // scipy.signal.stft(x)[2] of n points
//   auto r = istft(exec, y, {.n_fft = 512, .hop = 128}, {.length = n});
//
// || Y - exact ||_2 <= (B + 3 u) || Y ||_2 for each frame, B being the bound of the transform of n_fft points; up to
//   128 points a frame of
// floats is one matrix product on a device, and B = matrix_error_bound(n_fft, mode), 2 (n_fft + sqrt(n_fft) + 2) u in
// mode native. istft errs by at most (B + (m + 4) u) sqrt(m) max(|w|) max(1/(s sum of w^2)) of the norm of all frames
// together, m being the frames over a point. A target is held against these factors.
//
// `precision` is that of the transforms: Native, Tf32, Bf16, Tf32x3 and Bf16x6 for float on a device; Exact for double
// there, with the window, the boundary and the sum over frames on the host, which splits and joins doubles for such
// plans anyway; Native on the host.
#pragma once

#include <trn/fft/transforms.hpp>
#include <trn/fft/windows.hpp>

namespace trn::fft {

// What the signal is beyond its ends: nothing is added (None); zeros; its mirror image about the end point (torch
// "reflect", SciPy "even"); the mirror image turned upside down about the end point (SciPy "odd"); the end value (torch
// "replicate", SciPy "constant"); its other end (torch "circular").
enum class Boundary : std::uint8_t { None, Zeros, Reflect, Odd, Replicate, Circular };
// A window shorter than n_fft: in the middle of the frame, or at its start.
enum class WindowPlace : std::uint8_t { Centre, Start };
// s: 1; n_fft^(-1/2) (torch's normalized); 1/sum(w); 1/sqrt(sample_rate * sum(w^2)).
enum class StftScaling : std::uint8_t { None, Unitary, Spectrum, Density };
// Frequencies 0 .. n_fft/2, or all; complex signals have all.
enum class Sides : std::uint8_t { One, Two };
// What to do with points behind the last whole frame: leave them out, or complete a frame with zeros (SciPy's padded).
enum class Tail : std::uint8_t { Drop, Complete };

struct StftOptions {
  std::int64_t n_fft = 256;
  std::optional<std::int64_t> hop{};         // default n_fft/4
  std::optional<std::int64_t> win_length{};  // default: the window's, without one n_fft
  std::vector<double> window{};              // win_length values; empty: the periodic Hann window
  WindowPlace place = WindowPlace::Centre;
  Boundary boundary = Boundary::Reflect;  // by n_fft/2 points (place Start: win_length/2)
  Tail tail = Tail::Drop;
  StftScaling scaling = StftScaling::None;
  double sample_rate = 1;  // for Density
  Sides sides = Sides::One;
  Precision precision = {};
  PlanCache* cache = nullptr;
};

// scipy.signal.stft's defaults for segments of nperseg points: a periodic Hann window, half overlap, zeros at the ends,
// the last frame completed, scaling spectrum. SciPy takes nperseg = length for a signal that is shorter: give its
// length to have the same.
[[nodiscard]] StftOptions scipy_stft(std::int64_t nperseg, std::optional<std::int64_t> length = {});

struct IstftOptions {
  std::optional<std::int64_t>
      length{};  // of the result; default: what the frames cover, without the extension at the ends
};

// How many frames stft makes of `length` points.
[[nodiscard]] std::int64_t stft_frames(std::int64_t length, const StftOptions& options);

namespace detail {
// E: float or double for real signals, their complex types for complex ones.
template <class E> [[nodiscard]] Array<std::complex<typename RealPart<E>::type>> stft(const Executor&,
                                                                                      const View<const E>&,
                                                                                      const StftOptions&);
template <Real T> [[nodiscard]] Array<T> istft(const Executor&, const View<const std::complex<T>>&, const StftOptions&,
                                               const IstftOptions&);
template <Real T> [[nodiscard]] Array<std::complex<T>> complex_istft(const Executor&,
                                                                     const View<const std::complex<T>>&,
                                                                     const StftOptions&, const IstftOptions&);
}  // namespace detail

// Throws InvalidArgument for sizes that do not fit each other (n_fft < 1, hop < 1, a window longer than n_fft, a signal
// too short for one frame or for its reflection), one side of a complex signal, an array of another executor.
template <Operand X>
[[nodiscard]] Array<std::complex<RealOf<X>>> stft(const Executor& e, const X& x, const StftOptions& o = {}) {
  return detail::stft(e, view_of(x), o);
}
// The real signal of a spectrogram with the options it was made with.
template <ComplexOperand X> [[nodiscard]] Array<RealOf<X>> istft(const Executor& e, const X& y,
                                                                 const StftOptions& o = {},
                                                                 const IstftOptions& i = {}) {
  return detail::istft(e, view_of(y), o, i);
}
// The complex signal of a spectrogram with all frequencies (Sides::Two).
template <ComplexOperand X> [[nodiscard]] Array<std::complex<RealOf<X>>> complex_istft(const Executor& e, const X& y,
                                                                                       const StftOptions& o,
                                                                                       const IstftOptions& i = {}) {
  return detail::complex_istft(e, view_of(y), o, i);
}

}  // namespace trn::fft
