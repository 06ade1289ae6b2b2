// Triangles from HBM to HBM: see triangle_copy.hpp.
#include "triangle_copy.hpp"

namespace trn::solver::device {

using namespace trn::tile;

void copy_triangles(Builder& b, const Access& dst, const Access& src, bool head) {
  constexpr std::int64_t kSide = 16;
  const std::int64_t order = src.dims[1].size, whole = order / kSide, rest = order % kSide;
  // `groups` patches of lines x elements, kSide along the diagonal apart, the first at (line, element).
  const auto copy = [&](std::int64_t groups, std::int64_t line, std::int64_t element, std::int64_t lines,
                        std::int64_t elements) {
    const auto patch = [&](Access x) {
      const Dim blocks = x.dims[0], l = x.dims[1], e = x.dims[2];
      x.offset = x.offset + line * l.stride + element * e.stride;
      x.dims = {blocks, {kSide * (l.stride + e.stride), groups}, {l.stride, lines}, {e.stride, elements}};
      return x;
    };
    if (groups > 0 && lines > 0 && elements > 0) b.dma_copy(patch(dst), patch(src));
  };
  for (std::int64_t l = 0; l < kSide; ++l) copy(whole, l, head ? 0 : l, 1, head ? l + 1 : kSide - l);
  for (std::int64_t l = 0; l < rest; ++l) {
    const std::int64_t at = whole * kSide;
    copy(1, at + l, head ? at : at + l, 1, head ? l + 1 : rest - l);
  }
  for (std::int64_t g = 0; g < whole; ++g) {
    const std::int64_t at = g * kSide, after = at + kSide;
    if (head)
      copy(1, after, at, order - after, kSide);
    else
      copy(1, at, after, kSide, order - after);
  }
}

}  // namespace trn::solver::device
