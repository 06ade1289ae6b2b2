// The checks of every entry point, on extents instead of typed views.
#include "checks.hpp"

#include <trn/core/error.hpp>

namespace trn::solver::checks {

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

void distinct_elements(const char* operation, const char* operand, std::int64_t rows, std::int64_t columns,
                       std::int64_t row_stride, std::int64_t column_stride) {
  const auto clears = [](Wide outer, Wide count, Wide inner, Wide inner_count) {
    outer = outer < 0 ? -outer : outer;
    inner = inner < 0 ? -inner : inner;
    return (count == 1 || outer > inner * (inner_count - 1)) && (inner_count == 1 || inner >= 1);
  };
  if (rows == 0 || columns == 0) return;
  require(clears(row_stride, rows, column_stride, columns) || clears(column_stride, columns, row_stride, rows),
          "{}: {} is {} x {} with strides ({}, {}), so elements overlap or rows interleave; give it a leading "
          "dimension that separates them",
          operation, operand, rows, columns, row_stride, column_stride);
}

void countable(const char* operation, const char* operand, std::int64_t rows, std::int64_t columns) {
  require(rows <= kMostInt && columns <= kMostInt, "{}: {} is {} x {}; LAPACK counts in 32 bits, up to {}", operation,
          operand, rows, columns, kMostInt);
}

void native(const char* operation, const Precision& precision) {
  if (precision.has_target() || precision.mode() != Mode::Native) {
    fail<NotImplemented>(
        "{}: the factorisation runs in the type's own arithmetic; use Precision Native, and "
        "solve() with a target_error for a better result",
        operation);
  }
}

void apart(const char* operation, const char* a_name, const void* a, const char* b_name, const void* b) {
  require(a != b || a == nullptr, "{}: {} and {} start at the same address; give {} memory of its own", operation,
          a_name, b_name, b_name);
}

}  // namespace trn::solver::checks
