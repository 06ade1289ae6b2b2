// Lines of a distributed transform as problems that kernels take: what one rank computes along one dimension.
#pragma once

#include <cmath>

#include "../problem.hpp"
#include "../way.hpp"
#include "geometry.hpp"

namespace trn::fft::dist_detail {

// Of the array behind a stage's lines.
inline Layout layout_after(const GeometryStage& stage) {
  return layout_of({{}, stage.boxes}, static_cast<int>(stage.boxes.size()), false);
}

// Lines along a dimension of row-major arrays; `complex` is the extent of the complex side. Dimensions before `first`
// are left out.
inline WayProblem line_problem(DType real, const DistDescription& d, const LineStep& line, const Shape& complex,
                               std::size_t first, long double factor, Mode mode) {
  Shape in = complex, out = complex;
  if (line.kind == Kind::RealToComplex) in.back() = line.length;
  if (line.kind == Kind::ComplexToReal) out.back() = line.length;
  const std::int64_t in_unit = line.kind == Kind::RealToComplex ? 1 : 2,
                     out_unit = line.kind == Kind::ComplexToReal ? 1 : 2;
  Problem p{real, line.kind, d.direction, {}, {}, factor, mode};
  std::int64_t is = in_unit, os = out_unit;
  const bool empty = element_count(complex) == 0;  // planned as one line, for its bound and its refusals
  for (std::size_t i = complex.size(); i-- > first;) {
    if (i == line.dimension)
      p.axes.push_back({line.length, empty ? in_unit : is, empty ? out_unit : os});
    else if (!empty)
      p.batch.push_back({complex[i], is, os});
    is *= in[i];
    os *= out[i];
  }
  p.batch = normal_batch(std::move(p.batch));
  return {p, line.dimension + 1 == complex.size() ? Way::Rows : Way::Columns};
}

inline long double factor_of(const DistDescription& d) {
  long double points = 1;
  for (const std::int64_t n : d.lengths) points *= static_cast<long double>(n);
  return d.scale == Scale::None ? 1 : d.scale == Scale::ByLength ? 1 / points : 1 / std::sqrt(points);
}

}  // namespace trn::fft::dist_detail
