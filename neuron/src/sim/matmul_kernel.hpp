// The host's inner loop of nc_matmul: c(m, n) = sum over k of a(k, m) * b(k, n), or c(m, n) + that sum.
//
// Every c(m, n) is one chain of fused multiply-adds in the order k = 0, 1, ..., starting from zero; the finished sum is
// then added to c when `accumulate` is set. Blocking over m and n, the vector width and the number of threads do not
// touch that chain, so the bits are the same on every host. Instruction sets without a fused multiply-add call
// std::fma.
#pragma once

#include <cstdint>

namespace trn::neuron::sim {

template <class Real> struct MatmulOperands {
  const Real* const* a = nullptr;  // K rows of M contiguous values
  const Real* const* b = nullptr;  // K rows of N contiguous values
  std::int64_t k = 0, m = 0, n = 0;
  Real* c = nullptr;  // M rows of N contiguous values, `pitch` values apart
  std::int64_t pitch = 0;
  bool accumulate = false;
};

template <class Real> void multiply(const MatmulOperands<Real>& operands);

}  // namespace trn::neuron::sim
