// Products of matrices that stay in SBUF: what the resident programs of the spectral drivers are made of.
//
// A matrix of r x c elements, both multiples of 128, is a tile (128, r / 128, c): element (i, j) lies on partition
// i % 128 in block row i / 128. The Tensor Engine multiplies by the transpose of its stationary operand, so that
// X^T Y needs no turning, and neither does X Y with a symmetric X.
//
// Matrices that are symmetric are computed in the blocks on and above the diagonal; mirror() turns the others out of
// them. In exact arithmetic that changes nothing, in float32 it keeps them symmetric to the last bit.
#pragma once

#include <functional>

#include <trn/tile/builder.hpp>

namespace trn::solver::device {

// Columns first to first + columns - 1 of block row `row`.
struct RowStrip {
  std::int64_t row, first, columns;
};

class BlockProducts {
 public:
  // Declares its PSUM and constants: alive as long as the enclosing loop body.
  explicit BlockProducts(tile::Builder& builder);

  // (128, rows / 128, columns), float32.
  [[nodiscard]] tile::Access matrix(const std::string& name, std::int64_t rows, std::int64_t columns);
  // The same from and to HBM, row-major.
  void load(const tile::Access& x, const tile::Access& from);
  void store(const tile::Access& to, const tile::Access& x);

  // The piece of X as (128, columns).
  [[nodiscard]] static tile::Access part(const tile::Access& x, const RowStrip& piece);

  // X^T Y, handed over piece by piece in PSUM. upper: blocks on and above the diagonal only.
  using Evict = std::function<void(const RowStrip& piece, const tile::Access& sums)>;
  void product(const tile::Access& x, const tile::Access& y, bool upper, const Evict& evict);
  // Blocks below the diagonal from those above it, for the blocks of this piece.
  void mirror(const tile::Access& x, const RowStrip& piece);
  // The diagonal block of this piece becomes symmetric: (B + B^T) / 2.
  void symmetrise(const tile::Access& x, const RowStrip& piece);
  // Y = X^T.
  void turn(const tile::Access& y, const tile::Access& x);

  [[nodiscard]] tile::Access unit() const { return unit_; }  // the identity, (128, 128)
  [[nodiscard]] tile::Access ones() const { return ones_; }  // (128, 128)
  // Elements (i, i) of block row i: (128, 1) each, columns of `diagonal` (128, rows / 128).
  void diagonal(const tile::Access& diagonal, const tile::Access& x);
  // Sums of squares of the rows, into `sums` (128, rows / 128).
  void squares(const tile::Access& sums, const tile::Access& x);

 private:
  [[nodiscard]] tile::Access next_turning();

  tile::Builder& b_;
  std::int64_t side_, strip_, product_ = 0, turn_ = 0;
  tile::Access unit_, ones_, half_, terms_;
  tile::Access sums_, turning_;  // PSUM
};

}  // namespace trn::solver::device
