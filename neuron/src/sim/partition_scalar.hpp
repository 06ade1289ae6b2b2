// PartitionScalar: an operand of one value per partition.
#pragma once

#include "sim/execution.hpp"

namespace trn::neuron::sim {

// A [P, 1] operand or an immediate: its value for one partition.
template <class Real> class PartitionScalar {
 public:
  PartitionScalar(const Execution& e, std::size_t slot, double immediate) : immediate_(static_cast<Real>(immediate)) {
    if (!e.has(slot)) return;
    const Operand o = e.read(slot);
    values_.resize(static_cast<std::size_t>(o.count));
    load(o, 0, o.count, values_.data());
  }
  [[nodiscard]] Real at(std::int64_t partition) const {
    return values_.empty() ? immediate_ : values_[static_cast<std::size_t>(partition)];
  }

 private:
  Real immediate_;
  std::vector<Real> values_;
};

}  // namespace trn::neuron::sim
