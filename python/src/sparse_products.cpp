// Products and solves with sparse matrices: sparse times dense with its plan, sampled and sparse products, triangular
// and tridiagonal systems.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include <trn/sparse/spgemm.hpp>
#include <trn/sparse/spmm.hpp>
#include <trn/sparse/triangular.hpp>
#include <trn/sparse/tridiagonal.hpp>

#include "bindings.hpp"
#include "operators.hpp"

namespace trn::python {
namespace {

using sparse::Csr;

template <class... T> using Plans = std::variant<sparse::SpmmPlan<T>...>;
struct SpmmPlanValue {
  Plans<float, double, std::complex<float>, std::complex<double>> held;
};

template <class T> T scalar_of(nb::handle x) {
  const Py_complex c = PyComplex_AsCComplex(x.ptr());
  if (c.real == -1 && PyErr_Occurred()) throw nb::python_error();
  if constexpr (ComplexScalar<T>) {
    return T(static_cast<Real<T>>(c.real), static_cast<Real<T>>(c.imag));
  } else {
    require(c.imag == 0, "sparse: a complex factor for a real matrix; convert the matrix");
    return static_cast<T>(c.real);
  }
}

template <class T> Csr<T> on(const Executor& executor, const Csr<T>& a) {
  return executor.family() == Family::Host ? a : a.to(executor);
}

sparse::Kernel kernel_of(const std::string& text) {
  for (int k = 0; k <= static_cast<int>(sparse::Kernel::Stencil); ++k) {
    if (text == sparse::name(static_cast<sparse::Kernel>(k))) return static_cast<sparse::Kernel>(k);
  }
  fail<InvalidArgument>(
      "sparse.spmm: kernel '{}' is none of automatic, csr, sell, bsr, dia, resident, pinned, gather, stencil", text);
}

SpmmPlanValue spmm_plan(const SparseMatrix& a, int op, std::int64_t columns, const std::string& kernel,
                        nb::handle precision, nb::handle executor) {
  sparse::SpmmOptions options{static_cast<Op>(op), columns, kernel_of(kernel), precision_of(precision)};
  const Executor where = executor_of(executor);
  return std::visit(
      [&](const auto& csr) {
        const nb::gil_scoped_release released;
        return SpmmPlanValue{sparse::SpmmPlan<ValueOf<decltype(csr)>>(where, on(where, csr), options)};
      },
      a.held);
}

// alpha op(A) B + beta C: B and C are (n, k).
nb::object spmm(const SpmmPlanValue& plan, nb::handle alpha, nb::handle b, nb::handle beta, nb::handle c,
                bool return_accuracy) {
  return std::visit(
      [&]<class T>(const sparse::SpmmPlan<T>& p) -> nb::object {
        Call call("sparse.spmm", nb::cast(p.executor()), {b, c});
        const Operand in = call.in(b, "b", only(dtype_of<T>), 2);
        require(in.shape[0] == p.columns(), "sparse.spmm: B has {} rows, op(A) has {} columns", in.shape[0],
                p.columns());
        const T x = scalar_of<T>(alpha), y = scalar_of<T>(beta);
        require(y == T(0) || !c.is_none(), "sparse.spmm: beta is not 0, so C is needed");
        const Shape shape{p.rows(), in.shape[1]};
        const Operand out = c.is_none() ? call.out(dtype_of<T>, shape) : call.copy_of(c, "c", only(dtype_of<T>));
        require(out.shape == shape, "sparse.spmm: C has shape {}; the product has {}", to_string(out.shape),
                to_string(shape));
        Accuracy accuracy;
        call.run([&] { accuracy = p.execute(x, in.matrix<const T>(), y, out.matrix<T>()); });
        const nb::object result = call.result(out);
        if (!return_accuracy) return result;
        return nb::make_tuple(result, accuracy);
      },
      plan.held);
}

nb::dict report(const SpmmPlanValue& plan) {
  const sparse::PlanReport r = std::visit([](const auto& p) { return p.report(); }, plan.held);
  nb::dict d;
  d["kernel"] = std::string(sparse::name(r.kernel));
  d["nnz"] = r.nnz;
  d["stored"] = r.stored;
  d["matrix_bytes"] = r.matrix_bytes;
  d["tiles"] = r.tiles;
  d["fill"] = r.fill;
  d["modelled_seconds"] = r.modelled_seconds;
  d["host_seconds"] = r.host_seconds;
  d["break_even_fill"] = r.break_even_fill;
  return d;
}

SparseMatrix spgemm(const SparseMatrix& a, nb::handle b, nb::handle alpha) {
  return std::visit(
      [&](const auto& csr) {
        using T = ValueOf<decltype(csr)>;
        const Csr<T>& other = csr_of<T>(b, "B");
        const T x = scalar_of<T>(alpha);
        const nb::gil_scoped_release released;
        return SparseMatrix{sparse::spgemm(Executor::host(), x, csr, other)};
      },
      a.held);
}

SparseMatrix sddmm(nb::handle alpha, nb::handle a, nb::handle b, nb::handle beta, const SparseMatrix& s,
                   nb::handle executor) {
  return std::visit(
      [&](const auto& csr) {
        using T = ValueOf<decltype(csr)>;
        Call call("sparse.sddmm", executor, {a, b});
        const Operand left = call.in(a, "A", only(dtype_of<T>), 2), right = call.in(b, "B", only(dtype_of<T>), 2);
        const T x = scalar_of<T>(alpha), y = scalar_of<T>(beta);
        std::optional<Csr<T>> made;
        call.run([&] {
          const Csr<T> there = on(call.executor(), csr);
          made.emplace(sparse::sddmm<T>(call.executor(), x, left.matrix<const T>(), right.matrix<const T>(), y, there));
          if (!call.on_host()) made.emplace(made->to(Executor::host()));
        });
        return SparseMatrix{*made};
      },
      s.held);
}

nb::object triangular(const SparseMatrix& a, nb::handle b, bool upper, int op, bool unit) {
  return std::visit(
      [&](const auto& csr) -> nb::object {
        using T = ValueOf<decltype(csr)>;
        Call call("sparse.solve_triangular", nb::cast(Executor::host()), {b});
        const Operand in = call.in(b, "b", only(dtype_of<T>), 2);
        const Operand out = call.out(dtype_of<T>, in.shape);
        sparse::Outcome outcome;
        call.run([&] {
          const sparse::TriangularPlan<T> plan(call.executor(), csr,
                                               {static_cast<Op>(op), upper ? sparse::Uplo::Upper : sparse::Uplo::Lower,
                                                unit ? sparse::Diag::Unit : sparse::Diag::NonUnit});
          outcome = plan.solve(T(1), in.matrix<const T>(), out.matrix<T>());
        });
        return nb::make_tuple(call.result(out), outcome_tuple(outcome));
      },
      a.held);
}

// Diagonals are (n, count), or five of them for a pentadiagonal batch.
nb::object tridiagonal(const std::vector<nb::object>& diagonals, nb::handle b, bool pivot) {
  Call call("sparse.solve_banded_batch", nb::cast(Executor::host()), {b});
  const Operand x = call.copy_of(b, "b", kFloats);
  check_rank(call, x, "b", 2);
  std::vector<Operand> d;
  for (const nb::object& diagonal : diagonals) d.push_back(call.in(diagonal, "a diagonal", only(x.dtype), 2));
  sparse::Outcome outcome;
  with_scalar(x.dtype, [&](auto t) {
    using T = decltype(t);
    std::vector<MatrixView<const T>> v;
    for (const Operand& o : d) v.push_back(o.matrix<const T>());
    call.run([&] {
      if (v.size() == 3) {
        outcome = sparse::solve_tridiagonal<T>(call.executor(), v[0], v[1], v[2], x.matrix<T>(),
                                               pivot ? sparse::Pivoting::Partial : sparse::Pivoting::None);
      } else {
        outcome = sparse::solve_pentadiagonal<T>(call.executor(), v[0], v[1], v[2], v[3], v[4], x.matrix<T>());
      }
    });
  });
  return nb::make_tuple(call.result(x), outcome_tuple(outcome));
}

}  // namespace

void bind_sparse_products(nb::module_& m) {
  nb::class_<SpmmPlanValue>(m, "SpmmPlan")
      .def_prop_ro("shape",
                   [](const SpmmPlanValue& p) {
                     return std::visit([](const auto& q) { return nb::make_tuple(q.rows(), q.columns()); }, p.held);
                   })
      .def_prop_ro(
          "executor",
          [](const SpmmPlanValue& p) { return std::visit([](const auto& q) { return q.executor(); }, p.held); })
      .def("report", &report)
      .def("run", &spmm, nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg());
  m.def("spmm_plan", &spmm_plan, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg().none());
  m.def("spgemm", &spgemm);
  m.def("sparse_power", [](const SparseMatrix& a, std::int64_t k) {
    return std::visit(
        [&](const auto& csr) {
          const nb::gil_scoped_release released;
          return SparseMatrix{sparse::power(Executor::host(), csr, k)};
        },
        a.held);
  });
  m.def("sddmm", &sddmm, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none());
  m.def("sparse_triangular", &triangular);
  m.def("sparse_tridiagonal", &tridiagonal);
}

}  // namespace trn::python
