// The entry point of fft.plan, fft.c2c, fft.r2c and fft.c2r: checks what the caller gives, then dispatches.
#include <trn/fft/plan.hpp>

#include <limits>
#include <optional>

#include <trn/core/error.hpp>
#include <trn/core/operands.hpp>

#include "kernels.hpp"
#include "problem.hpp"

namespace trn::fft {
namespace detail {

struct PlanState {
  Description description;
  std::vector<layout::Dim> in, out;
  layout::Span in_span, out_span;
  std::int64_t real_bytes = 4, workspace_bytes = 0;
  const char* in_place_trouble = nullptr;
  const EventHub* events = nullptr;
  Direct direct;
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

// Messages are put together only when they are needed: a short transform takes less time than one of them.
void check_part(const Call& call, const char* side, const Part& p, const layout::Span& needed) {
  operands::check_owner(call.operation, side, call.executor, *p.executor);
  if (needed.high < needed.low) return;
  const OffsetRange held = offset_range(*p.shape, *p.strides);
  if (held.lowest > needed.low || needed.high > held.highest) {
    fail<InvalidArgument>(
        "{}: {} has shape {} and strides {}, which hold elements {} to {} of its address; the plan touches {} to "
        "{}: give the whole "
        "array",
        call.operation, side, to_string(*p.shape), to_string(*p.strides), held.lowest, held.highest,
        static_cast<std::int64_t>(needed.low), static_cast<std::int64_t>(needed.high));
  }
  if (p.data == nullptr) {
    fail<InvalidArgument>("{}: {} has shape {} but its pointer is null", call.operation, side, to_string(*p.shape));
  }
}

void check_side(const Call& call, const char* side, const Given& g, const layout::Span& needed) {
  check_part(call, side, g.re, needed);
  if (!g.im) return;
  if (*g.re.shape != *g.im->shape || *g.re.strides != *g.im->strides) {
    fail<InvalidArgument>(
        "{}: the real part of {} has shape {} and strides {}, the imaginary part {} and {}; both must be the same",
        call.operation, side, to_string(*g.re.shape), to_string(*g.re.strides), to_string(*g.im->shape),
        to_string(*g.im->strides));
  }
  check_part(call, side, *g.im, needed);
}

// The parts of a side, one or two.
struct Regions {
  layout::Region part[2];
  int count = 1;
  [[nodiscard]] const layout::Region* begin() const { return part; }
  [[nodiscard]] const layout::Region* end() const { return part + count; }
};
Regions regions(const Given& g, const std::vector<layout::Dim>& dims) {
  const auto region = [&](const Part& p) {
    return layout::Region{reinterpret_cast<std::uintptr_t>(p.data), p.element_bytes, dims};
  };
  return {{region(g.re), g.im ? region(*g.im) : layout::Region{}}, g.im ? 2 : 1};
}

// Whether one ends before the other begins: the usual case, without a search.
bool apart(const layout::Region& a, const layout::Span& a_span, const layout::Region& b, const layout::Span& b_span) {
  const auto end = [](const layout::Region& r, layout::Wide offset) {
    return layout::Wide{r.address} + offset * r.bytes;
  };
  return end(a, a_span.high + 1) <= end(b, b_span.low) || end(b, b_span.high + 1) <= end(a, a_span.low);
}

void check_in_place(const Call& call) {
  if (call.plan.in_place_trouble == nullptr) return;
  fail<InvalidArgument>(
      "{}: input and output begin at the same address, but {}; describe the same bytes on both sides or use two arrays",
      call.operation, call.plan.in_place_trouble);
}

void check_overlaps(const Call& call, const Given& in, const Given& out) {
  const PlanState& p = call.plan;
  const Regions ins = regions(in, p.in), outs = regions(out, p.out);
  require(outs.count == 1 || !layout::overlap(outs.part[0], outs.part[1]),
          "{}: the real and the imaginary part of the output share elements; give each its own memory", call.operation);
  bool same = ins.count == outs.count;
  for (int i = 0; same && i < ins.count; ++i) same = ins.part[i].address == outs.part[i].address;
  if (same) return check_in_place(call);
  for (const layout::Region& a : ins) {
    for (const layout::Region& b : outs) {
      if (apart(a, p.in_span, b, p.out_span)) continue;
      require(!layout::overlap(a, b),
              "{}: input and output share some elements without beginning at the same address; use two arrays, or one "
              "in place",
              call.operation);
    }
  }
}

void check_workspace(const Call& call, const Buffer& workspace, const Given& in, const Given& out) {
  const std::int64_t needed = call.plan.workspace_bytes;
  operands::check_owner(call.operation, "the workspace", call.executor, workspace.executor());
  require(workspace.bytes() >= needed, "{}: the workspace has {} bytes; the plan needs {}: allocate workspace_bytes()",
          call.operation, workspace.bytes(), needed);
  if (needed == 0) return;
  const std::vector<layout::Dim> flat{{workspace.bytes(), 1}};
  const layout::Region scratch{reinterpret_cast<std::uintptr_t>(workspace.data()), 1, flat};
  for (const auto& [side, dims] : {std::pair{&in, &call.plan.in}, std::pair{&out, &call.plan.out}}) {
    for (const layout::Region& r : regions(*side, *dims)) {
      require(!layout::overlap(r, scratch), "{}: the workspace shares memory with the {}; allocate it apart",
              call.operation, side == &in ? "input" : "output");
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
void check_kind(const Call& call, Kind kind, Format in, Format out) {
  const Description& d = call.plan.description;
  if (kind != d.kind) {
    fail<InvalidArgument>(
        "{}: the plan is {}, but execute() was given arrays of a {} transform; give the types of the plan's kind",
        call.operation, name(d.kind), name(kind));
  }
  const auto check_format = [&](const char* which, Format got, Format want) {
    if (got == want) return;
    fail<InvalidArgument>(
        "{}: the {} is {}, but the plan's {}_format is {}; make the plan with that format or give the other kind of "
        "argument",
        call.operation, which, name(got), which, name(want));
  };
  if (d.kind != Kind::RealToComplex) check_format("input", in, d.input_format);
  if (d.kind != Kind::ComplexToReal) check_format("output", out, d.output_format);
}

// With the caller's workspace, or memory for this call: on the stack if it is little and the host's.
constexpr std::int64_t kStackBytes = 16 << 10;
void run_with_workspace(const Call& call, const KernelTable<ExecuteArgs>& kernels, Operands operands) {
  const auto go = [&](void* workspace) {
    operands.workspace = workspace;
    dispatch(kernels, call.executor, ExecuteArgs{call.plan.body.get(), operands});
  };
  const std::int64_t bytes = call.plan.workspace_bytes;
  if (operands.workspace != nullptr || bytes == 0) return go(operands.workspace);
  if (bytes <= kStackBytes && call.executor.family() == Family::Host) {
    alignas(64) std::byte little[kStackBytes];
    return go(little);
  }
  const Buffer own(call.executor, bytes);
  go(own.data());
}

void run(const Executor& executor, const PlanState& plan, Kind kind, const Given& in, const Given& out,
         const Buffer* workspace) {
  const KernelTable<ExecuteArgs>& kernels = table(plan.description.kind);
  const Call call{kernels.operation, executor, plan};
  const auto format = [](const Given& g) { return g.im ? Format::Planar : Format::Interleaved; };
  check_kind(call, kind, format(in), format(out));
  check_side(call, "the input", in, plan.in_span);
  check_side(call, "the output", out, plan.out_span);
  if (!plan.body) return;
  check_overlaps(call, in, out);
  if (workspace) check_workspace(call, *workspace, in, out);
  if (plan.direct.run && !plan.events->has_listeners())
    return plan.direct.run(plan.direct.context, in.re.data, out.re.data);
  run_with_workspace(
      call, kernels,
      {side(in, kind != Kind::RealToComplex, plan.real_bytes), side(out, kind != Kind::ComplexToReal, plan.real_bytes),
       workspace ? workspace->data() : nullptr});
}

// Addresses without views. Direct plans have come and gone before this.
struct Pointers {
  const void *re, *im;
  Format format;
};
template <class E> Pointers pointers(const E* p) { return {p, nullptr, Format::Interleaved}; }
template <class E> Pointers pointers(const PlanarPointer<E>& p) { return {p.re, p.im, Format::Planar}; }

void run(const Executor& executor, const PlanState& plan, Kind kind, const Pointers& in, const Pointers& out,
         void* workspace) {
  const KernelTable<ExecuteArgs>& kernels = table(plan.description.kind);
  const Call call{kernels.operation, executor, plan};
  check_kind(call, kind, in.format, out.format);
  if (!plan.body) return;
  const auto is_null = [](const Pointers& p) {
    return p.re == nullptr || (p.format == Format::Planar && p.im == nullptr);
  };
  require(!is_null(in), "{}: the address of the input is null; give the address of its first element", call.operation);
  require(!is_null(out), "{}: the address of the output is null; give the address of its first element",
          call.operation);
  if (in.re == out.re && in.im == out.im) check_in_place(call);
  const auto side = [&](const Pointers& p, bool complex) {
    void* re = const_cast<void*>(p.re);
    if (p.format == Format::Planar) return Side{re, const_cast<void*>(p.im)};
    return Side{re, complex ? static_cast<char*>(re) + plan.real_bytes : nullptr};
  };
  run_with_workspace(call, kernels,
                     {side(in, kind != Kind::RealToComplex), side(out, kind != Kind::ComplexToReal), workspace});
}

// Whether a call may go to the direct function at once; everything else is sorted out by run().
bool goes_direct(const PlanState* state, Kind kind, const void* in, const void* out) {
  if (state == nullptr) return false;
  const PlanState& plan = *state;
  return plan.direct.run && plan.description.kind == kind && in && out && (in != out || !plan.in_place_trouble) &&
         !plan.events->has_listeners();
}

const PlanState& state_of(const std::shared_ptr<const PlanState>& state) {
  require(state != nullptr,
          "fft.plan: this plan was moved from; use the plan that it was moved to, or copy plans, which is cheap");
  return *state;
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
  // An empty batch is planned as one transform, so that what cannot be planned is refused, and then has nothing to
  // execute.
  Description planned = description;
  if (is_empty(description)) {
    planned.batch.clear();
    check(planned, dtype_of<T>);
  }
  const Problem problem = make_problem(planned, dtype_of<T>);
  state->body = dispatch(kPlan, executor, problem);
  if (is_empty(description)) state->body = nullptr;
  if (state->body) {
    state->workspace_bytes = state->body->workspace_bytes();
    state->direct = state->body->direct();
  }
  state->in_place_trouble = in_place_trouble(description);
  state->events = &executor.backend().events();
  state_ = std::move(state);
}

template <Real T> const Description& Plan<T>::description() const { return state_of(state_).description; }
template <Real T> std::int64_t Plan<T>::workspace_bytes() const { return state_of(state_).workspace_bytes; }
template <Real T> Accuracy Plan<T>::accuracy() const {
  return state_of(state_).body ? state_->body->accuracy() : Accuracy{};
}

#define TRN_FFT_EXECUTE(Kind_, In, Out)                                                                  \
  template <Real T> void Plan<T>::execute(const In& in, const Out& out) const {                          \
    run(executor_, state_of(state_), Kind::Kind_, given(in), given(out), nullptr);                       \
  }                                                                                                      \
  template <Real T> void Plan<T>::execute(const In& in, const Out& out, const Buffer& workspace) const { \
    run(executor_, state_of(state_), Kind::Kind_, given(in), given(out), &workspace);                    \
  }
TRN_FFT_EXECUTE(ComplexToComplex, View<const C>, View<C>)
TRN_FFT_EXECUTE(RealToComplex, View<const T>, View<C>)
TRN_FFT_EXECUTE(ComplexToReal, View<const C>, View<T>)
TRN_FFT_EXECUTE(ComplexToComplex, PlanarView<const T>, PlanarView<T>)
TRN_FFT_EXECUTE(RealToComplex, View<const T>, PlanarView<T>)
TRN_FFT_EXECUTE(ComplexToReal, PlanarView<const T>, View<T>)
#undef TRN_FFT_EXECUTE

#define TRN_FFT_EXECUTE(Kind_, In, Out)                                                                              \
  template <Real T> void Plan<T>::execute(In in, Out out, void* workspace) const {                                   \
    if (goes_direct(state_.get(), Kind::Kind_, in, out)) return state_->direct.run(state_->direct.context, in, out); \
    run(executor_, state_of(state_), Kind::Kind_, pointers(in), pointers(out), workspace);                           \
  }
TRN_FFT_EXECUTE(ComplexToComplex, const C*, C*)
TRN_FFT_EXECUTE(RealToComplex, const T*, C*)
TRN_FFT_EXECUTE(ComplexToReal, const C*, T*)
#undef TRN_FFT_EXECUTE

#define TRN_FFT_EXECUTE(Kind_, In, Out)                                                    \
  template <Real T> void Plan<T>::execute(In in, Out out, void* workspace) const {         \
    run(executor_, state_of(state_), Kind::Kind_, pointers(in), pointers(out), workspace); \
  }
TRN_FFT_EXECUTE(ComplexToComplex, PlanarPointer<const T>, PlanarPointer<T>)
TRN_FFT_EXECUTE(RealToComplex, const T*, PlanarPointer<T>)
TRN_FFT_EXECUTE(ComplexToReal, PlanarPointer<const T>, T*)
#undef TRN_FFT_EXECUTE

template class Plan<float>;
template class Plan<double>;

}  // namespace trn::fft
