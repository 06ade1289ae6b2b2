// Factorisations, systems, least squares and inverses of dense matrices.
#include <trn/solver/cholesky.hpp>
#include <trn/solver/ldl.hpp>
#include <trn/solver/least_squares.hpp>
#include <trn/solver/lu.hpp>
#include <trn/solver/pivoted_qr.hpp>
#include <trn/solver/qr.hpp>
#include <trn/solver/solve.hpp>
#include <trn/solver/triangular.hpp>

#include "bindings.hpp"
#include "solver.hpp"

namespace trn::python {
namespace {

// Zeros in the strict triangle that the factor does not name, of a row-major n x n matrix on the host.
template <class T> void clear_other(T* a, std::int64_t n, bool lower) {
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      if (lower ? j > i : j < i) a[i * n + j] = T(0);
    }
  }
}

nb::object cholesky(nb::handle a, bool lower, nb::handle executor) {
  Call call("solver.potrf", executor, {a});
  const Operand f = call.copy_of(a, "a", kFloats);
  check_rank(call, f, "a", 2);
  solver::Report report;
  with_scalar(f.dtype, [&](auto t) {
    using T = decltype(t);
    call.run([&] { report = solver::potrf(call.executor(), uplo_of(lower), f.matrix<T>()); });
  });
  const nb::object result = call.result(f);
  if (is_array(result)) {
    with_scalar(f.dtype, [&](auto t) { clear_other(static_cast<decltype(t)*>(data_of(result)), f.shape[0], lower); });
  }
  return nb::make_tuple(result, report_tuple(report));
}

nb::object potrs(nb::handle factor, nb::handle b, bool lower, nb::handle executor) {
  Call call("solver.potrs", executor, {factor, b});
  const Operand f = call.in(factor, "c", kFloats, 2), x = call.copy_of(b, "b", only(f.dtype));
  check_rank(call, x, "b", 2);
  solver::Report report;
  with_scalar(f.dtype, [&](auto t) {
    using T = decltype(t);
    call.run([&] { report = solver::potrs<T>(call.executor(), uplo_of(lower), f.matrix<const T>(), x.matrix<T>()); });
  });
  return nb::make_tuple(call.result(x), report_tuple(report));
}

// (LU, pivots).
nb::object lu_factor(nb::handle a, nb::handle executor) {
  Call call("solver.getrf", executor, {a});
  const Operand f = call.copy_of(a, "a", kFloats);
  check_rank(call, f, "a", 2);
  const Operand pivots = call.out(DType::Int64, {std::min(f.shape[0], f.shape[1])});
  solver::Report report;
  with_scalar(f.dtype, [&](auto t) {
    using T = decltype(t);
    call.run([&] { report = solver::getrf(call.executor(), f.matrix<T>(), pivots.vector<std::int64_t>()); });
  });
  return nb::make_tuple(call.result(f), call.result(pivots), report_tuple(report));
}

nb::object lu_solve(nb::handle factor, nb::handle pivots, nb::handle b, int op, nb::handle executor) {
  Call call("solver.getrs", executor, {factor, pivots, b});
  const Operand f = call.in(factor, "lu", kFloats, 2), p = call.in(pivots, "piv", only(DType::Int64), 1),
                x = call.copy_of(b, "b", only(f.dtype));
  check_rank(call, x, "b", 2);
  solver::Report report;
  with_scalar(f.dtype, [&](auto t) {
    using T = decltype(t);
    call.run([&] {
      report = solver::getrs<T>(call.executor(), static_cast<Op>(op), f.matrix<const T>(),
                                p.vector<const std::int64_t>(), x.matrix<T>());
    });
  });
  return nb::make_tuple(call.result(x), report_tuple(report));
}

// (Q, R), Q full or thin.
nb::object qr(nb::handle a, bool full, nb::handle executor) {
  Call call("solver.geqrf", executor, {a});
  const Operand in = call.in(a, "a", kFloats, 2);
  Operand q, r;
  solver::Report report;
  with_scalar(in.dtype, [&](auto t) {
    using T = decltype(t);
    call.run([&] {
      const solver::Qr<T> f(call.executor(), in.matrix<const T>());
      report = f.report();
      q = adopt_matrix(call, f.q(full ? solver::Basis::Full : solver::Basis::Thin));
      r = adopt_matrix(call, f.r());
    });
  });
  return nb::make_tuple(call.result(q), call.result(r), report_tuple(report));
}

// A P = Q R as LAPACK keeps it: (factor, tau, pivots).
nb::object qr_pivoted(nb::handle a, nb::handle executor) {
  Call call("solver.geqp3", executor, {a});
  const Operand f = call.copy_of(a, "a", kFloats);
  check_rank(call, f, "a", 2);
  const std::int64_t k = std::min(f.shape[0], f.shape[1]);
  const Operand tau = call.out(f.dtype, {k}), pivots = call.out(DType::Int64, {f.shape[1]});
  const Operand q = call.out(f.dtype, {f.shape[0], k});
  solver::Report report;
  with_scalar(f.dtype, [&](auto t) {
    using T = decltype(t);
    call.run([&] {
      report = solver::geqp3(call.executor(), f.matrix<T>(), pivots.vector<std::int64_t>(), tau.vector<T>());
      const MatrixView<T> from = f.matrix<T>(), to = q.matrix<T>();
      for (std::int64_t i = 0; i < f.shape[0]; ++i) {
        for (std::int64_t j = 0; j < k; ++j)
          to.data()[i * to.row_stride() + j] = from.data()[i * from.row_stride() + j * from.column_stride()];
      }
      solver::orgqr<T>(call.executor(), to, tau.vector<const T>());
    });
  });
  return nb::make_tuple(call.result(q), call.result(f), call.result(pivots), report_tuple(report));
}

// b is a matrix or a vector. The report is None where all went well and `reported` is false: to make one takes a good
// part of a small system's time.
nb::object solve(nb::handle a, nb::handle b, int structure, bool lower, bool unit, int factor, double target,
                 bool backward, bool rigorous, bool reported, nb::handle executor) {
  Call call("solver.solve", executor, {a, b});
  const Operand m = call.in(a, "a", kFloats, 2), x = call.copy_of(b, "b", only(m.dtype));
  Operand columns = x;
  if (x.shape.size() == 1) {
    columns.shape = {x.shape[0], 1};
    columns.strides = {x.strides[0], 1};
  }
  check_rank(call, columns, "b", 2);
  solver::SolveOptions o;
  o.structure = static_cast<solver::Structure>(structure);
  o.uplo = uplo_of(lower);
  o.diag = unit ? solver::Diag::Unit : solver::Diag::NonUnit;
  o.factor = static_cast<solver::Factor>(factor);
  o.target_error = target;
  o.measure = backward ? solver::ErrorMeasure::Backward : solver::ErrorMeasure::Forward;
  o.certify = rigorous ? solver::Certify::Rigorous : solver::Certify::Estimate;
  solver::Report report;
  with_scalar(m.dtype, [&](auto t) {
    using T = decltype(t);
    call.run([&] { report = solver::solve<T>(call.executor(), m.matrix<const T>(), columns.matrix<T>(), o); });
  });
  if (!reported && report.outcome.status == solver::Status::Ok) return nb::make_tuple(call.result(x), nb::none());
  return nb::make_tuple(call.result(x), report_tuple(report));
}

// (x, report, rank, singular values)
nb::object lstsq(nb::handle a, nb::handle b, double tolerance, bool qr_method, nb::handle executor) {
  Call call("solver.lstsq", executor, {a, b});
  const Operand m = call.in(a, "a", kFloats, 2), rhs = call.in(b, "b", only(m.dtype), 2);
  const Operand x = call.out(m.dtype, {m.shape[1], rhs.shape[1]});
  std::vector<double> values;
  std::int64_t rank = 0;
  solver::Report report;
  with_scalar(m.dtype, [&](auto t) {
    using T = decltype(t);
    call.run([&] {
      const auto r =
          solver::lstsq<T>(call.executor(), m.matrix<const T>(), rhs.matrix<const T>(), x.matrix<T>(),
                           {qr_method ? solver::LeastSquaresMethod::Qr : solver::LeastSquaresMethod::Svd, tolerance});
      values.assign(r.singular_values.begin(), r.singular_values.end());
      rank = r.rank;
      report = r;
    });
  });
  return nb::make_tuple(call.result(x), report_tuple(report), rank, values);
}

nb::object pinv(nb::handle a, double tolerance, nb::handle executor) {
  Call call("solver.pinv", executor, {a});
  const Operand m = call.in(a, "a", kFloats, 2);
  const Operand x = call.out(m.dtype, {m.shape[1], m.shape[0]});
  solver::RankReport report;
  with_scalar(m.dtype, [&](auto t) {
    using T = decltype(t);
    call.run([&] { report = solver::pinv<T>(call.executor(), m.matrix<const T>(), x.matrix<T>(), tolerance); });
  });
  return nb::make_tuple(call.result(x), report_tuple(report), report.rank);
}

// The orthonormal columns of the range or the null space.
nb::object basis(nb::handle a, bool null, double tolerance, nb::handle executor) {
  Call call("solver.basis", executor, {a});
  const Operand m = call.in(a, "a", kFloats, 2);
  Operand v;
  solver::RankReport report;
  with_scalar(m.dtype, [&](auto t) {
    using T = decltype(t);
    call.run([&] {
      auto r = null ? solver::null_space<T>(call.executor(), m.matrix<const T>(), tolerance)
                    : solver::range_basis<T>(call.executor(), m.matrix<const T>(), tolerance);
      report = r.report;
      v = adopt_matrix(call, std::move(r.vectors));
    });
  });
  return nb::make_tuple(call.result(v), report_tuple(report), report.rank);
}

// (inverse, sign, log|det|, condition) by LU, or by Cholesky of a positive definite matrix.
nb::object inverse(nb::handle a, bool positive, bool want_inverse, nb::handle executor) {
  Call call("solver.inv", executor, {a});
  const Operand m = call.in(a, "a", kFloats, 2);
  Operand x = call.out(m.dtype, {0, 0});
  std::complex<double> sign;
  double log_absolute = 0, condition = 0;
  solver::Report report;
  with_scalar(m.dtype, [&](auto t) {
    using T = decltype(t);
    const auto use = [&](const auto& f) {
      report = f.report();
      if (want_inverse) {
        x = adopt_matrix(call, report.outcome.ok() ? f.inverse(report) : f.inverse());
      } else {
        const auto d = f.log_determinant();
        sign = std::complex<double>(d.sign);
        log_absolute = static_cast<double>(d.log_absolute);
        condition = f.condition();
      }
    };
    Operand none = std::move(x);  // its NumPy array goes with Python's lock held
    x = {};
    call.run([&] {
      if (positive) {
        use(solver::Cholesky<T>(call.executor(), solver::Uplo::Lower, m.matrix<const T>()));
      } else {
        use(solver::Lu<T>(call.executor(), m.matrix<const T>()));
      }
    });
    if (!want_inverse) x = none;
  });
  return nb::make_tuple(call.result(x), sign, log_absolute, condition, report_tuple(report));
}

}  // namespace

void bind_solver_dense(nb::module_& m) {
  m.def("solver_cholesky", &cholesky, nb::arg(), nb::arg(), nb::arg().none());
  m.def("solver_potrs", &potrs, nb::arg(), nb::arg(), nb::arg(), nb::arg().none());
  m.def("solver_lu", &lu_factor, nb::arg(), nb::arg().none());
  m.def("solver_lu_solve", &lu_solve, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none());
  m.def("solver_qr", &qr, nb::arg(), nb::arg(), nb::arg().none());
  m.def("solver_qr_pivoted", &qr_pivoted, nb::arg(), nb::arg().none());
  m.def("solver_solve", &solve, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
        nb::arg(), nb::arg(), nb::arg().none());
  m.def("solver_lstsq", &lstsq, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none());
  m.def("solver_pinv", &pinv, nb::arg(), nb::arg(), nb::arg().none());
  m.def("solver_basis", &basis, nb::arg(), nb::arg(), nb::arg(), nb::arg().none());
  m.def("solver_inverse", &inverse, nb::arg(), nb::arg(), nb::arg(), nb::arg().none());
}

}  // namespace trn::python
