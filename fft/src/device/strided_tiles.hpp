// Tiles of strided elements: which elements of up to three operands of one shape lie on which partition.
#pragma once

#include <array>
#include <functional>
#include <trn/core/shape.hpp>
#include <trn/tile/builder.hpp>
#include <vector>

namespace trn::fft::device {

constexpr std::size_t kStridedOperands = 3;

// One dimension with its stride in every operand.
struct StridedAxis {
  std::int64_t extent = 1;
  std::array<std::int64_t, kStridedOperands> stride{};
};
// Dimensions of extent 1 dropped, neighbours that are one in every operand merged; at least one is left. `strides`: one
// list per operand, missing ones count as the first.
[[nodiscard]] std::vector<StridedAxis> merged_axes(const Shape& shape, const std::vector<Strides>& strides);

// Element (f, p, r, j) of operand i lies at offset[i] + f fold_stride[i] + p partition_stride[i] + r row_stride[i] + j
// stride[i]; (f, p) is a partition.
struct StridedTile {
  std::int64_t folds = 1, each = 1, rows = 1, length = 1;
  std::array<tile::Affine, kStridedOperands> offset;
  std::array<std::int64_t, kStridedOperands> fold_stride{}, partition_stride{}, row_stride{}, stride{};
  [[nodiscard]] std::int64_t partitions() const { return folds * each; }
  [[nodiscard]] std::int64_t free() const { return rows * length; }
  // The elements of operand i as a pattern in HBM.
  [[nodiscard]] std::vector<tile::Dim> dims(std::size_t i) const {
    return {{fold_stride[i], folds}, {partition_stride[i], each}, {row_stride[i], rows}, {stride[i], length}};
  }
};

// body(tile) for tiles of at most `points` elements per partition that cover everything once. Rows go on partitions, so
// that a partition holds whole rows, those of several outer indices together where they are few; a few long rows are
// cut into as many pieces as there are partitions.
void for_strided_tiles(tile::Builder& b, const std::vector<StridedAxis>& axes, std::int64_t points,
                       const std::function<void(const StridedTile&)>& body);

}  // namespace trn::fft::device
