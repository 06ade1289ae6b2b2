// Runs of neighbours: see segments.hpp.
#include "segments.hpp"

#include <algorithm>

namespace trn::dist {

std::vector<Segment> segments(const Cyclic& line, int rank) {
  std::vector<Segment> result;
  if (line.ranks == 1) {
    if (line.extent > 0) result.push_back({0, 0, line.extent});
    return result;
  }
  for (std::int64_t b = rank; b < line.blocks(); b += line.ranks) {
    result.push_back({b * line.block, line.to_local(b * line.block), line.block_extent(b)});
  }
  return result;
}

std::vector<SharedSegment> shared_segments(const Cyclic& from, const Cyclic& to) {
  std::vector<SharedSegment> result;
  for (std::int64_t i = 0; i < from.extent;) {
    // Both blocks go on at least to here; blocks may be larger than anything.
    const std::int64_t left = std::min({from.block - i % from.block, to.block - i % to.block, from.extent - i});
    const SharedSegment next{i, left, from.owner(i), to.owner(i), from.to_local(i), to.to_local(i)};
    i += left;
    if (!result.empty()) {
      SharedSegment& last = result.back();
      if (last.from == next.from && last.to == next.to && last.from_local + last.extent == next.from_local &&
          last.to_local + last.extent == next.to_local) {
        last.extent += next.extent;
        continue;
      }
    }
    result.push_back(next);
  }
  return result;
}

}  // namespace trn::dist
