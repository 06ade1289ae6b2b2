// The kernels of trntensor, both families. Device kernels join a batch of steps that becomes one program, or run at
// once where there is none.
#pragma once

#include <trn/core/dispatch.hpp>

#include "device/launch.hpp"
#include "host/contract.hpp"
#include "host/pointwise.hpp"

namespace trn::tensor {

struct ContractStep {
  const host::Contraction* work;
  host::ContractCall call;
  const device::ContractArgs* on_device = nullptr;
  device::Batch* batch = nullptr;
};
struct ReduceStep {
  const host::ReduceArgs& work;
  host::ReduceCall call;
  device::Batch* batch = nullptr;
};
struct PointwiseStep {
  const host::PointwiseArgs& work;
  host::PointwiseCall call;
  device::Batch* batch = nullptr;
};
struct PermuteStep {
  DType dtype;
  const Group& group;
  const void* a;
  void* d;
  int threads;
  device::Batch* batch = nullptr;
};

namespace device {

// body(batch) into the batch that is given, or into one of its own that is launched.
template <class Body> void in_batch(const Executor& executor, Batch* batch, const Body& body) {
  if (batch) return body(*batch);
  Batch own;
  body(own);
  own.launch(executor);
}

inline void run_contract(const Executor& e, const ContractStep& s) {
  in_batch(e, s.batch, [&](Batch& b) {
    contract(b, *s.on_device, {s.call.a, s.call.b, s.call.c, s.call.d, s.call.alpha, s.call.beta});
  });
}
inline void run_reduce(const Executor& e, const ReduceStep& s) {
  in_batch(e, s.batch, [&](Batch& b) { b.reduce(s.work, s.call); });
}
inline void run_pointwise(const Executor& e, const PointwiseStep& s) {
  in_batch(e, s.batch, [&](Batch& b) {
    Batch::Call c;
    for (int t = 0; t < 3; ++t) c.data[t] = s.call.data[t], c.scale[t] = s.call.scale[t];
    c.d = s.call.d;
    b.pointwise(s.work, c);
  });
}
inline void run_permute(const Executor& e, const PermuteStep& s) {
  in_batch(e, s.batch, [&](Batch& b) { b.move(s.dtype, s.group, s.a, s.d); });
}

}  // namespace device

inline constexpr KernelTable<ContractStep> kContract{
    "tensor.contract", [](const Executor&, const ContractStep& s) { host::contract(*s.work, s.call); },
    device::run_contract};
inline constexpr KernelTable<ReduceStep> kReduce{
    "tensor.reduce", [](const Executor&, const ReduceStep& s) { host::reduce(s.work, s.call); }, device::run_reduce};
inline constexpr KernelTable<PointwiseStep> kPointwise{
    "tensor.elementwise", [](const Executor&, const PointwiseStep& s) { host::pointwise(s.work, s.call); },
    device::run_pointwise};
inline constexpr KernelTable<PermuteStep> kPermute{
    "tensor.permute",
    [](const Executor&, const PermuteStep& s) { host::permute(size_bytes(s.dtype), s.group, s.a, s.d, s.threads); },
    device::run_permute};

}  // namespace trn::tensor
