// trnsci.blas, level 3: products of matrices, triangular solves, sums. Every function returns a new array.
#include <trn/blas/dgmm.hpp>
#include <trn/blas/geam.hpp>
#include <trn/blas/gemm_batched.hpp>
#include <trn/blas/symm.hpp>
#include <trn/blas/syrk.hpp>
#include <trn/blas/trmm.hpp>
#include <trn/blas/trsm.hpp>

#include "blas.hpp"
#include "context.hpp"

namespace trn::python {
namespace {

std::int64_t rows(const Operand& a, Op op) { return a.shape[a.shape.size() - (op == Op::N ? 2 : 1)]; }
std::int64_t columns(const Operand& a, Op op) { return a.shape[a.shape.size() - (op == Op::N ? 1 : 2)]; }

nb::object gemm(Factor alpha, nb::handle a, nb::handle b, Factor beta, nb::handle c, nb::handle trans_a,
                nb::handle trans_b, nb::handle precision, nb::handle executor, bool accuracy) {
  const char* const name = "blas.gemm";
  Call call(name, executor, {a, b, c});
  const DType t = call.common_type({a, b, c});
  const Op op_a = op_of(name, trans_a), op_b = op_of(name, trans_b);
  const Operand A = call.in(a, "A", only(t), 2), B = call.in(b, "B", only(t), 2);
  const Operand C = updated(call, c, "C", t, {rows(A, op_a), columns(B, op_b)});
  const blas::GemmOptions options{precision_of(precision)};
  Accuracy bound;
  with_scalar(t, [&](auto v) {
    using T = decltype(v);
    const T f = factor<T>(name, alpha), g = c.is_none() ? T(0) : factor<T>(name, beta);
    call.run([&] {
      bound = blas::detail::gemm<T, T>(call.executor(), op_a, op_b, f, A.matrix<const T>(), B.matrix<const T>(), g,
                                       C.matrix<T>(), options);
    });
  });
  return answer(call, C, bound, accuracy);
}

// (batch, m, k) times (batch, k, n): one call of the library for all, row-major and packed.
nb::object batched_gemm(Factor alpha, nb::handle a, nb::handle b, Factor beta, nb::handle c, nb::handle trans_a,
                        nb::handle trans_b, nb::handle precision, nb::handle executor, bool accuracy) {
  const char* const name = "blas.batched_gemm";
  Call call(name, executor, {a, b, c});
  const DType t = call.common_type({a, b, c});
  const Op op_a = op_of(name, trans_a), op_b = op_of(name, trans_b);
  const auto packed = [&](nb::handle x, const char* what) {
    Operand o = call.in(x, what, only(t), 3);
    return o.strides == row_major_strides(o.shape) ? o : call.copy_of(x, what, only(t));
  };
  const Operand A = packed(a, "A"), B = packed(b, "B");
  require(A.shape[0] == B.shape[0], "{}: A has {} matrices and B {}", name, A.shape[0], B.shape[0]);
  const blas::BatchShape shape{.op_a = op_a,
                               .op_b = op_b,
                               .m = rows(A, op_a),
                               .n = columns(B, op_b),
                               .k = columns(A, op_a),
                               .layout = blas::Layout::RowMajor};
  require(rows(B, op_b) == shape.k, "{}: op(A) has {} columns and op(B) {} rows", name, shape.k, rows(B, op_b));
  const Operand C = updated(call, c, "C", t, {A.shape[0], shape.m, shape.n});
  const blas::ProductOptions options{precision_of(precision)};
  Accuracy bound;
  with_scalar(t, [&](auto v) {
    using T = decltype(v);
    const T f = factor<T>(name, alpha), g = c.is_none() ? T(0) : factor<T>(name, beta);
    call.run([&] {
      bound = blas::gemm_strided_batched<T>(call.executor(), shape, f, A.pointer<const T>(), A.shape[1] * A.shape[2],
                                            B.pointer<const T>(), B.shape[1] * B.shape[2], g, C.pointer<T>(),
                                            shape.m * shape.n, A.shape[0], options);
    });
  });
  return answer(call, C, bound, accuracy);
}

nb::object symm(bool hermitian, Factor alpha, nb::handle a, nb::handle b, Factor beta, nb::handle c, nb::handle side,
                nb::handle uplo, nb::handle precision, nb::handle executor, bool accuracy) {
  const char* const name = hermitian ? "blas.hemm" : "blas.symm";
  Call call(name, executor, {a, b, c});
  const DType t = call.common_type({a, b, c});
  const blas::Side where = side_of(name, side);
  const blas::Uplo part = uplo_of(name, uplo);
  const Operand A = call.in(a, "A", only(t), 2), B = call.in(b, "B", only(t), 2);
  const Operand C = updated(call, c, "C", t, B.shape);
  const blas::GemmOptions options{precision_of(precision)};
  Accuracy bound;
  with_scalar(t, [&](auto v) {
    using T = decltype(v);
    const T f = factor<T>(name, alpha), g = c.is_none() ? T(0) : factor<T>(name, beta);
    call.run([&] {
      const auto am = A.matrix<const T>(), bm = B.matrix<const T>();
      if constexpr (ComplexScalar<T>) {
        if (hermitian) {
          bound = blas::hemm<T>(call.executor(), where, part, f, am, bm, g, C.matrix<T>(), options);
          return;
        }
      }
      bound = blas::symm<T>(call.executor(), where, part, f, am, bm, g, C.matrix<T>(), options);
    });
  });
  return answer(call, C, bound, accuracy);
}

// syrk and herk (b is None), syr2k and her2k: one triangle of C.
nb::object syrk(bool hermitian, Factor alpha, nb::handle a, nb::handle b, Factor beta, nb::handle c, nb::handle trans,
                nb::handle uplo, nb::handle precision, nb::handle executor, bool accuracy) {
  const bool two = !b.is_none();
  const char* const name = hermitian ? (two ? "blas.her2k" : "blas.herk") : two ? "blas.syr2k" : "blas.syrk";
  Call call(name, executor, {a, b, c});
  const DType t = call.common_type({a, b, c});
  const blas::Uplo part = uplo_of(name, uplo);
  Op op = op_of(name, trans);
  if (hermitian && op == Op::T) op = Op::C;  // True means the conjugate transpose here
  const Operand A = call.in(a, "A", only(t), 2), B = two ? call.in(b, "B", only(t), 2) : A;
  const Operand C = updated(call, c, "C", t, {rows(A, op), rows(A, op)}, true);
  const blas::GemmOptions options{precision_of(precision)};
  Accuracy bound;
  with_scalar(t, [&](auto v) {
    using T = decltype(v);
    const T f = factor<T>(name, alpha), g = c.is_none() ? T(0) : factor<T>(name, beta);
    call.run([&] {
      const auto am = A.matrix<const T>(), bm = B.matrix<const T>();
      const Executor& e = call.executor();
      if constexpr (ComplexScalar<T>) {
        if (hermitian) {
          const auto real = c.is_none() ? Real<T>(0) : factor<Real<T>>(name, beta);
          bound = two ? blas::her2k<T>(e, part, op, f, am, bm, real, C.matrix<T>(), options)
                      : blas::herk<T>(e, part, op, factor<Real<T>>(name, alpha), am, real, C.matrix<T>(), options);
          return;
        }
      }
      bound = two ? blas::syr2k<T>(e, part, op, f, am, bm, g, C.matrix<T>(), options)
                  : blas::syrk<T>(e, part, op, f, am, g, C.matrix<T>(), options);
    });
  });
  return answer(call, C, bound, accuracy);
}

nb::object triangular(bool solve, Factor alpha, nb::handle a, nb::handle b, nb::handle side, nb::handle uplo,
                      nb::handle trans, nb::handle diag, nb::handle precision, nb::handle executor, bool accuracy) {
  const char* const name = solve ? "blas.trsm" : "blas.trmm";
  Call call(name, executor, {a, b});
  const DType t = call.common_type({a, b});
  const blas::Side where = side_of(name, side);
  const blas::Uplo part = uplo_of(name, uplo);
  const Op op = op_of(name, trans);
  const blas::Diag d = diag_of(name, diag);
  const Operand A = call.in(a, "A", only(t), 2), B = call.copy_of(b, "B", only(t));
  check_rank(call, B, "B", 2);
  const Precision p = precision_of(precision);
  Accuracy bound;
  with_scalar(t, [&](auto v) {
    using T = decltype(v);
    const T f = factor<T>(name, alpha);
    call.run([&] {
      bound = solve ? blas::trsm<T>(call.executor(), where, part, op, d, f, A.matrix<const T>(), B.matrix<T>(), {p})
                    : blas::trmm<T>(call.executor(), where, part, op, d, f, A.matrix<const T>(), B.matrix<T>(), {p});
    });
  });
  return answer(call, B, bound, accuracy);
}

nb::object geam(Factor alpha, nb::handle a, Factor beta, nb::handle b, nb::handle trans_a, nb::handle trans_b,
                nb::handle executor) {
  const char* const name = "blas.geam";
  Call call(name, executor, {a, b});
  const DType t = call.common_type({a, b});
  const Op op_a = op_of(name, trans_a), op_b = op_of(name, trans_b);
  const Operand A = call.in(a, "A", only(t), 2), B = call.in(b, "B", only(t), 2);
  const Operand C = call.out(t, {rows(A, op_a), columns(A, op_a)});
  with_scalar(t, [&](auto v) {
    using T = decltype(v);
    const T f = factor<T>(name, alpha), g = factor<T>(name, beta);
    call.run([&] {
      blas::geam<T>(call.executor(), op_a, op_b, f, A.matrix<const T>(), g, B.matrix<const T>(), C.matrix<T>());
    });
  });
  return call.result(C);
}

nb::object dgmm(nb::handle side, nb::handle a, nb::handle x, nb::handle executor) {
  Call call("blas.dgmm", executor, {a, x});
  const DType t = call.common_type({a, x});
  const blas::Side where = side_of("blas.dgmm", side);
  const Operand A = call.in(a, "A", only(t), 2), X = call.in(x, "x", only(t), 1), C = call.out(t, A.shape);
  with_scalar(t, [&](auto v) {
    using T = decltype(v);
    call.run([&] { blas::dgmm<T>(call.executor(), where, A.matrix<const T>(), X.vector<const T>(), C.matrix<T>()); });
  });
  return call.result(C);
}

}  // namespace

void bind_level3(nb::module_& m) {
  const auto none = [] { return nb::arg().none(); };
  m.def("gemm", &gemm, nb::arg(), nb::arg(), nb::arg(), nb::arg(), none(), nb::arg(), nb::arg(), none(), none(),
        nb::arg());
  m.def("batched_gemm", &batched_gemm, nb::arg(), nb::arg(), nb::arg(), nb::arg(), none(), nb::arg(), nb::arg(), none(),
        none(), nb::arg());
  m.def("symm", &symm, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), none(), nb::arg(), nb::arg(), none(),
        none(), nb::arg());
  m.def("syrk", &syrk, nb::arg(), nb::arg(), nb::arg(), none(), nb::arg(), none(), nb::arg(), nb::arg(), none(), none(),
        nb::arg());
  m.def("triangular_matrix", &triangular, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
        nb::arg(), none(), none(), nb::arg());
  m.def("geam", &geam, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), none());
  m.def("dgmm", &dgmm, nb::arg(), nb::arg(), nb::arg(), none());
}

}  // namespace trn::python
