// Right-hand sides and solutions of a triangular solve on their way between HBM and SBUF: blocks of at most 128 rows
// (64 complex ones) of a panel of columns, rows on partitions.
//
// Where HBM has rows contiguous along columns, a block is one load. Where columns are contiguous it comes with columns
// on partitions and the Tensor Engine turns it, 128 x 128 at a time, about 6 % of its work in a solve of 4096; stores
// likewise. Complex blocks are taken apart on the way in, real parts to partitions 0.., imaginary ones to 64.., and
// zero beyond their rows; put together on the way out.
#pragma once

#include <trn/tile/builder.hpp>

namespace trn::blas::device {

// block *= alpha, complex: real parts in the lower half of the partitions, imaginary ones in the upper; alpha is (128,
// 2), `swapped` a tile of block's shape.
void multiply_complex(tile::Builder& b, const tile::Access& block, const tile::Access& swapped,
                      const tile::Access& alpha);

class ColumnBlocks {
 public:
  // b and x: (m, n[, 2]) accesses of HBM, strides (row_stride, column_stride) in elements of their own type.
  ColumnBlocks(tile::Builder& builder, const tile::Access& b, const tile::Access& x, bool complex,
               std::int64_t row_stride, std::int64_t column_stride, bool many_rows);

  // SBUF per partition and column of the panel.
  [[nodiscard]] std::int64_t bytes_per_column() const;

  // Declares the tiles of a panel: columns [c0, c0 + columns), blocks of up to `tall` partitions.
  void begin(const tile::Affine& c0, std::int64_t columns, std::int64_t tall);
  // Starts bringing in block t, rows [start, start + rows): at most one block ahead of scaled().
  void load(std::int64_t t, const tile::Affine& start, std::int64_t rows);
  // alpha times block t, (tile_rows, columns); alpha is (128, 1), complex (128, 2), or absent for 1. Overwritten by
  // block t + 1 or t + 2.
  [[nodiscard]] tile::Access scaled(std::int64_t t, std::int64_t tile_rows, const tile::Access& alpha);
  void store(const tile::Affine& start, std::int64_t rows, const tile::Access& x);

 private:
  struct Group {
    std::int64_t first, columns, number;
  };  // up to 128 columns that are turned at once
  [[nodiscard]] std::vector<Group> groups() const;
  [[nodiscard]] tile::Access raw_slot(std::int64_t t) const;
  [[nodiscard]] tile::Access by_columns(const tile::Access& hbm) const;

  tile::Builder& b_;
  tile::Access in_, out_;
  bool complex_, turned_;
  std::int64_t side_, half_, bank_;
  tile::Affine c0_;
  std::int64_t columns_ = 0, stored_ = 0;
  std::int64_t loaded_rows_[2] = {0, 0};  // of the blocks in the two slots of raw_
  tile::Access raw_, block_, swapped_, back_, bank_in_, bank_out_;
};

}  // namespace trn::blas::device
