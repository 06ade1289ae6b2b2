// A plan's programs: see plan_programs.hpp.
#include <trn/core/error.hpp>
#include <trn/fft/plan_programs.hpp>

#include "../problem.hpp"
#include "planner.hpp"

namespace trn::fft {

std::vector<std::shared_ptr<const tile::Program>> plan_programs(const Executor& executor,
                                                                const Description& description, DType real) {
  require(executor.family() == Family::Device, "fft.plan: executor '{}' runs no programs; open a device",
          executor.name());
  require(real == DType::Float32 || real == DType::Float64, "fft.plan: transforms are float32 or float64, not {}",
          name(real));
  check(description, real);
  if (is_empty(description)) return {};
  const Problem problem = make_problem(description, real);
  const BodyPointer body = ask(kPlan, executor, problem);
  const auto* programs = dynamic_cast<const device::HasSteps*>(body.get());
  ensure(programs != nullptr, "fft: a device plan without steps");
  std::vector<std::shared_ptr<const tile::Program>> all;
  for (const device::Step& step : programs->steps()) all.push_back(step.program->shared_program());
  return all;
}

}  // namespace trn::fft
