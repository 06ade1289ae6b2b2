// DistPlan: the steps of a geometry with their kernels and memory.
//
// Every dimension is a Body of its own, made for one Way: the last dimension Rows, the others Columns. So a line's
// arithmetic does not depend on the decomposition. The factor of the scale goes with Rows: of Columns some codelets
// multiply by it earlier in full vectors than in others, which shows where it is not a power of two. On the host two
// dimensions of a slab are transformed plane by plane, while a plane is in the cache.
//
// Bound. Steps are unitary up to a factor, so relative errors add: the product of (1 + bound) over the steps, 4 u for a
// twiddle (planner.cpp). A body of real to complex lines speaks of the half spectrum, and so do the steps behind it.
// Complex to real: an error of the half array counts with its mirror image in the result, sqrt(2). A real transform of
// one dimension is a complex one; half of its result has at least 1/sqrt(2) of its norm.
#include <trn/fft/dist_plan.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include <trn/comm/modelled.hpp>
#include <trn/comm/together.hpp>
#include <trn/core/error.hpp>

#include "../roots.hpp"
#include "geometry.hpp"
#include "lines.hpp"
#include "twiddle.hpp"

namespace trn::fft {

namespace {

using dist_detail::Exchange;
using dist_detail::factor_of;
using dist_detail::Geometry;
using dist_detail::GeometryStage;
using dist_detail::Layout;
using dist_detail::layout_after;
using dist_detail::line_problem;
using dist_detail::LineStep;

enum class Place : std::uint8_t { In, Out, Work0, Work1 };

// Lines of one dimension.
struct DimensionBody {
  BodyPointer body;
  Kind kind = Kind::ComplexToComplex;
};

// One step of an execution: an exchange, or lines with a table behind them.
template <class T> struct Step {
  std::unique_ptr<Exchange<T>> exchange;
  std::vector<DimensionBody> bodies;
  std::int64_t loops = 1, in_step = 0, out_step = 0;  // pieces of the lines, so many bytes apart
  std::optional<Buffer> table;
  std::int64_t table_count = 0;
  std::int64_t in_bytes = 0, out_bytes = 0;  // of this rank's array before and after
  bool in_place = false;                     // may be
  bool empty = false;                        // this rank has no lines
  Place from = Place::In, to = Place::Out;
};

Shape extent_of(const GeometryStage& stage, int rank) { return stage.boxes[static_cast<std::size_t>(rank)].extent; }

const KernelTable<ExecuteArgs>& table(Kind kind) {
  return kind == Kind::ComplexToComplex ? kC2C : kind == Kind::RealToComplex ? kR2C : kC2R;
}

// The product of (1 + bound) over the steps as the file says.
class Growth {
 public:
  Growth(const DistDescription& d, DType real) : d_(d), unit_(unit_roundoff(real)) {}
  void lines(Kind kind, double bound) { (kind == Kind::ComplexToComplex ? complex_ : real_) *= 1 + bound; }
  void twiddle() { complex_ *= 1 + 4 * unit_; }
  [[nodiscard]] double bound() const {
    const double half = std::sqrt(2.0);
    if (d_.lengths.size() == 1) return (complex_ - 1) * (d_.kind == Kind::RealToComplex ? half : 1);
    if (d_.kind == Kind::ComplexToReal) return (1 + (complex_ - 1) * half) * real_ - 1;
    return complex_ * real_ - 1;
  }

 private:
  const DistDescription& d_;
  double unit_, complex_ = 1, real_ = 1;
};

}  // namespace

namespace detail {

template <class T> struct DistState {
  using C = std::complex<T>;
  DistState(const comm::Communicator& c, const Executor& e, const DistDescription& d, const dist::Boxes* input,
            const dist::Boxes* output)
      : group(c), executor(e), description(d) {
    agree(input, output);
    geometry = dist_detail::make_geometry(d, c.size(), input, output);
    exchanges = geometry.exchanges();
    comm::together(group, [&] { build(); });
  }

  // All ranks ask for the same.
  void agree(const dist::Boxes* input, const dist::Boxes* output) const {
    const DistDescription& d = description;
    std::vector<std::int64_t> said{static_cast<std::int64_t>(dtype_of<T>),
                                   static_cast<std::int64_t>(d.kind),
                                   static_cast<std::int64_t>(d.direction),
                                   static_cast<std::int64_t>(d.scale),
                                   static_cast<std::int64_t>(d.precision.mode()),
                                   std::bit_cast<std::int64_t>(d.precision.target_error()),
                                   static_cast<std::int64_t>(d.order),
                                   static_cast<std::int64_t>(d.decomposition),
                                   static_cast<std::int64_t>(executor.family()),
                                   static_cast<std::int64_t>(d.lengths.size())};
    said.insert(said.end(), d.lengths.begin(), d.lengths.end());
    for (const dist::Boxes* boxes : {input, output}) {
      said.push_back(boxes ? boxes->ranks() : -1);
      if (!boxes) continue;
      said.insert(said.end(), boxes->shape.begin(), boxes->shape.end());
      for (const auto& box : boxes->boxes) {
        said.insert(said.end(), box.begin.begin(), box.begin.end());
        said.insert(said.end(), box.extent.begin(), box.extent.end());
      }
    }
    group.transport().check({"fft.dist_plan", said});
    dist_detail::check(d);
  }

  [[nodiscard]] std::int64_t bytes(const Layout& layout) const {
    return layout.elements[static_cast<std::size_t>(group.rank())] *
           static_cast<std::int64_t>(layout.real ? sizeof(T) : sizeof(C));
  }
  void add_exchange(const Layout& from, const Layout& to) {
    if (from == to) return;
    Step<T> step;
    step.exchange = std::make_unique<Exchange<T>>(from, to, group.rank());
    step.in_bytes = bytes(from);
    step.out_bytes = bytes(to);
    steps.push_back(std::move(step));
  }

  // The mode that a target asks for; bounds depend on lengths alone.
  [[nodiscard]] Mode choose_mode() const {
    const Precision& precision = description.precision;
    if (!precision.has_target()) return precision.mode();
    if (executor.family() == Family::Host) return Mode::Native;
    if (dtype_of<T> == DType::Float64) return Mode::Exact;
    double best = 1;
    for (const Mode mode : {Mode::Bf16, Mode::Tf32, Mode::Tf32x3, Mode::Native, Mode::Bf16x6}) {
      Growth growth(description, dtype_of<T>);
      for (const GeometryStage& stage : geometry.stages) {
        for (const LineStep& line : stage.lines) {
          const WayProblem p =
              line_problem(dtype_of<T>, description, line, Shape(stage.boxes[0].extent.size(), 0), 0, 1, mode);
          growth.lines(line.kind, dispatch(kWayBound, executor, WayBoundArgs{&p, mode}));
        }
        if (stage.twiddle) growth.twiddle();
      }
      if (growth.bound() <= precision.target_error()) return mode;
      best = std::min(best, growth.bound());
    }
    fail<InvalidArgument>("fft.dist_plan: an error of {} is asked for, but the device's float32 modes reach {}",
                          precision.target_error(), best);
  }

  void build() {
    const Mode mode = choose_mode();
    const bool host = executor.family() == Family::Host;
    const long double factor = factor_of(description);
    Growth growth(description, dtype_of<T>);
    accuracy.mode = mode;
    add_exchange(geometry.from, geometry.stages.front().layout);
    for (std::size_t s = 0; s < geometry.stages.size(); ++s) {
      const GeometryStage& stage = geometry.stages[s];
      if (s > 0) add_exchange(layout_after(geometry.stages[s - 1]), stage.layout);
      const Shape extent = extent_of(stage, group.rank());
      Step<T> step;
      step.empty = element_count(extent) == 0;
      const bool planes = host && stage.lines.size() > 1 && !step.empty;
      step.in_place = true;
      for (std::size_t i = 0; i < stage.lines.size(); ++i) {
        const LineStep& line = stage.lines[i];
        const bool last = line.dimension + 1 == extent.size();
        const WayProblem p =
            line_problem(dtype_of<T>, description, line, extent, planes ? 1 : 0, last ? factor : 1, mode);
        DimensionBody body{dispatch(kPlanWay, executor, p), line.kind};
        const Accuracy one = body.body->accuracy();
        growth.lines(line.kind, one.bound);
        accuracy.passes = std::max(accuracy.passes, one.passes);
        workspace_bytes = std::max(workspace_bytes, body.body->workspace_bytes());
        step.in_place = step.in_place && line.kind == Kind::ComplexToComplex;
        step.bodies.push_back(std::move(body));
      }
      const std::int64_t elements = element_count(extent);
      const std::int64_t real_elements = extent.back() == 0 ? 0 : elements / extent.back() * description.lengths.back();
      const auto side = [&](bool real) {
        return real ? real_elements * static_cast<std::int64_t>(sizeof(T))
                    : elements * static_cast<std::int64_t>(sizeof(C));
      };
      step.in_bytes = side(stage.lines.front().kind == Kind::RealToComplex);
      step.out_bytes = side(stage.lines.back().kind == Kind::ComplexToReal);
      if (planes) {
        step.loops = extent[0];
        step.in_step = step.in_bytes / extent[0];
        step.out_step = step.out_bytes / extent[0];
      }
      if (stage.twiddle) {
        growth.twiddle();
        add_table(step, stage, extent);
      }
      steps.push_back(std::move(step));
    }
    add_exchange(geometry.last, geometry.to);
    accuracy.bound = growth.bound();
    const Precision& precision = description.precision;
    require(!precision.has_target() || accuracy.bound <= precision.target_error(),
            "fft.dist_plan: the target error is {:.3g}, the bound of this transform is {:.3g}; ask for no less",
            precision.target_error(), accuracy.bound);
    assign_places();
  }

  void add_table(Step<T>& step, const GeometryStage& stage, const Shape& extent) {
    step.table_count = element_count(extent);
    const Shape& begin = stage.boxes[static_cast<std::size_t>(group.rank())].begin;
    std::vector<C> values;
    values.reserve(static_cast<std::size_t>(step.table_count));
    for (std::int64_t i = 0; i < extent[0]; ++i) {
      for (std::int64_t j = 0; j < extent[1]; ++j) {
        const C w = root<T>((begin[0] + i) * (begin[1] + j), stage.twiddle->n);
        values.push_back(description.direction == Direction::Forward ? w : std::conj(w));
      }
    }
    const bool here = dtype_of<T> == DType::Float64;
    const Executor owner = here ? Executor::host() : executor;
    const auto bytes = static_cast<std::int64_t>(values.size() * sizeof(C));
    step.table.emplace(owner, bytes);
    if (bytes > 0) copy_bytes(Executor::host(), values.data(), owner, step.table->data(), bytes);
  }

  // A step that may works in place, but never in the input; the last one writes the output, and so does one behind
  // which all are in place.
  void assign_places() {
    Place current = Place::In;
    std::int64_t work[2] = {0, 0};
    for (std::size_t s = 0; s < steps.size(); ++s) {
      Step<T>& step = steps[s];
      step.from = current;
      const bool rest = std::all_of(steps.begin() + static_cast<std::ptrdiff_t>(s) + 1, steps.end(),
                                    [](const Step<T>& later) { return later.in_place; });
      if (rest)
        step.to = Place::Out;
      else if (step.in_place && current != Place::In)
        step.to = current;
      else
        step.to = current == Place::Work0 ? Place::Work1 : Place::Work0;
      if (step.to == Place::Work0 || step.to == Place::Work1) {
        std::int64_t& size = work[step.to == Place::Work1 ? 1 : 0];
        size = std::max(size, step.out_bytes);
      }
      current = step.to;
    }
    for (int i = 0; i < 2; ++i) works.emplace_back(executor, work[i]);
    workspace.emplace(executor, workspace_bytes);
    if (executor.family() == Family::Device) {
      std::int64_t in = 0, out = 0;
      for (const Step<T>& step : steps) {
        if (!step.exchange) continue;
        in = std::max(in, step.in_bytes);
        out = std::max(out, step.out_bytes);
      }
      staged_in.resize(static_cast<std::size_t>(in));
      staged_out.resize(static_cast<std::size_t>(out));
    }
  }

  void run(const void* in, void* out) {
    void* const places[4] = {const_cast<void*>(in), out, works[0].data(), works[1].data()};
    for (Step<T>& step : steps) {
      void *from = places[static_cast<int>(step.from)], *to = places[static_cast<int>(step.to)];
      if (step.exchange)
        exchange(step, from, to);
      else if (!step.empty)
        lines(step, from, to);
    }
  }
  void exchange(Step<T>& step, const void* from, void* to) {
    if (executor.family() == Family::Host) return step.exchange->run(group, from, to);
    if (step.in_bytes > 0) copy_bytes(executor, from, Executor::host(), staged_in.data(), step.in_bytes);
    step.exchange->run(group, staged_in.data(), staged_out.data());
    comm::spend_all_to_all(group, std::max(step.in_bytes, step.out_bytes), step.exchange->partners());
    if (step.out_bytes > 0) copy_bytes(Executor::host(), staged_out.data(), executor, to, step.out_bytes);
  }
  void lines(const Step<T>& step, void* from, void* to) const {
    const bool ends_real = step.bodies.back().kind == Kind::ComplexToReal;
    for (std::int64_t l = 0; l < step.loops; ++l) {
      char *a = static_cast<char*>(from) + l * step.in_step, *b = static_cast<char*>(to) + l * step.out_step;
      for (std::size_t i = 0; i < step.bodies.size(); ++i) {
        const DimensionBody& body = step.bodies[i];
        // Complex lines before complex to real ones stay where they are; others behind the first are in place.
        const bool stays = ends_real && body.kind == Kind::ComplexToComplex;
        char *source = i == 0 || ends_real ? a : b, *target = stays ? a : b;
        const auto im = [](char* p, bool real) { return real ? nullptr : p + sizeof(T); };
        const Operands operands{{source, im(source, body.kind == Kind::RealToComplex)},
                                {target, im(target, body.kind == Kind::ComplexToReal)},
                                workspace->data()};
        dispatch(table(body.kind), executor, ExecuteArgs{body.body.get(), operands});
      }
    }
    if (step.table_count > 0)
      dispatch(kTwiddle, executor, TwiddleArgs{dtype_of<T>, to, step.table_count, &*step.table});
  }

  comm::Communicator group;
  Executor executor;
  DistDescription description;
  Geometry geometry;
  int exchanges = 0;
  Accuracy accuracy;
  std::vector<Step<T>> steps;
  std::int64_t workspace_bytes = 0;
  std::vector<Buffer> works;
  std::optional<Buffer> workspace;
  std::vector<std::byte> staged_in, staged_out;
};

}  // namespace detail

namespace {

// What is wrong with an array for a plan on this rank; empty when nothing is.
template <class T, class E> std::string trouble(const detail::DistState<T>& plan, const char* side,
                                                const dist::Array<E>& a, const dist::Boxes& boxes) {
  if (!(a.group() == plan.group)) return fmt::format("the {} is of another group than the plan", side);
  if (!(a.executor() == plan.executor)) return fmt::format("the {} is on another executor than the plan", side);
  if (!(a.distribution() == boxes)) return fmt::format("the {} has another distribution than the plan", side);
  return {};
}

template <class T, class In, class Out>
void execute(detail::DistState<T>& plan, Kind kind, const dist::Array<In>& in, const dist::Array<Out>& out) {
  std::string wrong = kind == plan.description.kind ? trouble(plan, "input", in, plan.geometry.input)
                                                    : fmt::format("the plan is {}, the arrays are of a {} transform",
                                                                  name(plan.description.kind), name(kind));
  if (wrong.empty()) wrong = trouble(plan, "output", out, plan.geometry.output);
  plan.group.check("fft.dist_execute(wrong)", {wrong.empty() ? 0 : 1});
  require(wrong.empty(), "fft.dist_execute: {}", wrong);
  plan.run(in.local().data(), out.local().data());
}

}  // namespace

template <Real T>
DistPlan<T>::DistPlan(const comm::Communicator& group, const Executor& executor, const DistDescription& description)
    : state_(std::make_shared<detail::DistState<T>>(group, executor, description, nullptr, nullptr)) {}
template <Real T>
DistPlan<T>::DistPlan(const comm::Communicator& group, const Executor& executor, const DistDescription& description,
                      const dist::Boxes& input, const dist::Boxes& output)
    : state_(std::make_shared<detail::DistState<T>>(group, executor, description, &input, &output)) {}

template <Real T> const DistDescription& DistPlan<T>::description() const { return state_->description; }
template <Real T> const dist::Boxes& DistPlan<T>::input_distribution() const { return state_->geometry.input; }
template <Real T> const dist::Boxes& DistPlan<T>::output_distribution() const { return state_->geometry.output; }
template <Real T> int DistPlan<T>::exchanges() const { return state_->exchanges; }
template <Real T> Accuracy DistPlan<T>::accuracy() const { return state_->accuracy; }
template <Real T> std::pair<std::int64_t, std::int64_t> DistPlan<T>::factors() const {
  return {state_->geometry.n1, state_->geometry.n2};
}
template <Real T> void DistPlan<T>::execute(const dist::Array<C>& in, const dist::Array<C>& out) const {
  fft::execute(*state_, Kind::ComplexToComplex, in, out);
}
template <Real T> void DistPlan<T>::execute(const dist::Array<T>& in, const dist::Array<C>& out) const {
  fft::execute(*state_, Kind::RealToComplex, in, out);
}
template <Real T> void DistPlan<T>::execute(const dist::Array<C>& in, const dist::Array<T>& out) const {
  fft::execute(*state_, Kind::ComplexToReal, in, out);
}

template class DistPlan<float>;
template class DistPlan<double>;

}  // namespace trn::fft
