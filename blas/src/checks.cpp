// The checks of every door, on extents instead of typed views.
#include "checks.hpp"

#include <cstdint>

namespace trn::blas::checks {

namespace {

__extension__ using Wide = __int128;  // products of extents and strides

}  // namespace

void executor_of(const char* operation, const char* operand, const Executor& call, const Executor& owner) {
  require(owner == call, "{}: {} lives on executor '{}', the call runs on '{}'; copy it there with to() first",
          operation, operand, owner.name(), call.name());
}

void address_of(const char* operation, const char* operand, const void* data, bool empty) {
  require(empty || data != nullptr, "{}: {} is not empty but its pointer is null; give it memory", operation, operand);
}

void distinct_elements(const char* operation, const char* operand, const Extent& c) {
  const auto clears = [](Wide outer, Wide count, Wide inner, Wide inner_count) {
    outer = outer < 0 ? -outer : outer;
    inner = inner < 0 ? -inner : inner;
    return (count == 1 || outer > inner * (inner_count - 1)) && (inner_count == 1 || inner >= 1);
  };
  if (c.rows == 0 || c.columns == 0) return;
  require(
      clears(c.row_stride, c.rows, c.column_stride, c.columns) ||
          clears(c.column_stride, c.columns, c.row_stride, c.rows),
      "{}: {} is {} x {} with strides ({}, {}), so elements overlap or rows interleave; give it a leading dimension "
      "that separates them",
      operation, operand, c.rows, c.columns, c.row_stride, c.column_stride);
}

bool overlap(const Extent& x, const Extent& c) {
  if (x.rows == 0 || x.columns == 0 || c.rows == 0 || c.columns == 0) return false;
  const auto from = reinterpret_cast<std::uintptr_t>(x.data), to = reinterpret_cast<std::uintptr_t>(c.data);
  if (from == to) return true;
  if (x.element_bytes != c.element_bytes) return false;
  if (x.row_stride != c.row_stride || x.column_stride != c.column_stride) return false;
  const bool row_major = c.column_stride == 1;
  const Wide ld = row_major ? c.row_stride : c.column_stride;
  const auto bytes = static_cast<std::uintptr_t>(c.element_bytes);
  if ((!row_major && c.row_stride != 1) || ld < 1 || (to > from ? to - from : from - to) % bytes != 0) return false;
  const Wide distance = (static_cast<Wide>(to) - static_cast<Wide>(from)) / static_cast<Wide>(bytes);
  const Wide x_major = row_major ? x.rows : x.columns, x_minor = row_major ? x.columns : x.rows;
  const Wide c_major = row_major ? c.rows : c.columns, c_minor = row_major ? c.columns : c.rows;
  // C starts `major` lines and `minor` elements after x; the two ways to write that differ by one line.
  const Wide floor = distance >= 0 ? distance / ld : -((-distance + ld - 1) / ld);
  for (const Wide major : {floor, floor + 1}) {
    const Wide minor = distance - major * ld;
    if (major < x_major && -major < c_major && minor < x_minor && -minor < c_minor) return true;
  }
  return false;
}

void no_overlap(const char* operation, const char* input_name, const Extent& input, const char* output_name,
                const Extent& output) {
  require(!overlap(input, output), "{}: {} shares memory with {}; the product needs a {} of its own", operation,
          output_name, input_name, output_name);
}

}  // namespace trn::blas::checks
