// The door of fft.plan, fft.c2c, fft.r2c and fft.c2r: checks what the caller gives, then dispatches.
#include <trn/fft/plan.hpp>

#include <limits>
#include <optional>

#include <trn/core/error.hpp>

#include "kernels.hpp"
#include "problem.hpp"

namespace trn::fft {
namespace detail {

struct PlanState {
  Description description;
  std::vector<layout::Dim> in, out;
  layout::Span in_span, out_span;
  std::int64_t real_bytes = 4;
  std::shared_ptr<const Body> body;  // null: nothing to do
};

}  // namespace detail

namespace {

using detail::PlanState;

const KernelTable<ExecuteArgs>& table(Kind kind) {
  switch (kind) {
    case Kind::ComplexToComplex:
      return kC2C;
    case Kind::RealToComplex:
      return kR2C;
    case Kind::ComplexToReal:
      break;
  }
  return kC2R;
}

// One array that a caller gave.
struct Part {
  const Executor* executor;
  void* data;
  const Shape* shape;
  const Strides* strides;
  std::int64_t element_bytes;
};
template <class T> Part part(const View<T>& v) {
  return {&v.executor(), const_cast<void*>(static_cast<const void*>(v.data())), &v.shape(), &v.strides(), sizeof(T)};
}
// Both parts of a side; im only for planar ones.
struct Given {
  Part re;
  std::optional<Part> im{};
};
template <class T> Given given(const View<T>& v) { return {part(v)}; }
template <class T> Given given(const PlanarView<T>& v) { return {part(v.re), part(v.im)}; }

struct Call {
  const char* operation;
  const Executor& executor;
  const PlanState& plan;
};

void check_part(const Call& call, const char* side, const Part& p, const layout::Span& needed) {
  require(*p.executor == call.executor, "{}: the {} lives on executor '{}', the plan is for '{}'; give an array of that executor",
          call.operation, side, p.executor->name(), call.executor.name());
  if (needed.high < needed.low) return;
  const OffsetRange held = offset_range(*p.shape, *p.strides);
  require(held.lowest <= needed.low && needed.high <= held.highest,
          "{}: the {} has shape {} and strides {}, which hold elements {} to {} of its address; the plan touches {} to {}: give the whole "
          "array",
          call.operation, side, to_string(*p.shape), to_string(*p.strides), held.lowest, held.highest,
          static_cast<std::int64_t>(needed.low), static_cast<std::int64_t>(needed.high));
  require(p.data != nullptr, "{}: the {} has shape {} but its pointer is null", call.operation, side, to_string(*p.shape));
}

void check_side(const Call& call, const char* side, const Given& g, const layout::Span& needed) {
  check_part(call, side, g.re, needed);
  if (!g.im) return;
  require(*g.re.shape == *g.im->shape && *g.re.strides == *g.im->strides,
          "{}: the real part of the {} has shape {} and strides {}, the imaginary part {} and {}; both must be the same", call.operation,
          side, to_string(*g.re.shape), to_string(*g.re.strides), to_string(*g.im->shape), to_string(*g.im->strides));
  check_part(call, side, *g.im, needed);
}

std::vector<layout::Region> regions(const Given& g, const std::vector<layout::Dim>& dims) {
  std::vector<layout::Region> all{{reinterpret_cast<std::uintptr_t>(g.re.data), g.re.element_bytes, &dims}};
  if (g.im) all.push_back({reinterpret_cast<std::uintptr_t>(g.im->data), g.im->element_bytes, &dims});
  return all;
}

void check_overlaps(const Call& call, const Given& in, const Given& out) {
  const PlanState& p = call.plan;
  const auto ins = regions(in, p.in), outs = regions(out, p.out);
  require(outs.size() == 1 || !layout::overlap(outs[0], outs[1]),
          "{}: the real and the imaginary part of the output share elements; give each its own memory", call.operation);
  bool same = ins.size() == outs.size();
  for (std::size_t i = 0; same && i < ins.size(); ++i) same = ins[i].address == outs[i].address;
  if (same) {
    const char* trouble = in_place_trouble(p.description);
    require(trouble == nullptr,
            "{}: input and output begin at the same address, but {}; describe the same bytes on both sides or use two arrays",
            call.operation, trouble == nullptr ? "" : trouble);
    return;
  }
  for (const layout::Region& a : ins) {
    for (const layout::Region& b : outs) {
      require(!layout::overlap(a, b),
              "{}: input and output share some elements without beginning at the same address; use two arrays, or one in place",
              call.operation);
    }
  }
}

void check_workspace(const Call& call, const Buffer& workspace, const Given& in, const Given& out) {
  const std::int64_t needed = call.plan.body->workspace_bytes();
  require(workspace.executor() == call.executor, "{}: the workspace lives on executor '{}', the plan is for '{}'; allocate it there",
          call.operation, workspace.executor().name(), call.executor.name());
  require(workspace.bytes() >= needed, "{}: the workspace has {} bytes; the plan needs {}: allocate workspace_bytes()", call.operation,
          workspace.bytes(), needed);
  if (needed == 0) return;
  const std::vector<layout::Dim> flat{{workspace.bytes(), 1}};
  const layout::Region scratch{reinterpret_cast<std::uintptr_t>(workspace.data()), 1, &flat};
  for (const auto& [side, dims] : {std::pair{&in, &call.plan.in}, std::pair{&out, &call.plan.out}}) {
    for (const layout::Region& r : regions(*side, *dims)) {
      require(!layout::overlap(r, scratch), "{}: the workspace shares memory with the {}; allocate it apart", call.operation,
              side == &in ? "input" : "output");
    }
  }
}

Side side(const Given& g, bool complex, std::int64_t real_bytes) {
  void* im = nullptr;
  if (g.im)
    im = g.im->data;
  else if (complex)
    im = static_cast<char*>(g.re.data) + real_bytes;
  return {g.re.data, im};
}

// What the overload offers against what the plan wants.
void check_kind(const Call& call, Kind kind, const Given& in, const Given& out) {
  const Description& d = call.plan.description;
  require(kind == d.kind, "{}: the plan is {}, but execute() was given arrays of a {} transform; give the types of the plan's kind",
          call.operation, name(d.kind), name(kind));
  const auto format = [](const Given& g) { return g.im ? Format::Planar : Format::Interleaved; };
  const auto check_format = [&](const char* which, Format got, Format want) {
    require(got == want, "{}: the {} is {}, but the plan's {}_format is {}; make the plan with that format or give the other view",
            call.operation, which, name(got), which, name(want));
  };
  if (d.kind != Kind::RealToComplex) check_format("input", format(in), d.input_format);
  if (d.kind != Kind::ComplexToReal) check_format("output", format(out), d.output_format);
}

void run(const Executor& executor, const PlanState& plan, Kind kind, const Given& in, const Given& out, const Buffer* workspace) {
  const KernelTable<ExecuteArgs>& kernels = table(plan.description.kind);
  const Call call{kernels.operation, executor, plan};
  check_kind(call, kind, in, out);
  check_side(call, "input", in, plan.in_span);
  check_side(call, "output", out, plan.out_span);
  if (!plan.body) return;
  check_overlaps(call, in, out);
  if (workspace) check_workspace(call, *workspace, in, out);
  std::optional<Buffer> own;
  const std::int64_t bytes = plan.body->workspace_bytes();
  if (!workspace && bytes > 0) own.emplace(executor, bytes);
  const Operands operands{side(in, kind != Kind::RealToComplex, plan.real_bytes), side(out, kind != Kind::ComplexToReal, plan.real_bytes),
                          workspace ? workspace->data()
                          : own     ? own->data()
                                    : nullptr};
  dispatch(kernels, executor, ExecuteArgs{plan.body.get(), operands});
}

}  // namespace

template <Real T> Plan<T>::Plan(const Executor& executor, const Description& description) : executor_(executor) {
  check(description, dtype_of<T>);
  auto state = std::make_shared<detail::PlanState>();
  state->description = description;
  state->in = input_dims(description);
  state->out = output_dims(description);
  state->in_span = layout::span(state->in);
  state->out_span = layout::span(state->out);
  state->real_bytes = sizeof(T);
  // An empty batch is planned as one transform, so that what cannot be planned is refused, and then has nothing to execute.
  Description planned = description;
  if (is_empty(description)) planned.batch.clear();
  const Problem problem = make_problem(planned, dtype_of<T>);
  dispatch(kPlan, executor, BuildArgs{&problem, &state->body});
  if (is_empty(description)) state->body = nullptr;
  state_ = std::move(state);
}

template <Real T> const Description& Plan<T>::description() const { return state_->description; }
template <Real T> std::int64_t Plan<T>::workspace_bytes() const { return state_->body ? state_->body->workspace_bytes() : 0; }
template <Real T> Accuracy Plan<T>::accuracy() const { return state_->body ? state_->body->accuracy() : Accuracy{}; }

#define TRN_FFT_EXECUTE(Kind_, In, Out)                                                                  \
  template <Real T> void Plan<T>::execute(const In& in, const Out& out) const {                          \
    run(executor_, *state_, Kind::Kind_, given(in), given(out), nullptr);                                \
  }                                                                                                      \
  template <Real T> void Plan<T>::execute(const In& in, const Out& out, const Buffer& workspace) const { \
    run(executor_, *state_, Kind::Kind_, given(in), given(out), &workspace);                             \
  }
TRN_FFT_EXECUTE(ComplexToComplex, View<const C>, View<C>)
TRN_FFT_EXECUTE(RealToComplex, View<const T>, View<C>)
TRN_FFT_EXECUTE(ComplexToReal, View<const C>, View<T>)
TRN_FFT_EXECUTE(ComplexToComplex, PlanarView<const T>, PlanarView<T>)
TRN_FFT_EXECUTE(RealToComplex, View<const T>, PlanarView<T>)
TRN_FFT_EXECUTE(ComplexToReal, PlanarView<const T>, View<T>)
#undef TRN_FFT_EXECUTE

template class Plan<float>;
template class Plan<double>;

}  // namespace trn::fft
