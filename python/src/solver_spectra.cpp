// Eigenvalues, singular values, and functions of matrices.
#include <trn/solver/certificates.hpp>
#include <trn/solver/eig.hpp>
#include <trn/solver/eigh.hpp>
#include <trn/solver/functions.hpp>
#include <trn/solver/svd.hpp>

#include "bindings.hpp"
#include "solver.hpp"

namespace trn::python {
namespace {

DType real_type(DType t) { return real_of(t); }
DType complex_type(DType t) { return real_of(t) == DType::Float32 ? DType::Complex64 : DType::Complex128; }

// (w, V, report, bounds, found). kind 0: all, 1: values in (lo, hi], 2: numbers lo to hi - 1.
nb::object eigh(nb::handle a, bool lower, bool vectors, int kind, double lo, double hi, bool rigorous,
                nb::handle executor) {
  Call call("solver.eigh", executor, {a});
  const Operand v = call.copy_of(a, "a", kFloats);
  check_rank(call, v, "a", 2);
  const Operand w = call.out(real_type(v.dtype), {v.shape[0]});
  solver::EighOptions o;
  if (kind == 1) o.range = solver::Range::values(lo, hi);
  if (kind == 2) o.range = solver::Range::indices(static_cast<std::int64_t>(lo), static_cast<std::int64_t>(hi));
  o.vectors = vectors ? solver::Vectors::Yes : solver::Vectors::No;
  o.uplo = uplo_of(lower);
  o.certify = rigorous ? solver::Certify::Rigorous : solver::Certify::Estimate;
  solver::EighReport r;
  with_scalar(v.dtype, [&](auto t) {
    using T = decltype(t);
    call.run([&] { r = solver::eigh(call.executor(), v.matrix<T>(), w.vector<Real<T>>(), o); });
  });
  return nb::make_tuple(call.result(w), call.result(v), report_tuple(r), r.error_bounds, r.found);
}

nb::object eigh_generalized(nb::handle a, nb::handle b, bool lower, bool vectors, int form, nb::handle executor) {
  Call call("solver.eigh_generalized", executor, {a, b});
  const Operand v = call.copy_of(a, "a", kFloats), m = call.in(b, "b", only(v.dtype), 2);
  check_rank(call, v, "a", 2);
  const Operand w = call.out(real_type(v.dtype), {v.shape[0]});
  solver::EighReport r;
  with_scalar(v.dtype, [&](auto t) {
    using T = decltype(t);
    call.run([&] {
      r = solver::eigh_generalized<T>(call.executor(), v.matrix<T>(), m.matrix<const T>(), w.vector<Real<T>>(),
                                      {static_cast<solver::GeneralizedForm>(form - 1),
                                       vectors ? solver::Vectors::Yes : solver::Vectors::No, uplo_of(lower)});
    });
  });
  return nb::make_tuple(call.result(w), call.result(v), report_tuple(r));
}

// (w, right, left)
nb::object eig(nb::handle a, bool right, bool left, nb::handle executor) {
  Call call("solver.eig", executor, {a});
  const Operand m = call.in(a, "a", kFloats, 2);
  const DType type = complex_type(m.dtype);
  const Operand w = call.out(type, {m.shape[0]}), r = call.out(type, right ? m.shape : Shape{0, 0}),
                l = call.out(type, left ? m.shape : Shape{0, 0});
  solver::Report report;
  with_scalar(m.dtype, [&](auto t) {
    using T = decltype(t);
    using C = std::complex<Real<T>>;
    solver::EigVectors<T> vectors;
    if (right) vectors.right = r.matrix<C>();
    if (left) vectors.left = l.matrix<C>();
    call.run([&] { report = solver::eig(call.executor(), m.matrix<const T>(), w.vector<C>(), vectors); });
  });
  return nb::make_tuple(call.result(w), call.result(r), call.result(l), report_tuple(report));
}

// (T, Z, w)
nb::object schur(nb::handle a, nb::handle executor) {
  Call call("solver.schur", executor, {a});
  const Operand m = call.copy_of(a, "a", kFloats);
  check_rank(call, m, "a", 2);
  const Operand z = call.out(m.dtype, m.shape), w = call.out(complex_type(m.dtype), {m.shape[0]});
  solver::Report report;
  with_scalar(m.dtype, [&](auto t) {
    using T = decltype(t);
    call.run([&] {
      report = solver::schur<T>(call.executor(), m.matrix<T>(), w.vector<std::complex<Real<T>>>(), z.matrix<T>());
    });
  });
  return nb::make_tuple(call.result(m), call.result(z), call.result(w), report_tuple(report));
}

// (U, s, Vh, report, bounds)
nb::object svd(nb::handle a, bool full, bool vectors, bool rigorous, nb::handle executor) {
  Call call("solver.svd", executor, {a});
  const Operand in = call.in(a, "a", kFloats, 2);
  const std::int64_t m = in.shape[0], n = in.shape[1], k = std::min(m, n);
  const Operand s = call.out(real_type(in.dtype), {k});
  const Operand u = call.out(in.dtype, vectors ? Shape{m, full ? m : k} : Shape{0, 0}),
                vh = call.out(in.dtype, vectors ? Shape{full ? n : k, n} : Shape{0, 0});
  solver::SvdReport r;
  with_scalar(in.dtype, [&](auto t) {
    using T = decltype(t);
    call.run([&] {
      if (vectors) {
        r = solver::svd<T>(call.executor(), in.matrix<const T>(), s.vector<Real<T>>(), u.matrix<T>(), vh.matrix<T>(),
                           {rigorous ? solver::Certify::Rigorous : solver::Certify::Estimate});
      } else {
        static_cast<solver::Report&>(r) =
            solver::singular_values(call.executor(), in.matrix<const T>(), s.vector<Real<T>>());
      }
    });
  });
  return nb::make_tuple(call.result(u), call.result(s), call.result(vh), report_tuple(r), r.error_bounds);
}

// A function of a square matrix by its name.
nb::object function(const std::string& which, nb::handle a, nb::handle executor) {
  Call call("solver.function", executor, {a});
  const Operand m = call.in(a, "a", kFloats, 2);
  const Operand x = call.out(m.dtype, m.shape);
  solver::Report report;
  with_scalar(m.dtype, [&](auto t) {
    using T = decltype(t);
    call.run([&] {
      const Executor& e = call.executor();
      const MatrixView<const T> in = m.matrix<const T>();
      const MatrixView<T> out = x.matrix<T>();
      report = which == "expm"    ? solver::expm<T>(e, in, out)
               : which == "logm"  ? solver::logm<T>(e, in, out)
               : which == "sqrtm" ? solver::sqrtm<T>(e, in, out)
               : which == "signm" ? solver::signm<T>(e, in, out)
               : which == "cosm"  ? solver::cosm<T>(e, in, out)
               : which == "sinm"  ? solver::sinm<T>(e, in, out)
                                  : solver::inv_sqrt_spd<T>(e, in, out);
    });
  });
  return nb::make_tuple(call.result(x), report_tuple(report));
}

nb::object newton_schulz(nb::handle a, int iterations, double tolerance, nb::handle executor) {
  Call call("solver.inv_sqrt_spd_ns", executor, {a});
  const Operand m = call.in(a, "a", kFloats, 2);
  const Operand x = call.out(m.dtype, m.shape);
  solver::NewtonSchulzReport r;
  with_scalar(m.dtype, [&](auto t) {
    using T = decltype(t);
    call.run([&] {
      r = solver::inv_sqrt_spd_ns<T>(call.executor(), m.matrix<const T>(), x.matrix<T>(), {iterations, tolerance});
    });
  });
  return nb::make_tuple(call.result(x), report_tuple(r), r.residual);
}

nb::object polar(nb::handle a, nb::handle executor) {
  Call call("solver.polar", executor, {a});
  const Operand m = call.in(a, "a", kFloats, 2);
  const Operand u = call.out(m.dtype, m.shape), h = call.out(m.dtype, {m.shape[1], m.shape[1]});
  solver::Report report;
  with_scalar(m.dtype, [&](auto t) {
    using T = decltype(t);
    call.run([&] { report = solver::polar<T>(call.executor(), m.matrix<const T>(), u.matrix<T>(), h.matrix<T>()); });
  });
  return nb::make_tuple(call.result(u), call.result(h), report_tuple(report));
}

double smallest_eigenvalue_bound(nb::handle a, bool lower, nb::handle executor) {
  Call call("solver.smallest_eigenvalue_bound", executor, {a});
  const Operand m = call.in(a, "a", kFloats, 2);
  double bound = 0;
  with_scalar(m.dtype, [&](auto t) {
    using T = decltype(t);
    call.run([&] { bound = solver::smallest_eigenvalue_bound(call.executor(), uplo_of(lower), m.matrix<const T>()); });
  });
  return bound;
}

}  // namespace

void bind_solver_spectra(nb::module_& m) {
  m.def("solver_eigh", &eigh, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
        nb::arg().none());
  m.def("solver_eigh_generalized", &eigh_generalized, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
        nb::arg().none());
  m.def("solver_eig", &eig, nb::arg(), nb::arg(), nb::arg(), nb::arg().none());
  m.def("solver_schur", &schur, nb::arg(), nb::arg().none());
  m.def("solver_svd", &svd, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none());
  m.def("solver_function", &function, nb::arg(), nb::arg(), nb::arg().none());
  m.def("solver_newton_schulz", &newton_schulz, nb::arg(), nb::arg(), nb::arg(), nb::arg().none());
  m.def("solver_polar", &polar, nb::arg(), nb::arg().none());
  m.def("solver_smallest_eigenvalue_bound", &smallest_eigenvalue_bound, nb::arg(), nb::arg(), nb::arg().none());
}

}  // namespace trn::python
