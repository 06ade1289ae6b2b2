// Cutting signals into windowed frames and adding frames up, on the host.
#include "../stft.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <trn/core/error.hpp>

#include "../parallel.hpp"

namespace trn::fft::host {
namespace {

// Point p of the signal, which may lie outside: index and sign of the point it is taken from, and twice which end value is added (Odd).
struct Source {
  std::int64_t index = -1;  // < 0: zero
  int end = 0;              // Odd: -1 means 2 x_0 - x_index, +1 means 2 x_last - x_index
};

Source source(const Frames& f, std::int64_t p) {
  const std::int64_t n = f.length;
  if (p >= 0 && p < n) return {p, 0};
  if (p < -f.extension || p >= n + f.extension) return {};  // behind the extension: the zeros that complete a frame
  switch (f.boundary) {
    case Boundary::None:
    case Boundary::Zeros:
      return {};
    case Boundary::Replicate:
      return n == 0 ? Source{} : Source{p < 0 ? 0 : n - 1, 0};
    case Boundary::Circular:
      return {p < 0 ? p + n : p - n, 0};
    case Boundary::Reflect:
      return {p < 0 ? -p : 2 * (n - 1) - p, 0};
    case Boundary::Odd:
      return p < 0 ? Source{-p, -1} : Source{2 * (n - 1) - p, 1};
  }
  return {};
}

template <class T> void cut(const FrameArgs& a) {
  const Frames& f = *a.f;
  const auto signals = static_cast<std::int64_t>(a.signal_offsets.size());
  std::vector<T> w(f.window.size());
  for (std::size_t j = 0; j < w.size(); ++j) w[j] = static_cast<T>(f.window[j] * f.scale);
  for_rows(signals * f.count, signals * f.count * f.n_fft, [&](std::int64_t i) {
    const T* x = static_cast<const T*>(a.signal) + a.signal_offsets[static_cast<std::size_t>(i / f.count)];
    const std::int64_t first = i % f.count * f.hop - f.extension;
    T* y = static_cast<T*>(a.frames) + i * f.n_fft * a.parts;
    const bool inside = first >= 0 && first + f.n_fft <= f.length;
    for (std::int64_t j = 0; j < f.n_fft; ++j) {
      const Source s = inside ? Source{first + j, 0} : source(f, first + j);
      for (int part = 0; part < a.parts; ++part) {
        T v = s.index < 0 ? T(0) : x[s.index * a.signal_stride + part];
        if (s.end != 0) v = 2 * x[(s.end < 0 ? 0 : f.length - 1) * a.signal_stride + part] - v;
        y[j * a.parts + part] = v * w[static_cast<std::size_t>(j)];
      }
    }
  });
}

// The largest window value: what windows are divided by before they are squared, so that squares neither vanish nor overflow.
double peak_of(const Frames& f) {
  double peak = 0;
  for (const double w : f.window) peak = std::max(peak, std::abs(w));
  return peak > 0 ? peak : 1;
}

// The sum of squared windows over peak^2 at each point of the result; throws where it is next to nothing.
std::vector<double> envelope(const Frames& f, double peak) {
  std::vector<double> sum(static_cast<std::size_t>(f.length), 0.0);
  for (std::int64_t t = 0; t < f.count; ++t) {
    for (std::int64_t j = 0; j < f.n_fft; ++j) {
      const std::int64_t p = t * f.hop + j - f.extension;
      const double w = f.window[static_cast<std::size_t>(j)] / peak;
      if (p >= 0 && p < f.length) sum[static_cast<std::size_t>(p)] += w * w;
    }
  }
  const double most = *std::max_element(sum.begin(), sum.end());
  for (std::size_t p = 0; p < sum.size(); ++p) {
    require(sum[p] > 1e-10 * most,
            "fft.istft: the squared windows sum to {:.3g} of their largest value squared at point {} of the result (at most {:.3g} "
            "elsewhere), which cannot be reconstructed; use a "
            "window that is not zero there, a smaller hop, a boundary, or a shorter length",
            sum[p], p, most);
  }
  return sum;
}

template <class T> void add(const FrameArgs& a) {
  const Frames& f = *a.f;
  const double peak = peak_of(f);
  const std::vector<double> weight = envelope(f, peak);
  const auto signals = static_cast<std::int64_t>(a.signal_offsets.size());
  for_rows(signals, signals * f.count * f.n_fft, [&](std::int64_t b) {
    std::vector<T> sum(static_cast<std::size_t>(f.length * a.parts), T(0));
    for (std::int64_t t = 0; t < f.count; ++t) {
      const T* y = static_cast<const T*>(a.frames) + (b * f.count + t) * f.n_fft * a.parts;
      const std::int64_t first = t * f.hop - f.extension;
      const std::int64_t from = std::max<std::int64_t>(-first, 0), to = std::min(f.n_fft, f.length - first);
      for (std::int64_t j = from; j < to; ++j) {
        const T w = static_cast<T>(f.window[static_cast<std::size_t>(j)] / peak);
        for (int part = 0; part < a.parts; ++part) sum[static_cast<std::size_t>((first + j) * a.parts + part)] += w * y[j * a.parts + part];
      }
    }
    T* x = static_cast<T*>(a.signal) + a.signal_offsets[static_cast<std::size_t>(b)];
    for (std::int64_t p = 0; p < f.length; ++p) {
      const T factor = static_cast<T>(1 / (weight[static_cast<std::size_t>(p)] * f.scale * peak));
      for (int part = 0; part < a.parts; ++part) x[p * a.signal_stride + part] = sum[static_cast<std::size_t>(p * a.parts + part)] * factor;
    }
  });
}

}  // namespace

void cut_frames(const Executor&, const FrameArgs& args) {
  if (args.real == DType::Float32)
    cut<float>(args);
  else
    cut<double>(args);
}
void add_frames(const Executor&, const FrameArgs& args) {
  if (args.real == DType::Float32)
    add<float>(args);
  else
    add<double>(args);
}

}  // namespace trn::fft::host
