// The operations the command line knows: a new one adds its line here.
#include "operation.hpp"

#include <trn/neuron/sim.hpp>

namespace trn::tools {

BenchRow Operation::bench(const Executor& executor, const BenchOptions& options) const {
  if (options.model_only && executor.family() != Family::Device)
    fail<NotImplemented>("bench: --model-only is for simulators; executor '{}' has no model", executor.name());
  BenchRow row;
  row.op = name();
  row.executor = executor.name();
  fill(row, executor, options);
  return row;
}

double modelled_call(const Operation& operation, const tile::Machine& machine) {
  double seconds = 0;
  for (const Step& step : steps(operation, machine))
    seconds += step.runs * neuron::estimate(*step.program, machine).seconds;
  return seconds;
}

std::vector<std::unique_ptr<Operation>> operations() {
  std::vector<std::unique_ptr<Operation>> all;
  all.push_back(gemm_operation());
  all.push_back(gemm_batched_operation());
  all.push_back(trsm_operation());
  all.push_back(trsm_batched_operation());
  all.push_back(pair_energy_operation());
  for (auto& operation : narrow_operations()) all.push_back(std::move(operation));
  for (auto& operation : vector_operations()) all.push_back(std::move(operation));
  add_blas_operations(all);  // after those with programs of their own
  for (auto& operation : rand_operations()) all.push_back(std::move(operation));
  for (auto& operation : fft_operations()) all.push_back(std::move(operation));
  for (auto& operation : sparse_operations()) all.push_back(std::move(operation));
  for (auto& operation : sparse_direct_operations()) all.push_back(std::move(operation));
  for (auto& operation : solver_operations()) all.push_back(std::move(operation));
  for (auto& operation : tensor_operations()) all.push_back(std::move(operation));
  return all;
}

}  // namespace trn::tools
