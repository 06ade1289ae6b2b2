// The kernels of trntensor, both families. Device kernels do not exist yet; contractions of matrices in place go to
// blas::gemm there (plan/product.hpp).
#pragma once

#include <trn/core/dispatch.hpp>

#include "host/contract.hpp"
#include "host/pointwise.hpp"

namespace trn::tensor {

struct ContractStep {
  const host::Contraction& work;
  host::ContractCall call;
};
struct ReduceStep {
  const host::ReduceArgs& work;
  host::ReduceCall call;
};
struct PointwiseStep {
  const host::PointwiseArgs& work;
  host::PointwiseCall call;
};
struct PermuteStep {
  std::int64_t element_bytes;
  const Group& group;
  const void* a;
  void* d;
  int threads;
};

inline constexpr KernelTable<ContractStep> kContract{
    "tensor.contract", [](const Executor&, const ContractStep& s) { host::contract(s.work, s.call); }};
inline constexpr KernelTable<ReduceStep> kReduce{
    "tensor.reduce", [](const Executor&, const ReduceStep& s) { host::reduce(s.work, s.call); }};
inline constexpr KernelTable<PointwiseStep> kPointwise{
    "tensor.elementwise", [](const Executor&, const PointwiseStep& s) { host::pointwise(s.work, s.call); }};
inline constexpr KernelTable<PermuteStep> kPermute{"tensor.permute", [](const Executor&, const PermuteStep& s) {
                                                     host::permute(s.element_bytes, s.group, s.a, s.d, s.threads);
                                                   }};

}  // namespace trn::tensor
