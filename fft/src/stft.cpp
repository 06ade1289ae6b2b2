// The entry points of stft and istft: sizes, window and boundary are checked, and whether istft has something to divide
// by.
#include "stft.hpp"

#include <cmath>
#include <numeric>

#include <trn/core/enumerators.hpp>
#include <trn/fft/bounds.hpp>

#include "function_precision.hpp"

namespace trn::fft {
namespace {

constexpr std::int64_t kLongestFrame = std::int64_t{1} << 30;
constexpr std::int64_t kLongestSignal = std::int64_t{1} << 60;  // so that sums of a few lengths cannot overflow

std::vector<double> placed_window(const char* op, const StftOptions& o, std::int64_t& win_length) {
  win_length = o.win_length.value_or(o.window.empty() ? o.n_fft : static_cast<std::int64_t>(o.window.size()));
  require(win_length >= 1 && win_length <= o.n_fft,
          "{}: the window has {} points, n_fft is {}; it must have 1 to n_fft", op, win_length, o.n_fft);
  require(o.window.empty() || static_cast<std::int64_t>(o.window.size()) == win_length,
          "{}: win_length is {} but {} window values are given; give one per point", op, win_length, o.window.size());
  const std::vector<double> w = o.window.empty() ? window(WindowKind::Hann, win_length) : o.window;
  for (const double v : w) require(std::isfinite(v), "{}: a window value is {}; all must be finite", op, v);
  std::vector<double> placed(static_cast<std::size_t>(o.n_fft), 0.0);
  std::copy(w.begin(), w.end(), placed.begin() + (o.place == WindowPlace::Centre ? (o.n_fft - win_length) / 2 : 0));
  return placed;
}

double scale(const char* op, const StftOptions& o, const std::vector<double>& w) {
  double sum = 0, squares = 0;
  for (const double v : w) sum += v, squares += v * v;
  switch (o.scaling) {
    case StftScaling::None:
      break;
    case StftScaling::Unitary:
      return 1 / std::sqrt(static_cast<double>(o.n_fft));
    case StftScaling::Spectrum:
      require(sum != 0, "{}: the window's values sum to 0; scaling spectrum divides by that sum: use another scaling",
              op);
      return 1 / std::abs(sum);
    case StftScaling::Density:
      require(squares > 0, "{}: the window is 0; scaling density divides by the sum of its squares: use another window",
              op);
      require(std::isfinite(o.sample_rate) && o.sample_rate > 0, "{}: the sample rate is {}; give a positive number",
              op, o.sample_rate);
      return 1 / std::sqrt(o.sample_rate * squares);
  }
  return 1;
}

// Everything but the signal's length and the number of frames.
Frames frames(const char* op, const StftOptions& o) {
  operands::check_enumerator(op, "Boundary", o.boundary, Boundary::Circular);
  operands::check_enumerator(op, "WindowPlace", o.place, WindowPlace::Start);
  operands::check_enumerator(op, "StftScaling", o.scaling, StftScaling::Density);
  operands::check_enumerator(op, "Sides", o.sides, Sides::Two);
  operands::check_enumerator(op, "Tail", o.tail, Tail::Complete);
  require(o.n_fft >= 1 && o.n_fft <= kLongestFrame, "{}: n_fft is {}; it must be 1 to 2^30", op, o.n_fft);
  Frames f{};
  f.n_fft = o.n_fft;
  f.hop = o.hop.value_or(std::max<std::int64_t>(o.n_fft / 4, 1));
  require(f.hop >= 1, "{}: the hop is {}; it must be at least 1", op, f.hop);
  std::int64_t win_length = 0;
  f.window = placed_window(op, o, win_length);
  f.boundary = o.boundary;
  f.extension = o.boundary == Boundary::None ? 0 : (o.place == WindowPlace::Centre ? o.n_fft : win_length) / 2;
  f.scale = scale(op, o, f.window);
  return f;
}

// Points of a frame that must exist: all of them for torch, the window's for SciPy, which completes a frame with zeros.
std::int64_t frame_span(const StftOptions& o) {
  if (o.place == WindowPlace::Centre) return o.n_fft;
  return o.win_length.value_or(o.window.empty() ? o.n_fft : static_cast<std::int64_t>(o.window.size()));
}

std::int64_t frame_count(const char* op, const StftOptions& o, const Frames& f, std::int64_t length) {
  const std::int64_t extended = length + 2 * f.extension, span = frame_span(o);
  require(o.tail == Tail::Complete || extended >= span,
          "{}: the signal has {} points, {} with its extension; a frame needs {}: use a smaller n_fft", op, length,
          extended, span);
  if (o.tail == Tail::Drop) return 1 + (extended - span) / f.hop;
  return extended <= span ? 1 : 2 + (extended - span - 1) / f.hop;
}

void check_boundary(const char* op, const Frames& f) {
  if (f.boundary == Boundary::Reflect || f.boundary == Boundary::Odd) {
    require(f.extension < f.length,
            "{}: the signal has {} points; its reflection by {} points needs at least {}: use another boundary or a "
            "smaller n_fft",
            op, f.length, f.extension, f.extension + 1);
  }
  if (f.boundary == Boundary::Circular) {
    require(f.extension <= f.length,
            "{}: the signal has {} points; a circular extension by {} needs as many: use another boundary or a smaller "
            "n_fft",
            op, f.length, f.extension);
  }
}

// The largest window value: what windows are divided by before they are squared, so that squares neither vanish nor
// overflow.
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
            "fft.istft: the squared windows sum to {:.3g} of their largest value squared at point {} of the result (at "
            "most {:.3g} "
            "elsewhere), which cannot be reconstructed; use a "
            "window that is not zero there, a smaller hop, a boundary, or a shorter length",
            sum[p], p, most);
  }
  return sum;
}

template <class T> constexpr double unit = std::is_same_v<T, float> ? 0x1p-24 : 0x1p-53;

// B of the header.
double transform_bound(const Executor& e, Kind kind, std::int64_t n_fft, std::int64_t frames, DType real, Mode mode) {
  return ask(kFrameBound, e, {kind, n_fft, frames, real, mode});
}

// The header's bound of a frame: the transform, and the window's product with its rounding.
double frames_bound(const Executor& e, Kind kind, std::int64_t n_fft, std::int64_t frames, DType real, Mode mode) {
  return transform_bound(e, kind, n_fft, frames, real, mode) + 3 * unit_roundoff(real);
}

// Strides of elements of `parts` reals, in reals, without the last `dropped`.
Strides real_strides(const Strides& strides, std::size_t dropped, int parts) {
  Strides reals(strides.begin(), strides.end() - static_cast<std::ptrdiff_t>(dropped));
  for (std::int64_t& s : reals) s *= parts;
  return reals;
}

}  // namespace

double stft_error_bound(const Executor& executor, std::int64_t n_fft, std::int64_t frames, DType real, Mode mode) {
  return frames_bound(executor, Kind::RealToComplex, n_fft, frames, real, mode);
}

Description to_spectrogram(Kind kind, const Frames& f, std::int64_t signals, Mode mode) {
  const std::int64_t bins = kind == Kind::RealToComplex ? f.n_fft / 2 + 1 : f.n_fft;
  return {kind,
          Direction::Forward,
          {{f.n_fft, 1, f.count}},
          {{signals, f.count * f.n_fft, bins * f.count}, {f.count, f.n_fft, 1}},
          Scale::None,
          mode};
}

Description from_spectrogram(const IstftArgs& a, std::int64_t rows) {
  const Frames& f = *a.f;
  Description d{a.sides == Sides::One ? Kind::ComplexToReal : Kind::ComplexToComplex,
                Direction::Inverse,
                {{f.n_fft, a.bin_stride / 2, 1}},
                {{f.count, a.frame_stride / 2, f.n_fft}},
                Scale::ByLength,
                a.mode};
  const Strides signals = row_major_strides(a.batch);
  for (std::size_t i = 0; i < a.batch.size(); ++i)
    d.batch.push_back({a.batch[i], a.batch_strides[i] / 2, signals[i] * rows * f.n_fft});
  return d;
}

StftOptions scipy_stft(std::int64_t nperseg, std::optional<std::int64_t> length) {
  if (length) nperseg = std::min(nperseg, *length);
  return {.n_fft = nperseg,
          .hop = nperseg - nperseg / 2,
          .place = WindowPlace::Start,
          .boundary = Boundary::Zeros,
          .tail = Tail::Complete,
          .scaling = StftScaling::Spectrum};
}

std::int64_t stft_frames(std::int64_t length, const StftOptions& o) {
  require(length >= 0 && length <= kLongestSignal, "fft.stft: the signal has {} points; it must have 0 to 2^60",
          length);
  return frame_count("fft.stft", o, frames("fft.stft", o), length);
}

namespace detail {

template <class E>
Array<std::complex<typename RealPart<E>::type>> stft(const Executor& e, const View<const E>& x, const StftOptions& o) {
  using T = typename RealPart<E>::type;
  constexpr bool complex = !std::is_same_v<E, T>;
  constexpr int parts = complex ? 2 : 1;
  const char* op = "fft.stft";
  check_owner(op, "x", e, x.executor());
  (void)offered_modes(op, e, dtype_of<T>, o.precision, ExactMode::Offered);
  require(x.rank() >= 1, "{}: the signal has rank 0; its last axis is time", op);
  require(!complex || o.sides == Sides::Two, "{}: a complex signal has no symmetric spectrum; use sides Two", op);
  Frames f = frames(op, o);
  f.length = x.shape().back();
  f.count = frame_count(op, o, f, f.length);
  check_boundary(op, f);
  Shape shape = x.shape();
  shape.back() = bins_of(f, o.sides);
  shape.push_back(f.count);
  Array<std::complex<T>> y(e, shape);
  if (y.size() == 0) return y;
  const Kind kind = o.sides == Sides::One ? Kind::RealToComplex : Kind::ComplexToComplex;
  const Mode mode = choose_mode<T>(op, e, o.precision, ExactMode::Offered, [&](Mode each) {
    return frames_bound(e, kind, f.n_fft, y.size() / shape[shape.size() - 2], dtype_of<T>, each);
  });
  dispatch(kStft, e,
           StftArgs{dtype_of<T>, &f, parts, o.sides, Shape(shape.begin(), shape.end() - 2), x.data(),
                    x.strides().back() * parts, real_strides(x.strides(), 1, parts), y.data(), o.cache, mode});
  return y;
}

namespace {

// E: the element of the result.
template <class E, class T>
Array<E> inverse(const Executor& e, const View<const std::complex<T>>& y, const StftOptions& o, const IstftOptions& i) {
  constexpr bool complex = !std::is_same_v<E, T>;
  constexpr int parts = complex ? 2 : 1;
  const char* op = "fft.istft";
  check_owner(op, "y", e, y.executor());
  (void)offered_modes(op, e, dtype_of<T>, o.precision, ExactMode::Offered);
  require(y.rank() >= 2, "{}: the spectrogram has rank {}; its last two axes are frequency and time", op, y.rank());
  require(!complex || o.sides == Sides::Two, "{}: a complex signal needs all frequencies; use sides Two", op);
  Frames f = frames(op, o);
  const std::int64_t bins = bins_of(f, o.sides);
  const std::size_t rank = y.shape().size();
  require(y.shape()[rank - 2] == bins, "{}: the spectrogram has {} frequencies; n_fft {} with {} has {}", op,
          y.shape()[rank - 2], f.n_fft, o.sides == Sides::One ? "one side" : "two sides", bins);
  f.count = y.shape().back();
  require(f.count >= 1, "{}: the spectrogram has no frames; it needs at least 1", op);
  require(f.count == 1 || f.hop <= kLongestSignal / (f.count - 1),
          "{}: {} frames with a hop of {} cover more than 2^60 points; use a smaller hop", op, f.count, f.hop);
  const std::int64_t covered = frame_span(o) + f.hop * (f.count - 1);
  f.length = i.length.value_or(covered - 2 * f.extension);
  require(f.length >= 1 && f.length <= covered - f.extension,
          "{}: {} frames cover points up to {}; the length {} must be 1 to that", op, f.count, covered - f.extension,
          f.length);
  Shape shape(y.shape().begin(), y.shape().end() - 1);
  shape.back() = f.length;
  Array<E> x(e, shape);
  if (x.size() == 0) return x;

  const double peak = peak_of(f);
  const std::vector<double> weight = envelope(f, peak);
  const Kind kind = o.sides == Sides::One ? Kind::ComplexToReal : Kind::ComplexToComplex;
  const Mode mode = choose_mode<T>(op, e, o.precision, ExactMode::Offered, [&](Mode each) {
    const double layers = std::ceil(static_cast<double>(f.n_fft) / static_cast<double>(f.hop));
    const double least = *std::min_element(weight.begin(), weight.end());
    const double bound = transform_bound(e, kind, f.n_fft, y.size() / bins, dtype_of<T>, each) + (layers + 4) * unit<T>;
    return bound * std::sqrt(layers) / (least * peak * std::abs(f.scale));
  });
  dispatch(kIstft, e,
           IstftArgs{dtype_of<T>, &f, parts, o.sides, Shape(shape.begin(), shape.end() - 1), y.data(),
                     2 * y.strides()[rank - 2], 2 * y.strides()[rank - 1], real_strides(y.strides(), 2, 2), x.data(),
                     peak, &weight, o.cache, mode});
  return x;
}

}  // namespace

template <Real T>
Array<T> istft(const Executor& e, const View<const std::complex<T>>& y, const StftOptions& o, const IstftOptions& i) {
  return inverse<T, T>(e, y, o, i);
}
template <Real T> Array<std::complex<T>> complex_istft(const Executor& e, const View<const std::complex<T>>& y,
                                                       const StftOptions& o, const IstftOptions& i) {
  return inverse<std::complex<T>, T>(e, y, o, i);
}

#define TRN_FFT_INSTANTIATE(T)                                                                               \
  template Array<std::complex<T>> stft<T>(const Executor&, const View<const T>&, const StftOptions&);        \
  template Array<std::complex<T>> stft<std::complex<T>>(const Executor&, const View<const std::complex<T>>&, \
                                                        const StftOptions&);                                 \
  template Array<T> istft<T>(const Executor&, const View<const std::complex<T>>&, const StftOptions&,        \
                             const IstftOptions&);                                                           \
  template Array<std::complex<T>> complex_istft<T>(const Executor&, const View<const std::complex<T>>&,      \
                                                   const StftOptions&, const IstftOptions&);
TRN_FFT_INSTANTIATE(float)
TRN_FFT_INSTANTIATE(double)
#undef TRN_FFT_INSTANTIATE

}  // namespace detail
}  // namespace trn::fft
