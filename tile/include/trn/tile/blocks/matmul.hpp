// A product held in PSUM: one bank per piece of at most 128 rows and one bank of columns, and the matmuls that fill it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include <trn/tile/builder.hpp>

namespace trn::tile::blocks {

// rows x columns of fp32 sums, spread over ceil(rows/128) * ceil(columns/bank) banks.
struct Accumulator {
  Access tile;  // (128, banks, columns per bank)
  std::int64_t rows = 0, columns = 0;
  std::int64_t piece_rows = 0, piece_columns = 0;

  [[nodiscard]] std::int64_t row_pieces() const { return (rows + piece_rows - 1) / piece_rows; }
  [[nodiscard]] std::int64_t column_pieces() const { return (columns + piece_columns - 1) / piece_columns; }
  [[nodiscard]] std::int64_t rows_of(std::int64_t i) const { return std::min(piece_rows, rows - i * piece_rows); }
  [[nodiscard]] std::int64_t columns_of(std::int64_t j) const {
    return std::min(piece_columns, columns - j * piece_columns);
  }
  // Rows [i * piece_rows ...) x columns [j * piece_columns ...) of the product.
  [[nodiscard]] Access piece(std::int64_t i, std::int64_t j) const;
};

// fp32 elements of one PSUM bank: the widest matmul result.
[[nodiscard]] std::int64_t bank_columns(const Machine& machine);

Accumulator accumulator(Builder& b, const std::string& name, std::int64_t rows, std::int64_t columns);

// acc (+)= sum over t of stationary(t)^T * moving(t): stationary (K, tiles, rows), moving (K, tiles, columns), K <= 128
// partitions. `first` numbers the first tile among all that are summed into acc; tile 0 overwrites. Piece by piece, so
// that the first piece is complete, and can be moved out, while the others still multiply.
void multiply_into(Builder& b, const Accumulator& acc, const Access& stationary, const Access& moving,
                   const Affine& first);

}  // namespace trn::tile::blocks
