// What goes where between two distributions. Block-cyclic ones are products of their rows and columns, and so are their
// common parts; otherwise every part is compared with every part.
#include <algorithm>
#include <optional>
#include <trn/comm/distribution.hpp>
#include <trn/core/error.hpp>
#include <tuple>

#include "segments.hpp"

namespace trn::dist {
namespace {

struct Found {
  Move move;
  Shape begin;
};

std::vector<Move> sorted(std::vector<Found> found) {
  std::sort(found.begin(), found.end(), [](const Found& a, const Found& b) {
    return std::tie(a.move.from, a.move.to, a.begin) < std::tie(b.move.from, b.move.to, b.begin);
  });
  std::vector<Move> result;
  result.reserve(found.size());
  for (Found& f : found) result.push_back(std::move(f.move));
  return result;
}

std::optional<Found> common(int from_rank, const Part& from, int to_rank, const Part& to) {
  Found result{{from_rank, to_rank, {}, from.offset, to.offset, from.strides, to.strides}, {}};
  for (std::size_t d = 0; d < from.begin.size(); ++d) {
    const std::int64_t begin = std::max(from.begin[d], to.begin[d]);
    const std::int64_t end = std::min(from.begin[d] + from.extent[d], to.begin[d] + to.extent[d]);
    if (begin >= end) return std::nullopt;
    result.begin.push_back(begin);
    result.move.extent.push_back(end - begin);
    result.move.from_offset += (begin - from.begin[d]) * from.strides[d];
    result.move.to_offset += (begin - to.begin[d]) * to.strides[d];
  }
  return result;
}

void add_common(std::vector<Found>& found, int from_rank, const std::vector<Part>& from, int to_rank,
                const std::vector<Part>& to) {
  for (const Part& a : from) {
    for (const Part& b : to) {
      if (auto f = common(from_rank, a, to_rank, b)) found.push_back(std::move(*f));
    }
  }
}

template <class From, class To>
std::vector<Move> moves_of_parts(const From& from, int from_ranks, const To& to, int to_ranks, int rank) {
  std::vector<Found> found;
  const std::vector<Part> given = from.parts(rank), wanted = to.parts(rank);
  if (!given.empty()) {
    for (int s = 0; s < to_ranks; ++s) add_common(found, rank, given, s, to.parts(s));
  }
  if (!wanted.empty()) {
    for (int s = 0; s < from_ranks; ++s) {
      if (s != rank) add_common(found, s, from.parts(s), rank, wanted);
    }
  }
  return sorted(std::move(found));
}

void require_same(const Shape& from, const Shape& to) {
  require(from == to, "distribution: moves from shape {} to shape {}; they must be equal", to_string(from),
          to_string(to));
}

}  // namespace

std::vector<Move> moves(const BlockCyclic& from, const BlockCyclic& to, int rank) {
  require_same({from.rows, from.columns}, {to.rows, to.columns});
  const auto rows = shared_segments(from.row(), to.row()), columns = shared_segments(from.column(), to.column());
  std::vector<Found> found;
  const auto add = [&](const SharedSegment& r, const SharedSegment& c) {
    const int sender = from.grid.rank(r.from, c.from), receiver = to.grid.rank(r.to, c.to);
    const std::int64_t from_lines = from.local_rows(sender), to_lines = to.local_rows(receiver);
    found.push_back({{sender,
                      receiver,
                      {r.extent, c.extent},
                      c.from_local * from_lines + r.from_local,
                      c.to_local * to_lines + r.to_local,
                      {1, from_lines},
                      {1, to_lines}},
                     {r.global, c.global}});
  };
  const bool gives = rank < from.grid.size(), takes = rank < to.grid.size();
  for (const SharedSegment& r : rows) {
    const bool row_given = gives && r.from == from.grid.row_of(rank), row_taken = takes && r.to == to.grid.row_of(rank);
    if (!row_given && !row_taken) continue;
    for (const SharedSegment& c : columns) {
      const bool given = row_given && c.from == from.grid.column_of(rank);
      const bool taken = row_taken && c.to == to.grid.column_of(rank);
      if (given || taken) add(r, c);
    }
  }
  return sorted(std::move(found));
}

std::vector<Move> moves(const Boxes& from, const Boxes& to, int rank) {
  require_same(from.shape, to.shape);
  return moves_of_parts(from, from.ranks(), to, to.ranks(), rank);
}
std::vector<Move> moves(const BlockCyclic& from, const Boxes& to, int rank) {
  require_same({from.rows, from.columns}, to.shape);
  return moves_of_parts(from, from.grid.size(), to, to.ranks(), rank);
}
std::vector<Move> moves(const Boxes& from, const BlockCyclic& to, int rank) {
  require_same(from.shape, {to.rows, to.columns});
  return moves_of_parts(from, from.ranks(), to, to.grid.size(), rank);
}

}  // namespace trn::dist
