// Checks and normal form of descriptions.
#include "problem.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <trn/core/enumerators.hpp>

namespace trn::fft {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kLongestAxis = std::int64_t{1} << 36;  // half a terabyte of complex<float>

Shape extents(const std::vector<Dimension>& dims) {
  Shape shape;
  for (const Dimension& d : dims) shape.push_back(d.extent);
  return shape;
}
Strides output_strides(const Description& d) {
  Strides strides;
  for (const layout::Dim& x : output_dims(d)) strides.push_back(x.stride);
  return strides;
}

std::vector<layout::Dim> side_dims(const Description& d, bool input) {
  std::vector<layout::Dim> dims;
  const auto add = [&](const Dimension& x) { dims.push_back({x.extent, input ? x.input_stride : x.output_stride}); };
  for (const Dimension& x : d.axes) add(x);
  const bool halved = d.kind == (input ? Kind::ComplexToReal : Kind::RealToComplex);
  if (halved && !dims.empty()) dims.back().extent = dims.back().extent / 2 + 1;
  for (const Dimension& x : d.batch) add(x);
  return dims;
}

void check_span(const char* side, const std::vector<layout::Dim>& dims, std::int64_t element_bytes) {
  const layout::Span s = layout::span(dims);
  // The distance between the ends is what must fit: addresses are differences of each other.
  // Compared in elements: bytes need not fit 128 bits either.
  const layout::Wide most = kMax / element_bytes;
  if (s.high - s.low + 1 <= most && -s.low <= most && s.high <= most) return;
  Shape shape;
  Strides strides;
  for (const layout::Dim& d : dims) shape.push_back(d.extent), strides.push_back(d.stride);
  fail<InvalidArgument>(
      "fft.plan: the {} with extents {} and strides {} spans more than 2^63 - 1 bytes; use smaller extents or strides",
      side, to_string(shape), to_string(strides));
}

}  // namespace

std::vector<Dimension> normal_batch(std::vector<Dimension> dims) {
  std::erase_if(dims, [](const Dimension& d) { return d.extent == 1; });
  std::stable_sort(dims.begin(), dims.end(), [](const Dimension& a, const Dimension& b) {
    const std::int64_t ao = std::abs(a.output_stride), bo = std::abs(b.output_stride);
    return ao != bo ? ao > bo : std::abs(a.input_stride) > std::abs(b.input_stride);
  });
  std::vector<Dimension> merged;
  for (const Dimension& inner : dims) {
    if (!merged.empty()) {
      Dimension& outer = merged.back();
      using layout::Wide;
      if (outer.input_stride == Wide{inner.extent} * inner.input_stride &&
          outer.output_stride == Wide{inner.extent} * inner.output_stride) {
        outer = {outer.extent * inner.extent, inner.input_stride, inner.output_stride};
        continue;
      }
    }
    merged.push_back(inner);
  }
  return merged;
}

std::vector<layout::Dim> input_dims(const Description& d) { return side_dims(d, true); }
std::vector<layout::Dim> output_dims(const Description& d) { return side_dims(d, false); }
bool is_empty(const Description& d) {
  return std::any_of(d.batch.begin(), d.batch.end(), [](const Dimension& x) { return x.extent == 0; });
}

void check(const Description& d, DType real) {
  operands::check_enumerator("fft.plan", "Kind", d.kind, Kind::ComplexToReal);
  operands::check_enumerator("fft.plan", "Direction", d.direction, Direction::Inverse);
  operands::check_enumerator("fft.plan", "Scale", d.scale, Scale::Orthonormal);
  operands::check_enumerator("fft.plan", "Format of the input", d.input_format, Format::Planar);
  operands::check_enumerator("fft.plan", "Format of the output", d.output_format, Format::Planar);
  operands::check_enumerator("fft.plan", d.precision);
  require(!d.axes.empty(), "fft.plan: no axes to transform; give at least one");
  layout::Wide points = 1;
  bool fits = true;
  for (std::size_t i = 0; i < d.axes.size(); ++i) {
    require(d.axes[i].extent >= 1, "fft.plan: axis {} has length {}; a transform needs at least 1 point", i,
            d.axes[i].extent);
    points *= d.axes[i].extent;
    fits = fits && points <= kMax;
    if (!fits) break;
  }
  for (std::size_t i = 0; i < d.batch.size() && fits; ++i) {
    require(d.batch[i].extent >= 0, "fft.plan: batch dimension {} has extent {}; it must be >= 0", i,
            d.batch[i].extent);
    points *= std::max<std::int64_t>(d.batch[i].extent, 1);
    fits = points <= kMax;
  }
  require(fits, "fft.plan: axes {} with batch {} have more than 2^63 - 1 points; use smaller extents",
          to_string(extents(d.axes)), to_string(extents(d.batch)));
  for (std::size_t i = 0; i < d.axes.size(); ++i) {
    require(d.axes[i].extent <= kLongestAxis,
            "fft.plan: axis {} has length {}; the longest that is planned is 2^36: split it into several axes", i,
            d.axes[i].extent);
  }
  require(
      d.kind != Kind::RealToComplex || d.input_format == Format::Interleaved,
      "fft.plan: input_format is planar but the input of a real-to-complex transform is real; leave it interleaved");
  require(
      d.kind != Kind::ComplexToReal || d.output_format == Format::Interleaved,
      "fft.plan: output_format is planar but the output of a complex-to-real transform is real; leave it interleaved");

  const std::int64_t bytes = size_bytes(real);
  const std::vector<layout::Dim> in = input_dims(d), out = output_dims(d);
  check_span("input", in, 2 * bytes);
  check_span("output", out, 2 * bytes);
  if (layout::repeats(out)) {
    Shape shape;
    for (const layout::Dim& x : out) shape.push_back(x.extent);
    fail<InvalidArgument>(
        "fft.plan: the output with extents {} and strides {} has elements that overlap; give every element its own "
        "place",
        to_string(shape), to_string(output_strides(d)));
  }
}

Problem make_problem(const Description& d, DType real) {
  const std::int64_t in = d.kind == Kind::RealToComplex || d.input_format == Format::Planar ? 1 : 2;
  const std::int64_t out = d.kind == Kind::ComplexToReal || d.output_format == Format::Planar ? 1 : 2;
  const auto in_reals = [&](const Dimension& x) {
    // The strides of a single point say nothing and may be anything.
    return x.extent == 1 ? Dimension{1, in, out} : Dimension{x.extent, x.input_stride * in, x.output_stride * out};
  };

  Problem p{real, d.kind, d.direction, {}, {}, 1, d.precision, d.input_format, d.output_format};
  long double points = 1;  // exact: at most 2^63 - 1
  for (std::size_t i = 0; i < d.axes.size(); ++i) {
    points *= static_cast<long double>(d.axes[i].extent);
    // A transform of one point is the identity; the last axis stays, since real transforms halve it.
    if (d.axes[i].extent > 1 || i + 1 == d.axes.size()) p.axes.push_back(in_reals(d.axes[i]));
  }
  if (d.kind == Kind::ComplexToComplex && p.axes.size() > 1 && p.axes.back().extent == 1) p.axes.pop_back();
  for (const Dimension& x : d.batch) p.batch.push_back(in_reals(x));
  p.batch = normal_batch(std::move(p.batch));
  switch (d.scale) {
    case Scale::None:
      break;
    case Scale::ByLength:
      p.factor = 1 / points;
      break;
    case Scale::Orthonormal:
      p.factor = 1 / std::sqrt(points);
      break;
  }
  return p;
}

const char* in_place_trouble(const Description& d) {
  const auto same = [&](std::int64_t in, std::int64_t out) {
    const auto equal = [&](const Dimension& x) {
      return x.extent <= 1 || x.input_stride * layout::Wide{in} == x.output_stride * layout::Wide{out};
    };
    return std::all_of(d.batch.begin(), d.batch.end(), equal) && std::all_of(d.axes.begin(), d.axes.end() - 1, equal);
  };
  const Dimension& last = d.axes.back();
  if (d.kind == Kind::ComplexToComplex) {
    if (d.input_format != d.output_format) return "one side is planar and the other interleaved";
    if (!same(1, 1) || (last.extent > 1 && last.input_stride != last.output_stride))
      return "the strides of the two sides differ";
    return nullptr;
  }
  const bool forward = d.kind == Kind::RealToComplex;
  if ((forward ? d.output_format : d.input_format) == Format::Planar)
    return "a real side cannot share memory with planar parts";
  if (!same(forward ? 1 : 2, forward ? 2 : 1)) return "a stride of the real side is not twice the complex side's";
  if (last.extent > 1 && (last.input_stride != 1 || last.output_stride != 1))
    return "the last axis is not contiguous on both sides";
  if (layout::repeats(input_dims(d)))
    return "rows of the input overlap, so that one row's result would destroy the next row";
  return nullptr;
}

}  // namespace trn::fft
