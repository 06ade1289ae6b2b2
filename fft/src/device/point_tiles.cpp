// Tiles of points: see point_tiles.hpp.
#include "point_tiles.hpp"

#include <algorithm>
#include <trn/tile/blocks/loops.hpp>

namespace trn::fft::device {

using namespace trn::tile;
using blocks::ceil_div;

namespace {
constexpr std::int64_t kTilePoints = 1024;  // per partition
constexpr std::int64_t kBuffers =
    4;  // of a tile: a load, the arithmetic and a store of other tiles go on meanwhile, and DMA takes 2 us to begin
}  // namespace

void PointTiles::each(std::int64_t first, std::int64_t count, const Prepare& prepare, const Body& body) {
  if (count <= 0) return;
  const std::int64_t side = b_.machine().partitions, lines = lines_.back().count;
  const auto at = [&](bool by_points, std::int64_t partitions, std::int64_t length, const Affine& point) {
    PointTile tile{by_points, partitions, 1, length, point, 0, 0};
    over_lines(tile, prepare(tile), body, 0, 0, 0);
  };
  // Lines on partitions give runs of a whole line's length; worth it for many short lines.
  if (lines >= side / 2 && count < side * kTilePoints / 16) {
    return blocks::for_blocks(b_, "points", count, kTilePoints, LoopKind::Parallel,
                              [&](const Affine& p, std::int64_t length) { at(false, 0, length, p + first); });
  }
  const std::int64_t length = std::clamp<std::int64_t>(count / side, 1, kTilePoints), full = side * length,
                     whole = count / full, rest = count % full;
  b_.parallel("points", whole, [&](Affine i) { at(true, side, length, i * full + first); });
  if (rest / length > 0) at(true, rest / length, length, Affine(first + whole * full));
  if (rest % length > 0) at(true, 1, rest % length, Affine(first + count - rest % length));
}

void PointTiles::over_lines(PointTile tile, const Access& state, const Body& body, std::size_t dimension,
                            const Affine& in, const Affine& out) {
  const LineDim& d = lines_[dimension];
  if (dimension + 1 < lines_.size()) {
    return b_.parallel(fmt::format("lines{}", dimension), d.count,
                       [&](Affine i) { over_lines(tile, state, body, dimension + 1, in + i * d.in, out + i * d.out); });
  }
  const std::int64_t block =
      tile.by_points ? std::clamp<std::int64_t>(kTilePoints / tile.length, 1, d.count) : b_.machine().partitions;
  blocks::for_blocks(b_, "lines", d.count, block, LoopKind::Parallel, [&](const Affine& line, std::int64_t count) {
    PointTile here = tile;
    (tile.by_points ? here.lines : here.partitions) = count;
    here.in = in + line * d.in;
    here.out = out + line * d.out;
    body(here, state);
  });
}

void PointTiles::each_line(const Body& body) {
  const PointTile tile{false, 0, 1, 1, 0, 0, 0};
  over_lines(tile, {}, body, 0, 0, 0);
}

std::vector<Dim> hbm_dims(const PointTile& t, const SideTensors& side, std::int64_t distance) {
  const std::int64_t stride = side.layout.stride;
  std::vector<Dim> dims;
  if (t.by_points)
    dims = {{stride * t.length, t.partitions}, {distance, t.lines}, {stride, t.length}};
  else
    dims = {{distance, t.partitions}, {stride, t.length}};
  if (side.pairs()) dims.push_back({1, 2});
  return dims;
}

PointData point_data(Builder& b, const char* name, const PointTile& t, const SideTensors& side) {
  return {b.sbuf(name, t.partitions, {t.free() * (side.layout.real ? 1 : 2)}, DType::Float32, kBuffers), side.pairs(),
          side.layout.real};
}

Access PointData::part(std::int64_t part, const PointTile& t) const {
  const std::int64_t unit = pairs ? 2 : 1, offset = pairs ? part : part * t.free();
  return pattern(tile, offset, {{unit * t.length, t.lines}, {unit, t.length}});
}

void load(Builder& b, const PointData& data, const PointTile& t, const SideTensors& side, const Affine& at,
          std::int64_t distance) {
  const std::int64_t reals = t.free() * (side.pairs() ? 2 : 1);
  for (int i = 0; i < side.tensors(); ++i)
    b.dma_copy(pattern(data.tile, i * reals, {{1, reals}}), pattern(side.tensor[i], at, hbm_dims(t, side, distance)));
}
void store(Builder& b, const PointData& data, const PointTile& t, const SideTensors& side, const Affine& at,
           std::int64_t distance) {
  const std::int64_t reals = t.free() * (side.pairs() ? 2 : 1);
  for (int i = 0; i < side.tensors(); ++i)
    b.dma_copy(pattern(side.tensor[i], at, hbm_dims(t, side, distance)), pattern(data.tile, i * reals, {{1, reals}}));
}

void clear_points(Builder& b, PointTiles& tiles, const SideTensors& y, std::int64_t first, std::int64_t count,
                  std::int64_t distance) {
  const auto zeros = [&](const PointTile& t) {
    const Access zero = b.sbuf("zeros", b.machine().partitions, {2 * t.length}, DType::Float32, 2);
    b.memset(zero, 0, Engine::Vector);
    return zero;
  };
  tiles.each(first, count, zeros, [&](const PointTile& t, const Access& zero) {
    for (int i = 0; i < y.tensors(); ++i) {  // one row of zeros for every line of the tile
      const std::int64_t reals = t.length * (y.pairs() ? 2 : 1);
      b.dma_copy(pattern(y.tensor[i], t.out + t.point * y.layout.stride, hbm_dims(t, y, distance)),
                 pattern(zero(ds(0, t.partitions), all), 0, {{0, t.lines}, {1, reals}}));
    }
  });
}

}  // namespace trn::fft::device
