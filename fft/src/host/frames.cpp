// fft.stft and fft.istft on the host: signals are cut into windowed frames, frames are added up, plans transform them.
#include "../stft.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "../function_precision.hpp"
#include "../parallel.hpp"
#include "../views.hpp"

namespace trn::fft::host {
namespace {

// Point p of the signal, which may lie outside: index and sign of the point it is taken from, and twice which end value
// is added (Odd).
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

// Offsets of the signals or spectrograms of a call.
std::vector<std::int64_t> offsets(const Shape& batch, const Strides& strides) {
  std::vector<std::int64_t> all;
  const std::int64_t count = element_count(batch);
  for (std::int64_t b = 0; b < count; ++b) {
    std::int64_t rest = b, offset = 0;
    for (std::size_t d = batch.size(); d-- > 0; rest /= batch[d]) offset += rest % batch[d] * strides[d];
    all.push_back(offset);
  }
  return all;
}

// Dense frames (signals, count, n_fft, parts).
template <class T> void cut(const StftArgs& a, T* frames) {
  const Frames& f = *a.f;
  const std::vector<std::int64_t> signal_offsets = offsets(a.batch, a.batch_strides);
  const auto signals = static_cast<std::int64_t>(signal_offsets.size());
  std::vector<T> w(f.window.size());
  for (std::size_t j = 0; j < w.size(); ++j) w[j] = static_cast<T>(f.window[j] * f.scale);
  for_rows(signals * f.count, signals * f.count * f.n_fft, [&](std::int64_t i) {
    const T* x = static_cast<const T*>(a.signal) + signal_offsets[static_cast<std::size_t>(i / f.count)];
    const std::int64_t first = i % f.count * f.hop - f.extension;
    T* y = frames + i * f.n_fft * a.parts;
    const bool inside = first >= 0 && first + f.n_fft <= f.length;
    for (std::int64_t j = 0; j < f.n_fft; ++j) {
      const Source s = inside ? Source{first + j, 0} : source(f, first + j);
      for (int part = 0; part < a.parts; ++part) {
        T v = s.index < 0 ? T(0) : x[s.index * a.stride + part];
        if (s.end != 0) v = 2 * x[(s.end < 0 ? 0 : f.length - 1) * a.stride + part] - v;
        y[j * a.parts + part] = v * w[static_cast<std::size_t>(j)];
      }
    }
  });
}

template <class T> void transform(const Executor& e, const StftArgs& a) {
  using C = std::complex<T>;
  const Frames& f = *a.f;
  const std::int64_t signals = element_count(a.batch);
  const Array<T> pieces(e, {signals, f.count, f.n_fft, a.parts});
  cut<T>(a, pieces.data());
  C* to = static_cast<C*>(a.spectrogram);
  if (a.sides == Sides::One)
    return plan_for<T>(e, to_spectrogram(Kind::RealToComplex, f, signals), a.cache).execute(pieces.data(), to);
  const Plan<T> plan = plan_for<T>(e, to_spectrogram(Kind::ComplexToComplex, f, signals), a.cache);
  if (a.parts == 2) return plan.execute(reinterpret_cast<const C*>(pieces.data()), to);
  const Array<C> wide(e, {pieces.size()});
  for (std::int64_t i = 0; i < wide.size(); ++i) wide.data()[i] = pieces.data()[i];
  plan.execute(wide.data(), to);
}

// The sum over frames (signals, count, n_fft, parts), `step` reals from point to point.
template <class T> void add(const IstftArgs& a, const T* frames, std::int64_t step) {
  const Frames& f = *a.f;
  const std::int64_t signals = element_count(a.batch);
  for_rows(signals, signals * f.count * f.n_fft, [&](std::int64_t b) {
    std::vector<T> sum(static_cast<std::size_t>(f.length * a.parts), T(0));
    for (std::int64_t t = 0; t < f.count; ++t) {
      const T* y = frames + (b * f.count + t) * f.n_fft * step;
      const std::int64_t first = t * f.hop - f.extension;
      const std::int64_t from = std::max<std::int64_t>(-first, 0), to = std::min(f.n_fft, f.length - first);
      for (std::int64_t j = from; j < to; ++j) {
        const T w = static_cast<T>(f.window[static_cast<std::size_t>(j)] / a.peak);
        for (int part = 0; part < a.parts; ++part)
          sum[static_cast<std::size_t>((first + j) * a.parts + part)] += w * y[j * step + part];
      }
    }
    T* x = static_cast<T*>(a.signal) + b * f.length * a.parts;
    for (std::int64_t p = 0; p < f.length; ++p) {
      const T factor = static_cast<T>(1 / ((*a.weight)[static_cast<std::size_t>(p)] * f.scale * a.peak));
      for (int part = 0; part < a.parts; ++part)
        x[p * a.parts + part] = sum[static_cast<std::size_t>(p * a.parts + part)] * factor;
    }
  });
}

template <class T> void inverse(const Executor& e, const IstftArgs& a) {
  const Frames& f = *a.f;
  const std::int64_t step = a.sides == Sides::One ? 1 : 2;  // reals a point, of which `parts` are wanted
  const Array<T> pieces(e, {element_count(a.batch), f.count, f.n_fft, step});
  const Plan<T> plan = plan_for<T>(e, from_spectrogram(a, f.count), a.cache);
  const auto* from = static_cast<const std::complex<T>*>(a.spectrogram);
  if (step == 1)
    plan.execute(from, pieces.data());
  else
    plan.execute(from, reinterpret_cast<std::complex<T>*>(pieces.data()));
  add<T>(a, pieces.data(), step);
}

}  // namespace

double frame_bound(const Executor& executor, const FrameBoundArgs& args) {
  const auto& [kind, n_fft, frames, real, mode] = args;
  const Direction direction = kind == Kind::ComplexToReal ? Direction::Inverse : Direction::Forward;
  return fft::plan_bound(executor, dense(kind, direction, {n_fft}, {.batch = frames}), real, mode);
}

void stft(const Executor& executor, const StftArgs& args) {
  if (args.real == DType::Float32)
    transform<float>(executor, args);
  else
    transform<double>(executor, args);
}
void istft(const Executor& executor, const IstftArgs& args) {
  if (args.real == DType::Float32)
    inverse<float>(executor, args);
  else
    inverse<double>(executor, args);
}

}  // namespace trn::fft::host
