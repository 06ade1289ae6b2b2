// gemm with a target error, in two steps: what has to be read of the operands, and the product in the cheapest mode
// that keeps the target for them. Batches read the operands of all their products before they choose.
#pragma once

#include "exact.hpp"

namespace trn::blas {

// What was read of a product's operands: statistics, not copies. Exact where the operands' type has that mode.
struct ReadOperands {
  std::optional<ExactOperands> exact;
  ProductSizes sizes;
  bool with_c = false;  // sizes count C too
};
// Reads A and B.
[[nodiscard]] ReadOperands read_operands(const Executor& executor, const GemmArgs& g);
// Reads C where beta does, unless that was done.
void read_c(const Executor& executor, const GemmArgs& g, ReadOperands& operands);

// A checked product in the cheapest mode whose bound is at most the target of `options`; TargetRefused when there is
// none. What `operands` holds is not read again for the choice.
Accuracy gemm_to_target(const char* operation, const Executor& executor, GemmArgs g, const GemmOptions& options,
                        ReadOperands operands);

}  // namespace trn::blas
