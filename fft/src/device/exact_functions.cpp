// Windows, frames, and products of spectra in double precision: see exact_functions.hpp.
#include "exact_functions.hpp"

#include <complex>
#include <trn/core/array.hpp>
#include <trn/core/error.hpp>

#include "../views.hpp"

namespace trn::fft::device {

namespace {

using Z = std::complex<double>;

std::vector<double> gathered(const Executor& e, const void* data, const Shape& shape, const Strides& strides) {
  std::vector<double> values(static_cast<std::size_t>(element_count(shape)));
  copy(View<const double>(e, static_cast<const double*>(data), shape, strides),
       View<double>(Executor::host(), values.data(), shape));
  return values;
}
void scattered(const Executor& e, const std::vector<double>& values, void* data, const Shape& shape,
               const Strides& strides) {
  copy(View<const double>(Executor::host(), values.data(), shape),
       View<double>(e, static_cast<double*>(data), shape, strides));
}

Shape with(Shape shape, std::initializer_list<std::int64_t> more) {
  shape.insert(shape.end(), more);
  return shape;
}
Strides with_strides(Strides strides, std::initializer_list<std::int64_t> more) {
  return with(std::move(strides), more);
}

// Point p of a signal of f.length points and its extension: which point it is, with what sign, and how often an end
// point is added.
struct Source {
  std::int64_t point = -1;  // none
  double sign = 1;
  std::int64_t end = -1;  // twice this point is added
};
Source source(const Frames& f, std::int64_t p) {
  const std::int64_t n = f.length;
  if (p >= 0 && p < n) return {p};
  if (p < -f.extension || p >= n + f.extension || n == 0) return {};
  const std::int64_t mirror = p < 0 ? -p : 2 * (n - 1) - p, end = p < 0 ? 0 : n - 1;
  switch (f.boundary) {
    case Boundary::None:
    case Boundary::Zeros:
      return {};
    case Boundary::Reflect:
      return {mirror};
    case Boundary::Odd:
      return {mirror, -1, end};
    case Boundary::Replicate:
      return {end};
    case Boundary::Circular:
      return {(p + n) % n};
  }
  return {};
}

}  // namespace

void exact_elementwise(const Executor& executor, const ElementwiseArgs& args) {
  const bool complex = args.out.im != nullptr;
  if (args.op != ComplexOp::Add && args.op != ComplexOp::Multiply) {
    fail<NotImplemented>("fft.elementwise: executor '{}' has sums and products of {} alone; use float, or the host",
                         executor.name(), name(args.real));
  }
  const auto part = [&](const ElementwiseSide& side, int which) {
    return gathered(executor, which == 0 ? side.re : side.im, args.shape, side.strides);
  };
  std::vector<double> re = part(args.a, 0);
  const std::vector<double> other = part(args.b, 0);
  if (!complex) {
    for (std::size_t i = 0; i < re.size(); ++i) re[i] = args.op == ComplexOp::Add ? re[i] + other[i] : re[i] * other[i];
    return scattered(executor, re, args.out.re, args.shape, args.out.strides);
  }
  std::vector<double> im = part(args.a, 1);
  const std::vector<double> other_im = part(args.b, 1);
  for (std::size_t i = 0; i < re.size(); ++i) {
    const double a = re[i], b = im[i], c = other[i], d = other_im[i];
    re[i] = args.op == ComplexOp::Add ? a + c : a * c - b * d;
    im[i] = args.op == ComplexOp::Add ? b + d : a * d + b * c;
  }
  scattered(executor, re, args.out.re, args.shape, args.out.strides);
  scattered(executor, im, args.out.im, args.shape, args.out.strides);
}

void exact_stft(const Executor& e, const StftArgs& a) {
  const Frames& f = *a.f;
  const std::int64_t signals = element_count(a.batch), length = std::max<std::int64_t>(f.length, 0), parts = a.parts;
  const std::vector<double> x =
      length == 0 ? std::vector<double>{}
                  : gathered(e, a.signal, with(a.batch, {length, parts}), with_strides(a.batch_strides, {a.stride, 1}));
  // Frames of pairs, or of reals where half the frequencies are wanted.
  const std::int64_t width = a.sides == Sides::One ? 1 : 2;
  std::vector<double> frames(static_cast<std::size_t>(signals * f.count * f.n_fft * width), 0.0);
  double* to = frames.data();
  for (std::int64_t b = 0; b < signals; ++b) {
    const double* const signal = x.data() + b * length * parts;
    for (std::int64_t t = 0; t < f.count; ++t) {
      for (std::int64_t j = 0; j < f.n_fft; ++j, to += width) {
        const Source s = source(f, t * f.hop + j - f.extension);
        if (s.point < 0) continue;
        const double w = f.window[static_cast<std::size_t>(j)] * f.scale;
        for (std::int64_t p = 0; p < parts; ++p) {
          const double v = s.sign * signal[s.point * parts + p];
          to[p] = w * (s.end < 0 ? v : 2 * signal[s.end * parts + p] + v);
        }
      }
    }
  }
  const Array<double> there = Array<double>::from_host(e, {static_cast<std::int64_t>(frames.size())}, frames);
  const Kind kind = a.sides == Sides::One ? Kind::RealToComplex : Kind::ComplexToComplex;
  const Plan<double> plan = plan_for<double>(e, to_spectrogram(kind, f, signals, Mode::Exact), a.cache);
  auto* const y = static_cast<Z*>(a.spectrogram);
  if (a.sides == Sides::One) return plan.execute(there.data(), y);
  plan.execute(reinterpret_cast<const Z*>(there.data()), y);
}

void exact_istft(const Executor& e, const IstftArgs& a) {
  const Frames& f = *a.f;
  const std::int64_t signals = element_count(a.batch), width = a.sides == Sides::One ? 1 : 2, parts = a.parts;
  const Array<double> there(e, {signals * f.count * f.n_fft * width});
  const Plan<double> plan = plan_for<double>(e, from_spectrogram(a, f.count), a.cache);
  if (width == 1)
    plan.execute(static_cast<const Z*>(a.spectrogram), there.data());
  else
    plan.execute(static_cast<const Z*>(a.spectrogram), reinterpret_cast<Z*>(there.data()));
  const std::vector<double> frames = there.to_host();
  std::vector<double> x(static_cast<std::size_t>(signals * f.length * parts), 0.0);
  for (std::int64_t b = 0; b < signals; ++b) {
    double* const signal = x.data() + b * f.length * parts;
    for (std::int64_t t = 0; t < f.count; ++t) {
      const double* const frame = frames.data() + (b * f.count + t) * f.n_fft * width;
      for (std::int64_t j = 0; j < f.n_fft; ++j) {
        const std::int64_t p = t * f.hop + j - f.extension;
        if (p < 0 || p >= f.length) continue;
        for (std::int64_t i = 0; i < parts; ++i)
          signal[p * parts + i] += f.window[static_cast<std::size_t>(j)] / a.peak * frame[j * width + i];
      }
    }
    for (std::int64_t p = 0; p < f.length * parts; ++p)
      signal[p] /= (*a.weight)[static_cast<std::size_t>(p / parts)] * f.scale * a.peak;
  }
  scattered(e, x, a.signal, {static_cast<std::int64_t>(x.size())}, {1});
}

}  // namespace trn::fft::device
