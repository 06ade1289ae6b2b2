// Plan: one transform, prepared, for arrays of one shape and type.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <variant>

#include "context.hpp"
#include "geometry.hpp"

namespace trn::python {
namespace {

using fft::Kind;

// Row-major arrays of `input` in, of `output` out, on the plan's executor.
struct PlanObject {
  const Transform* transform;
  DType in_type, out_type;
  Shape input, output;
  std::variant<fft::Plan<float>, fft::Plan<double>> plan;
};

template <class T>
PlanObject make(const Executor& executor, const Transform& t, const Geometry& g, fft::Norm norm, Precision precision) {
  const DType real = dtype_of<T>, complex = dtype_of<std::complex<T>>;
  const fft::Description d =
      describe(t, t.kind, g, row_major_strides(g.input), row_major_strides(g.output), norm, precision);
  const nb::gil_scoped_release released;
  return {&t,
          t.kind == Kind::RealToComplex ? real : complex,
          t.kind == Kind::ComplexToReal ? real : complex,
          g.input,
          g.output,
          fft::Plan<T>(executor, d)};
}

PlanObject make_plan(int which, const Shape& shape, bool single, nb::handle s, nb::handle axes, nb::handle norm,
                     nb::handle precision, nb::handle executor) {
  const Transform& t = transform_number(which);
  const Executor e = executor_of(executor);
  const Geometry g = geometry(t, shape, s, axes);
  const fft::Norm n = norm_of(t.name, norm);
  const Precision p = precision_of(precision);
  return single ? make<float>(e, t, g, n, p) : make<double>(e, t, g, n, p);
}

const Executor& executor_of_plan(const PlanObject& p) {
  return std::visit([](const auto& plan) -> const Executor& { return plan.executor(); }, p.plan);
}

template <class T> void execute(const fft::Plan<T>& plan, Kind kind, const Operand& in, const Operand& out) {
  using C = std::complex<T>;
  if (element_count(out.shape) == 0) return;
  if (kind == Kind::ComplexToComplex) {
    plan.execute(in.view<const C>(), out.view<C>());
  } else if (kind == Kind::RealToComplex) {
    plan.execute(in.view<const T>(), out.view<C>());
  } else {
    plan.execute(in.view<const C>(), out.view<T>());
  }
}

nb::object call_plan(const PlanObject& p, nb::handle x, nb::handle out) {
  const nb::object executor = nb::cast(executor_of_plan(p));
  Call call("fft.plan", executor, {x});
  Operand in = call.in(x, "x", only(p.in_type));
  require(in.shape == p.input, "fft.plan: x has shape {}; the plan is for {}", to_string(in.shape), to_string(p.input));
  if (in.strides != row_major_strides(in.shape)) in = call.copy_of(x, "x", only(p.in_type));
  const Operand y = out.is_none() ? call.out(p.out_type, p.output) : call.out_given(out, p.out_type, p.output, {&in});
  require(y.strides == row_major_strides(y.shape), "fft.plan: out must be row-major (C-contiguous)");
  call.run([&] { std::visit([&](const auto& plan) { execute(plan, p.transform->kind, in, y); }, p.plan); });
  return call.result(y);
}

nb::tuple tuple_of(const Shape& shape) {
  nb::list list;
  for (const std::int64_t n : shape) list.append(n);
  return nb::tuple(list);
}

}  // namespace

void bind_plan(nb::module_& m) {
  nb::class_<PlanObject>(m, "Plan")
      .def_prop_ro("name", [](const PlanObject& p) { return std::string(p.transform->name); })
      .def_prop_ro("executor", [](const PlanObject& p) { return executor_of_plan(p); })
      .def_prop_ro(
          "accuracy",
          [](const PlanObject& p) { return std::visit([](const auto& plan) { return plan.accuracy(); }, p.plan); })
      .def_prop_ro("workspace_bytes",
                   [](const PlanObject& p) {
                     return std::visit([](const auto& plan) { return plan.workspace_bytes(); }, p.plan);
                   })
      .def_prop_ro("input_shape", [](const PlanObject& p) { return tuple_of(p.input); })
      .def_prop_ro("output_shape", [](const PlanObject& p) { return tuple_of(p.output); })
      .def("__call__", &call_plan, nb::arg(), nb::arg().none());
  m.def("make_plan", &make_plan, nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg().none(), nb::arg().none(),
        nb::arg().none(), nb::arg().none());
}

}  // namespace trn::python
