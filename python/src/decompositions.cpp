// CP, Tucker and tensor-train decompositions.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <trn/tensor/cp.hpp>
#include <trn/tensor/tensor_train.hpp>
#include <trn/tensor/tucker.hpp>

#include "bindings.hpp"
#include "solver.hpp"

namespace trn::python {
namespace {

// (norm, error, bound, fit, discarded, iterations, stop reason)
nb::tuple report_of(const tensor::DecompositionReport& r) {
  return nb::make_tuple(r.norm, r.error, r.bound, r.fit, r.discarded, r.iterations,
                        std::string(tensor::name(r.stop_reason)));
}

nb::list results(const Call& call, const std::vector<Operand>& operands) {
  nb::list list;
  for (const Operand& o : operands) list.append(call.result(o));
  return list;
}

// (weights, factors, report)
nb::object cp(nb::handle x, std::int64_t rank, const std::string& method, int iterations, double tolerance, int starts,
              std::uint64_t seed, nb::handle executor) {
  Call call("tensor.cp", executor, {x});
  const Operand in = call.in(x, "x", kReals);
  tensor::CpOptions o;
  o.method = method == "nonnegative"  ? tensor::CpMethod::Nonnegative
             : method == "randomized" ? tensor::CpMethod::Randomized
                                      : tensor::CpMethod::Als;
  o.max_iterations = iterations;
  o.tolerance = tolerance;
  o.starts = starts;
  o.seed = seed;
  std::vector<Operand> factors;
  std::vector<double> weights;
  tensor::DecompositionReport report;
  with_real(in.dtype, [&](auto t) {
    using T = decltype(t);
    call.run([&] {
      tensor::Cp<T> c = tensor::cp<T>(call.executor(), in.view<const T>(), rank, o);
      weights.assign(c.weights.begin(), c.weights.end());
      for (Matrix<T>& f : c.factors) factors.push_back(adopt_matrix(call, std::move(f)));
      report = c.report;
    });
  });
  return nb::make_tuple(weights, results(call, factors), report_of(report));
}

// (core, factors, report)
nb::object tucker(nb::handle x, const std::vector<std::int64_t>& ranks, const std::string& method, double epsilon,
                  int iterations, std::uint64_t seed, nb::handle executor) {
  Call call("tensor.tucker", executor, {x});
  const Operand in = call.in(x, "x", kFloats);
  tensor::TuckerOptions o;
  o.method = method == "hosvd"        ? tensor::TuckerMethod::Hosvd
             : method == "hooi"       ? tensor::TuckerMethod::Hooi
             : method == "randomized" ? tensor::TuckerMethod::Randomized
                                      : tensor::TuckerMethod::StHosvd;
  o.ranks = ranks;
  o.epsilon = epsilon;
  o.max_iterations = iterations;
  o.seed = seed;
  Operand core;
  std::vector<Operand> factors;
  tensor::DecompositionReport report;
  with_scalar(in.dtype, [&](auto t) {
    using T = decltype(t);
    call.run([&] {
      tensor::Tucker<T> d = tensor::tucker<T>(call.executor(), in.view<const T>(), o);
      core = call.adopt(std::move(d.core));
      for (Matrix<T>& f : d.factors) factors.push_back(adopt_matrix(call, std::move(f)));
      report = d.report;
    });
  });
  return nb::make_tuple(call.result(core), results(call, factors), report_of(report));
}

template <class T> std::vector<Operand> adopt_cores(const Call& call, tensor::TensorTrain<T>&& t) {
  std::vector<Operand> cores;
  for (Array<T>& core : t.cores) cores.push_back(call.adopt(std::move(core)));
  return cores;
}

// (cores, report)
nb::object train(nb::handle x, double epsilon, std::int64_t max_rank, nb::handle executor) {
  Call call("tensor.tensor_train", executor, {x});
  const Operand in = call.in(x, "x", kFloats);
  std::vector<Operand> cores;
  tensor::DecompositionReport report;
  with_scalar(in.dtype, [&](auto t) {
    using T = decltype(t);
    call.run([&] {
      tensor::TensorTrain<T> made = tensor::tensor_train<T>(call.executor(), in.view<const T>(), {epsilon, max_rank});
      report = made.report;
      cores = adopt_cores(call, std::move(made));
    });
  });
  return nb::make_tuple(results(call, cores), report_of(report));
}

// The same tensor with smaller ranks.
nb::object train_round(const std::vector<nb::object>& cores, double epsilon, std::int64_t max_rank) {
  require(!cores.empty(), "tensor.tt_round: no cores");
  Call call("tensor.tt_round", nb::cast(Executor::host()), {cores[0]});
  std::vector<Operand> given, made;
  given.push_back(call.in(cores[0], "core", kFloats, 3));
  for (std::size_t k = 1; k < cores.size(); ++k) given.push_back(call.in(cores[k], "core", only(given[0].dtype), 3));
  tensor::DecompositionReport report;
  with_scalar(given[0].dtype, [&](auto t) {
    using T = decltype(t);
    call.run([&] {
      tensor::TensorTrain<T> a;
      for (const Operand& o : given) {
        Array<T> core(call.executor(), o.shape);
        copy(o.view<const T>(), core.view());
        a.cores.push_back(std::move(core));
      }
      tensor::TensorTrain<T> rounded = tensor::round<T>(call.executor(), a, {epsilon, max_rank});
      report = rounded.report;
      made = adopt_cores(call, std::move(rounded));
    });
  });
  return nb::make_tuple(results(call, made), report_of(report));
}

}  // namespace

void bind_decompositions(nb::module_& m) {
  m.def("tensor_cp", &cp, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
        nb::arg().none());
  m.def("tensor_tucker", &tucker, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none());
  m.def("tensor_train", &train, nb::arg(), nb::arg(), nb::arg(), nb::arg().none());
  m.def("tensor_train_round", &train_round);
}

}  // namespace trn::python
