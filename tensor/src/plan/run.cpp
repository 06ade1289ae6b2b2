// The steps of a program, one after another.
#include <algorithm>
#include <cmath>

#include <trn/core/error.hpp>
#include <trn/tensor/plan_program.hpp>
#include <trn/tile/device.hpp>

#include "kernels.hpp"
#include "measured.hpp"
#include "state.hpp"

namespace trn::tensor {

namespace {

struct Runner {
  const Executor& executor;
  const Program& program;
  const Addresses& at;
  Scalars scalars;
  device::Batch* batch = nullptr;
  Watch* watch = nullptr;

  [[nodiscard]] void* address(const Ref& ref) const {
    switch (ref.kind) {
      case Ref::Kind::Input:
        return const_cast<void*>(at.inputs[static_cast<std::size_t>(ref.index)]);
      case Ref::Kind::Temporary:
        return static_cast<std::byte*>(at.workspace) + ref.index;
      case Ref::Kind::Constant:
        return static_cast<std::byte*>(at.constants) + ref.index;
      case Ref::Kind::Output:
        return at.output;
      case Ref::Kind::C:
        return const_cast<void*>(at.c);
      case Ref::Kind::None:
        break;
    }
    return nullptr;
  }

  double step(const ProgramStep& s) const {
    const Scalars x = s.final ? scalars : Scalars{};
    const void *a = address(s.a), *b = address(s.b), *c = s.final ? at.c : nullptr;
    void* d = address(s.d);
    void* scratch = static_cast<std::byte*>(at.workspace) + program.temporary_bytes;
    const int threads = program.threads;
    if (const auto* w = std::get_if<host::Contraction>(&s.work)) {
      dispatch(kContract, executor, {w, {a, b, c, d, x.alpha, x.beta, scratch, threads}});
    } else if (const auto* k = std::get_if<device::ContractArgs>(&s.work)) {
      dispatch(kContract, executor, {nullptr, {a, b, c, d, x.alpha, x.beta, scratch, threads}, k, batch});
    } else if (const auto* t = std::get_if<device::MttkrpArgs>(&s.work)) {
      dispatch(kMttkrp, executor, {*t, {a, b, c, d, x.alpha, x.beta}, address(s.third), batch});
    } else if (const auto* r = std::get_if<host::ReduceArgs>(&s.work)) {
      dispatch(kReduce, executor, {*r, {a, b, c, d, x.alpha, x.beta, threads}, batch});
    } else if (const auto* p = std::get_if<host::PointwiseArgs>(&s.work)) {
      const std::complex<double> beta = s.final ? x.beta : 0;
      dispatch(kPointwise, executor, {*p, {{a, c}, {x.alpha, beta, 1}, d, threads}, batch});
    } else if (const auto* m = std::get_if<device::MoveArgs>(&s.work)) {
      dispatch(kPermute, executor, {m->dtype, m->group, a, d, threads, batch});
    } else {
      const double found = multiply(executor, std::get<Product>(s.work), {a, b, c, d, scratch, x, threads});
      return s.info.mode == Mode::Exact ? found : s.info.bound;
    }
    return s.info.bound;
  }
};

PlanSteps all_of(const Runner& given, const std::vector<ProgramStep>& steps, device::Batch* into = nullptr) {
  PlanSteps all{[given, &steps](device::Batch* batch) {
                  Runner runner = given;
                  runner.batch = batch;
                  double growth = 0;  // of prod (1 + g): summed as logarithms
                  for (const ProgramStep& s : steps) {
                    if (runner.watch)
                      runner.watch->before(runner.executor, s,
                                           {runner.address(s.a), runner.address(s.b), runner.address(s.third)}, batch);
                    const double bound = runner.step(s);
                    if (runner.watch) runner.watch->after(s, bound);
                    growth += std::log1p(bound);
                  }
                  return growth;
                },
                joins_a_batch(steps),
                {},
                into};
  for (const ProgramStep& s : steps) {
    if (s.d.kind == Ref::Kind::Temporary) all.inside.push_back(given.address(s.d));
  }
  return all;
}

}  // namespace

bool joins_a_batch(const std::vector<ProgramStep>& steps) {
  return std::all_of(steps.begin(), steps.end(), [](const ProgramStep& s) {
    return !std::holds_alternative<Product>(s.work) && s.d.kind != Ref::Kind::Constant;
  });
}

double run(const Executor& executor, const std::vector<ProgramStep>& steps, const Program& program,
           const Addresses& addresses, Scalars scalars, device::Batch* batch, Watch* watch) {
  // On a device all steps are one program, unless blas computes one of them (Exact) or constants are made.
  const Runner runner{executor, program, addresses, scalars, nullptr, watch};
  if (watch) watch->begin(executor, steps, addresses.c, scalars);
  const double growth = kernel_of(kPlanSteps, executor)(executor, all_of(runner, steps, batch));
  if (watch) watch->end();
  return std::expm1(growth);  // each step has its event
}

bool joins_a_batch(const Plan& plan) {
  const Plan::State& s = plan.state();
  return s.passes.size() == 1 && !s.constants && joins_a_batch(s.programs.front().steps);
}

double run_plan(const Plan& plan, std::span<const void* const> inputs, void* output, const void* c, Scalars scalars,
                void* workspace, device::Batch* batch) {
  const Plan::State& s = plan.state();
  ensure(s.passes.size() == 1, "tensor: a plan of {} passes is run as one", s.passes.size());
  const Program& p = s.programs.front();
  return run(s.executor, p.steps, p, {inputs, output, c, workspace, nullptr}, scalars, batch);
}

tile::Program plan_program(const Plan& plan) {
  const Plan::State& s = plan.state();
  require(s.executor.family() == Family::Device, "tensor.einsum: a plan of '{}' has no device program",
          s.executor.name());
  const Program& p = s.programs.front();
  if (!joins_a_batch(p.steps))
    fail<NotImplemented>("tensor.einsum: a plan with Exact steps runs blas's programs; it has no program of its own");
  // Places that nobody reads: only which of them are the same counts.
  std::vector<std::byte> places(s.description.operands.size() + 2);
  std::vector<const void*> inputs;
  for (std::size_t i = 0; i + 2 < places.size(); ++i) inputs.push_back(&places[i]);
  std::byte* const d = &places[places.size() - 2];
  auto* const workspace = reinterpret_cast<std::byte*>(std::uintptr_t{1} << 48);
  const Addresses at{inputs, d, d, workspace, workspace + p.workspace_bytes()};
  return ask(kPlanProgram, s.executor, all_of(Runner{s.executor, p, at, {}}, p.steps));
}

}  // namespace trn::tensor
