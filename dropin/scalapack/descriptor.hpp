// ScaLAPACK's descriptors: which element of a global matrix lies where, and the moves that bring a sub-matrix into a
// distribution of ours and back. Both forms: 9 numbers (DTYPE 1), and PBLAS's 11 with a first block of its own (2).
#pragma once

#include <cstdint>
#include <vector>

#include <trn/comm/distribution.hpp>

namespace trn::dropin::scalapack {

// One dimension: blocks go around the ranks from `source` on; the first block has a size of its own.
struct Axis {
  std::int64_t extent = 0, first = 1, block = 1;
  int source = 0, ranks = 1;

  struct Place {
    int owner;
    std::int64_t local, run;  // how many elements from here on lie one after another
  };
  [[nodiscard]] Place place(std::int64_t global) const;
  [[nodiscard]] std::int64_t local_extent(int rank) const;
};

struct Descriptor {
  int type = 0, context = -1;
  std::int64_t lld = 1;
  Axis row, column;  // their number of ranks is the grid's, which the caller fills in
};
[[nodiscard]] Descriptor read_descriptor(const int* numbers);

// sub(A) = A(i : i + rows - 1, j : j + columns - 1), counted from 1.
template <class T> struct Operand {
  T* data;
  Descriptor descriptor;
  std::int64_t i, j, rows, columns;
};

// Whether a local array holds what the descriptor says, and the sub-matrix lies within. What is not legal, and what is
// replicated (a source of -1), is ScaLAPACK's own business.
[[nodiscard]] bool is_usable(const Descriptor& d, std::int64_t i, std::int64_t j, std::int64_t rows,
                             std::int64_t columns, int grid_row);

// The moves from or to `rank` that take the sub-matrix into `ours`, in the order that dist::detail::redistribute wants.
// Ranks of the grid are counted row by row.
[[nodiscard]] std::vector<dist::Move> moves_in(const Descriptor& d, std::int64_t i, std::int64_t j,
                                               const dist::BlockCyclic& ours, int rank);
// And back.
[[nodiscard]] std::vector<dist::Move> reversed(std::vector<dist::Move> moves);

}  // namespace trn::dropin::scalapack
