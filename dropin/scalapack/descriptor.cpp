// Where ScaLAPACK's descriptors put elements.
#include "descriptor.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace trn::dropin::scalapack {

// Block b belongs to source + b. On its owner lie blocks b - ranks, b - 2 ranks, ... before it; one of them is block 0
// where the owner is the source.
Axis::Place Axis::place(std::int64_t global) const {
  if (global < first) return {source, global, first - global};
  const std::int64_t b = 1 + (global - first) / block, within = (global - first) % block;
  const std::int64_t turn = b / ranks;
  const int owner = static_cast<int>((source + b) % ranks);
  const std::int64_t before = owner == source ? first + (turn - 1) * block : turn * block;
  return {owner, before + within, block - within};
}

std::int64_t Axis::local_extent(int rank) const {
  std::int64_t count = 0;
  for (std::int64_t g = 0; g < extent;) {
    const Place p = place(g);
    const std::int64_t run = std::min(p.run, extent - g);
    if (p.owner == rank) count += run;
    g += run;
  }
  return count;
}

Descriptor read_descriptor(const int* n) {
  Descriptor d;
  d.type = n[0];
  if (d.type != 1 && d.type != 2) return d;
  d.context = n[1];
  const int* blocks = n + 4;  // type 2 has the first blocks before the others
  const int* rest = d.type == 1 ? n + 4 : n + 6;
  d.row = {n[2], blocks[0], rest[0], rest[2], 1};
  d.column = {n[3], blocks[1], rest[1], rest[3], 1};
  d.lld = rest[4];
  return d;
}

bool is_usable(const Descriptor& d, std::int64_t i, std::int64_t j, std::int64_t rows, std::int64_t columns,
               int grid_row) {
  const auto fits = [](const Axis& axis, std::int64_t from, std::int64_t count) {
    return axis.first >= 1 && axis.block >= 1 && axis.source >= 0 && axis.source < axis.ranks && from >= 1 &&
           count >= 0 && from + count - 1 <= axis.extent;
  };
  return (d.type == 1 || d.type == 2) && fits(d.row, i, rows) && fits(d.column, j, columns) &&
         d.lld >= std::max<std::int64_t>(1, d.row.local_extent(grid_row));
}

namespace {

// Elements of one dimension that stay together on both sides.
struct Segment {
  std::int64_t extent;
  int their_owner, our_owner;
  std::int64_t their_local, our_local;
};

std::vector<Segment> segments(const Axis& theirs, std::int64_t begin, const dist::Cyclic& ours) {
  std::vector<Segment> found;
  for (std::int64_t at = 0; at < ours.extent;) {
    const Axis::Place p = theirs.place(begin + at);
    const std::int64_t run = std::min({p.run, ours.block - at % ours.block, ours.extent - at});
    found.push_back({run, p.owner, ours.owner(at), p.local, ours.to_local(at)});
    at += run;
  }
  return found;
}

}  // namespace

std::vector<dist::Move> moves_in(const Descriptor& d, std::int64_t i, std::int64_t j, const dist::BlockCyclic& ours,
                                 int rank) {
  std::vector<dist::Move> moves;
  const auto rows = segments(d.row, i - 1, ours.row());
  const std::int64_t our_ld = rank < ours.grid.size() ? std::max<std::int64_t>(1, ours.local_rows(rank)) : 1;
  for (const Segment& c : segments(d.column, j - 1, ours.column())) {
    for (const Segment& r : rows) {
      const int their_rank = r.their_owner * d.column.ranks + c.their_owner;
      const int our_rank = ours.grid.rank(r.our_owner, c.our_owner);
      if (their_rank != rank && our_rank != rank) continue;
      // The other side's strides are not known, and only tell that columns go first.
      moves.push_back({their_rank,
                       our_rank,
                       {r.extent, c.extent},
                       r.their_local + c.their_local * d.lld,
                       r.our_local + c.our_local * our_ld,
                       {1, their_rank == rank ? d.lld : 2},
                       {1, our_rank == rank ? our_ld : 2}});
    }
  }
  std::stable_sort(moves.begin(), moves.end(), [](const dist::Move& a, const dist::Move& b) {
    return std::tie(a.from, a.to) < std::tie(b.from, b.to);
  });
  return moves;
}

std::vector<dist::Move> reversed(std::vector<dist::Move> moves) {
  for (dist::Move& move : moves) {
    std::swap(move.from, move.to);
    std::swap(move.from_offset, move.to_offset);
    std::swap(move.from_strides, move.to_strides);
  }
  std::stable_sort(moves.begin(), moves.end(), [](const dist::Move& a, const dist::Move& b) {
    return std::tie(a.from, a.to) < std::tie(b.from, b.to);
  });
  return moves;
}

}  // namespace trn::dropin::scalapack
