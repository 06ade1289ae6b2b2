// What the operations of trntensor check of their operands.
#pragma once

#include <string>
#include <string_view>

#include <trn/core/layout.hpp>
#include <trn/tensor/plan.hpp>

namespace trn::tensor::checks {

// Bytes from the lowest to behind the highest element; not good: empty, or beyond 64 bits.
struct Bytes {
  bool good = true;
  std::uintptr_t low = 0, high = 0;
};
[[nodiscard]] Bytes bytes_of(const TypedView& view);
// Rank, strides, type and operator of an operand that is described.
void operand(const char* operation, std::string_view who, const Shape& shape, const Strides& strides, DType dtype,
             Unary op);
// A view is what the description says, on the executor, and has an address. `number`: of an operand, or 0.
void same(const char* operation, std::string_view who, const Executor& executor, const Operand& described,
          const TypedView& view, std::size_t number = 0);
// Two different elements of an output do not share a place.
void distinct(const char* operation, const char* who, const Shape& shape, const Strides& strides);
// No element of `input` is an element of `output`, by the exact test.
void apart(const char* operation, std::string_view input_name, const TypedView& input, const char* output_name,
           const TypedView& output, std::size_t number = 0);

}  // namespace trn::tensor::checks
