// The operations the command line knows: a new one adds its line here.
#include "operation.hpp"

namespace trn::tools {

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
