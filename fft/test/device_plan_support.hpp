// Plans on simulated devices against long double: any description, data with guards around it, the error of each
// transform, and who ran it.
#pragma once

#include <algorithm>
#include <functional>
#include <trn/core/array.hpp>
#include <trn/core/event.hpp>
#include <trn/fft/plan.hpp>

#include "device_lines_support.hpp"

namespace trn::fft::device_test {

// Transforms a dense row-major array along its first `axes` dimensions.
inline void transform_axes(std::vector<Wide>& x, const Shape& shape, std::size_t axes, Direction direction) {
  for (std::size_t axis = 0; axis < axes; ++axis) {
    const std::int64_t n = shape[axis];
    std::int64_t inner = 1;
    for (std::size_t d = axis + 1; d < shape.size(); ++d) inner *= shape[d];
    for (std::int64_t start = 0; start < static_cast<std::int64_t>(x.size()); start += n * inner) {
      for (std::int64_t i = 0; i < inner; ++i) {
        std::vector<Wide> line;
        for (std::int64_t j = 0; j < n; ++j) line.push_back(x[static_cast<std::size_t>(start + j * inner + i)]);
        line = wide_transform(line, direction);
        for (std::int64_t j = 0; j < n; ++j)
          x[static_cast<std::size_t>(start + j * inner + i)] = line[static_cast<std::size_t>(j)];
      }
    }
  }
}

inline void each_index(const Shape& shape, const std::function<void(const Shape&)>& f) {
  Shape index(shape.size(), 0);
  for (std::int64_t i = 0; i < element_count(shape); ++i) {
    f(index);
    for (std::size_t d = shape.size(); d-- > 0;) {
      if (++index[d] < shape[d]) break;
      index[d] = 0;
    }
  }
}
inline std::size_t position(const Shape& index, const Shape& shape) {
  std::int64_t at = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) at = at * shape[d] + index[d];
  return static_cast<std::size_t>(at);
}

struct PlanResult {
  double error = 0;  // the largest relative error of a transform
  Accuracy accuracy;
  bool guarded = true;  // nothing but the output was written
  std::string family;   // who ran fft.c2c and so on
  double modelled_seconds = 0;
};

// One side of a description in memory: reals, the imaginary plane behind the real one when planar.
struct SideMemory {
  Shape shape;      // axes, then batch
  Strides strides;  // reals
  std::int64_t first = 0, span = 0;
  bool pairs = false, real = false;
  [[nodiscard]] std::size_t at(const Shape& index, int part) const {
    std::int64_t offset = first + (pairs ? part : part * span);
    for (std::size_t d = 0; d < shape.size(); ++d) offset += index[d] * strides[d];
    return static_cast<std::size_t>(offset);
  }
};
inline SideMemory side_memory(const Description& d, bool input) {
  SideMemory m;
  m.real = d.kind == (input ? Kind::RealToComplex : Kind::ComplexToReal);
  const bool half = d.kind == (input ? Kind::ComplexToReal : Kind::RealToComplex);
  m.pairs = !m.real && (input ? d.input_format : d.output_format) == Format::Interleaved;
  constexpr std::int64_t kMargin = 6;
  std::int64_t low = 0, high = 0;
  const auto add = [&](const Dimension& x, std::int64_t extent) {
    const std::int64_t stride = (input ? x.input_stride : x.output_stride) * (m.pairs ? 2 : 1);
    m.shape.push_back(extent);
    m.strides.push_back(stride);
    (stride < 0 ? low : high) += (extent - 1) * stride;
  };
  for (std::size_t i = 0; i < d.axes.size(); ++i)
    add(d.axes[i], half && i + 1 == d.axes.size() ? d.axes[i].extent / 2 + 1 : d.axes[i].extent);
  for (const Dimension& x : d.batch) add(x, x.extent);
  m.first = kMargin - low;
  m.span = high - low + 2 * kMargin + 2;
  return m;
}

template <class T>
PlanResult run_plan(const Executor& executor, const Description& d, bool in_place = false, std::uint64_t seed = 1) {
  const SideMemory in = side_memory(d, true);
  SideMemory out = side_memory(d, false);
  Shape full;
  for (const Dimension& x : d.axes) full.push_back(x.extent);
  for (const Dimension& x : d.batch) full.push_back(x.extent);
  // Data: the half of a real array's transform for a real output, so that it is Hermitian up to rounding, which is then
  // taken from one of each pair.
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::vector<Wide> x(static_cast<std::size_t>(element_count(full)));
  for (Wide& v : x)
    v = {static_cast<T>(normal(random)), d.kind == Kind::ComplexToComplex ? static_cast<T>(normal(random)) : T(0)};
  if (d.kind == Kind::ComplexToReal) {
    transform_axes(x, full, d.axes.size(), d.direction);
    std::vector<Wide> rounded = x;
    each_index(full, [&](const Shape& index) {
      Shape mirror = index;
      for (std::size_t a = 0; a < d.axes.size(); ++a) mirror[a] = (full[a] - index[a]) % full[a];
      const std::size_t me = position(index, full), other = position(mirror, full);
      const Wide v = x[std::min(me, other)];
      const Wide r(static_cast<T>(v.real()), me == other ? T(0) : static_cast<T>(v.imag()));
      rounded[me] = me <= other ? r : std::conj(r);
    });
    x = rounded;
  }
  std::vector<T> memory(static_cast<std::size_t>(2 * in.span), T(-77.25)),
      result(static_cast<std::size_t>(2 * out.span), T(-77.25));
  each_index(in.shape, [&](const Shape& index) {
    const Wide v = x[position(index, full)];
    memory[in.at(index, 0)] = static_cast<T>(v.real());
    if (!in.real) memory[in.at(index, 1)] = static_cast<T>(v.imag());
  });
  if (d.kind == Kind::ComplexToComplex) {  // what memory holds: one input may stand for several
    each_index(in.shape, [&](const Shape& index) {
      x[position(index, full)] = {memory[in.at(index, 0)], memory[in.at(index, 1)]};
    });
  }
  transform_axes(x, full, d.axes.size(), d.direction);
  long double points = 1;
  for (const Dimension& a : d.axes) points *= static_cast<long double>(a.extent);
  const long double factor = d.scale == Scale::None       ? 1
                             : d.scale == Scale::ByLength ? 1 / points
                                                          : 1 / std::sqrt(points);

  const Plan<T> plan(executor, d);
  const auto dx = Array<T>::from_host(executor, {static_cast<std::int64_t>(memory.size())}, memory);
  const auto dy = Array<T>::from_host(executor, {static_cast<std::int64_t>(result.size())}, result);
  const Buffer workspace(executor, plan.workspace_bytes());
  using C = std::complex<T>;
  T* const from = dx.data() + in.first;
  T* const to = in_place ? from : dy.data() + out.first;
  const auto reals = [&](T* p, const SideMemory& m) { return View<T>(executor, p, m.shape, m.strides); };
  const auto pairs = [&](T* p, const SideMemory& m) {
    Strides strides = m.strides;
    for (std::int64_t& s : strides) s /= 2;
    return View<C>(executor, reinterpret_cast<C*>(p), m.shape, strides);
  };
  const auto planes = [&](T* p, const SideMemory& m) { return PlanarView<T>{reals(p, m), reals(p + m.span, m)}; };
  const auto constant = [&](const PlanarView<T>& v) { return PlanarView<const T>{v.re, v.im}; };
  Recorder recorder(executor);
  const char* operation = "fft.c2c";
  if (d.kind == Kind::ComplexToComplex) {
    if (in.pairs && out.pairs)
      plan.execute(View<const C>(pairs(from, in)), pairs(to, out), workspace);
    else
      plan.execute(constant(planes(from, in)), planes(to, out), workspace);
  } else if (d.kind == Kind::RealToComplex) {
    operation = "fft.r2c";
    if (out.pairs)
      plan.execute(View<const T>(reals(from, in)), pairs(to, out), workspace);
    else
      plan.execute(View<const T>(reals(from, in)), planes(to, out), workspace);
  } else {
    operation = "fft.c2r";
    if (in.pairs)
      plan.execute(View<const C>(pairs(from, in)), reals(to, out), workspace);
    else
      plan.execute(constant(planes(from, in)), reals(to, out), workspace);
  }
  PlanResult r;
  r.accuracy = plan.accuracy();
  r.family = recorder.family_of(operation);
  r.modelled_seconds = recorder.modelled_seconds();
  const std::vector<T> after = dx.to_host(), got = in_place ? after : dy.to_host();
  if (in_place) out.first = in.first, out.span = out.pairs || out.real ? out.span : in.span;
  if (!in_place) r.guarded = after == memory;

  std::int64_t batch = 1;
  for (const Dimension& b : d.batch) batch *= b.extent;
  std::vector<long double> error(static_cast<std::size_t>(batch), 0), size(error);
  std::vector<char> element(got.size(), 0);
  each_index(out.shape, [&](const Shape& index) {
    const Wide want = factor * x[position(index, full)];
    const Wide have(got[out.at(index, 0)], out.real ? T(0) : got[out.at(index, 1)]);
    element[out.at(index, 0)] = 1;
    if (!out.real) element[out.at(index, 1)] = 1;
    const auto which = static_cast<std::size_t>(static_cast<std::int64_t>(position(index, out.shape)) % batch);
    error[which] += std::norm(out.real ? Wide(have.real() - want.real()) : have - want);
    size[which] += out.real ? want.real() * want.real() : std::norm(want);
  });
  for (std::size_t b = 0; b < error.size(); ++b)
    r.error = std::max(r.error, static_cast<double>(std::sqrt(error[b] / size[b])));
  if (!in_place) {
    for (std::size_t i = 0; i < got.size(); ++i) r.guarded = r.guarded && (element[i] || got[i] == T(-77.25));
  }
  return r;
}

// Runs and checks: on the device, inside the plan's own bound and `limit`, nothing else written.
template <class T>
void expect_plan(const Executor& executor, const Description& d, double limit, bool in_place = false) {
  std::string text = name(d.kind);
  for (const Dimension& a : d.axes) text += fmt::format(" axis {} ({}, {})", a.extent, a.input_stride, a.output_stride);
  for (const Dimension& a : d.batch)
    text += fmt::format(" batch {} ({}, {})", a.extent, a.input_stride, a.output_stride);
  SCOPED_TRACE(text + (in_place ? " in place on " : " on ") + executor.name());
  try {
    const PlanResult r = run_plan<T>(executor, d, in_place);
    EXPECT_EQ(r.family, "device");
    EXPECT_LE(r.error, r.accuracy.bound);
    EXPECT_LE(r.error, limit);
    EXPECT_TRUE(r.guarded);
  } catch (const std::exception& e) {
    ADD_FAILURE() << e.what();
  }
}

}  // namespace trn::fft::device_test
