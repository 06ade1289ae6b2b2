// Elements are paired in row-major order, so both sides are nests of loops over one number of elements. Their common
// refinement has the boundaries of both: 54 partitions against 6 x 9 rows of HBM become two levels of 6 and 9 on either
// side. One of its levels is unrolled into a copy for each index; on a tile the outermost level of the partitions only,
// because partitions are contiguous.
#include "split_copy.hpp"

#include <algorithm>
#include <optional>

namespace trn::tile {

namespace {

struct Level {
  std::int64_t size;
  std::int64_t dst, src;  // strides: elements, or partitions where the flag says so
  bool dst_partition, src_partition;
};

struct Side {
  std::vector<Dim> dims;
  std::size_t partitions;  // how many of the first are partitions
};

Side side_of(const Access& a) {
  Side s{a.dims, 0};
  if (a.is_tile()) s.dims.insert(s.dims.begin(), Dim{1, a.partitions}), s.partitions = 1;
  return s;
}

// Outermost first; nothing when an extent of one side lies across a boundary of the other.
std::optional<std::vector<Level>> refine(const Access& dst, const Access& src) {
  Side d = side_of(dst), s = side_of(src);
  std::vector<Level> levels;
  while (!d.dims.empty() && !s.dims.empty()) {
    Dim &x = d.dims.back(), &y = s.dims.back();
    const std::int64_t size = std::min(x.size, y.size);
    if (x.size % size != 0 || y.size % size != 0) return std::nullopt;
    if (size > 1)
      levels.push_back({size, x.stride, y.stride, d.dims.size() <= d.partitions, s.dims.size() <= s.partitions});
    for (Side* side : {&d, &s}) {
      Dim& last = side->dims.back();
      last = {last.stride * size, last.size / size};
      if (last.size == 1) side->dims.pop_back();
    }
    // An extent of 1 on one side alone would stand still.
    while (!d.dims.empty() && d.dims.back().size == 1) d.dims.pop_back();
    while (!s.dims.empty() && s.dims.back().size == 1) s.dims.pop_back();
  }
  std::reverse(levels.begin(), levels.end());
  return levels;
}

// One side from the levels that are left.
Access rebuilt(const Access& whole, const std::vector<Level>& levels, bool dst) {
  Access a = whole;
  a.dims.clear();
  if (a.is_tile()) a.partitions = 1;
  for (const Level& l : levels) {
    if (dst ? l.dst_partition : l.src_partition) {
      a.partitions *= l.size;
    } else {
      a.dims.push_back({dst ? l.dst : l.src, l.size});
    }
  }
  a.dims = a.merged_dims();
  return a;
}

std::size_t levels_in_hbm(const Access& a) { return a.is_tile() ? 0 : a.merged_dims().size(); }
std::size_t most(const Access& dst, const Access& src) { return std::max(levels_in_hbm(dst), levels_in_hbm(src)); }

void split(const Access& dst, const Access& src, std::vector<CopyPart>& parts) {
  const auto levels = most(dst, src) > kHbmLevels ? refine(dst, src) : std::nullopt;
  if (!levels) return parts.push_back({dst, src});
  // The level without which the fewest are left, as far as there are too many; of those the shortest.
  std::size_t best = levels->size(), left = most(dst, src);
  for (std::size_t i = 0; i < levels->size(); ++i) {
    const Level& l = (*levels)[i];
    if (i > 0 && (l.dst_partition || l.src_partition)) continue;
    std::vector<Level> others = *levels;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    const std::size_t after = std::max(kHbmLevels, most(rebuilt(dst, others, true), rebuilt(src, others, false)));
    if (after > left || (after == left && (best == levels->size() || (*levels)[best].size <= l.size))) continue;
    best = i, left = after;
  }
  if (best == levels->size()) return parts.push_back({dst, src});
  const Level l = (*levels)[best];
  std::vector<Level> others = *levels;
  others.erase(others.begin() + static_cast<std::ptrdiff_t>(best));
  for (std::int64_t k = 0; k < l.size; ++k) {
    Access to = rebuilt(dst, others, true), from = rebuilt(src, others, false);
    (l.dst_partition ? to.partition : to.offset) = (l.dst_partition ? to.partition : to.offset) + k * l.dst;
    (l.src_partition ? from.partition : from.offset) = (l.src_partition ? from.partition : from.offset) + k * l.src;
    split(to, from, parts);
  }
}

}  // namespace

std::vector<CopyPart> split_copy(const Access& dst, const Access& src) {
  std::vector<CopyPart> parts;
  const bool sound = dst.present() && src.present() && dst.size() == src.size() && dst.size() > 0;
  if (!sound || most(dst, src) <= kHbmLevels) return {{dst, src}};  // what is unsound is the verifier's to report
  split(dst, src, parts);
  return parts;
}

}  // namespace trn::tile
