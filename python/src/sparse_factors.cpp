// Factorisations of sparse matrices: incomplete ones and other preconditioners as operators; Cholesky, LU and QR as
// direct solvers.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <trn/sparse/amg.hpp>
#include <trn/sparse/direct.hpp>
#include <trn/sparse/ilu.hpp>
#include <trn/sparse/preconditioners.hpp>

#include "bindings.hpp"
#include "operators.hpp"

namespace trn::python {
namespace {

using sparse::Csr;

template <class... T> using Factors = std::variant<sparse::Cholesky<T>..., sparse::Lu<T>..., sparse::Qr<T>...>;
struct FactorValue {
  Factors<float, double, std::complex<float>, std::complex<double>> held;
};

// An operator made from a matrix, without Python's lock.
template <class F> OperatorValue made(const SparseMatrix& a, F&& f) {
  return std::visit(
      [&](const auto& csr) {
        const nb::gil_scoped_release released;
        return f(csr);
      },
      a.held);
}

sparse::Reorder reorder_of(const std::string& text) {
  using sparse::Reorder;
  for (const Reorder r : {Reorder::None, Reorder::ReverseCuthillMcKee, Reorder::MinimumDegree,
                          Reorder::NestedDissection, Reorder::Best}) {
    if (text == sparse::name(r)) return r;
  }
  fail<InvalidArgument>("sparse: ordering '{}' is none of {}, {}, {}, {}, {}", text, sparse::name(Reorder::None),
                        sparse::name(Reorder::ReverseCuthillMcKee), sparse::name(Reorder::MinimumDegree),
                        sparse::name(Reorder::NestedDissection), sparse::name(Reorder::Best));
}

FactorValue factor(const SparseMatrix& a, const std::string& kind, const std::string& ordering, bool upper,
                   double parameter) {
  const sparse::Reorder reorder = reorder_of(ordering);
  return std::visit(
      [&](const auto& csr) {
        using T = ValueOf<decltype(csr)>;
        const nb::gil_scoped_release released;
        if (kind == "cholesky") {
          sparse::CholeskyOptions options;
          options.ordering = reorder;
          options.uplo = upper ? sparse::Uplo::Upper : sparse::Uplo::Lower;
          return FactorValue{sparse::Cholesky<T>(csr, options)};
        }
        if (kind == "lu") {
          sparse::LuOptions options;
          options.ordering = reorder;
          options.threshold = parameter;
          return FactorValue{sparse::Lu<T>(csr, options)};
        }
        sparse::QrOptions options;
        options.ordering = reorder;
        options.tolerance = parameter;
        return FactorValue{sparse::Qr<T>(csr, options)};
      },
      a.held);
}

// (x, (status, index, boosted), steps, componentwise, normwise)
nb::object solve(const FactorValue& factor, nb::handle b, int steps) {
  return std::visit(
      [&](const auto& f) -> nb::object {
        using T = ValueOf<decltype(f)>;
        Call call("sparse.solve", nb::cast(Executor::host()), {b});
        const Operand in = call.in(b, "b", only(dtype_of<T>), 2);
        require(in.shape[0] == f.rows(), "sparse.solve: b has {} rows, the matrix {}", in.shape[0], f.rows());
        const Operand out = call.out(dtype_of<T>, {f.columns(), in.shape[1]});
        sparse::Solved solved;
        call.run([&] {
          if constexpr (requires { f.solve(in.matrix<const T>(), out.matrix<T>(), Op::N, sparse::Refinement{}); }) {
            solved = f.solve(in.matrix<const T>(), out.matrix<T>(), Op::N, {steps});
          } else {
            solved = f.solve(in.matrix<const T>(), out.matrix<T>(), sparse::Refinement{steps});
          }
        });
        return nb::make_tuple(call.result(out), outcome_tuple(solved.outcome), solved.steps, solved.componentwise,
                              solved.normwise);
      },
      factor.held);
}

FactorValue refactor(const FactorValue& factor, nb::handle a) {
  return std::visit(
      [&](const auto& f) {
        const auto& csr = csr_of<ValueOf<decltype(f)>>(a, "A");
        const nb::gil_scoped_release released;
        return FactorValue{f.refactor(csr)};
      },
      factor.held);
}

nb::dict report(const FactorValue& factor) {
  const sparse::FactorReport r = std::visit([](const auto& f) { return f.report(); }, factor.held);
  nb::dict d;
  d["ordering"] = std::string(sparse::name(r.ordering));
  d["entries"] = r.entries;
  d["flops"] = r.flops;
  d["nodes"] = r.nodes;
  d["largest_front"] = r.largest_front;
  d["delayed"] = r.delayed;
  return d;
}

OperatorValue amg(const SparseMatrix& a, nb::handle nullspace, std::int64_t block, double strength,
                  std::int64_t coarsest) {
  return std::visit(
      [&](const auto& csr) {
        using T = ValueOf<decltype(csr)>;
        Call call("sparse.amg", nb::cast(Executor::host()), {nullspace});
        sparse::AmgOptions<T> options;
        Operand vectors;
        if (!nullspace.is_none()) {
          vectors = call.in(nullspace, "nullspace", only(dtype_of<T>), 2);
          options.nullspace = vectors.matrix<const T>();
        }
        options.block = block;
        options.strength = strength;
        options.coarsest = coarsest;
        std::optional<sparse::Amg<T>> cycle;
        call.run([&] { cycle.emplace(csr, options); });
        return operator_value<T>(*cycle, "amg");
      },
      a.held);
}

}  // namespace

void bind_sparse_factors(nb::module_& m) {
  m.def("ilu", [](const SparseMatrix& a, int level, double tolerance, double value) {
    return made(a, [&]<class T>(const Csr<T>& c) {
      return operator_value<T>(sparse::ilu(c, {level, {tolerance, value}}), "ilu");
    });
  });
  m.def("ilut", [](const SparseMatrix& a, double drop, std::int64_t largest) {
    return made(a, [&]<class T>(const Csr<T>& c) {
      return operator_value<T>(sparse::ilut(c, {drop, largest}), "ilut");
    });
  });
  m.def("ic0", [](const SparseMatrix& a, double shift) {
    return made(a, [&]<class T>(const Csr<T>& c) { return operator_value<T>(sparse::ic0(c, shift), "ic0"); });
  });
  m.def("sparse_jacobi", [](const SparseMatrix& a, std::int64_t block) {
    return made(
        a, [&]<class T>(const Csr<T>& c) { return operator_value<T>(sparse::BlockJacobi<T>(c, block), "jacobi"); });
  });
  m.def("sparse_ssor", [](const SparseMatrix& a, double weight) {
    return made(a, [&]<class T>(const Csr<T>& c) { return operator_value<T>(sparse::Ssor<T>(c, weight), "ssor"); });
  });
  m.def("sparse_chebyshev", [](const SparseMatrix& a, int degree, double largest, double ratio) {
    return made(a, [&]<class T>(const Csr<T>& c) {
      return operator_value<T>(sparse::Chebyshev<T>(c, {degree, largest, ratio}), "chebyshev");
    });
  });
  m.def("approximate_inverse", [](const SparseMatrix& a) {
    return std::visit(
        [](const auto& csr) {
          const nb::gil_scoped_release released;
          return SparseMatrix{sparse::approximate_inverse(csr)};
        },
        a.held);
  });
  m.def("amg", &amg, nb::arg(), nb::arg().none(), nb::arg(), nb::arg(), nb::arg());
  nb::class_<FactorValue>(m, "SparseFactor")
      .def_prop_ro("shape",
                   [](const FactorValue& f) {
                     return std::visit([](const auto& g) { return nb::make_tuple(g.rows(), g.columns()); }, f.held);
                   })
      .def_prop_ro("outcome",
                   [](const FactorValue& f) {
                     return std::visit([](const auto& g) { return outcome_tuple(g.outcome()); }, f.held);
                   })
      .def("report", &report)
      .def("solve", &solve)
      .def("refactor", &refactor)
      .def("log_determinant",
           [](const FactorValue& f) {
             return std::visit(
                 [](const auto& g) -> double {
                   if constexpr (requires { g.log_determinant(); }) return g.log_determinant();
                   fail<NotImplemented>("sparse: log_determinant is Cholesky's");
                 },
                 f.held);
           })
      .def("triangle", [](const FactorValue& f) {
        return std::visit(
            [](const auto& g) {
              if constexpr (requires { g.lower(); }) {
                return nb::make_tuple(SparseMatrix{g.lower()}, std::vector<std::int64_t>(g.order()));
              } else if constexpr (requires { g.r(); }) {
                return nb::make_tuple(SparseMatrix{g.r()}, std::vector<std::int64_t>(g.order()));
              } else {
                fail<NotImplemented>("sparse: the factors of LU stay inside; use solve");
                return nb::tuple();
              }
            },
            f.held);
      });
  m.def("sparse_factor", &factor);
}

}  // namespace trn::python
