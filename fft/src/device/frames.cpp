// fft.stft and fft.istft on the device, float32; doubles are in exact_frames.cpp.
//
// The signal with its extension at either end is made by DMA, once; frames are overlapping windows on it. Up to 128
// points a frame, window, scale and transform are one matrix on the Tensor Engine (matrix_program), which reads every
// point of the signal once and writes the spectrogram with time along the free dimension, as it lies. Longer frames are
// multiplied by the window on the Vector Engine (pointwise_program) and transformed by a plan. The way back: frames by
// one matrix, window included, or by a plan; then the sum over frames (overlap_program).
//
// Errors: a matrix has matrix_error_bound in place of a plan's bound. The window changes nothing in it: errors of words
// are relative to each point, and the matrix's to each column of it.
#include <algorithm>
#include <cmath>
#include <trn/fft/matrix_program.hpp>
#include <trn/fft/overlap_program.hpp>
#include <trn/fft/points_program.hpp>

#include <trn/tile/launch.hpp>
#include "../function_precision.hpp"
#include "../matrix.hpp"
#include "../roots.hpp"
#include "../stft.hpp"
#include "exact_functions.hpp"
#include "planner.hpp"

namespace trn::fft::device {

using namespace trn::tile;

namespace {

using C = std::complex<float>;

// Signals in memory: point j of signal (b0, b1, ...) at j stride + b0 distances[0] + ..., in reals.
struct Signals {
  const float* data;
  std::int64_t stride;
  Strides distances;
};

// The signal from -extension on, as many points as the frames reach. E: float, or C for complex signals.
template <class E> class Extension {
 public:
  Extension(const Executor& e, const StftArgs& a, std::int64_t points)
      : e_(e), a_(a), f_(*a.f), shape_(a.batch), extended_(e, with(points)) {
    Strides strides = a.batch_strides;
    strides.push_back(a.stride);
    for (std::int64_t& s : strides) s /= a.parts;
    strides_ = strides;
    const std::int64_t inside = std::min(f_.length, points - f_.extension),
                       behind = std::max<std::int64_t>(points - f_.extension - inside, 0);
    const std::int64_t right = std::min(f_.extension, behind);
    Moves moves(e);
    moves.elements(from(0, 1, inside), to(f_.extension, inside));
    end(moves, 0, f_.extension, false);
    end(moves, f_.extension + inside, right, true);
    moves.zero(to(f_.extension + inside + right, behind - right));
    moves.run();
  }
  [[nodiscard]] Array<E> take() { return std::move(extended_); }

 private:
  [[nodiscard]] Shape with(std::int64_t points) const {
    Shape s = shape_;
    s.push_back(points);
    return s;
  }
  // `count` points of the signal from `first` on, `step` apart; 0 repeats one.
  [[nodiscard]] View<const E> from(std::int64_t first, std::int64_t step, std::int64_t count) const {
    Strides s = strides_;
    s.back() *= step;
    const auto* data = static_cast<const E*>(a_.signal);
    return {e_, count > 0 ? data + first * strides_.back() : data, with(count), s};
  }
  [[nodiscard]] View<E> to(std::int64_t first, std::int64_t count) const {
    return {e_, extended_.data() + first, with(count), extended_.view().strides()};
  }

  // Points [at, at + count) before the first or behind the last point of the signal.
  void end(Moves& moves, std::int64_t at, std::int64_t count, bool behind) const {
    const std::int64_t n = f_.length;
    const View<E> into = to(at, count);
    if (into.size() == 0) return;
    switch (f_.boundary) {
      case Boundary::None:
      case Boundary::Zeros:
        return moves.zero(into);
      case Boundary::Replicate:
        return n == 0 ? moves.zero(into) : moves.elements(from(behind ? n - 1 : 0, 0, count), into);
      case Boundary::Circular:
        return moves.elements(from(behind ? 0 : n - count, 1, count), into);
      case Boundary::Reflect:
        return mirror(behind ? n - 1 - count : 1, into);
      case Boundary::Odd: {  // twice the end point less the mirror image
        const View<const E> last = from(behind ? n - 1 : 0, 0, count);
        const Array<E> image(e_, with(count));
        mirror(behind ? n - 1 - count : 1, image.view());
        combine(ComplexOp::Add, last, last, into);
        return combine(ComplexOp::Subtract, into, image.view(), into);
      }
    }
  }
  // The points of the signal from `first` on backwards; parts of a point are lines of their own.
  void mirror(std::int64_t first, const View<E>& into) const {
    const std::int64_t parts = a_.parts, last = static_cast<std::int64_t>(strides_.size()) - 1;
    MirrorArgs args{{into.shape().back(), strides_.back() * parts, into.strides().back() * parts, {}},
                    static_cast<const float*>(a_.signal) + first * strides_.back() * parts,
                    reinterpret_cast<float*>(into.data())};
    for (std::size_t d = 0; d < static_cast<std::size_t>(last); ++d)
      args.shape.lines.push_back({into.shape()[d], strides_[d] * parts, into.strides()[d] * parts});
    args.shape.lines.push_back({parts, 1, 1});
    dispatch(kMirror, e_, args);
  }
  void combine(ComplexOp op, const View<const E>& x, const View<const E>& y, const View<E>& out) const {
    const auto side = [&](const View<const E>& v) {
      auto* re = reinterpret_cast<float*>(const_cast<E*>(v.data()));
      Strides s = v.strides();
      for (std::int64_t& one : s) one *= a_.parts;
      return ElementwiseSide{re, a_.parts == 2 ? re + 1 : nullptr, s};
    };
    dispatch(kElementwise, e_, ElementwiseArgs{op, DType::Float32, out.shape(), side(x), side(y), side(out)});
  }

  const Executor& e_;
  const StftArgs& a_;
  const Frames& f_;
  Shape shape_;
  Strides strides_;
  Array<E> extended_;
};

// Lines (batch..., count) with distances on both sides; dense ones where they are not given.
std::vector<LineDim> frame_lines(const Shape& batch, const Strides& in, const Strides& out, const LineDim& frames) {
  std::vector<LineDim> lines;
  for (std::size_t d = 0; d < batch.size(); ++d) lines.push_back({batch[d], in[d], out[d]});
  lines.push_back(frames);
  return merged_lines(lines);
}
Strides dense_distances(const Shape& batch, std::int64_t reals) {
  Strides s = row_major_strides(batch);
  for (std::int64_t& d : s) d *= reals;
  return s;
}

// The spectrogram's frequencies of frames of up to 128 points.
void short_frames(const Executor& e, const StftArgs& a, const Signals& x) {
  const Frames& f = *a.f;
  const std::int64_t bins = bins_of(f, a.sides);
  std::vector<float> m;
  for (std::int64_t part = 0; part < a.parts; ++part) {
    for (std::int64_t j = 0; j < f.n_fft; ++j) {
      const long double w = static_cast<long double>(f.window[static_cast<std::size_t>(j)]) * f.scale;
      for (std::int64_t k = 0; k < bins; ++k) {
        std::complex<long double> z = w * long_root(j * k, f.n_fft);
        if (part == 1) z *= std::complex<long double>(0, 1);
        m.push_back(static_cast<float>(z.real())), m.push_back(static_cast<float>(z.imag()));
      }
    }
  }
  const MatrixShape shape{
      {f.n_fft, a.parts, x.stride},
      {bins, 2, 2 * f.count},
      frame_lines(a.batch, x.distances, dense_distances(a.batch, 2 * bins * f.count), {f.count, f.hop * x.stride, 2}),
      a.mode};
  launch(e, matrix_program, shape, {{"x", x.data}, constant("matrix", m), {"y", a.spectrogram}});
}

// Windowed frames, then a plan. Frames of pairs are frames of twice as many reals; a real frame for all frequencies
// gets zeros beside it.
void long_frames(const Executor& e, const StftArgs& a, const Signals& x) {
  const Frames& f = *a.f;
  const std::int64_t signals = element_count(a.batch), points = f.n_fft * a.parts;
  const bool widened = a.parts == 1 && a.sides == Sides::Two;
  std::vector<float> table;
  for (std::int64_t j = 0; j < points; ++j) {
    table.push_back(static_cast<float>(f.window[static_cast<std::size_t>(j / a.parts)] * f.scale));
    table.push_back(0);
  }
  const std::int64_t reals = points * (widened ? 2 : 1);
  const Array<float> frames(e, {signals, f.count, reals});
  const PointwiseShape shape{
      {Format::Interleaved, true, points, a.parts == 2 ? 1 : x.stride},
      {Format::Interleaved, !widened, points, widened ? 2 : 1},
      frame_lines(a.batch, x.distances, dense_distances(a.batch, f.count * reals), {f.count, f.hop * x.stride, reals}),
      true};
  launch(e, pointwise_program, shape,
         {{"x_re", x.data}, constant("table", table), {widened ? "y" : "y_re", frames.data()}});
  C* to = static_cast<C*>(a.spectrogram);
  if (a.sides == Sides::One)
    return plan_for<float>(e, to_spectrogram(Kind::RealToComplex, f, signals, a.mode), a.cache)
        .execute(frames.data(), to);
  plan_for<float>(e, to_spectrogram(Kind::ComplexToComplex, f, signals, a.mode), a.cache)
      .execute(reinterpret_cast<const C*>(frames.data()), to);
}

template <class E> void transform(const Executor& e, const StftArgs& a) {
  const Frames& f = *a.f;
  const std::int64_t points = f.hop * (f.count - 1) + f.n_fft;
  const auto run = [&](const Signals& x) {
    if (f.n_fft <= device_of(e).machine().partitions)
      short_frames(e, a, x);
    else
      long_frames(e, a, x);
  };
  const bool as_it_is = f.extension == 0 && points <= f.length && (a.parts == 1 || a.stride == a.parts);
  if (as_it_is) return run({static_cast<const float*>(a.signal), a.stride, a.batch_strides});
  const Array<E> extended = Extension<E>(e, a, points).take();
  run({reinterpret_cast<const float*>(extended.data()), a.parts, dense_distances(a.batch, points * a.parts)});
}

// Frames of up to 128 points with their window: x_j = w_j / n sum over k of g_k Y_k exp(2 pi i jk/n), g_k = 2 for
// frequencies that stand for their mirror image too.
void short_inverse(const Executor& e, const IstftArgs& a, const OverlapRows& rows, const Array<float>& frames) {
  const Frames& f = *a.f;
  const std::int64_t bins = bins_of(f, a.sides), n = f.n_fft;
  std::vector<float> m;
  for (std::int64_t part = 0; part < 2; ++part) {
    for (std::int64_t k = 0; k < bins; ++k) {
      const bool twice = a.sides == Sides::One && k > 0 && 2 * k < n;
      for (std::int64_t j = 0; j < n; ++j) {
        const long double w =
            static_cast<long double>(f.window[static_cast<std::size_t>(j)]) / a.peak * (twice ? 2 : 1) / n;
        std::complex<long double> z = w * std::conj(long_root(j * k, n));
        if (part == 1) z *= std::complex<long double>(0, 1);
        m.push_back(static_cast<float>(z.real()));
        if (a.parts == 2) m.push_back(static_cast<float>(z.imag()));
      }
    }
  }
  const std::int64_t reals = n * a.parts;
  const MatrixShape shape{{bins, 2, a.bin_stride},
                          {n, a.parts, a.parts},
                          frame_lines(a.batch, a.batch_strides, dense_distances(a.batch, rows.rows * reals),
                                      {f.count, a.frame_stride, reals}),
                          a.mode};
  launch(e, matrix_program, shape,
         {{"x", a.spectrogram}, constant("matrix", m), {"y", frames.data() + rows.first_row * reals}});
}

}  // namespace

double frame_bound(const Executor& executor, const FrameBoundArgs& args) {
  const auto& [kind, n_fft, frames, real, mode] = args;
  if (real == DType::Float32 && n_fft <= device_of(executor).machine().partitions)
    return matrix_error_bound(n_fft, mode);
  const Direction direction = kind == Kind::ComplexToReal ? Direction::Inverse : Direction::Forward;
  return fft::plan_bound(executor, dense(kind, direction, {n_fft}, {.batch = frames}), real, mode);
}

void stft(const Executor& executor, const StftArgs& args) {
  if (args.real == DType::Float64) return exact_stft(executor, args);
  if (args.parts == 1)
    transform<float>(executor, args);
  else
    transform<C>(executor, args);
}

void istft(const Executor& e, const IstftArgs& a) {
  if (a.real == DType::Float64) return exact_istft(e, a);
  const Frames& f = *a.f;
  const bool short_ones = f.n_fft <= device_of(e).machine().partitions;
  const std::int64_t signals = element_count(a.batch), step = short_ones ? a.parts : a.sides == Sides::One ? 1 : 2;
  // Frames that begin behind the result are not asked for, and one frame has no hop.
  Frames used = f;
  used.count = std::min(f.count, (f.length + f.extension - 1) / f.hop + 1);
  if (used.count == 1) used.hop = f.n_fft;
  IstftArgs b = a;
  b.f = &used;
  const OverlapShape shape{signals, used.count, f.n_fft, used.hop, f.extension, f.length, a.parts, step, !short_ones};
  const OverlapRows rows = overlap_rows(shape);
  const std::int64_t reals = f.n_fft * step, behind = rows.rows - rows.first_row - used.count;
  const Array<float> frames(e, {signals, rows.rows, reals});
  Moves moves(e);
  const auto zeros = [&](std::int64_t first, std::int64_t count) {
    moves.zero(View<float>(e, frames.data() + first * reals, {signals, count, reals}, {rows.rows * reals, reals, 1}));
  };
  zeros(0, rows.first_row);
  zeros(rows.first_row + used.count, behind);
  moves.run();
  if (short_ones) {
    short_inverse(e, b, rows, frames);
  } else {
    const Plan<float> plan = plan_for<float>(e, from_spectrogram(b, rows.rows), a.cache);
    float* to = frames.data() + rows.first_row * reals;
    if (step == 1)
      plan.execute(static_cast<const C*>(a.spectrogram), to);
    else
      plan.execute(static_cast<const C*>(a.spectrogram), reinterpret_cast<C*>(to));
  }
  std::vector<float> factors, window;
  for (const double w : *a.weight) factors.push_back(static_cast<float>(1 / (w * f.scale * a.peak)));
  if (shape.window) {
    for (const double w : f.window) window.push_back(static_cast<float>(w / a.peak));
  }
  launch(e, overlap_program, shape,
         {{"x", frames.data()}, constant("factor", factors), constant("window", window), {"y", a.signal}});
}

}  // namespace trn::fft::device
