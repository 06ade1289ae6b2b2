// Diagonal blocks of the matrices in SBUF: rows and columns with equal ids belong together.
#pragma once

#include <vector>

#include "device/block_products.hpp"

namespace trn::solver::device {

class DiagonalBlocks {
 public:
  // Loads `ids` (tiles x n) along partitions and along columns.
  DiagonalBlocks(tile::Builder& builder, const tile::Access& ids);
  // (128, n): 1 where the row of this block row and the column belong together, else 0. Valid until the next but one
  // call.
  [[nodiscard]] tile::Access together(std::size_t t, std::int64_t block);

 private:
  tile::Builder& b_;
  std::vector<tile::Access> rows_, columns_;
  tile::Access mask_;
  std::int64_t calls_ = 0;
};

// Values (tiles x n) along partitions: (128, n / 128) for matrix t; and along columns, (128, n).
[[nodiscard]] tile::Access along_partitions(tile::Builder& b, const std::string& name, const tile::Access& values,
                                            std::int64_t t);
[[nodiscard]] tile::Access along_columns(tile::Builder& b, const std::string& name, const tile::Access& values,
                                         std::int64_t t);

}  // namespace trn::solver::device
