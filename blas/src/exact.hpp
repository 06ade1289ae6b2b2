// Precision Exact: products of float64 (and float32) matrices from exact integer arithmetic.
#pragma once

#include "kernels.hpp"

#include <optional>

#include <trn/blas/gemm.hpp>

namespace trn::blas {

// A checked product in Mode::Exact. target > 0: as few moduli as keep the bound at or below it; InvalidArgument when none do.
Accuracy exact_gemm(const char* operation, const Executor& executor, const GemmArgs& g, const std::optional<MatrixView<double>>& componentwise,
                    double target);

}  // namespace trn::blas
