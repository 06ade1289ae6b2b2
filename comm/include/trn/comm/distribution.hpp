// Distributions: which rank has which elements of a matrix or an array. Geometry only: nothing here communicates, and
// every rank can compute everything about every other.
//
//   BlockCyclic   ScaLAPACK's: blocks of mb x nb go around a grid of ranks
//   Boxes         an array of any rank, each rank with one box of it; made by slabs(), pencils(), block_rows()
//
// A part is a box of global indices with the place of its first element in the owner's local memory. moves(from, to)
// lists what has to go where, so that a redistribution between any two is one all-to-all.
#pragma once

#include <cstdint>
#include <vector>

#include <trn/core/shape.hpp>

namespace trn::dist {

// Ranks as rows x columns, numbered row by row as BLACS does: rank = row * columns + column. Ranks beyond rows *
// columns have nothing.
struct Grid {
  int rows = 1, columns = 1;
  [[nodiscard]] int size() const { return rows * columns; }
  [[nodiscard]] int rank(int row, int column) const { return row * columns + column; }
  [[nodiscard]] int row_of(int rank) const { return rank / columns; }
  [[nodiscard]] int column_of(int rank) const { return rank % columns; }
  friend bool operator==(const Grid&, const Grid&) = default;
};
// The grid of p ranks that is nearest to a square, rows <= columns.
[[nodiscard]] Grid square_grid(int ranks);

// Where local elements come from, in one dimension of a block-cyclic distribution: ScaLAPACK's numroc and indxl2g.
struct Cyclic {
  std::int64_t extent = 0, block = 1;
  int ranks = 1;
  [[nodiscard]] int owner(std::int64_t global) const { return static_cast<int>(global / block % ranks); }
  [[nodiscard]] std::int64_t local_extent(int rank) const;
  [[nodiscard]] std::int64_t to_local(std::int64_t global) const {
    return global / (block * ranks) * block + global % block;
  }
  [[nodiscard]] std::int64_t to_global(std::int64_t local, int rank) const {
    return (local / block * ranks + rank) * block + local % block;
  }
  [[nodiscard]] std::int64_t blocks() const { return (extent + block - 1) / block; }
  [[nodiscard]] std::int64_t block_extent(std::int64_t index) const;
};

// Global indices [begin, begin + extent) in every dimension, whose first element lies `offset` elements into the
// local memory, with these local strides.
struct Part {
  Shape begin, extent;
  std::int64_t offset = 0;
  Strides strides;
};

// Locals are column-major and packed: a ScaLAPACK descriptor describes them without a copy.
struct BlockCyclic {
  std::int64_t rows = 0, columns = 0;
  std::int64_t row_block = 1, column_block = 1;
  Grid grid;

  // Throws InvalidArgument unless extents are >= 0, blocks and grid are > 0, and blocks and the grid's ranks at most
  // 2^31 - 1.
  void validate() const;
  [[nodiscard]] Cyclic row() const { return {rows, row_block, grid.rows}; }
  [[nodiscard]] Cyclic column() const { return {columns, column_block, grid.columns}; }
  [[nodiscard]] int owner(std::int64_t i, std::int64_t j) const { return grid.rank(row().owner(i), column().owner(j)); }
  [[nodiscard]] std::int64_t local_rows(int rank) const;
  [[nodiscard]] std::int64_t local_columns(int rank) const;
  [[nodiscard]] std::vector<Part> parts(int rank) const;
  friend bool operator==(const BlockCyclic&, const BlockCyclic&) = default;
};

// Each rank has one box, possibly empty, row-major and packed.
struct Boxes {
  struct Box {
    Shape begin, extent;
    friend bool operator==(const Box&, const Box&) = default;
  };
  Shape shape;
  std::vector<Box> boxes;  // one per rank

  // Throws InvalidArgument unless the boxes cover the shape and no two meet.
  void validate() const;
  [[nodiscard]] int ranks() const { return static_cast<int>(boxes.size()); }
  [[nodiscard]] std::vector<Part> parts(int rank) const;
  friend bool operator==(const Boxes&, const Boxes&) = default;
};
// One dimension is cut into `ranks` parts, as equal as multiples of `align` allow; the earlier ones are the larger.
[[nodiscard]] Boxes slabs(const Shape& shape, int dimension, int ranks, std::int64_t align = 1);
// Two dimensions are cut, the first among the grid's rows and the second among its columns.
[[nodiscard]] Boxes pencils(const Shape& shape, int first, int second, const Grid& grid);
// Rows of a sparse matrix or elements of a vector, cut at multiples of 4096 only, so that a block of BlockSums
// (reductions.hpp) never lies on two ranks; where there are fewer blocks than ranks, the last ranks have nothing.
inline constexpr std::int64_t kSumBlock = 4096;
[[nodiscard]] Boxes block_rows(std::int64_t extent, int ranks);

// What one rank sends to another: a box of global indices, and where it lies on both sides.
struct Move {
  int from = 0, to = 0;
  Shape extent;
  std::int64_t from_offset = 0, to_offset = 0;
  Strides from_strides, to_strides;
  [[nodiscard]] std::int64_t elements() const { return element_count(extent); }
};
// All moves from or to `rank`, in an order that both sides agree on: by (from, to, global index).
[[nodiscard]] std::vector<Move> moves(const BlockCyclic& from, const BlockCyclic& to, int rank);
[[nodiscard]] std::vector<Move> moves(const Boxes& from, const Boxes& to, int rank);
[[nodiscard]] std::vector<Move> moves(const BlockCyclic& from, const Boxes& to, int rank);
[[nodiscard]] std::vector<Move> moves(const Boxes& from, const BlockCyclic& to, int rank);

}  // namespace trn::dist
