// The device program of a plan as a value, for tools that print, emit, profile or estimate it.
#pragma once

#include <trn/tensor/plan.hpp>
#include <trn/tile/program.hpp>

namespace trn::tensor {

// All steps of one pass of a plan of a device, alpha = 1 and beta = 0. Throws InvalidArgument for a plan of the host
// and NotImplemented for one with Exact steps: those are blas's programs (blas/exact_program.hpp), one after another.
[[nodiscard]] tile::Program plan_program(const Plan& plan);

}  // namespace trn::tensor
