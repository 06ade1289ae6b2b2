// Adversarial cases of level 3: operands near overflow, of very wide exponents, denormal, or cancelling, with modes and
// targets.
#pragma once

#include "fuzz_support.hpp"

namespace trn::tools::fuzz {

// gemm_range (every mode and targets, with componentwise bounds), symm_range, syrk_range, syr2k_range, trmm_range
// (targets) and trsm_range (every mode and targets, by the residual).
[[nodiscard]] std::vector<FuzzRow> range_rows();

}  // namespace trn::tools::fuzz
