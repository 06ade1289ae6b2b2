// The kernels of the short-time transforms: cutting a signal into windowed frames, and adding frames up again.
#pragma once

#include <trn/core/dispatch.hpp>
#include <trn/core/dtype.hpp>
#include <trn/fft/stft.hpp>

namespace trn::fft {

// Sizes and the window of a call after its checks.
struct Frames {
  std::int64_t n_fft, hop, extension;  // points added at either end
  std::int64_t length, count;          // of the signal, of frames
  std::vector<double> window;          // n_fft values: the window where it lies, zeros beside it
  double scale;
  Boundary boundary;
};

// A call after its checks. Signals have `parts` reals a point (1 real, 2 complex) and dimensions `batch`; all strides
// count reals. The spectrogram of stft and the signal of istft are dense.
struct StftArgs {
  DType real;
  const Frames* f;
  int parts;
  Sides sides;
  Shape batch;
  const void* signal;
  std::int64_t stride;
  Strides batch_strides;
  void* spectrogram;  // (batch..., bins, count)
  PlanCache* cache;
  Mode mode;  // of the transforms
};
struct IstftArgs {
  DType real;
  const Frames* f;
  int parts;
  Sides sides;
  Shape batch;
  const void* spectrogram;
  std::int64_t bin_stride, frame_stride;
  Strides batch_strides;
  void* signal;                       // (batch..., length)
  double peak;                        // the largest window value: windows are divided by it before they are squared
  const std::vector<double>* weight;  // the sum of squared windows over peak^2 at each point of the result
  PlanCache* cache;
  Mode mode;
};

[[nodiscard]] inline std::int64_t bins_of(const Frames& f, Sides sides) {
  return sides == Sides::One ? f.n_fft / 2 + 1 : f.n_fft;
}

// From dense frames (signals, count, n_fft) to a dense spectrogram.
[[nodiscard]] Description to_spectrogram(Kind kind, const Frames& f, std::int64_t signals, Mode mode = Mode::Native);
// From a spectrogram where it lies to frames in (signals, rows, n_fft), `rows` of them a signal.
[[nodiscard]] Description from_spectrogram(const IstftArgs& args, std::int64_t rows);

// B of the public header: the transform of `frames` frames of n_fft points.
struct FrameBoundArgs {
  Kind kind;
  std::int64_t n_fft, frames;
  DType real;
  Mode mode;
};

namespace host {
[[nodiscard]] double frame_bound(const Executor& executor, const FrameBoundArgs& args);
void stft(const Executor& executor, const StftArgs& args);    // frames = window * scale * signal, transformed
void istft(const Executor& executor, const IstftArgs& args);  // sum of window * frames / (scale * sum of window^2)
}  // namespace host
namespace device {
[[nodiscard]] double frame_bound(const Executor& executor, const FrameBoundArgs& args);
void stft(const Executor& executor, const StftArgs& args);
void istft(const Executor& executor, const IstftArgs& args);
}  // namespace device

inline constexpr KernelTable<StftArgs> kStft{"fft.stft", host::stft, device::stft};
inline constexpr KernelTable<FrameBoundArgs, double> kFrameBound{"fft.stft", host::frame_bound, device::frame_bound};
inline constexpr KernelTable<IstftArgs> kIstft{"fft.istft", host::istft, device::istft};

}  // namespace trn::fft
