// Half lines in the tiles of the two-step kernels: the first points of a line of n1 n2 points, as the transforms of
// real lines have them.
//
// Point k = k1 + n1 k2 of line (g1, g2, t) (see blocks.cpp) lies on
//
//   partition (part, k2, g2)    real parts from 0 on, imaginary parts from `upper` on: so many rows of k2 that hold all
//   the points free (t, g1, k1)            or (k1, g1, t) where lines are neighbours
//
// The rows of all lines beside one another are neighbouring partitions, so that one transfer moves them. With n2 even
// the point n/2 of a half line would be alone in its row; it is kept apart (`lone`).
#pragma once

#include "block_layout.hpp"

namespace trn::fft::device {

struct HalfLayout {
  HalfLayout(const LinesShape& shape, const tile::Machine& machine);

  BlockLayout block;  // of the whole lines; `beside` is what fits here
  PointLayout half;
  std::int64_t distance;  // of neighbouring half lines
  bool inner;             // lines are closer together than points
  std::int64_t n1, n2;
  std::int64_t rows, whole, rest;  // of k2; those with all n1 points; points in the last row, 0 if that is a whole one
  bool lone;
  std::int64_t upper;

  // Partitions of one part, and of both.
  [[nodiscard]] std::int64_t part_rows() const { return rows * block.beside; }
  [[nodiscard]] std::int64_t all_rows() const { return upper + part_rows(); }
  // What partition p holds.
  struct Row {
    bool used;
    std::int64_t part, k2, line;
  };
  [[nodiscard]] Row row(std::int64_t p) const;

  // Free distances of a tile with `together` real numbers to a point.
  [[nodiscard]] BlockPlaces places(std::int64_t above_here, std::int64_t deep, std::int64_t together) const;

  // HBM to tile or back, for one of the side's tensors; the tile starts with the first row of its part, `tile_at` reals
  // into it.
  enum class Way : std::uint8_t { Load, Store };
  void transfer(tile::Builder& b, Way way, const SideTensors& side, int tensor, const tile::Access& tile,
                std::int64_t tile_at, const BlockPlaces& places, const tile::Affine& at, std::int64_t above_here,
                std::int64_t beside_here, std::int64_t deep) const;

 private:
  void rows_of(tile::Builder& b, Way way, const tile::Access& hbm, bool pairs, const tile::Access& tile,
               std::int64_t tile_at, const BlockPlaces& places, const tile::Affine& at, std::int64_t first,
               std::int64_t count, std::int64_t wide, std::int64_t above_here, std::int64_t beside_here,
               std::int64_t deep) const;
};

}  // namespace trn::fft::device
