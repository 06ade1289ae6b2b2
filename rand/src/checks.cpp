// The checks of checks.hpp.
#include "checks.hpp"

#include <cmath>
#include <vector>

#include <trn/core/operands.hpp>
#include <trn/core/row_major.hpp>

#include "element_words.hpp"

namespace trn::rand {

void check_output(const char* operation, const Executor& executor, const Executor& owner, const Output& out) {
  operands::check_owner(operation, "out", executor, owner);
  const std::int64_t count = element_count(out.shape);
  operands::check_address(operation, "out", out.data, count == 0);
  if (count == 0) return;
  std::vector<layout::Dim> dims;
  for (std::size_t d = 0; d < out.shape.size(); ++d) dims.push_back({out.shape[d], out.strides[d]});
  operands::check_distinct(operation, "out", dims);
  require(
      executor.family() == Family::Host || is_row_major(out.shape, out.strides),
      "{}: out has shape {} and strides {}; on executor '{}' it must be contiguous: draw into an Array and copy() it",
      operation, to_string(out.shape), to_string(out.strides), executor.name());
}

void check_element_words(const char* operation, const State& state) {
  if (has_element_words(state.algorithm)) return;
  fail<NotImplemented>("{}: {} has no words per element; use philox4x32-10 or threefry4x32-20", operation,
                       name(state.algorithm));
}

void check_finite(const char* operation, const char* what, double value, DType dtype) {
  const double rounded = dtype == DType::Float32 ? static_cast<double>(static_cast<float>(value)) : value;
  require(std::isfinite(rounded), "{}: {} is {}, which is not a finite {}; give a finite number", operation, what,
          value, name(dtype));
}

}  // namespace trn::rand
