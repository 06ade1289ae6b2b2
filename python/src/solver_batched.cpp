// Stacks of small matrices, (count, n, n): one call for all of them, an outcome for each.
#include <trn/solver/batched.hpp>

#include "bindings.hpp"
#include "solver.hpp"

namespace trn::python {
namespace {

template <class T> solver::Batch<T> batch_of(const Operand& o) {
  const std::int64_t m = o.shape[1], n = o.shape[2];
  return solver::Batch<T>::strided({m, n, 0, solver::Layout::RowMajor}, o.pointer<T>(), m * n, o.shape[0]);
}

nb::list outcomes_of(const solver::BatchOutcomes& outcomes) {
  nb::list list;
  for (const solver::Outcome& o : outcomes) list.append(nb::make_tuple(std::string(solver::name(o.status)), o.index));
  return list;
}

// What getrf found counts before what getrs says.
void merge(solver::BatchOutcomes& first, const solver::BatchOutcomes& second) {
  for (std::size_t i = 0; i < first.size(); ++i) {
    if (first[i].ok()) first[i] = second[i];
  }
}

// (results, outcomes) of "cholesky", "solve", "inv", "eigh" or "svd".
nb::object batched(const std::string& what, nb::handle a, nb::handle b, bool lower, nb::handle executor) {
  Call call("solver.batched", executor, {a, b});
  const Operand f = call.copy_of(a, "a", kFloats);
  check_rank(call, f, "a", 3);
  const std::int64_t count = f.shape[0], m = f.shape[1], n = f.shape[2], k = std::min(m, n);
  require(what == "svd" || m == n, "solver.{}: the matrices are {} x {}; they must be square", what, m, n);
  std::vector<Operand> out{f};
  const DType real = real_of(f.dtype);
  if (what == "solve") {
    out = {call.copy_of(b, "b", only(f.dtype))};
    check_rank(call, out[0], "b", 3);
    require(out[0].shape[0] == count && out[0].shape[1] == n, "solver.solve: b has shape {}, a has {}",
            to_string(out[0].shape), to_string(f.shape));
  } else if (what == "inv") {
    out = {call.out(f.dtype, f.shape)};
  } else if (what == "eigh") {
    out = {call.out(real, {count, n}), f};
  } else if (what == "svd") {
    out = {call.out(f.dtype, {count, m, k}), call.out(real, {count, k}), call.out(f.dtype, {count, k, n})};
  }
  const Operand pivots = call.out(DType::Int64, {what == "solve" ? count : 0, n});
  solver::BatchOutcomes outcomes;
  with_scalar(f.dtype, [&](auto t) {
    using T = decltype(t);
    call.run([&] {
      const Executor& e = call.executor();
      if (what == "cholesky") {
        outcomes = solver::potrf_batched(e, uplo_of(lower), batch_of<T>(f));
      } else if (what == "solve") {
        outcomes = solver::getrf_batched(e, batch_of<T>(f), pivots.matrix<std::int64_t>());
        merge(outcomes, solver::getrs_batched<T>(e, Op::N, batch_of<T>(f), pivots.matrix<const std::int64_t>(),
                                                 batch_of<T>(out[0])));
      } else if (what == "inv") {
        outcomes = solver::matinv_batched<T>(e, batch_of<T>(f), batch_of<T>(out[0]));
      } else if (what == "eigh") {
        solver::EighOptions options;
        options.uplo = uplo_of(lower);
        outcomes = solver::eigh_batched(e, batch_of<T>(f), out[0].matrix<Real<T>>(), options);
      } else {
        outcomes = solver::svd_batched<T>(e, batch_of<T>(f), out[1].matrix<Real<T>>(), batch_of<T>(out[0]),
                                          batch_of<T>(out[2]));
      }
    });
  });
  nb::list results;
  for (const Operand& o : out) results.append(call.result(o));
  return nb::make_tuple(results, outcomes_of(outcomes));
}

}  // namespace

void bind_solver_batched(nb::module_& m) {
  m.def("solver_batched", &batched, nb::arg(), nb::arg(), nb::arg().none(), nb::arg(), nb::arg().none());
}

}  // namespace trn::python
