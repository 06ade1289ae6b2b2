// Arithmetic and traffic of operations on tensors: what a benchmark divides by time. A contraction's operations are its
// plan's (Plan::flops); permutations and reductions are limited by memory and counted in bytes.
#pragma once

#include <span>

#include <trn/core/dtype.hpp>
#include <trn/tensor/types.hpp>

namespace trn::tensor::counts {

// Every operand is read once and the result written once.
[[nodiscard]] inline double bytes(std::span<const TypedView> operands, const TypedView& result) {
  const auto of = [](const TypedView& v) { return static_cast<double>(byte_count(v.shape, size_bytes(v.dtype))); };
  double all = of(result);
  for (const TypedView& v : operands) all += of(v);
  return all;
}

}  // namespace trn::tensor::counts
