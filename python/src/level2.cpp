// trnsci.blas, level 2: matrices and vectors. Every function returns a new array.
#include <trn/blas/gemv.hpp>
#include <trn/blas/ger.hpp>
#include <trn/blas/level1.hpp>
#include <trn/blas/symv.hpp>
#include <trn/blas/syr.hpp>
#include <trn/blas/trmv.hpp>

#include "blas.hpp"
#include "context.hpp"

namespace trn::python {
namespace {

nb::object gemv(Factor alpha, nb::handle a, nb::handle x, Factor beta, nb::handle y, nb::handle trans,
                nb::handle precision, nb::handle executor, bool accuracy) {
  const char* const name = "blas.gemv";
  Call call(name, executor, {a, x, y});
  const DType t = call.common_type({a, x, y});
  const Op op = op_of(name, trans);
  const Operand A = call.in(a, "A", only(t), 2), X = call.in(x, "x", only(t), 1);
  Operand Y = updated(call, y, "y", t, {A.shape[op == Op::N ? 0 : 1]});
  // BLAS leaves y as it is when there is nothing to sum; the result here is new, and then beta y.
  const bool nothing = A.shape[op == Op::N ? 1 : 0] == 0;
  if (nothing && (y.is_none() || beta == Factor(0))) Y = call.zeros(t, Y.shape);
  const Precision p = precision_of(precision);
  Accuracy bound;
  with_scalar(t, [&](auto v) {
    using T = decltype(v);
    const T f = factor<T>(name, alpha), g = y.is_none() ? T(0) : factor<T>(name, beta);
    call.run([&] {
      bound = blas::gemv<T>(call.executor(), op, f, A.matrix<const T>(), X.vector<const T>(), g, Y.vector<T>(), {p});
      if (nothing && g != T(0)) blas::scal<T>(call.executor(), g, Y.vector<T>());
    });
  });
  return answer(call, Y, bound, accuracy);
}

nb::object symv(bool hermitian, Factor alpha, nb::handle a, nb::handle x, Factor beta, nb::handle y, nb::handle uplo,
                nb::handle executor) {
  const char* const name = hermitian ? "blas.hemv" : "blas.symv";
  Call call(name, executor, {a, x, y});
  const DType t = call.common_type({a, x, y});
  const blas::Uplo part = uplo_of(name, uplo);
  const Operand A = call.in(a, "A", only(t), 2), X = call.in(x, "x", only(t), 1);
  const Operand Y = updated(call, y, "y", t, {A.shape[0]});
  with_scalar(t, [&](auto v) {
    using T = decltype(v);
    const T f = factor<T>(name, alpha), g = y.is_none() ? T(0) : factor<T>(name, beta);
    call.run([&] {
      if constexpr (ComplexScalar<T>) {
        if (hermitian) {
          blas::hemv<T>(call.executor(), part, f, A.matrix<const T>(), X.vector<const T>(), g, Y.vector<T>());
          return;
        }
      }
      blas::symv<T>(call.executor(), part, f, A.matrix<const T>(), X.vector<const T>(), g, Y.vector<T>());
    });
  });
  return call.result(Y);
}

nb::object triangular(bool solve, nb::handle a, nb::handle x, nb::handle uplo, nb::handle trans, nb::handle diag,
                      nb::handle executor) {
  const char* const name = solve ? "blas.trsv" : "blas.trmv";
  Call call(name, executor, {a, x});
  const DType t = call.common_type({a, x});
  const blas::Uplo part = uplo_of(name, uplo);
  const Op op = op_of(name, trans);
  const blas::Diag d = diag_of(name, diag);
  const Operand A = call.in(a, "A", only(t), 2), X = call.copy_of(x, "x", only(t));
  check_rank(call, X, "x", 1);
  with_scalar(t, [&](auto v) {
    using T = decltype(v);
    call.run([&] {
      (solve ? blas::trsv<T> : blas::trmv<T>)(call.executor(), part, op, d, A.matrix<const T>(), X.vector<T>());
    });
  });
  return call.result(X);
}

nb::object ger(bool conjugate, Factor alpha, nb::handle x, nb::handle y, nb::handle a, nb::handle executor) {
  const char* const name = conjugate ? "blas.gerc" : "blas.ger";
  Call call(name, executor, {x, y, a});
  const DType t = call.common_type({x, y, a});
  const Operand X = call.in(x, "x", only(t), 1), Y = call.in(y, "y", only(t), 1);
  const Operand A = updated(call, a, "A", t, {X.shape[0], Y.shape[0]}, true);
  with_scalar(t, [&](auto v) {
    using T = decltype(v);
    const T f = factor<T>(name, alpha);
    call.run([&] {
      (conjugate ? blas::gerc<T> : blas::ger<T>)(call.executor(), f, X.vector<const T>(), Y.vector<const T>(),
                                                 A.matrix<T>());
    });
  });
  return call.result(A);
}

// syr and her (y is None), syr2 and her2.
nb::object syr(bool hermitian, Factor alpha, nb::handle x, nb::handle y, nb::handle a, nb::handle uplo,
               nb::handle executor) {
  const bool two = !y.is_none();
  const char* const name = hermitian ? (two ? "blas.her2" : "blas.her") : two ? "blas.syr2" : "blas.syr";
  Call call(name, executor, {x, y, a});
  const DType t = call.common_type({x, y, a});
  const blas::Uplo part = uplo_of(name, uplo);
  const Operand X = call.in(x, "x", only(t), 1), Y = two ? call.in(y, "y", only(t), 1) : X;
  const Operand A = updated(call, a, "A", t, {X.shape[0], X.shape[0]}, true);
  with_scalar(t, [&](auto v) {
    using T = decltype(v);
    const T f = factor<T>(name, alpha);
    call.run([&] {
      const auto xs = X.vector<const T>(), ys = Y.vector<const T>();
      if constexpr (ComplexScalar<T>) {
        if (hermitian) {
          if (two) return blas::her2<T>(call.executor(), part, f, xs, ys, A.matrix<T>());
          return blas::her<T>(call.executor(), part, factor<Real<T>>(name, alpha), xs, A.matrix<T>());
        }
      }
      if (two) return blas::syr2<T>(call.executor(), part, f, xs, ys, A.matrix<T>());
      blas::syr<T>(call.executor(), part, f, xs, A.matrix<T>());
    });
  });
  return call.result(A);
}

}  // namespace

void bind_level2(nb::module_& m) {
  m.def("gemv", &gemv, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg(), nb::arg().none(),
        nb::arg().none(), nb::arg());
  m.def("symv", &symv, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg(),
        nb::arg().none());
  m.def("triangular_vector", &triangular, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
        nb::arg().none());
  m.def("ger", &ger, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg().none());
  m.def("syr", &syr, nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg().none(), nb::arg(), nb::arg().none());
}

}  // namespace trn::python
