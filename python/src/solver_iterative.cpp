// Krylov methods, a few eigenvalues, and randomised methods, for operators of any kind.
//
// A Python function as the operator takes Python's lock while it runs; so does the monitor, which lets Ctrl-C stop an
// iteration.
#include <trn/solver/functions.hpp>
#include <trn/solver/krylov.hpp>
#include <trn/solver/partial_spectra.hpp>
#include <trn/solver/randomized.hpp>

#include "bindings.hpp"
#include "solver.hpp"

namespace trn::python {
namespace {

// The monitor of a Python call: Ctrl-C, and the caller's function of (iteration, residuals), None or True to go on.
auto monitor_of(nb::handle monitor) {
  return [monitor](std::int64_t iteration, std::span<const double> residuals) {
    const nb::gil_scoped_acquire locked;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    if (monitor.is_none()) return true;
    const nb::object answer = monitor(iteration, std::vector<double>(residuals.begin(), residuals.end()));
    return answer.is_none() || nb::cast<bool>(answer);
  };
}

struct Request {
  std::string method;
  double tolerance;
  std::int64_t iterations, restart;
  double lo, hi;  // chebyshev
};

template <Scalar T> solver::LsqrReport iterate(const Request& q, const AbstractOperator<T>& a,
                                               const AbstractOperator<T>* m, const MatrixView<const T>& b,
                                               const MatrixView<T>& x, const solver::KrylovOptions& o) {
  const solver::OperatorRef<T> left(a);
  const solver::OperatorRef<T> right = m ? solver::OperatorRef<T>(*m) : solver::OperatorRef<T>();
  if (q.method == "lsqr") return solver::lsqr<T>(left, b, x, o);
  solver::LsqrReport report;
  auto& r = static_cast<solver::IterationReport&>(report);
  if (q.method == "cg") {
    r = solver::cg<T>(left, b, x, o, right);
  } else if (q.method == "block_cg") {
    r = solver::block_cg<T>(left, b, x, o, right);
  } else if (q.method == "minres") {
    r = solver::minres<T>(left, b, x, o, right);
  } else if (q.method == "gmres") {
    r = solver::gmres<T>(left, b, x, o, right);
  } else if (q.method == "fgmres") {
    r = solver::fgmres<T>(left, b, x, o, right);
  } else if (q.method == "bicgstab") {
    r = solver::bicgstab<T>(left, b, x, o, right);
  } else if (q.method == "idr") {
    solver::IdrOptions idr;
    static_cast<solver::KrylovOptions&>(idr) = o;
    r = solver::idr<T>(left, b, x, idr, right);
  } else {
    r = solver::chebyshev<T>(left, b, x, {q.lo, q.hi}, o, right);
  }
  return report;
}

// (x, report, residuals, products, normal residuals). b is (n, k).
nb::object krylov(const std::string& method, nb::handle a, nb::handle b, nb::handle guess, nb::handle m,
                  double tolerance, std::int64_t iterations, std::int64_t restart, double lo, double hi,
                  nb::handle monitor, nb::handle executor) {
  Call call("solver.krylov", executor, {b, guess});
  const Operand rhs = call.in(b, "b", kFloats, 2);
  solver::LsqrReport report;
  nb::object result;
  with_scalar(rhs.dtype, [&](auto t) {
    using T = decltype(t);
    const OperatorNeeds needs{rhs.shape[1], method == "lsqr"};
    const auto left = operator_of<T>(call, a, "A", needs);
    std::shared_ptr<const AbstractOperator<T>> right;
    if (!m.is_none()) right = operator_of<T>(call, m, "M", needs);
    require(rhs.shape[0] == left->rows(), "solver.{}: b has {} rows, A has {}", method, rhs.shape[0], left->rows());
    const Shape shape{left->columns(), rhs.shape[1]};
    const Operand x = guess.is_none() ? call.out(rhs.dtype, shape) : call.copy_of(guess, "x0", only(rhs.dtype));
    require(x.shape == shape, "solver.{}: x0 has shape {}; it must have {}", method, to_string(x.shape),
            to_string(shape));
    solver::KrylovOptions o;
    o.tolerance = tolerance;
    o.max_iterations = iterations;
    o.restart = restart;
    o.guess = guess.is_none() ? solver::Guess::Zero : solver::Guess::InX;
    o.monitor = monitor_of(monitor);
    const Request request{method, tolerance, iterations, restart, lo, hi};
    call.run([&] { report = iterate<T>(request, *left, right.get(), rhs.matrix<const T>(), x.matrix<T>(), o); });
    result = call.result(x);
  });
  return nb::make_tuple(result, report_tuple(report), report.residuals, report.products, report.normal_residuals);
}

// (w, V, report, residuals, products): the k smallest or largest eigenvalues of a Hermitian operator.
nb::object few(const std::string& method, nb::handle a, const std::string& letter, std::int64_t k, bool largest,
               double tolerance, std::int64_t iterations, nb::handle m, std::uint64_t seed, nb::handle executor) {
  Call call("solver.partial_spectrum", executor, {});
  const DType dtype = letter == "f"   ? DType::Float32
                      : letter == "d" ? DType::Float64
                      : letter == "F" ? DType::Complex64
                                      : DType::Complex128;
  solver::SpectrumReport report;
  nb::object values, vectors;
  with_scalar(dtype, [&](auto t) {
    using T = decltype(t);
    const OperatorNeeds needs{3 * k + 64, false};  // the methods' blocks are wider than k
    const auto left = operator_of<T>(call, a, "A", needs);
    std::shared_ptr<const AbstractOperator<T>> right;
    if (!m.is_none()) right = operator_of<T>(call, m, "M", needs);
    const nb::object w = new_array(real_of(dtype), {k});
    const Operand v = call.out(dtype, {left->rows(), k});
    solver::SpectrumOptions o;
    o.end = largest ? solver::End::Largest : solver::End::Smallest;
    o.tolerance = tolerance;
    o.max_iterations = iterations;
    o.seed = seed;
    auto* const data = static_cast<Real<T>*>(data_of(w));
    call.run([&] {
      const VectorView<Real<T>> values_view(Executor::host(), data, k);
      const solver::OperatorRef<T> op(*left);
      if (method == "lanczos") {
        report = solver::lanczos<T>(op, values_view, v.matrix<T>(), o);
      } else if (method == "filtered_subspace") {
        report = solver::filtered_subspace<T>(op, values_view, v.matrix<T>(), o);
      } else {
        report = solver::lobpcg<T>(op, values_view, v.matrix<T>(), o,
                                   right ? solver::OperatorRef<T>(*right) : solver::OperatorRef<T>());
      }
    });
    values = w;
    vectors = call.result(v);
  });
  return nb::make_tuple(values, vectors, report_tuple(report), report.residuals, report.products);
}

// rsvd: (U, s, Vh); eigh_randomized and nystroem: (V, w, None). Then report, error, products.
nb::object low_rank(const std::string& method, nb::handle a, const std::string& letter, std::int64_t k,
                    std::int64_t oversampling, int power, std::uint64_t seed, bool measure, nb::handle executor) {
  Call call("solver.low_rank", executor, {});
  const DType dtype = letter == "f"   ? DType::Float32
                      : letter == "d" ? DType::Float64
                      : letter == "F" ? DType::Complex64
                                      : DType::Complex128;
  nb::object result;
  with_scalar(dtype, [&](auto t) {
    using T = decltype(t);
    const auto held = operator_of<T>(call, a, "A", {k + oversampling > 128 ? k + oversampling : 128, true});
    const solver::OperatorRef<T> op(*held);
    const solver::SketchOptions o{oversampling, power, seed, measure};
    Operand u, v;
    std::vector<double> values;
    solver::LowRankReport report;
    call.run([&] {
      if (method == "rsvd") {
        solver::LowRankSvd<T> r = solver::rsvd<T>(op, k, o);
        values.assign(r.s.begin(), r.s.end());
        report = r.report;
        u = adopt_matrix(call, std::move(r.u));
        v = adopt_matrix(call, std::move(r.vh));
      } else {
        solver::LowRankEigh<T> r =
            method == "nystroem" ? solver::nystroem<T>(op, k, o) : solver::eigh_randomized<T>(op, k, o);
        values.assign(r.w.begin(), r.w.end());
        report = r.report;
        u = adopt_matrix(call, std::move(r.v));
      }
    });
    const nb::object right = method == "rsvd" ? call.result(v) : nb::none();
    result = nb::make_tuple(call.result(u), values, right, report_tuple(report), report.error, report.products);
  });
  return result;
}

// (value, standard error, products, (status, index))
nb::object trace(nb::handle a, const std::string& letter, std::int64_t samples, bool plus, std::uint64_t seed,
                 nb::handle executor) {
  Call call("solver.trace", executor, {});
  const DType dtype = letter == "f"   ? DType::Float32
                      : letter == "d" ? DType::Float64
                      : letter == "F" ? DType::Complex64
                                      : DType::Complex128;
  nb::object result;
  with_scalar(dtype, [&](auto t) {
    using T = decltype(t);
    const auto held = operator_of<T>(call, a, "A", {samples, false});
    solver::TraceEstimate<T> e;
    call.run([&] {
      const solver::OperatorRef<T> op(*held);
      e = plus ? solver::trace_hutchpp<T>(op, samples, seed) : solver::trace_hutchinson<T>(op, samples, seed);
    });
    result = nb::make_tuple(std::complex<double>(e.value), e.standard_error, e.products,
                            nb::make_tuple(std::string(solver::name(e.outcome.status)), e.outcome.index));
  });
  return result;
}

nb::object expm_multiply(nb::handle a, nb::handle b, double t_end, double norm, nb::handle executor) {
  Call call("solver.expm_multiply", executor, {b});
  const Operand in = call.in(b, "B", kFloats, 2);
  const Operand out = call.out(in.dtype, in.shape);
  solver::Report report;
  with_scalar(in.dtype, [&](auto t) {
    using T = decltype(t);
    const auto held = operator_of<T>(call, a, "A", {in.shape[1], false});
    call.run([&] {
      report =
          solver::expm_multiply<T>(solver::OperatorRef<T>(*held), in.matrix<const T>(), out.matrix<T>(), {t_end, norm});
    });
  });
  return nb::make_tuple(call.result(out), report_tuple(report));
}

template <class P> OperatorValue preconditioner(const char* kind, P make, nb::handle a, nb::handle executor) {
  Call call(kind, executor, {a});
  const Operand m = call.in(a, "A", kFloats, 2);
  return with_scalar(m.dtype, [&](auto t) {
    using T = decltype(t);
    auto p = make(m.matrix<const T>());
    const solver::Outcome& o = p.outcome();
    require(o.ok(), "{}: {} at {}; there is no such preconditioner", kind, solver::name(o.status), o.index);
    return operator_value<T>(std::move(p), kind);
  });
}

}  // namespace

void bind_solver_iterative(nb::module_& m) {
  m.def("solver_krylov", &krylov, nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg().none(), nb::arg(),
        nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg().none());
  m.def("solver_few", &few, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
        nb::arg().none(), nb::arg(), nb::arg().none());
  m.def("solver_low_rank", &low_rank, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
        nb::arg(), nb::arg().none());
  m.def("solver_trace", &trace, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none());
  m.def("solver_expm_multiply", &expm_multiply, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none());
  m.def(
      "solver_jacobi",
      [](nb::handle a, nb::handle executor) {
        return preconditioner(
            "jacobi", []<class T>(const MatrixView<const T>& v) { return solver::Jacobi<T>(v); }, a, executor);
      },
      nb::arg(), nb::arg().none());
  m.def(
      "solver_block_jacobi",
      [](nb::handle a, std::int64_t size, nb::handle executor) {
        return preconditioner(
            "block_jacobi", [&]<class T>(const MatrixView<const T>& v) { return solver::BlockJacobi<T>(v, size); }, a,
            executor);
      },
      nb::arg(), nb::arg(), nb::arg().none());
  m.def(
      "solver_ssor",
      [](nb::handle a, double omega, nb::handle executor) {
        return preconditioner(
            "ssor", [&]<class T>(const MatrixView<const T>& v) { return solver::Ssor<T>(v, omega); }, a, executor);
      },
      nb::arg(), nb::arg(), nb::arg().none());
}

}  // namespace trn::python
