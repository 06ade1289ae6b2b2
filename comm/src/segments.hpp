// One dimension of a block-cyclic distribution as runs of neighbouring indices.
#pragma once

#include <vector>

#include <trn/comm/distribution.hpp>

namespace trn::dist {

// Neighbours on one rank, in its memory too.
struct Segment {
  std::int64_t global, local, extent;
};
// Those of one rank (of the grid's rows, or of its columns), in the order of global indices. One rank alone has one.
[[nodiscard]] std::vector<Segment> segments(const Cyclic& line, int rank);

// Neighbours that one rank has before and one rank has after.
struct SharedSegment {
  std::int64_t global, extent;
  int from, to;
  std::int64_t from_local, to_local;
};
[[nodiscard]] std::vector<SharedSegment> shared_segments(const Cyclic& from, const Cyclic& to);

}  // namespace trn::dist
