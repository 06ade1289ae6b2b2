// fft.plan and its execution on the device: the axes of a transform one after another, each as lines.
//
// Complex transforms take the last axis from the input to the output and the others in place there; a real input's axis
// comes first, a real output's last, with half arrays in the output or the workspace. No axis is ever transposed: lines
// that are neighbours have a kernel of their own.
//
// For the axes after the first x and y of a program are one memory, which it declares (in_place.hpp). Whether the first
// one is in place shows in the addresses of an execution, so it has a second program then.
#include <cmath>
#include <trn/core/error.hpp>

#include "exact_plan.hpp"

namespace trn::fft::device {

using namespace trn::tile;

namespace {

class DeviceBody final : public detail::Body, public HasSteps {
 public:
  DeviceBody(std::vector<Step> steps, std::int64_t workspace_bytes, Accuracy accuracy)
      : steps_(std::move(steps)), workspace_bytes_(workspace_bytes), accuracy_(accuracy) {}
  const std::vector<Step>& steps() const override { return steps_; }
  std::int64_t workspace_bytes() const override { return workspace_bytes_; }
  Accuracy accuracy() const override { return accuracy_; }

  void execute(const Executor& executor, const Operands& o) const override {
    const auto base = [&](const Ref& ref) -> void* {
      switch (ref.of) {
        case Ref::Of::InputRe:
          return o.in.re;
        case Ref::Of::InputIm:
          return o.in.im;
        case Ref::Of::OutputRe:
          return o.out.re;
        case Ref::Of::OutputIm:
          return o.out.im;
        case Ref::Of::Workspace:
          break;
      }
      return o.workspace;
    };
    const auto bytes = [](const Ref& ref) { return ref.offset * static_cast<std::int64_t>(sizeof(float)); };
    for (const Step& step : steps_) {
      std::vector<Argument> arguments;
      for (const auto& [name, ref] : step.refs) arguments.push_back({name, base(ref), bytes(ref)});
      for (const auto& [name, buffer] : step.constants) arguments.push_back({name, buffer.data()});
      const bool in_place = step.in_place && o.in.re == o.out.re;
      launch(executor, in_place ? step.in_place->program() : step.program, arguments);
    }
  }

 private:
  std::vector<Step> steps_;
  std::int64_t workspace_bytes_;
  Accuracy accuracy_;
};

// The lines of one axis: all other axes and the batch. `halved`: the last axis has n/2 + 1 points, because it is
// another one's turn.
std::vector<LineDim> lines_of(const Problem& p, std::size_t axis, bool halved) {
  std::vector<LineDim> lines;
  for (const Dimension& d : p.batch) lines.push_back({d.extent, d.input_stride, d.output_stride});
  for (std::size_t i = 0; i < p.axes.size(); ++i) {
    if (i == axis) continue;
    const Dimension& d = p.axes[i];
    lines.push_back({halved && i + 1 == p.axes.size() ? d.extent / 2 + 1 : d.extent, d.input_stride, d.output_stride});
  }
  return lines;
}

class Builder {
 public:
  Builder(const Executor& executor, const WayProblem& problem, Mode mode,
          Planner::Make make = Planner::Make::Everything)
      : p_(problem.problem), way_(problem.way), planner_(executor, mode, make), mode_(mode) {}

  std::shared_ptr<const detail::Body> build() {
    switch (p_.kind) {
      case Kind::ComplexToComplex:
      case Kind::RealToComplex:
        forward_order();
        break;
      case Kind::ComplexToReal:
        backward_order();
        break;
    }
    const int passes = mode_ == Mode::Tf32x3 ? 3 : mode_ == Mode::Bf16x6 ? 6 : 1;
    // Half of a Hermitian array has at least 1/sqrt(2) of its norm; as weighted input (half_line_program) at most
    // sqrt(2) of it.
    const Accuracy accuracy{mode_, passes, planner_.bound() * (p_.kind == Kind::ComplexToComplex ? 1 : std::sqrt(2.0))};
    return std::make_shared<DeviceBody>(planner_.take_steps(), planner_.workspace_bytes(), accuracy);
  }

 private:
  Field input(std::size_t axis) const {
    const bool real = p_.kind == Kind::RealToComplex,
               half = p_.kind == Kind::ComplexToReal && axis + 1 == p_.axes.size();
    const Dimension& d = p_.axes[axis];
    return {{Ref::Of::InputRe},
            {Ref::Of::InputIm},
            {p_.input_format, real, half ? d.extent / 2 + 1 : d.extent, d.input_stride}};
  }
  Field output(std::size_t axis) const {
    const bool real = p_.kind == Kind::ComplexToReal,
               half = p_.kind == Kind::RealToComplex && axis + 1 == p_.axes.size();
    const Dimension& d = p_.axes[axis];
    return {{Ref::Of::OutputRe},
            {Ref::Of::OutputIm},
            {p_.output_format, real, half ? d.extent / 2 + 1 : d.extent, d.output_stride}};
  }

  [[nodiscard]] Way other_way() const { return way_ == Way::Quickest ? Way::Quickest : Way::Columns; }

  // Last axis from input to output, the others in the output.
  void forward_order() {
    const std::size_t last = p_.axes.size() - 1;
    planner_.set_way(way_);
    planner_.transform(input(last), output(last), lines_of(p_, last, false), p_.axes[last].extent, p_.direction,
                       p_.factor);
    for (std::size_t axis = last; axis-- > 0;) {
      std::vector<LineDim> lines = lines_of(p_, axis, p_.kind == Kind::RealToComplex);
      for (LineDim& d : lines) d.in = d.out;
      Field there = output(axis), from = there;
      planner_.set_way(other_way());
      planner_.transform(from, there, lines, p_.axes[axis].extent, p_.direction, 1);
    }
  }

  // All axes but the last from the input through the workspace, the last one from there to the output.
  void backward_order() {
    const std::size_t last = p_.axes.size() - 1;
    const Dimension& halved = p_.axes[last];
    planner_.set_way(last == 0 ? way_ : other_way());
    if (last == 0)
      return planner_.transform(input(0), output(0), lines_of(p_, 0, false), halved.extent, p_.direction, p_.factor);
    // Half arrays in the workspace, dense, the last axis innermost: distances by dimension, batch first.
    std::vector<LineDim> dims;
    for (const Dimension& d : p_.batch) dims.push_back({d.extent});
    for (std::size_t i = 0; i < last; ++i) dims.push_back({p_.axes[i].extent});
    const Field rows = planner_.workspace_lines(halved.extent / 2 + 1, dims, Planner::As::Input);
    for (std::size_t axis = 0; axis < last; ++axis) {
      std::vector<LineDim> lines;
      for (std::size_t i = 0; i < dims.size(); ++i) {
        const bool batch = i < p_.batch.size();
        if (!batch && i - p_.batch.size() == axis) continue;
        const Dimension& d = batch ? p_.batch[i] : p_.axes[i - p_.batch.size()];
        lines.push_back({d.extent, axis == 0 ? d.input_stride : dims[i].in, dims[i].in});
      }
      lines.push_back({halved.extent / 2 + 1, axis == 0 ? halved.input_stride : 2, 2});
      Field from = rows, to = rows;
      to.layout.points = p_.axes[axis].extent;
      to.layout.stride = dims[p_.batch.size() + axis].in;
      from = axis == 0 ? input(0) : to;
      planner_.transform(from, to, lines, p_.axes[axis].extent, p_.direction, 1);
    }
    std::vector<LineDim> lines;
    for (std::size_t i = 0; i < dims.size(); ++i) {
      const Dimension& d = i < p_.batch.size() ? p_.batch[i] : p_.axes[i - p_.batch.size()];
      lines.push_back({d.extent, dims[i].in, d.output_stride});
    }
    planner_.set_way(way_);
    planner_.transform(rows, output(last), lines, halved.extent, p_.direction, p_.factor);
  }

  const Problem& p_;
  Way way_;
  Planner planner_;
  Mode mode_;
};

std::shared_ptr<const detail::Body> build_single(const Executor& executor, const WayProblem& p) {
  const Problem& problem = p.problem;
  if (!problem.precision.has_target()) return Builder(executor, p, problem.precision.mode()).build();
  double best = 1;
  for (const Mode mode : {Mode::Bf16, Mode::Tf32, Mode::Tf32x3, Mode::Native, Mode::Bf16x6}) {
    const double bound = Builder(executor, p, mode, Planner::Make::BoundAlone).build()->accuracy().bound;
    if (bound <= problem.precision.target_error()) return Builder(executor, p, mode).build();
    best = std::min(best, bound);
  }
  fail<InvalidArgument>(
      "fft.plan: an error of {} is asked for, but the device's float32 modes reach {} for this transform; ask for "
      "more, or use double "
      "precision with mode exact",
      problem.precision.target_error(), best);
}

}  // namespace

BodyPointer build_way(const Executor& executor, const WayProblem& p) {
  const Problem& problem = p.problem;
  if (problem.real == DType::Float64) {
    const bool target = problem.precision.has_target();
    if (!target && problem.precision.mode() != Mode::Exact) {
      fail<NotImplemented>(
          "fft.plan: the device computes double precision in mode exact only, not {}; ask for Mode::Exact, or use the "
          "host",
          name(problem.precision.mode()));
    }
    BodyPointer body = build_exact(executor, problem);
    if (target && body->accuracy().bound > problem.precision.target_error()) {
      fail<InvalidArgument>(
          "fft.plan: an error of {} is asked for, but mode exact reaches {} for this transform on the device; ask for "
          "more, or use the "
          "host",
          problem.precision.target_error(), body->accuracy().bound);
    }
    return body;
  }
  if (!problem.precision.has_target() && problem.precision.mode() == Mode::Exact) {
    fail<NotImplemented>(
        "fft.plan: the device has mode exact for double precision only; use native, tf32x3 or bf16x6 for float");
  }
  return build_single(executor, p);
}
BodyPointer build(const Executor& executor, const Problem& problem) {
  return build_way(executor, {problem, Way::Quickest});
}

double way_bound(const Executor& executor, const WayBoundArgs& args) {
  if (args.problem->problem.real == DType::Float64)
    return build_exact(executor, args.problem->problem)->accuracy().bound;
  return Builder(executor, *args.problem, args.mode, Planner::Make::BoundAlone).build()->accuracy().bound;
}
double plan_bound(const Executor& executor, const PlanBoundArgs& args) {
  const WayProblem problem{*args.problem, Way::Quickest};
  return way_bound(executor, {&problem, args.mode});
}

void execute(const Executor& executor, const ExecuteArgs& args) { args.body->execute(executor, args.operands); }

}  // namespace trn::fft::device
