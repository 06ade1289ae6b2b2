// What a plan holds: the program of each kind of pass, and the passes.
#pragma once

#include <limits>
#include <memory>
#include <vector>

#include "program.hpp"

namespace trn::tensor {

// One pass of a sliced einsum: which program, and where its blocks of the operands begin, in elements.
struct Pass {
  std::size_t program;
  std::vector<std::int64_t> offsets;  // of the operands
  std::int64_t output = 0, c = 0;
  bool first = true;  // of its block of the output
};

// Sizes of a tensor's elements.
struct Magnitudes {
  double top = 0, least = std::numeric_limits<double>::infinity();  // least: of those that are not zero
  bool finite = true;
};

struct Plan::State {
  Executor executor;
  Description description;
  DType compute = DType::Float32;
  std::vector<Shape> shapes;
  SliceSet slices;
  std::vector<Program> programs;
  std::vector<Pass> passes;  // empty: one, of the whole
  std::vector<Step> steps;
  std::unique_ptr<Buffer> constants;
  std::vector<Magnitudes> constant_sizes;  // by operand; for a target
  Accuracy accuracy;
  double flops = 0, moved_bytes = 0, seconds = 0;
  std::int64_t workspace_bytes = 0, intermediate_bytes = 0;
};

// A plan of one pass without constants whose steps can join other plans' in a batch.
[[nodiscard]] bool joins_a_batch(const Plan& plan);
// An execution without checks, targets or allocations: addresses as the description says, `c` the result's where there
// is no other. Returns the bound.
double run_plan(const Plan& plan, std::span<const void* const> inputs, void* output, const void* c, Scalars scalars,
                void* workspace, device::Batch* batch = nullptr);

}  // namespace trn::tensor
