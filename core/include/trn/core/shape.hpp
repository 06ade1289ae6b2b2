// Shapes and strides of dense arrays, in elements.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace trn {

using Shape = std::vector<std::int64_t>;
using Strides = std::vector<std::int64_t>;

// Product of the extents, 1 for rank 0. Throws InvalidArgument on a negative extent and when the product of the
// non-zero extents overflows 64 bits, so that the strides of every accepted shape exist, empty ones included.
[[nodiscard]] std::int64_t element_count(const Shape& shape);
// element_count(shape) * element_bytes; throws InvalidArgument when that overflows 64 bits.
[[nodiscard]] std::int64_t byte_count(const Shape& shape, std::int64_t element_bytes);
// Packed strides; they throw like element_count. An extent of 0 counts as 1, so that no stride is 0.
[[nodiscard]] Strides row_major_strides(const Shape& shape);
[[nodiscard]] Strides column_major_strides(const Shape& shape);
// The lowest and highest element offset that (shape, strides) touches; {0, -1} when it is empty. Throws InvalidArgument
// when the ranks differ or an offset overflows 64 bits.
struct OffsetRange {
  std::int64_t lowest, highest;
};
[[nodiscard]] OffsetRange offset_range(const Shape& shape, const Strides& strides);
// "(3, 4)"; also prints strides.
[[nodiscard]] std::string to_string(const Shape& shape);

}  // namespace trn
