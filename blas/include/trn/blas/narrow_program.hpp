// The device kernel of stores in 16 or 8 bits as a value: y = round(alpha x + beta y) for one shape, for tools that
// print, emit, profile or estimate it.
#pragma once

#include <vector>

#include <trn/core/rounding.hpp>
#include <trn/tile/machine.hpp>
#include <trn/tile/program.hpp>

namespace trn::blas {

// m x n numbers. y has a float type narrower than float32, x that type or float32, or the other way round in a copy,
// which is not stochastic; strides in elements.
struct NarrowShape {
  DType x = DType::Float32, y = DType::BFloat16;
  std::int64_t m = 1, n = 1, xr = 1, xc = 1, yr = 1, yc = 1;
  bool adds_x = true, adds_y = false;  // which terms there are: one at least
  bool stochastic = true;
  bool operator==(const NarrowShape&) const = default;
};

// Tensors: inputs "x" (adds_x), "y_in" (adds_y), "factors" (alpha, beta) and, with stochastic, "parameters" (uint32);
// output "y", over "y_in" where that is.
[[nodiscard]] tile::Program narrow_program(const NarrowShape& shape, const tile::Machine& machine);

// The input "parameters": the random words' counter and keys for element 0.
[[nodiscard]] std::vector<std::uint32_t> narrow_parameters(const Rounding& rounding);

}  // namespace trn::blas
