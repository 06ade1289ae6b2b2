// The device kernels of Cholesky's factorisation as values: programs for tools that print, emit, profile or estimate
// them.
#pragma once

#include <cstdint>

#include <trn/tile/machine.hpp>
#include <trn/tile/program.hpp>

namespace trn::solver {

// A = U^T U of order n >= 1 in float32, U with these strides in elements: a lower factor is U^T, so its strides are
// exchanged.
struct PotrfShape {
  std::int64_t n = 1;
  std::int64_t row_stride = 1, column_stride = 1;
  bool operator==(const PotrfShape&) const = default;
};

// Tensors: input "a", partial output "u" over it (the upper triangle, the only part that is read or written), output
// "pivots" (n): the squares of U's diagonal before the root is taken. The first that is not positive, or is NaN, is the
// first leading minor that is not positive; what follows it in U means nothing.
// Throws InvalidArgument where two block rows of U do not fit into SBUF.
[[nodiscard]] tile::Program potrf_program(const PotrfShape& shape, const tile::Machine& machine);

// One diagonal block in SBUF: panel128 alone.
struct PanelShape {
  std::int64_t order = 1;  // at most 128
  bool operator==(const PanelShape&) const = default;
};
// Tensors: input "a" (order, order), whole, its lower triangle is used; outputs "u" (order, order), zeros below the
// diagonal, "inverse" (order, order): the inverse of L = U^T, lower triangular, and "pivots" (order).
[[nodiscard]] tile::Program panel_program(const PanelShape& shape, const tile::Machine& machine);

}  // namespace trn::solver
