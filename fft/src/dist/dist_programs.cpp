// A rank's programs of a distributed transform: see dist_programs.hpp.
#include <algorithm>
#include <trn/core/error.hpp>
#include <trn/fft/dist_programs.hpp>
#include <trn/fft/points_program.hpp>
#include <trn/tile/device.hpp>

#include "../device/planner.hpp"
#include "lines.hpp"

namespace trn::fft {

namespace {

// Fewer lines along `dimension`, the slowest ones first, so that what remains lies as it did.
Shape sampled(Shape extent, std::size_t dimension, std::int64_t points) {
  for (std::size_t i = 0; i < extent.size(); ++i) {
    const std::int64_t all = element_count(extent);
    if (i == dimension || all <= points) continue;
    extent[i] = std::max<std::int64_t>(1, points / (all / extent[i]));
  }
  return extent;
}

}  // namespace

DistWork dist_programs(const Executor& executor, const DistDescription& description, int ranks, std::int64_t points) {
  require(executor.family() == Family::Device, "fft.dist_programs: executor '{}' runs no programs; open a device",
          executor.name());
  require(ranks >= 1 && points >= 1, "fft.dist_programs: {} ranks, {} points; both must be at least 1", ranks, points);
  dist_detail::check(description);
  const long double factor = dist_detail::factor_of(description);
  const dist_detail::Geometry geometry = dist_detail::make_geometry(description, ranks, nullptr, nullptr);
  DistWork all;
  const auto exchange = [&](const dist_detail::Layout& from, const dist_detail::Layout& to) {
    if (!(from == to)) all.exchanges.push_back(dist_detail::partners_of(from, to, 0));
  };
  exchange(geometry.from, geometry.stages.front().layout);
  for (std::size_t s = 0; s < geometry.stages.size(); ++s) {
    const dist_detail::GeometryStage& stage = geometry.stages[s];
    if (s > 0) exchange(dist_detail::layout_after(geometry.stages[s - 1]), stage.layout);
    const Shape whole = stage.boxes.front().extent;
    const auto times = [&](const Shape& some) {
      return static_cast<double>(element_count(whole)) / static_cast<double>(element_count(some));
    };
    for (const dist_detail::LineStep& line : stage.lines) {
      const Shape some = sampled(whole, line.dimension, points);
      const bool last = line.dimension + 1 == whole.size();
      const WayProblem problem = dist_detail::line_problem(DType::Float32, description, line, some, 0,
                                                           last ? factor : 1, description.precision.mode());
      const BodyPointer body = ask(kPlanWay, executor, problem);
      const auto* const steps = dynamic_cast<const device::HasSteps*>(body.get());
      ensure(steps != nullptr, "fft: a device plan without steps");
      DistPrograms made{{}, times(some)};
      for (const device::Step& step : steps->steps()) made.programs.push_back(step.program->shared_program());
      all.lines.push_back(std::move(made));
    }
    if (!stage.twiddle) continue;
    const std::int64_t count = std::min(element_count(whole), points);
    const PointLayout layout{Format::Interleaved, false, count, 2};
    const tile::Machine& machine = tile::device_of(executor).machine();
    all.lines.push_back(
        {{std::make_shared<const tile::Program>(pointwise_program({layout, layout, {{1, 0, 0}}, true, true}, machine))},
         static_cast<double>(element_count(whole)) / static_cast<double>(count)});
  }
  exchange(geometry.last, geometry.to);
  return all;
}

}  // namespace trn::fft
