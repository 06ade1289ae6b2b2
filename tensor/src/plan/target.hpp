// Modes per step for a target error.
#pragma once

#include <functional>
#include <vector>

#include "program.hpp"

namespace trn::tensor {

// Modes per contraction such that prod (1 + g_v) - 1 <= target, at the least cost that a greedy choice finds: from the
// cheapest modes on, the step that gains most per second is raised. Throws InvalidArgument with the best bound.
[[nodiscard]] std::vector<Mode> modes_for(double target, const Executor& executor, DType compute,
                                          const std::function<Program(const std::vector<Mode>&)>& build,
                                          std::size_t contractions);

}  // namespace trn::tensor
