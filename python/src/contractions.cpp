// einsum with its plans, paths, permutations, reductions and gradients, and integral transformations.
#include <nanobind/stl/complex.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <trn/tensor/chemistry.hpp>
#include <trn/tensor/einsum.hpp>
#include <trn/tensor/elementwise.hpp>

#include "bindings.hpp"
#include "operators.hpp"

namespace trn::python {
namespace {

using Complex = std::complex<double>;

tensor::PlanCache& cache() {
  static auto* const plans = new tensor::PlanCache(256);
  return *plans;
}

tensor::TypedView typed(const Operand& o) { return {o.executor, o.dtype, o.data, o.shape, o.strides}; }

Call call_for(const char* operation, nb::handle executor, const std::vector<nb::object>& operands) {
  require(!operands.empty(), "{}: give at least one operand", operation);
  return Call(operation, executor, std::vector<nb::handle>(operands.begin(), operands.end()));
}

DType computed(const std::vector<Operand>& operands) {
  std::vector<DType> types;
  for (const Operand& o : operands) types.push_back(o.dtype);
  return tensor::compute_type(types);
}

tensor::PathOptions path_options(const std::string& method, const std::string& minimize, const std::string& effort) {
  static constexpr std::string_view kMethods[] = {"auto",   "given",         "exhaustive", "dp",    "branch-and-bound",
                                                  "greedy", "random-greedy", "partition",  "anneal"};
  static constexpr std::string_view kMinimize[] = {"flops", "time", "size"}, kEffort[] = {"low", "normal", "high"};
  const auto number = [](std::span<const std::string_view> words, const std::string& text, const char* what) {
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (words[i] == text) return i;
    }
    fail<InvalidArgument>("tensor: {} '{}' is not known", what, text);
  };
  tensor::PathOptions o;
  o.method = static_cast<tensor::PathMethod>(number(kMethods, method, "optimize"));
  o.minimize = static_cast<tensor::Minimize>(number(kMinimize, minimize, "minimize"));
  o.effort = static_cast<tensor::Effort>(number(kEffort, effort, "effort"));
  return o;
}

struct Einsum {
  std::vector<Operand> operands;
  std::vector<tensor::TypedView> views;
  Shape shape;
  DType dtype;
};
Einsum prepare(Call& call, const std::string& text, const std::vector<nb::object>& operands) {
  Einsum e;
  for (const nb::object& x : operands) {
    e.operands.push_back(call.in(x, "operand", kFloats));
    e.views.push_back(typed(e.operands.back()));
  }
  e.shape = tensor::einsum_shape(text, e.views);
  e.dtype = computed(e.operands);
  return e;
}

tensor::EinsumOptions options_of(nb::handle precision, const tensor::PathOptions& path, std::int64_t memory) {
  tensor::EinsumOptions o;
  o.precision = precision_of(precision);
  o.path = path;
  o.memory_bytes = memory;
  o.cache = &cache();
  return o;
}

// alpha einsum(...) + beta C; with `componentwise` a bound of each element too.
nb::object einsum(const std::string& text, const std::vector<nb::object>& operands, Complex alpha, Complex beta,
                  nb::handle c, const std::string& method, const std::string& minimize, const std::string& effort,
                  std::int64_t memory, nb::handle precision, bool componentwise, nb::handle executor) {
  Call call = call_for("tensor.einsum", executor, operands);
  const Einsum e = prepare(call, text, operands);
  tensor::EinsumOptions options = options_of(precision, path_options(method, minimize, effort), memory);
  const Operand out = c.is_none() ? call.out(e.dtype, e.shape) : call.copy_of(c, "out", only(e.dtype));
  require(out.shape == e.shape, "tensor.einsum: out has shape {}; the result has {}", to_string(out.shape),
          to_string(e.shape));
  nb::object bounds = nb::none();
  if (componentwise) {
    bounds = new_array(DType::Float64, e.shape);
    options.componentwise = View<double>(Executor::host(), static_cast<double*>(data_of(bounds)), e.shape);
  }
  Accuracy accuracy;
  const tensor::TypedView d = typed(out);
  call.run([&] { accuracy = tensor::einsum(call.executor(), text, alpha, e.views, beta, d, d, options); });
  return nb::make_tuple(call.result(out), accuracy, bounds);
}

nb::object gradient(const std::string& text, const std::vector<nb::object>& operands, std::size_t i, nb::handle adjoint,
                    nb::handle precision, nb::handle executor) {
  Call call = call_for("tensor.einsum_gradient", executor, operands);
  const Einsum e = prepare(call, text, operands);
  require(i < operands.size(), "tensor.einsum_gradient: operand {} of {}", i, operands.size());
  const Operand d = call.in(adjoint, "adjoint", kFloats);
  const Operand out = call.out(e.dtype, e.operands[i].shape);
  const tensor::EinsumOptions options = options_of(precision, {}, 0);
  call.run([&] { tensor::einsum_gradient(call.executor(), text, e.views, i, typed(d), typed(out), options); });
  return call.result(out);
}

// Steps, flops, memory and bound of a plan for operands like these.
nb::object plan(const std::string& text, const std::vector<nb::object>& operands, const std::string& method,
                const std::string& minimize, const std::string& effort, std::int64_t memory, nb::handle precision,
                nb::handle executor) {
  Call call = call_for("tensor.plan", executor, operands);
  const Einsum e = prepare(call, text, operands);
  tensor::Description d;
  std::vector<std::int64_t> ranks;
  for (const tensor::TypedView& v : e.views) {
    d.operands.push_back(tensor::operand_of(v));
    ranks.push_back(static_cast<std::int64_t>(v.shape.size()));
  }
  d.expression = tensor::parse(text, ranks);
  d.output = {e.shape, row_major_strides(e.shape), e.dtype};
  d.precision = precision_of(precision);
  d.path = path_options(method, minimize, effort);
  d.memory_bytes = memory;
  std::optional<tensor::Plan> made;
  call.run([&] { made.emplace(cache().get(call.executor(), d)); });
  nb::list steps;
  for (const tensor::Step& s : made->steps()) {
    steps.append(nb::make_tuple(s.labels, s.folded, s.algorithm, std::string(name(s.mode)), s.flops, s.bound));
  }
  return nb::make_tuple(steps, made->flops(), made->moved_bytes(), made->seconds(), made->workspace_bytes(),
                        made->intermediate_bytes(), made->accuracy(), made->explain(), made->slices().passes);
}

// The order of contraction: positions as NumPy and opt_einsum count them, flops, largest result, method.
nb::object path(const std::string& text, const std::vector<std::vector<std::int64_t>>& shapes,
                const std::string& method, const std::string& minimize, const std::string& effort, std::uint64_t seed) {
  std::vector<std::int64_t> ranks;
  std::vector<Shape> all(shapes.begin(), shapes.end());
  for (const Shape& s : all) ranks.push_back(static_cast<std::int64_t>(s.size()));
  const tensor::Expression expression = tensor::parse(text, ranks);
  tensor::PathOptions options = path_options(method, minimize, effort);
  options.seed = seed;
  tensor::Path p;
  {
    const nb::gil_scoped_release released;
    p = tensor::optimize(expression, tensor::sizes_of(expression, all), options);
  }
  return nb::make_tuple(tensor::to_positions(static_cast<int>(shapes.size()), p.steps), p.flops, p.largest, p.method);
}

nb::object permute(const std::string& text, nb::handle a, Complex alpha, nb::handle executor) {
  Call call("tensor.permute", executor, {a});
  const Operand in = call.in(a, "a", kFloats);
  const tensor::TypedView v = typed(in);
  const Operand out = call.out(in.dtype, tensor::detail::result_shape("tensor.permute", text, std::span(&v, 1)));
  tensor::PermuteOptions options;
  options.alpha = alpha;
  call.run([&] { tensor::permute(call.executor(), text, v, typed(out), options); });
  return call.result(out);
}

nb::object reduce(const std::string& op, const std::string& text, nb::handle a, nb::handle executor) {
  Call call("tensor.reduce", executor, {a});
  const Operand in = call.in(a, "a", kFloats);
  const tensor::TypedView v = typed(in);
  const Operand out = call.out(in.dtype, tensor::detail::result_shape("tensor.reduce", text, std::span(&v, 1)));
  tensor::Binary which = tensor::Binary::Add;
  for (const tensor::Binary b : {tensor::Binary::Mul, tensor::Binary::Max, tensor::Binary::Min}) {
    if (op == tensor::name(b)) which = b;
  }
  require(op == tensor::name(which), "tensor.reduce: op '{}' is none of add, mul, max, min", op);
  call.run([&] { tensor::reduce(call.executor(), which, text, v, typed(out)); });
  return call.result(out);
}

// Integrals over atomic orbitals to molecular ones: four matrices for rank 4, two for (P|mu nu).
nb::object to_orbitals(nb::handle integrals, const std::vector<nb::object>& orbitals, bool symmetric,
                       nb::handle executor) {
  Call call("tensor.ao_to_mo", executor, {integrals});
  const Operand ao = call.in(integrals, "integrals", kReals);
  std::vector<Operand> c;
  for (const nb::object& x : orbitals) c.push_back(call.in(x, "orbitals", only(ao.dtype), 2));
  Operand out;
  with_real(ao.dtype, [&](auto t) {
    using T = decltype(t);
    std::vector<MatrixView<const T>> v;
    for (const Operand& o : c) v.push_back(o.matrix<const T>());
    call.run([&] {
      if (v.size() == 2) {
        out = call.adopt(tensor::df_to_mo<T>(call.executor(), ao.view<const T>(), v[0], v[1]));
      } else {
        out = call.adopt(
            tensor::ao_to_mo<T>(call.executor(), ao.view<const T>(), {v[0], v[1], v[2], v[3]}, {symmetric, 0}));
      }
    });
  });
  return call.result(out);
}

}  // namespace

void bind_contractions(nb::module_& m) {
  m.def("tensor_einsum", &einsum, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg(), nb::arg(),
        nb::arg(), nb::arg(), nb::arg().none(), nb::arg(), nb::arg().none());
  m.def("tensor_gradient", &gradient, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg().none());
  m.def("tensor_plan", &plan, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none(),
        nb::arg().none());
  m.def("tensor_path", &path);
  m.def("tensor_permute", &permute, nb::arg(), nb::arg(), nb::arg(), nb::arg().none());
  m.def("tensor_reduce", &reduce, nb::arg(), nb::arg(), nb::arg(), nb::arg().none());
  m.def("tensor_to_orbitals", &to_orbitals, nb::arg(), nb::arg(), nb::arg(), nb::arg().none());
  m.def("tensor_cache_info",
        [] { return nb::make_tuple(cache().hits(), cache().misses(), cache().limit(), cache().size()); });
  m.def("tensor_cache_clear", [] { cache().clear(); });
}

}  // namespace trn::python
