// The checks of door.hpp.
#include "door.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <trn/core/row_major.hpp>
#include <vector>

#include "element_words.hpp"

namespace trn::rand {

namespace {

__extension__ using Wide = __int128;  // products of extents and strides

// Sufficient, and all that sliced, transposed or reversed arrays need: sorted by stride, each stride clears everything
// that the smaller ones reach.
bool elements_are_apart(const Shape& shape, const Strides& strides) {
  std::vector<std::size_t> order(shape.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto distance = [&](std::size_t d) { return strides[d] < 0 ? -Wide{strides[d]} : Wide{strides[d]}; };
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return distance(a) < distance(b); });
  Wide reach = 0;
  for (const std::size_t d : order) {
    if (shape[d] == 1) continue;
    if (distance(d) <= reach) return false;
    reach += distance(d) * (shape[d] - 1);
  }
  return true;
}

}  // namespace

void check_output(const char* operation, const Executor& executor, const Executor& owner, const Output& out) {
  require(owner == executor, "{}: out lives on executor '{}', the call runs on '{}'; give it an array of that executor",
          operation, owner.name(), executor.name());
  const std::int64_t count = element_count(out.shape);
  if (count == 0) return;
  require(out.data != nullptr, "{}: out has shape {} but its pointer is null", operation, to_string(out.shape));
  require(elements_are_apart(out.shape, out.strides),
          "{}: out has shape {} and strides {}, so elements overlap or interleave; give every element its own place",
          operation, to_string(out.shape), to_string(out.strides));
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
