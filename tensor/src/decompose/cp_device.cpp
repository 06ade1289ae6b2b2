// One einsum for each mode, prepared once: of three modes it is the MTTKRP kernel (device/mttkrp.cpp).
#include "decompose/cp_device.hpp"

#include <fmt/core.h>

namespace trn::tensor {

DeviceMttkrp::DeviceMttkrp(const Executor& executor, const Dense<float>& x, std::int64_t rank)
    : executor_(executor), x_(Array<float>::from_host(executor, x.shape, x.values)) {
  const std::size_t modes = x.shape.size();
  for (const std::int64_t n : x.shape) factors_.emplace_back(executor, Shape{n, rank});
  for (std::size_t k = 0; k < modes; ++k) {
    Description d;
    const auto r = static_cast<Label>(modes);
    std::vector<Label> all;
    for (std::size_t i = 0; i < modes; ++i) {
      all.push_back(static_cast<Label>(i));
      d.expression.names.push_back(fmt::format("x{}", i));
    }
    d.expression.names.emplace_back("r");
    d.expression.inputs.push_back(all);
    d.operands.push_back(operand_of(x_.view()));
    for (std::size_t i = 0; i < modes; ++i) {
      if (i == k) continue;
      d.expression.inputs.push_back({static_cast<Label>(i), r});
      d.operands.push_back(operand_of(factors_[i].view()));
    }
    d.expression.output = {static_cast<Label>(k), r};
    d.output = operand_of(factors_[k].view());
    plans_.emplace_back(executor, d);
  }
}

std::vector<float> DeviceMttkrp::mode(const CpModel<float>& model, std::size_t mode) const {
  std::vector<TypedView> operands{x_.view()};
  for (std::size_t i = 0; i < factors_.size(); ++i) {
    if (i == mode) continue;
    copy_bytes(Executor::host(), model.factors[i].data(), executor_, const_cast<float*>(factors_[i].data()),
               static_cast<std::int64_t>(model.factors[i].size() * sizeof(float)));
    operands.emplace_back(factors_[i].view());
  }
  const Array<float> result(executor_, factors_[mode].shape());
  (void)plans_[mode].execute(operands, result.view());
  return result.to_host();
}

}  // namespace trn::tensor
