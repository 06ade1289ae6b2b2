// Which rank has what: see distribution.hpp.
#include <algorithm>
#include <limits>
#include <trn/comm/distribution.hpp>
#include <trn/core/error.hpp>

#include "segments.hpp"

namespace trn::dist {
namespace {

// Extents cut into parts as equal as multiples of `align` allow: (begin, extent) of each.
std::vector<std::pair<std::int64_t, std::int64_t>> cuts(std::int64_t extent, int parts, std::int64_t align) {
  require(parts > 0, "distribution: {} ranks; at least one is needed", parts);
  require(align > 0, "distribution: cut at multiples of {}; it must be above 0", align);
  const std::int64_t units = extent / align + (extent % align != 0 ? 1 : 0);
  std::vector<std::pair<std::int64_t, std::int64_t>> result;
  std::int64_t unit = 0;
  for (int p = 0; p < parts; ++p) {
    const std::int64_t begin = std::min(extent, unit * align);
    unit += units / parts + (p < units % parts ? 1 : 0);
    result.emplace_back(begin, std::min(extent, unit * align) - begin);
  }
  return result;
}

void require_dimension(const Shape& shape, int dimension) {
  require(dimension >= 0 && dimension < static_cast<int>(shape.size()), "distribution: dimension {} of shape {}",
          dimension, to_string(shape));
}

bool meet(const Boxes::Box& a, const Boxes::Box& b) {
  for (std::size_t d = 0; d < a.begin.size(); ++d) {
    if (a.begin[d] >= b.begin[d] + b.extent[d] || b.begin[d] >= a.begin[d] + a.extent[d]) return false;
  }
  return true;
}

}  // namespace

Grid square_grid(int ranks) {
  require(ranks > 0, "distribution: a grid of {} ranks; at least one is needed", ranks);
  int rows = 1;
  for (int r = 2; r <= ranks / r; ++r) {
    if (ranks % r == 0) rows = r;
  }
  return {rows, ranks / rows};
}

std::int64_t Cyclic::local_extent(int rank) const {
  const std::int64_t whole = extent / block, turns = whole / ranks, rest = whole % ranks;
  return turns * block + (rank < rest ? block : rank == rest ? extent % block : 0);
}

std::int64_t Cyclic::block_extent(std::int64_t index) const {
  return std::clamp<std::int64_t>(extent - index * block, 0, block);
}

void BlockCyclic::validate() const {
  require(rows >= 0 && columns >= 0, "block-cyclic distribution: {} x {} elements; extents must be >= 0", rows,
          columns);
  require(row_block > 0 && column_block > 0, "block-cyclic distribution: blocks of {} x {}; both must be above 0",
          row_block, column_block);
  require(grid.rows > 0 && grid.columns > 0, "block-cyclic distribution: a grid of {} x {}; both must be above 0",
          grid.rows, grid.columns);
  constexpr int kMost = std::numeric_limits<int>::max();  // products of two of them fit 64 bits
  require(row_block <= kMost && column_block <= kMost, "block-cyclic distribution: blocks of {} x {}; the most is {}",
          row_block, column_block, kMost);
  require(grid.rows <= kMost / grid.columns, "block-cyclic distribution: a grid of {} x {} has more than {} ranks",
          grid.rows, grid.columns, kMost);
  (void)element_count({rows, columns});
}

std::int64_t BlockCyclic::local_rows(int rank) const {
  return rank < grid.size() ? row().local_extent(grid.row_of(rank)) : 0;
}
std::int64_t BlockCyclic::local_columns(int rank) const {
  return rank < grid.size() ? column().local_extent(grid.column_of(rank)) : 0;
}

std::vector<Part> BlockCyclic::parts(int rank) const {
  if (rank >= grid.size()) return {};
  const std::int64_t lines = std::max<std::int64_t>(1, local_rows(rank));
  std::vector<Part> result;
  const std::vector<Segment> columns_here = segments(column(), grid.column_of(rank));
  for (const Segment& r : segments(row(), grid.row_of(rank))) {
    for (const Segment& c : columns_here) {
      result.push_back({{r.global, c.global}, {r.extent, c.extent}, c.local * lines + r.local, {1, lines}});
    }
  }
  return result;
}

void Boxes::validate() const {
  const std::int64_t wanted = element_count(shape);
  std::int64_t covered = 0;
  for (std::size_t r = 0; r < boxes.size(); ++r) {
    const Box& box = boxes[r];
    require(box.begin.size() == shape.size() && box.extent.size() == shape.size(),
            "distribution: the box of rank {} has {} and {} numbers for shape {}", r, box.begin.size(),
            box.extent.size(), to_string(shape));
    for (std::size_t d = 0; d < shape.size(); ++d) {
      require(box.begin[d] >= 0 && box.extent[d] >= 0 && box.begin[d] <= shape[d] - box.extent[d],
              "distribution: the box of rank {}, {} from {} on, is not within {}", r, to_string(box.extent),
              to_string(box.begin), to_string(shape));
    }
    if (element_count(box.extent) == 0) continue;
    covered += element_count(box.extent);
    for (std::size_t s = 0; s < r; ++s) {
      require(element_count(boxes[s].extent) == 0 || !meet(box, boxes[s]),
              "distribution: the boxes of ranks {} and {} meet", s, r);
    }
  }
  require(covered == wanted, "distribution: the boxes have {} of the {} elements of {}", covered, wanted,
          to_string(shape));
}

std::vector<Part> Boxes::parts(int rank) const {
  if (rank >= ranks()) return {};
  const Box& box = boxes[static_cast<std::size_t>(rank)];
  if (element_count(box.extent) == 0) return {};
  return {{box.begin, box.extent, 0, row_major_strides(box.extent)}};
}

Boxes slabs(const Shape& shape, int dimension, int ranks, std::int64_t align) {
  require_dimension(shape, dimension);
  Boxes result{shape, {}};
  for (const auto& [begin, extent] : cuts(shape[static_cast<std::size_t>(dimension)], ranks, align)) {
    Boxes::Box box{Shape(shape.size(), 0), shape};
    box.begin[static_cast<std::size_t>(dimension)] = begin;
    box.extent[static_cast<std::size_t>(dimension)] = extent;
    result.boxes.push_back(std::move(box));
  }
  return result;
}

Boxes pencils(const Shape& shape, int first, int second, const Grid& grid) {
  require_dimension(shape, first);
  require_dimension(shape, second);
  require(first != second, "distribution: pencils cut dimension {} two times", first);
  const auto f = static_cast<std::size_t>(first), s = static_cast<std::size_t>(second);
  const auto rows = cuts(shape[f], grid.rows, 1), columns = cuts(shape[s], grid.columns, 1);
  Boxes result{shape, {}};
  for (const auto& row : rows) {
    for (const auto& column : columns) {
      Boxes::Box box{Shape(shape.size(), 0), shape};
      box.begin[f] = row.first;
      box.extent[f] = row.second;
      box.begin[s] = column.first;
      box.extent[s] = column.second;
      result.boxes.push_back(std::move(box));
    }
  }
  return result;
}

Boxes block_rows(std::int64_t extent, int ranks) { return slabs({extent}, 0, ranks, kSumBlock); }

}  // namespace trn::dist
