// How lines of n1 n2 points lie in the tiles of the two-step kernels: which lines share the array, where their points
// are, and the transfers. See blocks.cpp.
#pragma once

#include <functional>

#include "line_kernel.hpp"

namespace trn::fft::device {

// Distances along the free dimension of a tile.
struct BlockPlaces {
  std::int64_t total, part, line, point, group;
};

// Lines of the last dimension that make a tile: above * beside * deep of them from `in` and `out` on.
struct BlockPiece {
  tile::Affine in, out;
  std::int64_t above, beside, deep;
};

struct BlockLayout {
  BlockLayout(const LinesShape& shape, const tile::Machine& machine);

  PointLayout in, out;
  LineDim last;
  std::int64_t n1, n2, above, beside;  // above: G1, beside: G2
  bool inner_in, inner_out;            // lines are closer together than points

  // x: `lines` (g2, t) of n2 points.
  [[nodiscard]] BlockPlaces x_places(std::int64_t lines) const;
  // y: (t, g1, k1), or (k1, g1, t) where lines are neighbours.
  [[nodiscard]] BlockPlaces y_places(std::int64_t above_here, std::int64_t deep) const;

  void load(tile::Builder& b, const SideTensors& x, const tile::Access& tile, const tile::Affine& at,
            std::int64_t above_here, std::int64_t lines) const;
  void store(tile::Builder& b, const SideTensors& y, const tile::Access& tile, const tile::Affine& at,
             std::int64_t above_here, std::int64_t beside_here, std::int64_t deep) const;

  // All lines of the last dimension in pieces up to `deepest` deep, from line `first` on.
  [[nodiscard]] std::vector<BlockPiece> pieces(const tile::Affine& in_at, const tile::Affine& out_at,
                                               std::int64_t deepest, std::int64_t first = 0) const;
  // body(pieces) for all lines of the last dimension; `together` of them at a time where there are many, and the last
  // ones in one go.
  using Run = std::function<void(const std::vector<BlockPiece>&)>;
  void runs(tile::Builder& b, const tile::Affine& in_at, const tile::Affine& out_at, std::int64_t deepest,
            std::int64_t together, const Run& body) const;
  // The same with body(in, out, above, beside, deep) for each piece alone.
  using Body = std::function<void(const tile::Affine&, const tile::Affine&, std::int64_t, std::int64_t, std::int64_t)>;
  void each(tile::Builder& b, const tile::Affine& in_at, const tile::Affine& out_at, std::int64_t deepest,
            const Body& body) const;

 private:
  void store_rows(tile::Builder& b, const SideTensors& y, const tile::Access& tile, const tile::Affine& at,
                  std::int64_t above_here, std::int64_t beside_here, std::int64_t deep, std::int64_t rows,
                  std::int64_t wide, std::int64_t all_beside) const;
};

}  // namespace trn::fft::device
