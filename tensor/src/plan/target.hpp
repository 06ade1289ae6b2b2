// Modes per step for a target error.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "state.hpp"

namespace trn::tensor {

// Modes per contraction such that prod (1 + g_v) - 1 <= target, at the least cost that a greedy choice finds: from the
// cheapest modes on, the step that gains most per second is raised. Throws InvalidArgument with the best bound.
[[nodiscard]] std::vector<Mode> modes_for(double target, const Executor& executor, DType compute,
                                          const std::function<Program(const std::vector<Mode>&)>& build,
                                          std::size_t contractions);
// All modes that a target may take, cheapest first.
[[nodiscard]] std::vector<Mode> modes_of_targets(Family family, DType compute);

// |op(x)| in double, dense, on the host; the operand may be anywhere.
[[nodiscard]] Array<double> magnitudes(const TypedView& view, Unary op);

[[nodiscard]] Magnitudes sizes_in(const TypedView& view, Unary op);

// componentwise_bound of what the operator of the result is applied to.
void argument_bound(const Plan& plan, std::span<const TypedView> operands, Scalars scalars, const TypedView* c,
                    const View<double>& out);

// What a plan keeps for operands of these sizes; `c`: of C, where beta reads it. Both are infinite where a number is
// not finite, a word overflows, or a product or sum may.
struct InRange {
  double bound = 0;     // with what underflow can lose, relative to the least that a term can be
  double absolute = 0;  // what underflow can take from an element of D
};
[[nodiscard]] InRange in_range(const Plan::State& plan, std::span<const Magnitudes> operands, Scalars scalars,
                               const Magnitudes& c);

}  // namespace trn::tensor
