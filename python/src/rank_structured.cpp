// trnsci.sparse.blr and hodlr: dense matrices whose blocks away from the diagonal have low rank, and their factors.
#include <nanobind/stl/string.h>

#include <trn/sparse/rank_structured.hpp>

#include "bindings.hpp"
#include "operators.hpp"

namespace trn::python {
namespace {

template <class... T> using RankMatrices = std::variant<sparse::RankMatrix<T>...>;
template <class... T> using RankFactorings = std::variant<sparse::RankFactors<T>...>;
struct RankValue {
  RankMatrices<float, double, std::complex<float>, std::complex<double>> held;
};
struct RankFactorsValue {
  RankFactorings<float, double, std::complex<float>, std::complex<double>> held;
};

RankValue compress(bool hierarchical, nb::handle a, double tolerance, std::int64_t tile, std::uint64_t seed) {
  Call call(hierarchical ? "sparse.hodlr" : "sparse.blr", nb::cast(Executor::host()), {a});
  const Operand o = call.in(a, "A", kFloats, 2);
  return with_scalar(o.dtype, [&](auto t) {
    using T = decltype(t);
    std::optional<sparse::RankMatrix<T>> made;
    call.run([&] {
      made.emplace(hierarchical ? sparse::RankShape::Hodlr : sparse::RankShape::Blr, o.matrix<const T>(),
                   sparse::RankOptions{tolerance, tile, seed});
    });
    return RankValue{*made};
  });
}

nb::dict report(const RankValue& a) {
  const sparse::RankReport r = std::visit([](const auto& m) { return m.report(); }, a.held);
  nb::dict d;
  d["dense_blocks"] = r.dense_blocks;
  d["low_rank_blocks"] = r.low_rank_blocks;
  d["largest_rank"] = r.largest_rank;
  d["stored"] = r.stored;
  d["norm"] = r.norm;
  d["error"] = r.error;
  return d;
}

template <class F> auto visited(const RankValue& a, F&& f) {
  return std::visit(
      [&](const auto& m) {
        const nb::gil_scoped_release released;
        return f(m);
      },
      a.held);
}

// (x, residual, residual_bound)
nb::object solve(const RankFactorsValue& factors, nb::handle b, int refinements) {
  return std::visit(
      [&](const auto& f) -> nb::object {
        using T = ValueOf<decltype(f)>;
        Call call("sparse.RankFactors.solve", nb::cast(Executor::host()), {b});
        const Operand in = call.in(b, "b", only(dtype_of<T>), 2);
        require(in.shape[0] == f.rows(), "sparse.RankFactors.solve: b has {} rows, the matrix {}", in.shape[0],
                f.rows());
        const Operand out = call.out(dtype_of<T>, in.shape);
        sparse::RankSolve solved;
        call.run([&] { solved = f.solve(in.matrix<const T>(), out.matrix<T>(), refinements); });
        return nb::make_tuple(call.result(out), solved.residual, solved.residual_bound);
      },
      factors.held);
}

}  // namespace

void bind_rank_structured(nb::module_& m) {
  nb::class_<RankValue>(m, "RankMatrix")
      .def("report", &report)
      .def("to",
           [](const RankValue& a, nb::handle executor) {
             const Executor where = executor_of(executor);
             return visited(a, [&](const auto& r) { return RankValue{r.to(where)}; });
           })
      .def("operator",
           [](const RankValue& a) {
             return std::visit(
                 [](const auto& r) {
                   return operator_value<ValueOf<decltype(r)>>(r,
                                                               r.shape() == sparse::RankShape::Blr ? "blr" : "hodlr");
                 },
                 a.held);
           })
      .def("factor", [](const RankValue& a, bool cholesky, double tolerance) {
        return visited(a, [&]<class T>(const sparse::RankMatrix<T>& r) {
          return RankFactorsValue{
              sparse::RankFactors<T>(r, cholesky ? sparse::RankFactor::Cholesky : sparse::RankFactor::Lu, tolerance)};
        });
      });
  nb::class_<RankFactorsValue>(m, "RankFactors")
      .def("report",
           [](const RankFactorsValue& a) {
             return std::visit(
                 [](const auto& f) { return nb::make_tuple(outcome_tuple(f.outcome()), f.truncation(), f.stored()); },
                 a.held);
           })
      .def("operator",
           [](const RankFactorsValue& a) {
             return std::visit([](const auto& f) { return operator_value<ValueOf<decltype(f)>>(f, "rank factors"); },
                               a.held);
           })
      .def("solve", &solve);
  m.def("rank_matrix", &compress);
}

}  // namespace trn::python
