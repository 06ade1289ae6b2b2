#include "geometry.hpp"

#include <algorithm>

namespace trn::python {

using fft::Direction, fft::Kind, fft::Norm;

const Transform& transform_number(int which) {
  static constexpr Transform kTransforms[] = {
      {"fft.fft", Kind::ComplexToComplex, Direction::Forward, false},
      {"fft.ifft", Kind::ComplexToComplex, Direction::Inverse, false},
      {"fft.rfft", Kind::RealToComplex, Direction::Forward, false},
      {"fft.irfft", Kind::ComplexToReal, Direction::Inverse, false},
      {"fft.hfft", Kind::ComplexToReal, Direction::Forward, false},
      {"fft.ihfft", Kind::RealToComplex, Direction::Inverse, false},
      {"fft.fftn", Kind::ComplexToComplex, Direction::Forward, true},
      {"fft.ifftn", Kind::ComplexToComplex, Direction::Inverse, true},
      {"fft.rfftn", Kind::RealToComplex, Direction::Forward, true},
      {"fft.irfftn", Kind::ComplexToReal, Direction::Inverse, true},
      {"fft.hfftn", Kind::ComplexToReal, Direction::Forward, true},
      {"fft.ihfftn", Kind::RealToComplex, Direction::Inverse, true},
  };
  ensure(which >= 0 && which < static_cast<int>(std::size(kTransforms)), "fft: transform number {}", which);
  return kTransforms[which];
}

std::vector<std::size_t> axes_of(const char* name, std::size_t rank, nb::handle axes,
                                 const std::optional<std::vector<std::int64_t>>& s) {
  const auto given = integers_of(axes, "axes must be an integer or a sequence of integers");
  std::vector<std::size_t> result;
  if (!given) {
    const std::size_t count = s ? s->size() : rank;
    require(count <= rank, "{}: shape requires more axes than are present: {} lengths for an array of rank {}", name,
            count, rank);
    for (std::size_t i = rank - count; i < rank; ++i) result.push_back(i);
    return result;
  }
  require(!s || s->size() == given->size(),
          "{}: when given, axes and shape arguments have to be of the same length; there are {} axes and {} lengths",
          name, given->size(), s ? s->size() : 0);
  const auto r = static_cast<std::int64_t>(rank);
  for (const std::int64_t a : *given) {
    require(a >= -r && a < r, "{}: axes exceeds dimensionality of input: axis {} of an array of rank {}", name, a,
            rank);
    const auto axis = static_cast<std::size_t>(a < 0 ? a + r : a);
    require(std::find(result.begin(), result.end(), axis) == result.end(),
            "{}: all axes must be unique; axis {} is given twice", name, a);
    result.push_back(axis);
  }
  return result;
}

Geometry geometry(const Transform& t, const Shape& shape, nb::handle s, nb::handle axes) {
  const auto lengths = integers_of(s, "s must be an integer or a sequence of integers", t.several_axes);
  Geometry g;
  g.axes = axes_of(t.name, shape.size(), axes, lengths);
  require(!g.axes.empty(), "{}: at least 1 axis must be transformed; the array has rank {}", t.name, shape.size());
  for (std::size_t i = 0; i < g.axes.size(); ++i) {
    const std::int64_t extent = shape[g.axes[i]];
    const bool half = t.kind == Kind::ComplexToReal && i + 1 == g.axes.size();
    const bool given = lengths && !(t.several_axes && (*lengths)[i] == -1);
    g.lengths.push_back(given ? (*lengths)[i] : half ? 2 * (extent - 1) : extent);
    require(g.lengths[i] >= 1, "{}: invalid number of data points ({}) along axis {}; there must be at least 1", t.name,
            g.lengths[i], g.axes[i]);
  }
  g.input = g.output = shape;
  for (std::size_t i = 0; i < g.axes.size(); ++i) g.input[g.axes[i]] = g.output[g.axes[i]] = g.lengths[i];
  const std::int64_t points = g.lengths.back() / 2 + 1;
  if (t.kind == Kind::ComplexToReal) g.input[g.axes.back()] = points;
  if (t.kind == Kind::RealToComplex) g.output[g.axes.back()] = points;
  return g;
}

Norm norm_of(const char* name, nb::handle norm) {
  if (norm.is_none()) return Norm::Backward;
  if (PyUnicode_Check(norm.ptr())) {
    for (const Norm n : {Norm::Backward, Norm::Ortho, Norm::Forward}) {
      if (PyUnicode_CompareWithASCIIString(norm.ptr(), fft::name(n)) == 0) return n;
    }
  }
  fail<InvalidArgument>("{}: Invalid norm value {}; should be \"backward\", \"ortho\" or \"forward\"", name,
                        nb::repr(norm).c_str());
}

fft::Description describe(const Transform& t, Kind kind, const Geometry& g, const Strides& in, const Strides& out,
                          Norm norm, Precision precision) {
  fft::Description d{kind, t.direction, {}, {}};
  d.axes.reserve(g.axes.size());
  for (std::size_t i = 0; i < g.axes.size(); ++i) d.axes.push_back({g.lengths[i], in[g.axes[i]], out[g.axes[i]]});
  for (std::size_t i = 0; i < g.input.size(); ++i) {
    if (std::find(g.axes.begin(), g.axes.end(), i) == g.axes.end()) d.batch.push_back({g.input[i], in[i], out[i]});
  }
  const Norm scaled = t.direction == Direction::Forward ? Norm::Forward : Norm::Backward;
  d.scale = norm == Norm::Ortho ? fft::Scale::Orthonormal : norm == scaled ? fft::Scale::ByLength : fft::Scale::None;
  d.precision = precision;
  return d;
}

fft::PlanCache& plan_cache() {
  static fft::PlanCache cache(64);
  return cache;
}

}  // namespace trn::python
