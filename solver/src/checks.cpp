// The checks of every entry point, on extents instead of typed views: core's, and what LAPACK adds.
#include "checks.hpp"

#include <trn/core/error.hpp>
#include <trn/core/operands.hpp>

namespace trn::solver::checks {

void executor_of(const char* operation, const char* operand, const Executor& call, const Executor& owner) {
  operands::check_owner(operation, operand, call, owner);
}
void address_of(const char* operation, const char* operand, const void* data, bool empty) {
  operands::check_address(operation, operand, data, empty);
}
void distinct_elements(const char* operation, const char* operand, std::int64_t rows, std::int64_t columns,
                       std::int64_t row_stride, std::int64_t column_stride) {
  const layout::Dim dims[] = {{rows, row_stride}, {columns, column_stride}};
  operands::check_distinct(operation, operand, dims);
}

void countable(const char* operation, const char* operand, std::int64_t rows, std::int64_t columns) {
  require(rows <= kMostInt && columns <= kMostInt, "{}: {} is {} x {}; LAPACK counts in 32 bits, up to {}", operation,
          operand, rows, columns, kMostInt);
}

void native(const char* operation, const Precision& precision) {
  operands::check_enumerator(operation, precision);
  if (precision.has_target() || precision.mode() != Mode::Native) {
    fail<NotImplemented>(
        "{}: the factorisation runs in the type's own arithmetic; use Precision Native, and "
        "solve() with a target_error for a better result",
        operation);
  }
}

void native(const char* operation, const Executor& executor, DType dtype, const Precision& precision) {
  const bool exact = !precision.has_target() && precision.mode() == Mode::Exact;
  const bool wide = dtype == DType::Float64 || dtype == DType::Complex128;
  if (exact && executor.family() == Family::Device && wide) return;
  native(operation, precision);
}

void apart(const char* operation, const char* a_name, const layout::Region& a, const char* b_name,
           const layout::Region& b) {
  operands::check_apart(operation, a_name, a, b_name, b);
}

}  // namespace trn::solver::checks
