// A plan's work: steps over inputs, intermediates and the output, with everything prepared but the addresses.
#pragma once

#include <optional>
#include <variant>
#include <vector>

#include <trn/tensor/plan.hpp>

#include "../device/launch.hpp"
#include "../fold.hpp"
#include "../host/contract.hpp"
#include "../host/pointwise.hpp"
#include "product.hpp"

namespace trn::tensor {

// Where an operand of a step is.
struct Ref {
  enum class Kind : std::uint8_t { None, Input, Temporary, Constant, Output, C };
  Kind kind = Kind::None;
  std::int64_t index = 0;  // number of an input; bytes from the start of the workspace or of the constants
};

struct ProgramStep {
  Step info;
  Ref a, b, d, third = {};
  bool final = false;  // alpha, beta and C are this step's
  std::int64_t scratch_bytes = 0;
  std::variant<host::Contraction, host::ReduceArgs, host::PointwiseArgs, device::MoveArgs, device::ContractArgs,
               Product, device::MttkrpArgs>
      work;
};

struct Program {
  std::vector<ProgramStep> constant_steps, steps;
  std::int64_t constant_bytes = 0, temporary_bytes = 0, scratch_bytes = 0;
  int threads = 1;
  [[nodiscard]] std::int64_t workspace_bytes() const { return temporary_bytes + scratch_bytes; }
};

// What a program is made of. `modes`: one per contraction, in order of the path; `shapes`: of the operands of one pass.
struct Blueprint {
  const Description* description;
  const Executor* executor;
  DType compute;
  Sizes sizes;
  std::vector<Shape> shapes;
  std::vector<PathStep> path;
  std::vector<Mode> modes;
  int threads = 1;
};
[[nodiscard]] Program build(const Blueprint& blueprint);
// The labels that paths are made of: no label twice in an operand, no axes that are repeated.
[[nodiscard]] Expression for_paths(const Expression& expression, const Sizes& sizes, const std::vector<Shape>& shapes);

// Addresses of one execution.
struct Addresses {
  std::span<const void* const> inputs;
  void* output = nullptr;
  const void* c = nullptr;
  void* workspace = nullptr;
  void* constants = nullptr;
};
class Watch;
// Returns the bound of the steps, with what Exact steps found. `batch`: where the steps of a device program are
// gathered instead of launched; joins_a_batch(steps) then. `watch` sees every step (measured.hpp).
double run(const Executor& executor, const std::vector<ProgramStep>& steps, const Program& program,
           const Addresses& addresses, Scalars scalars, device::Batch* batch = nullptr, Watch* watch = nullptr);
// No step is blas's (Exact) and none makes constants.
[[nodiscard]] bool joins_a_batch(const std::vector<ProgramStep>& steps);

}  // namespace trn::tensor
