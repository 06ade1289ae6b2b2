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

// Signals b = 0 .. of `parts` reals per point (1 real, 2 complex), point j at signal + b * signal_batch + j * signal_stride (reals).
// Frame t of signal b is dense: frames + ((b * count + t) * n_fft + j) * parts.
struct FrameArgs {
  DType real;
  const Frames* f;
  int parts;
  void* signal;
  std::int64_t signal_stride;
  std::vector<std::int64_t> signal_offsets;  // of each signal
  void* frames;
};

namespace host {
void cut_frames(const Executor& executor, const FrameArgs& args);  // frames = window * scale * signal
void add_frames(const Executor& executor, const FrameArgs& args);  // signal = sum of window * frames / (scale * sum of window^2)
}  // namespace host

inline constexpr KernelTable<FrameArgs> kStft{"fft.stft", host::cut_frames, nullptr};
inline constexpr KernelTable<FrameArgs> kIstft{"fft.istft", host::add_frames, nullptr};

}  // namespace trn::fft
