// The kernels of trntensor, both families, and what a plan asks of them before anything runs. Device kernels join a
// batch of steps that becomes one program, or run at once where there is none.
#pragma once

#include <cmath>
#include <functional>
#include <variant>

#include <trn/blas/gemm.hpp>
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
struct MttkrpStep {
  const device::MttkrpArgs& work;
  device::Batch::Operands at;
  const void* z;
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

// The steps of one plan or several, in order: run(batch) gives what they grew by. `inside` is memory that only they
// see, `into` a batch of others that they join.
struct PlanSteps {
  std::function<double(device::Batch*)> run;
  bool together = false;  // on a device all steps can be one program
  std::vector<const void*> inside = {};
  device::Batch* into = nullptr;
};
struct ContractQuestion {
  device::ContractArgs args;
  DType a_type, b_type;
  int threads;
};
struct PreparedContract {
  std::variant<host::Contraction, device::ContractArgs> work;
  const char* algorithm;
  double bound;
  std::int64_t scratch_bytes = 0;
  bool any_order = false;  // of the operands' indices in memory, at no cost
  // Operators that the work does not apply on its way: they are steps of their own.
  bool a_apart = false, b_apart = false, result_apart = false;
};

namespace host {

inline PreparedContract prepare_contract(const Executor&, const ContractQuestion& q) {
  const auto& [folded, compute, mode, conj_a, conj_b, in, a_op, b_op, result] = q.args;
  const Operators operators{conj_a ? Unary::Conj : a_op, conj_b ? Unary::Conj : b_op, result};
  Contraction w = prepare(folded, compute, q.a_type, q.b_type, operators);
  const std::int64_t depth = extent_of(folded.k), scratch = workspace_bytes(w, q.threads);
  const double complex = is_complex(compute) ? 2 * std::sqrt(2.0) : 1;
  const double bound = w.algorithm == Algorithm::Dot ? complex * (tree_roundings(depth) + 4) * unit_roundoff(compute)
                                                     : blas::gemm_error_bound(Family::Host, compute, compute, depth);
  const char* const algorithm = name(w.algorithm);
  const auto [a_apart, b_apart] = repeats_work(w);
  return {std::move(w), algorithm, bound, scratch, false, a_apart, b_apart, false};
}

}  // namespace host

namespace device {

inline PreparedContract prepare_contract(const Executor& executor, const ContractQuestion& q) {
  if (real_of(q.args.compute) == DType::Float64) {
    fail<NotImplemented>(
        "tensor.contract: no device kernel computes in {} with mode {}; use Precision Exact, or the host executor",
        name(q.args.compute), name(q.args.mode));
  }
  const tile::Machine& machine = tile::device_of(executor).machine();
  PreparedContract p{q.args, algorithm_of(q.args, machine), bound_of(q.args, machine), 0,
                     reads_any_order(q.args, machine)};
  p.a_apart = !applies(q.args, q.args.a_op), p.b_apart = !applies(q.args, q.args.b_op);
  p.result_apart = !applies(q.args, q.args.result);
  return p;
}
inline double reduce_roundings(const Executor&, const host::ReduceArgs& args) {
  check_reduce(args);
  return sum_roundings(args);
}

inline double gather(Batch& batch, const PlanSteps& s) {
  for (const void* address : s.inside) batch.keep_inside(address);
  return s.run(&batch);
}
inline double run_plan(const Executor& executor, const PlanSteps& s) {
  if (!s.together) return s.run(nullptr);
  if (s.into) return gather(*s.into, s);
  Batch batch;
  const double growth = gather(batch, s);
  batch.launch(executor);
  return growth;
}
inline tile::Program program_of(const Executor& executor, const PlanSteps& s) {
  Batch batch;
  gather(batch, s);
  return plan_program(batch.shape(), tile::device_of(executor).machine());
}

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
inline void run_mttkrp(const Executor& e, const MttkrpStep& s) {
  in_batch(e, s.batch, [&](Batch& b) {
    const bool nothing = std::complex<float>(s.at.alpha) == std::complex<float>(0);
    if (!nothing) return b.mttkrp(s.work, s.at, s.z);
    const MttkrpArgs& w = s.work;  // D = beta C
    host::PointwiseArgs p{DType::Float32, DType::Float32, 2, {DType::Float32, DType::Float32}, {}};
    for (const MttkrpArgs::Index& i : {w.m, w.r}) p.group.push_back({i.extent, 0, i.c, 0, i.d});
    sort_and_merge(p.group, &FoldedIndex::d);
    b.pointwise(std::move(p), {{nullptr, s.at.c}, {0, s.at.beta, 1}, s.at.d});
  });
}
inline double mttkrp_bound(const Executor& executor, const MttkrpArgs& args) {
  const tile::Machine& machine = tile::device_of(executor).machine();
  return suits_mttkrp(args, machine) ? mttkrp_bound(args, machine) : -1;
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
inline constexpr KernelTable<MttkrpStep> kMttkrp{"tensor.mttkrp", nullptr, device::run_mttkrp};
inline constexpr KernelTable<PlanSteps, double> kPlanSteps{
    "tensor.einsum", [](const Executor&, const PlanSteps& s) { return s.run(nullptr); }, device::run_plan};
inline constexpr KernelTable<PlanSteps, tile::Program> kPlanProgram{"tensor.einsum", nullptr, device::program_of};

// Questions, for ask(): a refusal is an exception.
inline constexpr KernelTable<ContractQuestion, PreparedContract> kPrepareContract{
    "tensor.contract", host::prepare_contract, device::prepare_contract};
inline constexpr KernelTable<host::PointwiseArgs> kPointwiseCheck{
    "tensor.elementwise", [](const Executor&, const host::PointwiseArgs&) {},
    [](const Executor&, const host::PointwiseArgs& args) { device::check_pointwise(args); }};
// The bound of the kernel, negative where it does not suit.
inline constexpr KernelTable<device::MttkrpArgs, double> kMttkrpBound{"tensor.mttkrp", nullptr, device::mttkrp_bound};
// Roundings that a term of a sum meets at most.
inline constexpr KernelTable<host::ReduceArgs, double> kReduceRoundings{
    "tensor.reduce",
    [](const Executor&, const host::ReduceArgs& args) { return host::tree_roundings(extent_of(args.summed)); },
    device::reduce_roundings};

}  // namespace trn::tensor
