// What scaling to integers does to an operand: x = x' + d, and with it |C - C'| = |d_a b + a' d_b|.
//
// Norms of d bound that by O(n^2) work. Where it is much more than the rounding of the result, the cost itself can be
// computed, in double.
#pragma once

#include <vector>

#include "plan.hpp"

namespace trn::blas::exact {

// Norms of d for every row, divided by 2^exponent like the operand's own.
[[nodiscard]] std::vector<Norms> scaling_errors(const Operand& s, const std::vector<std::int32_t>& shift, int bits);

// Bounds of the same that need no second look at the numbers: an integer is off by at most kRounding.
[[nodiscard]] std::vector<Norms> scaling_error_bounds(const Operand& s, const std::vector<std::int32_t>& shift,
                                                      int bits);

// Rows of an operand divided by their 2^exponent, and d in the same unit: planes x count x depth.
struct ScaledRows {
  std::vector<double> x, error;
};
[[nodiscard]] ScaledRows scaled_rows(const Operand& s, const std::vector<std::int32_t>& shift, std::int64_t first,
                                     std::int64_t count);

// |d_a b + a' d_b| of real rows by columns, in units of the rows' powers of two, computed in double: rows x columns.
//   Underflow takes off
// at most depth 2^-1070; roundings at most (depth + 8) 2^-51 of the bound by norms.
[[nodiscard]] std::vector<double> computed_scaling(const ScaledRows& a, const ScaledRows& b, std::int64_t rows,
                                                   std::int64_t columns, std::int64_t depth);

}  // namespace trn::blas::exact
