// trnsci.tensor: einsum and its plans.
#include <nanobind/stl/complex.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <trn/tensor/einsum.hpp>

#include "call.hpp"
#include "context.hpp"

namespace trn::python {
namespace {

constexpr Types kTensors = kFloats | only(DType::Float16);

tensor::PlanCache& cache() {
  static tensor::PlanCache plans(64);
  return plans;
}

tensor::TypedView typed(const Operand& o) { return {o.executor, o.dtype, o.data, o.shape, o.strides}; }

// The operands of a call and the type of its result.
struct Operands {
  std::vector<Operand> kept;
  std::vector<tensor::TypedView> views;
  DType result{};
};

std::vector<nb::handle> handles(const nb::list& list) {
  std::vector<nb::handle> all;
  for (const nb::handle x : list) all.push_back(x);
  return all;
}

Operands operands(Call& call, const std::vector<nb::handle>& given) {
  Operands all;
  std::vector<DType> types;
  all.kept.reserve(given.size());
  all.views.reserve(given.size());
  static constexpr const char* kNames[] = {"operand 0", "operand 1", "operand 2", "operand 3"};
  for (std::size_t i = 0; i < given.size(); ++i) {
    const std::string name = i < std::size(kNames) ? std::string() : fmt::format("operand {}", i);
    all.kept.push_back(call.in(given[i], i < std::size(kNames) ? kNames[i] : name.c_str(), kTensors));
    all.views.push_back(typed(all.kept.back()));
    types.push_back(all.kept.back().dtype);
  }
  all.result = tensor::compute_type(types);
  return all;
}

nb::object einsum(const std::string& text, const nb::list& list, std::complex<double> alpha, std::complex<double> beta,
                  nb::handle c, nb::handle out, nb::handle precision, nb::handle executor, bool accuracy) {
  const std::vector<nb::handle> given = handles(list);
  std::vector<nb::handle> with_c = given;
  with_c.push_back(c);
  Call call("tensor.einsum", executor, with_c);
  const Operands all = operands(call, given);
  const Shape shape = tensor::einsum_shape(text, all.views);
  Operand d;
  if (!c.is_none()) {
    d = call.copy_of(c, "c", only(all.result));
    require(d.shape == shape, "tensor.einsum: c has shape {}; the result has {}", to_string(d.shape), to_string(shape));
    if (!out.is_none()) {  // c may lie on it; operands may not, and are looked at before it is written
      const Operand given_out = call.out_given(out, all.result, shape, {});
      for (const Operand& operand : all.kept) {
        require(!overlap(given_out, operand), "tensor.einsum: out overlaps an operand; give memory of its own");
      }
      call.copy(d, given_out);
      d = given_out;
    }
  } else if (!out.is_none()) {
    d = call.out_given(out, all.result, shape, {});
  } else {
    d = call.out(all.result, shape);
  }
  tensor::EinsumOptions options;
  options.precision = precision_of(precision);
  options.cache = &cache();
  Accuracy bound;
  call.run([&] {
    const tensor::TypedView view = typed(d);
    bound = c.is_none() && alpha == 1.0 ? tensor::einsum(call.executor(), text, all.views, view, options)
                                        : tensor::einsum(call.executor(), text, alpha, all.views,
                                                         c.is_none() ? 0.0 : beta, view, view, options);
  });
  nb::object result = call.result(d);
  if (!accuracy) return result;
  return nb::make_tuple(result, bound);
}

// An einsum planned for operands of given shapes and types, row-major.
struct EinsumPlan {
  tensor::Plan plan;
  std::vector<DType> types;
  std::vector<Shape> shapes;
  Shape result_shape;
  DType result_type;
};

DType dtype_named(const std::string& name) { return parse_dtype(name); }

EinsumPlan make_einsum_plan(const std::string& text, const std::vector<Shape>& shapes,
                            const std::vector<std::string>& types, nb::handle precision, nb::handle executor,
                            std::int64_t memory_bytes) {
  const Executor e = executor_of(executor);
  tensor::Description d;
  std::vector<std::int64_t> ranks;
  std::vector<DType> dtypes;
  std::vector<tensor::TypedView> views;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    ranks.push_back(static_cast<std::int64_t>(shapes[i].size()));
    dtypes.push_back(dtype_named(types.at(i)));
    d.operands.push_back({shapes[i], row_major_strides(shapes[i]), dtypes.back()});
    views.emplace_back(e, dtypes.back(), nullptr, shapes[i]);
  }
  d.expression = tensor::parse(text, ranks);
  const Shape shape = tensor::einsum_shape(text, views);
  const DType result = tensor::compute_type(dtypes);
  d.output = {shape, row_major_strides(shape), result};
  d.precision = precision_of(precision);
  d.memory_bytes = memory_bytes;
  const nb::gil_scoped_release released;
  return {cache().get(e, d), dtypes, shapes, shape, result};
}

nb::object call_plan(const EinsumPlan& p, const nb::list& list, bool accuracy) {
  const std::vector<nb::handle> given = handles(list);
  require(given.size() == p.shapes.size(), "tensor.plan: {} operands given; the plan has {}", given.size(),
          p.shapes.size());
  const nb::object executor = nb::cast(p.plan.executor());
  Call call("tensor.plan", executor, given);
  std::vector<Operand> kept;
  std::vector<tensor::TypedView> views;
  for (std::size_t i = 0; i < given.size(); ++i) {
    Operand o = call.in(given[i], "an operand", only(p.types[i]));
    require(o.shape == p.shapes[i], "tensor.plan: operand {} has shape {}; the plan has {}", i, to_string(o.shape),
            to_string(p.shapes[i]));
    if (o.strides != row_major_strides(o.shape)) o = call.copy_of(given[i], "an operand", only(p.types[i]));
    kept.push_back(o);
    views.push_back(typed(o));
  }
  const Operand d = call.out(p.result_type, p.result_shape);
  Accuracy bound;
  call.run([&] { bound = p.plan.execute(views, typed(d)).accuracy; });
  nb::object result = call.result(d);
  if (!accuracy) return result;
  return nb::make_tuple(result, bound);
}

}  // namespace

void bind_tensor(nb::module_& m) {
  m.def("einsum", &einsum, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg().none(),
        nb::arg().none(), nb::arg().none(), nb::arg());
  nb::class_<EinsumPlan>(m, "EinsumPlan")
      .def_prop_ro("flops", [](const EinsumPlan& p) { return p.plan.flops(); })
      .def_prop_ro("moved_bytes", [](const EinsumPlan& p) { return p.plan.moved_bytes(); })
      .def_prop_ro("seconds", [](const EinsumPlan& p) { return p.plan.seconds(); })
      .def_prop_ro("workspace_bytes", [](const EinsumPlan& p) { return p.plan.workspace_bytes(); })
      .def_prop_ro("accuracy", [](const EinsumPlan& p) { return p.plan.accuracy(); })
      .def("explain", [](const EinsumPlan& p) { return p.plan.explain(); })
      .def("__call__", &call_plan);
  m.def("make_einsum_plan", &make_einsum_plan, nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg().none(),
        nb::arg());
}

}  // namespace trn::python
