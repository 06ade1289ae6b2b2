// Whether an array is one run of memory, in row-major order.
#pragma once

#include <trn/core/shape.hpp>

namespace trn {

// The elements lie one after the other in row-major order. The stride of an extent of 1 does not matter, and an empty
// array is in order whatever its strides. Throws InvalidArgument when the ranks differ.
[[nodiscard]] bool is_row_major(const Shape& shape, const Strides& strides);

}  // namespace trn
