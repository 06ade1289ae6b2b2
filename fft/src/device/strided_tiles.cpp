// Tiles of strided elements: see strided_tiles.hpp.
#include "strided_tiles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <trn/tile/blocks/loops.hpp>

namespace trn::fft::device {

using namespace trn::tile;
using blocks::ceil_div;

std::vector<StridedAxis> merged_axes(const Shape& shape, const std::vector<Strides>& strides) {
  std::vector<StridedAxis> axes;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 1) continue;
    StridedAxis axis{shape[d], {}};
    for (std::size_t i = 0; i < kStridedOperands; ++i) axis.stride[i] = strides[i < strides.size() ? i : 0][d];
    const auto continues = [&](const StridedAxis& outer) {
      for (std::size_t i = 0; i < kStridedOperands; ++i) {
        if (outer.stride[i] != axis.extent * axis.stride[i]) return false;
      }
      return true;
    };
    if (!axes.empty() && continues(axes.back()))
      axes.back() = {axes.back().extent * axis.extent, axis.stride};
    else
      axes.push_back(axis);
  }
  if (axes.empty()) axes.push_back({1, {1, 1, 1}});
  return axes;
}

namespace {

constexpr std::int64_t kShortestRun = 16;  // elements: 64 bytes a descriptor

using Offsets = std::array<Affine, kStridedOperands>;
using TileBody = std::function<void(const StridedTile&)>;

Offsets moved(const Offsets& from, const Affine& index, const StridedAxis& axis) {
  Offsets to;
  for (std::size_t i = 0; i < kStridedOperands; ++i) to[i] = from[i] + index * axis.stride[i];
  return to;
}

class Cover {
 public:
  Cover(Builder& b, const std::vector<StridedAxis>& axes, std::int64_t points, const TileBody& body)
      : b_(b), axes_(axes), points_(points), body_(body) {}

  void outer(std::size_t dimension, const Offsets& at) {
    const std::int64_t side = b_.machine().partitions;
    const StridedAxis& line = axes_.back();
    if (axes_.size() == 1) return pieces(line, at);
    const StridedAxis& rows = axes_[axes_.size() - 2];
    const bool few = rows.extent <= side / 2 && line.extent <= points_;
    if (dimension + 3 == axes_.size() && few) return folded(axes_[dimension], rows, line, at);
    if (dimension + 2 < axes_.size()) {
      return b_.parallel(fmt::format("outer{}", dimension), axes_[dimension].extent,
                         [&](Affine i) { outer(dimension + 1, moved(at, i, axes_[dimension])); });
    }
    if (rows.extent >= side / 2 || line.extent <= points_) return on_partitions(rows, line, at);
    b_.parallel("row", rows.extent, [&](Affine i) { pieces(line, moved(at, i, rows)); });
  }

 private:
  // body(start, partitions, per): `per` on each partition, the ragged rest peeled.
  void partitioned(const char* variable, std::int64_t extent, std::int64_t per,
                   const std::function<void(const Affine&, std::int64_t, std::int64_t)>& body) {
    const std::int64_t side = b_.machine().partitions, full = side * per, whole = extent / full, rest = extent % full;
    b_.parallel(variable, whole, [&](Affine i) { body(i * full, side, per); });
    if (rest / per > 0) body(Affine(whole * full), rest / per, per);
    if (rest % per > 0) body(Affine(extent - rest % per), 1, rest % per);
  }

  void pieces(const StridedAxis& line, const Offsets& at) {
    const std::int64_t per =
        std::clamp(ceil_div(line.extent, b_.machine().partitions), std::min(kShortestRun, points_), points_);
    partitioned("piece", line.extent, per, [&](const Affine& start, std::int64_t partitions, std::int64_t length) {
      StridedTile t{1, partitions, 1, length, moved(at, start, line), {}, {}, {}, line.stride};
      for (std::size_t i = 0; i < kStridedOperands; ++i) t.partition_stride[i] = line.stride[i] * length;
      body_(t);
    });
  }

  void on_partitions(const StridedAxis& rows, const StridedAxis& line, const Offsets& at) {
    const std::int64_t length = std::min(line.extent, points_);
    const std::int64_t per =
        std::clamp(points_ / length, std::int64_t{1}, ceil_div(rows.extent, b_.machine().partitions));
    partitioned("rows", rows.extent, per, [&](const Affine& first, std::int64_t partitions, std::int64_t count) {
      const Offsets row = moved(at, first, rows);
      blocks::for_blocks(
          b_, "part", line.extent, length, LoopKind::Parallel, [&](const Affine& start, std::int64_t size) {
            StridedTile t{1, partitions, count, size, moved(row, start, line), {}, {}, rows.stride, line.stride};
            for (std::size_t i = 0; i < kStridedOperands; ++i) t.partition_stride[i] = rows.stride[i] * count;
            body_(t);
          });
    });
  }

  // Few rows: those of several outer indices on the partitions at once, one each.
  void folded(const StridedAxis& outside, const StridedAxis& rows, const StridedAxis& line, const Offsets& at) {
    const std::int64_t together = std::min(outside.extent, b_.machine().partitions / rows.extent);
    blocks::for_blocks(b_, "fold", outside.extent, together, LoopKind::Parallel,
                       [&](const Affine& first, std::int64_t folds) {
                         body_({folds,
                                rows.extent,
                                1,
                                line.extent,
                                moved(at, first, outside),
                                outside.stride,
                                rows.stride,
                                {},
                                line.stride});
                       });
  }

  Builder& b_;
  const std::vector<StridedAxis>& axes_;
  std::int64_t points_;
  const TileBody& body_;
};

}  // namespace

void for_strided_tiles(Builder& b, const std::vector<StridedAxis>& axes, std::int64_t points, const TileBody& body) {
  Cover(b, axes, points, body).outer(0, {});
}

}  // namespace trn::fft::device
