// Transforms in the NumPy manner: axes and lengths become the layout of a plan, padding becomes a copy.
#include <trn/core/enumerators.hpp>
#include <trn/fft/transforms.hpp>

#include "views.hpp"

namespace trn::fft {

const char* name(Norm norm) {
  switch (norm) {
    case Norm::Backward:
      return "backward";
    case Norm::Ortho:
      return "ortho";
    case Norm::Forward:
      return "forward";
  }
  return "?";
}

namespace detail {
namespace {

// Axes and logical lengths of a call, checked.
struct Geometry {
  std::vector<std::size_t> axes;
  std::vector<std::int64_t> lengths;
  Shape input, output;  // the whole arrays on either side, after padding and cutting
};

Geometry geometry(const TransformRequest& r, Kind kind, const Shape& shape) {
  const char* op = r.operation;
  Geometry g;
  operands::check_enumerator(op, "Norm", r.options.norm, Norm::Forward);
  g.axes = axes_with_lengths(op, r.options.axes, r.options.s, shape.size());
  for (std::size_t i = 0; i < g.axes.size(); ++i) {
    const std::int64_t extent = shape[g.axes[i]];
    const bool half = kind == Kind::ComplexToReal && i + 1 == g.axes.size();
    g.lengths.push_back(r.options.s ? (*r.options.s)[i] : half ? 2 * (extent - 1) : extent);
    require(g.lengths[i] >= 1, "{}: the transform along axis {} has {} points{}; it needs at least 1: give its length",
            op, g.axes[i], g.lengths[i],
            r.options.s ? ""
            : half      ? " (2 (m - 1) for m given ones)"
                        : "");
  }
  g.input = g.output = shape;
  for (std::size_t i = 0; i < g.axes.size(); ++i) g.input[g.axes[i]] = g.output[g.axes[i]] = g.lengths[i];
  const std::int64_t points = g.lengths.back() / 2 + 1;
  if (kind == Kind::ComplexToReal) g.input[g.axes.back()] = points;
  if (kind == Kind::RealToComplex) g.output[g.axes.back()] = points;
  return g;
}

Description description(const TransformRequest& r, Kind kind, const Geometry& g, const Strides& in,
                        const Strides& out) {
  Description d{kind, r.direction, {}, {}};
  for (std::size_t i = 0; i < g.axes.size(); ++i) d.axes.push_back({g.lengths[i], in[g.axes[i]], out[g.axes[i]]});
  for (std::size_t i = 0; i < g.input.size(); ++i) {
    if (std::find(g.axes.begin(), g.axes.end(), i) == g.axes.end()) d.batch.push_back({g.input[i], in[i], out[i]});
  }
  const Norm scaled = r.direction == Direction::Forward ? Norm::Forward : Norm::Backward;
  d.scale = r.options.norm == Norm::Ortho ? Scale::Orthonormal
            : r.options.norm == scaled    ? Scale::ByLength
                                          : Scale::None;
  d.precision = r.options.precision;
  return d;
}

// Whether the input must be padded along some axis.
bool padded(const Geometry& g, const Shape& shape) {
  return std::any_of(g.axes.begin(), g.axes.end(), [&](std::size_t a) { return shape[a] < g.input[a]; });
}

}  // namespace

TransformRequest request(const char* operation, Direction direction, const TransformOptions& o) {
  TransformNOptions n{.axes = std::vector{o.axis}, .norm = o.norm, .precision = o.precision, .cache = o.cache};
  if (o.n) n.s = std::vector{*o.n};
  return {operation, direction, n};
}

TransformRequest request2(const char* operation, Direction direction, TransformNOptions o) {
  if (!o.axes) o.axes = std::vector<std::int64_t>{-2, -1};
  return {operation, direction, std::move(o)};
}

template <Real T> Array<std::complex<T>> full_transform(const Executor& e, const View<const std::complex<T>>& x,
                                                        const TransformRequest& r) {
  check_owner(r.operation, "x", e, x.executor());
  const Geometry g = geometry(r, Kind::ComplexToComplex, x.shape());
  Array<std::complex<T>> y(e, g.output);
  const bool pad = padded(g, x.shape());
  const Description d =
      description(r, Kind::ComplexToComplex, g, pad ? y.view().strides() : x.strides(), y.view().strides());
  const Plan<T> p = plan_for<T>(e, d, r.options.cache);
  if (pad) copy_padded(x, y.view());
  p.execute(pad ? View<const std::complex<T>>(y.view()) : x, y.view());
  return y;
}

template <Real T>
Array<std::complex<T>> full_transform(const Executor& e, const View<const T>& x, const TransformRequest& r) {
  check_owner(r.operation, "x", e, x.executor());
  const Geometry g = geometry(r, Kind::ComplexToComplex, x.shape());
  Array<std::complex<T>> y(e, g.output);
  const Strides strides = y.view().strides();
  const Plan<T> p = plan_for<T>(e, description(r, Kind::ComplexToComplex, g, strides, strides), r.options.cache);
  copy_padded(x, real_parts(y.view()));
  fill_zero(imaginary_parts(y.view()));
  p.execute(View<const std::complex<T>>(y.view()), y.view());
  return y;
}

template <Real T> Array<std::complex<T>> to_half(const Executor& e, const View<const T>& x, const TransformRequest& r) {
  check_owner(r.operation, "x", e, x.executor());
  const Geometry g = geometry(r, Kind::RealToComplex, x.shape());
  Array<std::complex<T>> y(e, g.output);
  const auto run = [&](const View<const T>& from) {
    plan_for<T>(e, description(r, Kind::RealToComplex, g, from.strides(), y.view().strides()), r.options.cache)
        .execute(from, y.view());
  };
  if (!padded(g, x.shape())) {
    run(x);
  } else if (g.axes.back() + 1 == g.input.size()) {  // the result's memory has room for the padded rows
    Strides strides = y.view().strides();
    for (std::size_t i = 0; i + 1 < strides.size(); ++i) strides[i] *= 2;
    const View<T> rows(e, reinterpret_cast<T*>(y.data()), g.input, strides);
    copy_padded(x, rows);
    run(rows);
  } else {
    const Array<T> rows(e, g.input);
    copy_padded(x, rows.view());
    run(rows.view());
  }
  return y;
}

template <Real T>
Array<T> from_half(const Executor& e, const View<const std::complex<T>>& x, const TransformRequest& r) {
  check_owner(r.operation, "x", e, x.executor());
  const Geometry g = geometry(r, Kind::ComplexToReal, x.shape());
  Array<T> y(e, g.output);
  const auto run = [&](const View<const std::complex<T>>& from) {
    plan_for<T>(e, description(r, Kind::ComplexToReal, g, from.strides(), y.view().strides()), r.options.cache)
        .execute(from, y.view());
  };
  if (!padded(g, x.shape())) {
    run(x);
  } else {
    const Array<std::complex<T>> wide(e, g.input);
    copy_padded(x, wide.view());
    run(wide.view());
  }
  return y;
}

#define TRN_FFT_INSTANTIATE(T)                                                                                       \
  template Array<std::complex<T>> full_transform<T>(const Executor&, const View<const std::complex<T>>&,             \
                                                    const TransformRequest&);                                        \
  template Array<std::complex<T>> full_transform<T>(const Executor&, const View<const T>&, const TransformRequest&); \
  template Array<std::complex<T>> to_half<T>(const Executor&, const View<const T>&, const TransformRequest&);        \
  template Array<T> from_half<T>(const Executor&, const View<const std::complex<T>>&, const TransformRequest&);
TRN_FFT_INSTANTIATE(float)
TRN_FFT_INSTANTIATE(double)
#undef TRN_FFT_INSTANTIATE

}  // namespace detail
}  // namespace trn::fft
