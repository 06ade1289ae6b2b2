// What cuBLAS has beyond BLAS: geam, dgmm, packed triangles, batches, GemmEx.
#pragma once

#include <trn/blas/dgmm.hpp>
#include <trn/blas/geam.hpp>
#include <trn/blas/gemm_batched.hpp>
#include <trn/blas/packed.hpp>
#include <trn/blas/trsm_batched.hpp>

#include "level3.hpp"

namespace trn::capi::blas {

// An operand whose factor is 0 is not read and may be any address: C stands in for it.
template <class T> void geam(Call& c, OpArg transa, OpArg transb, Int m, Int n, const T* alpha, const T* a, Int lda,
                             const T* beta, const T* b, Int ldb, T* to, Int ldc) {
  const Op oa = op_of(transa), ob = op_of(transb);
  check_extents(m, n, 0);
  check_leading("A", lda, oa == Op::N ? m : n), check_leading("B", ldb, ob == Op::N ? m : n);
  const T fa = c.read(alpha, "alpha"), fb = c.read(beta, "beta");
  const MatrixView<T> mc = c.matrix("C", to, m, n, ldc);
  const auto operand = [&](const char* what, const T* x, Op op, Int ld, T factor) -> MatrixView<const T> {
    if (factor == T(0)) return mc;
    return c.matrix(what, x, op == Op::N ? m : n, op == Op::N ? n : m, ld);
  };
  tb::geam<T>(c.executor, fa == T(0) ? Op::N : oa, fb == T(0) ? Op::N : ob, fa, operand("A", a, oa, lda, fa), fb,
              operand("B", b, ob, ldb, fb), mc);
}
template <class T>
void dgmm(Call& c, SideArg mode, Int m, Int n, const T* a, Int lda, const T* x, Int incx, T* to, Int ldc) {
  const Side side = side_of(mode);
  check_extents(m, n, 0);
  tb::dgmm<T>(c.executor, side, c.matrix("A", a, m, n, lda), c.vector("x", x, side == Side::Left ? m : n, incx),
              c.matrix("C", to, m, n, ldc));
}
template <class T> void tpttr(Call& c, UploArg uplo, Int n, const T* ap, T* a, Int lda) {
  tb::tpttr<T>(c.executor, c.packed("AP", ap, n, uplo_of(uplo)), c.matrix("A", a, n, n, lda));
}
template <class T> void trttp(Call& c, UploArg uplo, Int n, const T* a, Int lda, T* ap) {
  tb::trttp<T>(c.executor, c.matrix("A", a, n, n, lda), c.packed("AP", ap, n, uplo_of(uplo)));
}

template <class T> void gemm_batched(Call& c, OpArg transa, OpArg transb, Int m, Int n, Int k, const T* alpha,
                                     const T* const* a, Int lda, const T* const* b, Int ldb, const T* beta,
                                     T* const* to, Int ldc, Int count) {
  const Op oa = op_of(transa), ob = op_of(transb);
  check_extents(m, n, k);
  require(count >= 0, "the batch has {} products; it must have >= 0", count);
  const Int ra = oa == Op::N ? m : k, rb = ob == Op::N ? k : n;
  check_leading("A", lda, ra), check_leading("B", ldb, rb), check_leading("C", ldc, m);
  if (m == 0 || n == 0 || count == 0) return;
  auto pa = c.addresses("Aarray", a, count), pb = c.addresses("Barray", b, count);
  auto pc = c.addresses("Carray", to, count);
  for (std::size_t i = 0; i < pa.size(); ++i) {
    if (k > 0) {
      pa[i] = c.matrix("a matrix of Aarray", pa[i], ra, oa == Op::N ? k : m, lda).data();
      pb[i] = c.matrix("a matrix of Barray", pb[i], rb, ob == Op::N ? n : k, ldb).data();
    }
    pc[i] = c.matrix("a matrix of Carray", pc[i], m, n, ldc).data();
  }
  c.keep(tb::gemm_batched<T>(c.executor, {oa, ob, m, n, k, lda, ldb, ldc}, c.read(alpha, "alpha"), pa, pb,
                             c.read(beta, "beta"), std::span<T* const>(pc), {c.precision<T>()}));
}
template <class T> void gemm_strided_batched(Call& c, OpArg transa, OpArg transb, Int m, Int n, Int k, const T* alpha,
                                             const T* a, Int lda, Int stride_a, const T* b, Int ldb, Int stride_b,
                                             const T* beta, T* to, Int ldc, Int stride_c, Int count) {
  const Op oa = op_of(transa), ob = op_of(transb);
  check_extents(m, n, k);
  require(count >= 0, "the batch has {} products; it must have >= 0", count);
  require(stride_a >= 0 && stride_b >= 0 && stride_c >= 0, "strides are {}, {}, {}; they must be >= 0", stride_a,
          stride_b, stride_c);
  const Int ra = oa == Op::N ? m : k, rb = ob == Op::N ? k : n;
  check_leading("A", lda, ra), check_leading("B", ldb, rb), check_leading("C", ldc, m);
  if (m == 0 || n == 0 || count == 0) return;
  // The first and the last matrix bound all of them.
  const auto look_up = [&](const char* what, auto*& x, Int rows, Int columns, Int ld, Int stride) {
    if (rows == 0 || columns == 0) return;
    const Int one = span_bytes(columns, ld, rows, 1);
    x = device_memory(*c.handle.device, what, x, span_bytes(count, stride, one, sizeof(T)));
  };
  look_up("A", a, ra, oa == Op::N ? k : m, lda, stride_a), look_up("B", b, rb, ob == Op::N ? n : k, ldb, stride_b);
  look_up("C", to, m, n, ldc, stride_c);
  c.keep(tb::gemm_strided_batched<T>(c.executor, {oa, ob, m, n, k, lda, ldb, ldc}, c.read(alpha, "alpha"), a, stride_a,
                                     b, stride_b, c.read(beta, "beta"), to, stride_c, count, {c.precision<T>()}));
}
template <class T> void trsm_batched(Call& c, SideArg side, UploArg uplo, OpArg trans, DiagArg diag, Int m, Int n,
                                     const T* alpha, const T* const* a, Int lda, T* const* b, Int ldb, Int count) {
  const Side s = side_of(side);
  check_extents(m, n, 0);
  require(count >= 0, "the batch has {} systems; it must have >= 0", count);
  const Int order = s == Side::Left ? m : n;
  check_leading("A", lda, order), check_leading("B", ldb, m);
  if (m == 0 || n == 0 || count == 0) return;
  auto pa = c.addresses("A", a, count);
  auto pb = c.addresses("B", b, count);
  for (std::size_t i = 0; i < pa.size(); ++i) {
    pa[i] = c.matrix("a matrix of A", pa[i], order, order, lda).data();
    pb[i] = c.matrix("a matrix of B", pb[i], m, n, ldb).data();
  }
  tb::trsm_batched<T>(c.executor, {s, uplo_of(uplo), op_of(trans), diag_of(diag), m, n, lda, ldb},
                      c.read(alpha, "alpha"), pa, std::span<T* const>(pb));
}

// The arrays of shapes and factors are host memory, those of addresses device memory.
template <class T> void gemm_grouped_batched(Call& c, const OpArg* transa, const OpArg* transb, const int* m,
                                             const int* n, const int* k, const T* alpha, const T* const* a,
                                             const int* lda, const T* const* b, const int* ldb, const T* beta,
                                             T* const* to, const int* ldc, Int groups, const int* sizes) {
  require(groups >= 0, "there are {} groups; there must be >= 0", groups);
  if (groups == 0) return;
  require(transa && transb && m && n && k && alpha && lda && ldb && beta && ldc && sizes, "an array of shapes is null");
  std::vector<tb::GemmGroup<T>> list;
  Int count = 0;
  for (Int g = 0; g < groups; ++g) {
    check_extents(m[g], n[g], k[g]);
    require(sizes[g] >= 0, "group {} has {} products; it must have >= 0", g, sizes[g]);
    const Op oa = op_of(transa[g]), ob = op_of(transb[g]);
    check_leading("A", lda[g], oa == Op::N ? m[g] : k[g]), check_leading("B", ldb[g], ob == Op::N ? k[g] : n[g]);
    check_leading("C", ldc[g], m[g]);
    list.push_back({{oa, ob, m[g], n[g], k[g], lda[g], ldb[g], ldc[g]}, alpha[g], beta[g], sizes[g]});
    count += sizes[g];
  }
  auto pa = c.addresses("Aarray", a, count), pb = c.addresses("Barray", b, count);
  auto pc = c.addresses("Carray", to, count);
  std::size_t at = 0;
  for (const auto& group : list) {
    const auto& s = group.shape;
    for (Int i = 0; i < group.count; ++i, ++at) {
      const bool turn_a = s.op_a != Op::N, turn_b = s.op_b != Op::N;
      pa[at] = c.matrix("a matrix of Aarray", pa[at], turn_a ? s.k : s.m, turn_a ? s.m : s.k, s.lda).data();
      pb[at] = c.matrix("a matrix of Barray", pb[at], turn_b ? s.n : s.k, turn_b ? s.k : s.n, s.ldb).data();
      pc[at] = c.matrix("a matrix of Carray", pc[at], s.m, s.n, s.ldc).data();
    }
  }
  c.keep(tb::gemm_grouped_batched<T>(c.executor, list, pa, pb, std::span<T* const>(pc), {c.precision<T>()}));
}

}  // namespace trn::capi::blas
