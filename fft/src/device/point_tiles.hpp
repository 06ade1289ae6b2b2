// Tiles of points for the kernels that work point by point: either consecutive points on partitions (few or long lines)
// or lines on partitions.
#pragma once

#include <functional>

#include "line_kernel.hpp"

namespace trn::fft::device {

// Points [point, point + partitions * length) of `lines` lines, or, with lines on partitions, points [point, point +
// length) of `partitions` lines.
struct PointTile {
  bool by_points = true;
  std::int64_t partitions = 1, lines = 1, length = 1;
  tile::Affine point, in, out;  // in, out: offsets of the first line
  [[nodiscard]] std::int64_t free() const { return lines * length; }
};

class PointTiles {
 public:
  PointTiles(tile::Builder& b, const std::vector<LineDim>& lines) : b_(b), lines_(lines) {}

  // body(tile, state) for all of `count` points from `first` on; prepare(tile) is called once for each run of points,
  // before the lines, and makes the state.
  using Prepare = std::function<tile::Access(const PointTile&)>;
  using Body = std::function<void(const PointTile&, const tile::Access&)>;
  void each(std::int64_t first, std::int64_t count, const Prepare& prepare, const Body& body);
  // The lines alone: `point` = first, one point of `lines` lines on each partition.
  void each_line(const Body& body);

 private:
  void over_lines(PointTile tile, const tile::Access& state, const Body& body, std::size_t dimension,
                  const tile::Affine& in, const tile::Affine& out);
  tile::Builder& b_;
  std::vector<LineDim> lines_;
};

// The HBM elements of a tile on one side.
[[nodiscard]] std::vector<tile::Dim> hbm_dims(const PointTile& t, const SideTensors& side, std::int64_t distance);

// A tile of points with both parts: (P, lines, length) each; loads and stores with the side's format.
struct PointData {
  tile::Access tile;
  bool pairs = true, real = false;
  // Part 0 or 1 as (P, lines, length).
  [[nodiscard]] tile::Access part(std::int64_t part, const PointTile& t) const;
};
[[nodiscard]] PointData point_data(tile::Builder& b, const char* name, const PointTile& t, const SideTensors& side);
void load(tile::Builder& b, const PointData& data, const PointTile& t, const SideTensors& side, const tile::Affine& at,
          std::int64_t distance);
void store(tile::Builder& b, const PointData& data, const PointTile& t, const SideTensors& side, const tile::Affine& at,
           std::int64_t distance);

// Zeros in points [first, first + count) of every line of y.
void clear_points(tile::Builder& b, PointTiles& tiles, const SideTensors& y, std::int64_t first, std::int64_t count,
                  std::int64_t distance);

}  // namespace trn::fft::device
