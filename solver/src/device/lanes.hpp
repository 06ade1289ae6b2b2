// What the programs of batches share: one matrix in each partition, rows and columns on the free axis.
#pragma once

#include <functional>

#include <trn/solver/batched_program.hpp>
#include <trn/tile/builder.hpp>

namespace trn::solver::device {

// Loops over groups of at most 128 matrices.
class Lanes {
 public:
  Lanes(tile::Builder& b, const BatchProgramShape& shape);

  [[nodiscard]] tile::Access input(const char* name);                   // (count, m, n), innermost what is contiguous
  [[nodiscard]] tile::Access matrix(const tile::Access& loaded) const;  // a loaded tile as (P, i, j)
  [[nodiscard]] tile::Access turned(const tile::Access& tensor) const;  // an HBM tensor (count, i, j) as it is loaded
  void for_groups(const std::function<void(const tile::Affine& first, std::int64_t count)>& body);

  // (P, n, n) predicates: i >= j.
  [[nodiscard]] tile::Access lower(std::int64_t n);
  // Where a group's matrices are loaded.
  [[nodiscard]] tile::Access loaded(std::int64_t count);
  // A tile of one group.
  [[nodiscard]] tile::Access tile(const char* name, std::int64_t count, Shape free);
  // (P, m, n): m n - (i n + j), for flag().
  [[nodiscard]] tile::Access falling();
  // flag = 0, or the largest of `falling` where x is not finite; `scratch` and `falling` have the shape of x.
  void flag(const tile::Access& flag, const tile::Access& x, const tile::Access& scratch, const tile::Access& falling);
  // y = x^-1/2: the engine's power and a Newton step. `t` has the same shape.
  void inverse_root(const tile::Access& y, const tile::Access& x, const tile::Access& t);
  // scale = the power of two at or below the largest |x|, within 2^-100 and 2^126, and its inverse: (P, 1) tiles.
  void power_of_two(const tile::Access& scale, const tile::Access& inverse, const tile::Access& x,
                    const tile::Access& scratch);

 private:
  tile::Builder& b_;
  BatchProgramShape s_;
  bool turned_;  // columns are contiguous
};

// Parts of a (P, rows, columns) tile.
[[nodiscard]] tile::Access column_of(const tile::Access& x, std::int64_t j, std::int64_t first, std::int64_t rows);
[[nodiscard]] tile::Access row_of(const tile::Access& x, std::int64_t i, std::int64_t first, std::int64_t columns);
[[nodiscard]] tile::Access element_of(const tile::Access& x, std::int64_t i, std::int64_t j);  // (P, 1)
// (P, count): elements (i + k, j + k).
[[nodiscard]] tile::Access diagonal_of(const tile::Access& x, std::int64_t i, std::int64_t j, std::int64_t count);

// (P, X) as (P, X, size) and as (P, size, X).
[[nodiscard]] inline tile::Access along_rows(const tile::Access& x, std::int64_t size) { return x.broadcast(1, size); }
[[nodiscard]] inline tile::Access along_columns(const tile::Access& x, std::int64_t size) {
  return x.broadcast(0, size);
}

}  // namespace trn::solver::device
