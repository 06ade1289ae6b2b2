// The device kernels of LU with partial pivoting as values: programs for tools that print, emit, profile or estimate
// them.
#pragma once

#include <cstdint>

#include <trn/tile/machine.hpp>
#include <trn/tile/program.hpp>

namespace trn::solver {

// A panel of m x w float32 elements, 1 <= w <= 128 and w <= m, with these strides.
struct LuPanelShape {
  std::int64_t m = 1, w = 1;
  std::int64_t row_stride = 1, column_stride = 1;
  bool operator==(const LuPanelShape&) const = default;
};
// Tensors: input "a" (m, w), output "factor" over it: the rows of L and U in the places where the rows of A were,
// and output "chosen" (w): m' - i, where row i was the pivot of step j and m' is m rounded up to 128. Who calls
// exchanges the rows. A number that is not from 1 to m' says that an element overflowed.
// Throws InvalidArgument where the panel does not fit into SBUF.
[[nodiscard]] tile::Program getrf_panel_program(const LuPanelShape& shape, const tile::Machine& machine);

// At most 256 rows of a matrix change places.
inline constexpr std::int64_t kMovedRows = 256;
struct MoveRowsShape {
  std::int64_t rows = 1, columns = 1;
  std::int64_t row_stride = 1;  // columns are contiguous
  bool operator==(const MoveRowsShape&) const = default;
};
// Tensors: inputs "from" and "to" (256, 1), uint32, and "a"; partial output "moved" over "a": row to[i] is what row
// from[i] was. A place in "to" from `rows` on stands for no move. Machines with gathers only.
[[nodiscard]] tile::Program move_rows_program(const MoveRowsShape& shape, const tile::Machine& machine);

// B = A^T, for matrices whose columns are contiguous.
struct TurnShape {
  std::int64_t rows = 1, columns = 1;  // of A, whose rows are contiguous
  std::int64_t from_stride = 1, to_stride = 1;
  bool operator==(const TurnShape&) const = default;
};
// Tensors: input "a" (rows, columns), output "b" (columns, rows), the transpose of A; rows of both are contiguous and
// these strides apart.
[[nodiscard]] tile::Program turn_program(const TurnShape& shape, const tile::Machine& machine);

}  // namespace trn::solver
