// Level 3: matrix and matrix. As the standard has it, alpha = 0 and k = 0 read neither A nor B, which may then be any
// address.
#pragma once

#include <trn/blas/gemm.hpp>
#include <trn/blas/symm.hpp>
#include <trn/blas/syrk.hpp>
#include <trn/blas/trmm.hpp>
#include <trn/blas/trsm.hpp>

#include "level2.hpp"

namespace trn::capi::blas {

using SideArg = trnblasSideMode_t;

inline void check_extents(Int m, Int n, Int k) {
  require(m >= 0 && n >= 0 && k >= 0, "extents are {}, {}, {}; they must be >= 0", m, n, k);
}
// A leading dimension is checked also where the matrix is not read.
inline void check_leading(const char* what, Int ld, Int rows) {
  require(ld >= std::max<Int>(1, rows), "the leading dimension of {} is {}; it must be at least {}", what, ld,
          std::max<Int>(1, rows));
}

template <class T, class F> void product(Call& c, OpArg transa, OpArg transb, Int m, Int n, Int k, const T* alpha,
                                         const T* a, Int lda, const T* b, Int ldb, const T* beta, T* to, Int ldc,
                                         const F& multiply) {
  const Op oa = op_of(transa), ob = op_of(transb);
  check_extents(m, n, k);
  check_leading("A", lda, oa == Op::N ? m : k), check_leading("B", ldb, ob == Op::N ? k : n);
  check_leading("C", ldc, m);
  if (m == 0 || n == 0) return;
  const T factor = c.read(alpha, "alpha"), scale = c.read(beta, "beta");
  const MatrixView<T> mc = c.matrix("C", to, m, n, ldc);
  const bool empty = factor == T(0) || k == 0;
  const MatrixView<const T> ma =
      empty ? c.unread<T>(m, 0) : c.matrix("A", a, oa == Op::N ? m : k, oa == Op::N ? k : m, lda);
  const MatrixView<const T> mb =
      empty ? c.unread<T>(0, n) : c.matrix("B", b, ob == Op::N ? k : n, ob == Op::N ? n : k, ldb);
  // Operands that may share memory are left to the checks of the product itself, at once.
  const auto reach = [](const auto& x) {
    const auto begin = reinterpret_cast<std::uintptr_t>(x.data());
    const Int elements = x.columns() > 0 ? (x.columns() - 1) * x.column_stride() + x.rows() : 0;
    return std::pair(begin, begin + static_cast<std::size_t>(elements) * sizeof(T));
  };
  const auto apart = [&](const auto& x) {
    const auto one = reach(x), two = reach(mc);
    return one.second <= two.first || two.second <= one.first;
  };
  std::string what;
  if (c.queueing && apart(ma) && apart(mb))
    what = fmt::format("{} {} {} {} {} {} {} {} {} {} {}", sizeof(T), tb::ComplexScalar<T>, static_cast<int>(oa),
                       static_cast<int>(ob), m, n, empty ? -1 : k, lda, ldb, ldc,
                       static_cast<int>(c.precision<T>().mode()));
  c.perform(what, [=, handle = &c.handle, precision = c.precision<T>()] {
    const Op first = empty ? Op::N : oa, second = empty ? Op::N : ob;
    const Executor& e = handle->device->executor;
    handle->bound =
        multiply(e, first, second, empty ? T(0) : factor, ma, mb, scale, mc, tb::GemmOptions{precision, {}}).bound;
  });
}

template <class T> void gemm(Call& c, OpArg transa, OpArg transb, Int m, Int n, Int k, const T* alpha, const T* a,
                             Int lda, const T* b, Int ldb, const T* beta, T* to, Int ldc) {
  product(c, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, to, ldc,
          [](const Executor& e, Op oa, Op ob, T factor, const MatrixView<const T>& ma, const MatrixView<const T>& mb,
             T scale, const MatrixView<T>& mc,
             const tb::GemmOptions& options) { return tb::gemm(e, oa, ob, factor, ma, mb, scale, mc, options); });
}
template <class T> void gemm3m(Call& c, OpArg transa, OpArg transb, Int m, Int n, Int k, const T* alpha, const T* a,
                               Int lda, const T* b, Int ldb, const T* beta, T* to, Int ldc) {
  product(c, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, to, ldc,
          [](const Executor& e, Op oa, Op ob, T factor, const MatrixView<const T>& ma, const MatrixView<const T>& mb,
             T scale, const MatrixView<T>& mc,
             const tb::GemmOptions& options) { return tb::gemm3m<T>(e, oa, ob, factor, ma, mb, scale, mc, options); });
}

// hermitian: hemm.
template <class T> void symmetric_product(Call& c, bool hermitian, SideArg side, UploArg uplo, Int m, Int n,
                                          const T* alpha, const T* a, Int lda, const T* b, Int ldb, const T* beta,
                                          T* to, Int ldc) {
  const Side s = side_of(side);
  const Uplo u = uplo_of(uplo);
  check_extents(m, n, 0);
  const Int order = s == Side::Left ? m : n;
  check_leading("A", lda, order), check_leading("B", ldb, m);
  const T factor = c.read(alpha, "alpha"), scale = c.read(beta, "beta");
  const MatrixView<T> mc = c.matrix("C", to, m, n, ldc);
  const tb::GemmOptions options{c.precision<T>(), {}};
  if (factor == T(0)) {
    c.keep(tb::gemm(c.executor, Op::N, Op::N, T(0), c.unread<T>(m, 0), c.unread<T>(0, n), scale, mc, options));
    return;
  }
  const MatrixView<const T> ma = c.matrix("A", a, order, order, lda), mb = c.matrix("B", b, m, n, ldb);
  if constexpr (tb::ComplexScalar<T>) {
    if (hermitian) {
      c.keep(tb::hemm<T>(c.executor, s, u, factor, ma, mb, scale, mc, options));
      return;
    }
  }
  c.keep(tb::symm<T>(c.executor, s, u, factor, ma, mb, scale, mc, options));
}
template <class T> void symm(Call& c, SideArg side, UploArg uplo, Int m, Int n, const T* alpha, const T* a, Int lda,
                             const T* b, Int ldb, const T* beta, T* to, Int ldc) {
  symmetric_product(c, false, side, uplo, m, n, alpha, a, lda, b, ldb, beta, to, ldc);
}
template <class T> void hemm(Call& c, SideArg side, UploArg uplo, Int m, Int n, const T* alpha, const T* a, Int lda,
                             const T* b, Int ldb, const T* beta, T* to, Int ldc) {
  symmetric_product(c, true, side, uplo, m, n, alpha, a, lda, b, ldb, beta, to, ldc);
}

// The n x k matrix that op makes of A. Where it is not read its depth is 0: all rank-k updates then only scale.
template <class T>
MatrixView<const T> rank_operand(Call& c, const char* what, const T* a, Op op, Int n, Int k, Int lda, bool read) {
  check_leading(what, lda, op == Op::N ? n : k);
  if (!read) return op == Op::N ? c.unread<T>(n, 0) : c.unread<T>(0, n);
  return c.matrix(what, a, op == Op::N ? n : k, op == Op::N ? k : n, lda);
}

#define TRN_RANK_K(name, Alpha, Beta)                                                                                 \
  template <class T> void name(Call& c, UploArg uplo, OpArg trans, Int n, Int k, const Alpha* alpha, const T* a,      \
                               Int lda, const Beta* beta, T* to, Int ldc) {                                           \
    const Op op = op_of(trans);                                                                                       \
    check_extents(n, k, 0);                                                                                           \
    const Alpha factor = c.read(alpha, "alpha");                                                                      \
    const auto ma = rank_operand(c, "A", a, op, n, k, lda, factor != Alpha(0));                                       \
    c.keep(tb::name<T>(c.executor, uplo_of(uplo), op, factor, ma, c.read(beta, "beta"), c.matrix("C", to, n, n, ldc), \
                       {c.precision<T>(), {}}));                                                                      \
  }
TRN_RANK_K(syrk, T, T)
TRN_RANK_K(herk, Real<T>, Real<T>)
#undef TRN_RANK_K

#define TRN_RANK_2K(name, Beta)                                                                                       \
  template <class T> void name(Call& c, UploArg uplo, OpArg trans, Int n, Int k, const T* alpha, const T* a, Int lda, \
                               const T* b, Int ldb, const Beta* beta, T* to, Int ldc) {                               \
    const Op op = op_of(trans);                                                                                       \
    check_extents(n, k, 0);                                                                                           \
    const T factor = c.read(alpha, "alpha");                                                                          \
    const auto ma = rank_operand(c, "A", a, op, n, k, lda, factor != T(0));                                           \
    const auto mb = rank_operand(c, "B", b, op, n, k, ldb, factor != T(0));                                           \
    c.keep(tb::name<T>(c.executor, uplo_of(uplo), op, factor, ma, mb, c.read(beta, "beta"),                           \
                       c.matrix("C", to, n, n, ldc), {c.precision<T>(), {}}));                                        \
  }
TRN_RANK_2K(syr2k, T)
TRN_RANK_2K(her2k, Real<T>)
TRN_RANK_2K(syrkx, T)
TRN_RANK_2K(herkx, Real<T>)
#undef TRN_RANK_2K

// cuBLAS's trmm writes into C, which may be B.
template <class T> void trmm(Call& c, SideArg side, UploArg uplo, OpArg trans, DiagArg diag, Int m, Int n,
                             const T* alpha, const T* a, Int lda, const T* b, Int ldb, T* to, Int ldc) {
  const Side s = side_of(side);
  const Uplo u = uplo_of(uplo);
  const Op op = op_of(trans);
  const Diag d = diag_of(diag);
  check_extents(m, n, 0);
  const Int order = s == Side::Left ? m : n;
  check_leading("A", lda, order), check_leading("B", ldb, m);
  const T factor = c.read(alpha, "alpha");
  const MatrixView<T> mc = c.matrix("C", to, m, n, ldc);
  const tb::GemmOptions options{c.precision<T>(), {}};
  if (factor == T(0)) {
    c.keep(tb::gemm(c.executor, Op::N, Op::N, T(0), c.unread<T>(m, 0), c.unread<T>(0, n), T(0), mc, options));
    return;
  }
  const MatrixView<const T> ma = c.matrix("A", a, order, order, lda), mb = c.matrix("B", b, m, n, ldb);
  c.keep(tb::trmm<T>(c.executor, s, u, op, d, factor, ma, mb, mc, options));
}
template <class T> void trsm(Call& c, SideArg side, UploArg uplo, OpArg trans, DiagArg diag, Int m, Int n,
                             const T* alpha, const T* a, Int lda, T* b, Int ldb) {
  const Side s = side_of(side);
  const Uplo u = uplo_of(uplo);
  const Op op = op_of(trans);
  const Diag d = diag_of(diag);
  check_extents(m, n, 0);
  const Int order = s == Side::Left ? m : n;
  check_leading("A", lda, order);
  const T factor = c.read(alpha, "alpha");
  const MatrixView<T> mb = c.matrix("B", b, m, n, ldb);
  if (factor == T(0)) {
    c.keep(tb::gemm(c.executor, Op::N, Op::N, T(0), c.unread<T>(m, 0), c.unread<T>(0, n), T(0), mb, {}));
    return;
  }
  c.keep(tb::trsm<T>(c.executor, s, u, op, d, factor, c.matrix("A", a, order, order, lda), mb, {c.precision<T>()}));
}

}  // namespace trn::capi::blas
