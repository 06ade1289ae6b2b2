// MTTKRPs of CP on a device: X stays there, factors come and results go.
#pragma once

#include <memory>
#include <vector>

#include <trn/tensor/plan.hpp>

#include "decompose/cp_model.hpp"

namespace trn::tensor {

class DeviceMttkrp {
 public:
  DeviceMttkrp(const Executor& executor, const Dense<float>& x, std::int64_t rank);
  // X's unfolding along a mode times the Khatri-Rao product of the other factors.
  [[nodiscard]] std::vector<float> mode(const CpModel<float>& model, std::size_t mode) const;

 private:
  Executor executor_;
  Array<float> x_;
  std::vector<Array<float>> factors_;  // n_k x rank
  std::vector<Plan> plans_;            // by mode: operands X and the other factors, in their order
};

}  // namespace trn::tensor
