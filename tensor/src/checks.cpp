// The checks, quick where nothing is wrong: addresses that are far apart settle most questions of overlap.
#include "checks.hpp"

#include <fmt/core.h>

#include <trn/core/error.hpp>
#include <trn/core/operands.hpp>

namespace trn::tensor::checks {

namespace {

std::string shown(std::string_view who, std::size_t number) {
  return number == 0 ? std::string(who) : fmt::format("{} {}", who, number);
}

std::vector<layout::Dim> dims(const Shape& shape, const Strides& strides) {
  std::vector<layout::Dim> result;
  for (std::size_t i = 0; i < shape.size(); ++i) result.push_back({shape[i], strides[i]});
  return result;
}

}  // namespace

Bytes bytes_of(const TypedView& v) {
  std::int64_t low = 0, high = 0;
  for (std::size_t i = 0; i < v.shape.size(); ++i) {
    if (v.shape[i] == 0) return {false};
    std::int64_t reach = 0;
    if (__builtin_mul_overflow(v.shape[i] - 1, v.strides[i], &reach)) return {false};
    if (__builtin_add_overflow(reach < 0 ? low : high, reach, reach < 0 ? &low : &high)) return {false};
  }
  const std::int64_t size = size_bytes(v.dtype);
  const auto base = reinterpret_cast<std::uintptr_t>(v.data);
  return {true, base + static_cast<std::uintptr_t>(low * size), base + static_cast<std::uintptr_t>((high + 1) * size)};
}

void operand(const char* operation, std::string_view who, const Shape& shape, const Strides& strides, DType dtype,
             Unary op) {
  require(shape.size() == strides.size(), "{}: {} has {} extents and {} strides; give one stride per extent", operation,
          who, shape.size(), strides.size());
  require(shape.size() <= 64, "{}: {} has rank {}; tensors have at most 64 axes", operation, who, shape.size());
  (void)element_count(shape);
  (void)offset_range(shape, strides);
  if (!is_tensor_type(dtype)) {
    fail<NotImplemented>("{}: {} has type {}; tensors are float32, float64, complex64, complex128, bfloat16 or float16",
                         operation, who, name(dtype));
  }
  if (is_complex(dtype) && !has_complex(op))
    fail<NotImplemented>("{}: operator {} of {} has no complex form", operation, name(op), who);
}

void same(const char* operation, std::string_view who, const Executor& executor, const Operand& described,
          const TypedView& view, std::size_t number) {
  if (view.executor == executor && view.dtype == described.dtype && view.shape == described.shape &&
      view.strides == described.strides && view.data != nullptr)
    return;
  const std::string name_of = shown(who, number);
  operands::check_owner(operation, name_of.c_str(), executor, view.executor);
  require(view.dtype == described.dtype && view.shape == described.shape && view.strides == described.strides,
          "{}: {} is {} {} with strides {}; the plan is for {} {} with strides {}", operation, name_of,
          name(view.dtype), trn::to_string(view.shape), trn::to_string(view.strides), name(described.dtype),
          trn::to_string(described.shape), trn::to_string(described.strides));
  operands::check_address(operation, name_of.c_str(), view.data, element_count(view.shape) == 0);
}

void distinct(const char* operation, const char* who, const Shape& shape, const Strides& strides) {
  operands::check_distinct(operation, who, dims(shape, strides));
}

void apart(const char* operation, std::string_view input_name, const TypedView& input, const char* output_name,
           const TypedView& output, std::size_t number) {
  if (!(input.executor == output.executor)) return;
  const Bytes a = bytes_of(input), b = bytes_of(output);
  if (a.good && b.good && (a.high <= b.low || b.high <= a.low)) return;
  const auto da = dims(input.shape, input.strides), db = dims(output.shape, output.strides);
  operands::check_apart(operation, shown(input_name, number).c_str(),
                        {reinterpret_cast<std::uintptr_t>(input.data), size_bytes(input.dtype), da}, output_name,
                        {reinterpret_cast<std::uintptr_t>(output.data), size_bytes(output.dtype), db});
}

}  // namespace trn::tensor::checks
