// Shape arithmetic with every product checked against 64 bits. Every view is built through here, so messages are put
// together only when they are needed.
#include <fmt/ranges.h>

#include <algorithm>
#include <trn/core/error.hpp>
#include <trn/core/row_major.hpp>
#include <trn/core/shape.hpp>

namespace trn {
namespace {

// strides[order of axes] = product of the extents before it in that order.
template <class Axes> Strides packed_strides(const Shape& shape, Axes axis) {
  (void)element_count(shape);
  Strides strides(shape.size());
  std::int64_t stride = 1;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    strides[axis(i)] = stride;
    stride *= std::max<std::int64_t>(shape[axis(i)], 1);
  }
  return strides;
}

}  // namespace

std::int64_t element_count(const Shape& shape) {
  std::int64_t count = 1;
  bool empty = false, overflow = false;
  for (const std::int64_t extent : shape) {
    if (extent < 0)
      fail<InvalidArgument>("shape {}: extent {} is negative; extents must be >= 0", to_string(shape), extent);
    empty = empty || extent == 0;
    if (extent != 0) overflow = __builtin_mul_overflow(count, extent, &count) || overflow;
  }
  if (overflow)
    fail<InvalidArgument>("shape {}: the number of elements overflows 64 bits; use smaller extents", to_string(shape));
  return empty ? 0 : count;
}

std::int64_t byte_count(const Shape& shape, std::int64_t element_bytes) {
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(element_count(shape), element_bytes, &bytes))
    fail<InvalidArgument>("shape {}: {} bytes per element overflow 64 bits; use smaller extents", to_string(shape),
                          element_bytes);
  return bytes;
}

Strides row_major_strides(const Shape& shape) {
  return packed_strides(shape, [last = shape.size() - 1](std::size_t i) { return last - i; });
}

Strides column_major_strides(const Shape& shape) {
  return packed_strides(shape, [](std::size_t i) { return i; });
}

bool is_row_major(const Shape& shape, const Strides& strides) {
  require(shape.size() == strides.size(), "row-major order: {} extents but {} strides; give one stride per extent",
          shape.size(), strides.size());
  if (element_count(shape) == 0) return true;
  std::int64_t stride = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    if (shape[i] == 1) continue;
    if (strides[i] != stride) return false;
    stride *= shape[i];
  }
  return true;
}

OffsetRange offset_range(const Shape& shape, const Strides& strides) {
  require(shape.size() == strides.size(), "offset range: {} extents but {} strides; give one stride per extent",
          shape.size(), strides.size());
  if (element_count(shape) == 0) return {0, -1};
  OffsetRange range{0, 0};
  for (std::size_t i = 0; i < shape.size(); ++i) {
    std::int64_t reach = 0;
    std::int64_t& end = strides[i] < 0 ? range.lowest : range.highest;
    if (__builtin_mul_overflow(shape[i] - 1, strides[i], &reach) || __builtin_add_overflow(end, reach, &end))
      fail<InvalidArgument>("offset range: shape {} with strides {} overflows 64-bit offsets; use smaller strides",
                            to_string(shape), to_string(strides));
  }
  return range;
}

std::string to_string(const Shape& shape) { return fmt::format("({})", fmt::join(shape, ", ")); }

}  // namespace trn
