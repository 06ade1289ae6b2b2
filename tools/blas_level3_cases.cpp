// Level 3 beside gemm, which has a command of its own: row-major, upper triangles.
#include <omp.h>

#include <trn/blas/gemm.hpp>
#include <trn/blas/symm.hpp>
#include <trn/blas/syrk.hpp>
#include <trn/blas/trmm.hpp>
#include <trn/blas/trsm.hpp>

#include "blas_case.hpp"
#include "host/openblas.hpp"

namespace trn::tools {

namespace {

using blas::Diag;
using blas::Op;
using blas::Side;
using blas::Uplo;
using blas::host::OpenBlas;

#define TRN_UPPER CblasRowMajor, CblasUpper
#define TRN_OPTIONS \
  { s.precision }

TRN_CASE(gemm, TRN_SHAPES({s.m, s.k}, {s.k, s.n}, {s.m, s.n}),
         return blas::gemm(e, Op::N, Op::N, T(1), p->matrix(0), p->matrix(1), T(0), p->matrix(2), {s.precision, {}}),
         TRN_NOBODY, gemm(dm, dn, dk))
// With more than one thread OpenBLAS never returns from gemm3m (blas/src/host/gemm3m.cpp): no peer then.
TRN_CASE(gemm3m, TRN_SHAPES({s.m, s.k}, {s.k, s.n}, {s.m, s.n}),
         return blas::gemm3m(e, Op::N, Op::N, T(1), p->matrix(0), p->matrix(1), T(0), p->matrix(2), {s.precision, {}}),
         omp_get_max_threads() > 1
             ? TRN_NOBODY
             : TRN_THEIRS(OpenBlas<T>::gemm3m(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, T(1), p->data(0), k,
                                              p->data(1), n, T(0), p->data(2), n)),
         gemm(dm, dn, dk))
TRN_CASE(symm, TRN_SHAPES({s.m, s.m}, {s.m, s.n}, {s.m, s.n}),
         return blas::symm(e, Side::Left, Uplo::Upper, T(1), p->matrix(0), p->matrix(1), T(0), p->matrix(2),
                           TRN_OPTIONS),
         TRN_THEIRS(OpenBlas<T>::symm(TRN_UPPER, m, n, T(1), p->data(0), m, p->data(1), n, T(0), p->data(2), n)),
         symm(dm, dn))
TRN_CASE(hemm, TRN_SHAPES({s.m, s.m}, {s.m, s.n}, {s.m, s.n}),
         return blas::hemm(e, Side::Left, Uplo::Upper, T(1), p->matrix(0), p->matrix(1), T(0), p->matrix(2),
                           TRN_OPTIONS),
         TRN_THEIRS(OpenBlas<T>::hemm(TRN_UPPER, m, n, T(1), p->data(0), m, p->data(1), n, T(0), p->data(2), n)),
         symm(dm, dn))
#define TRN_AC TRN_SHAPES({s.n, s.k}, {s.n, s.n})
#define TRN_ABC TRN_SHAPES({s.n, s.k}, {s.n, s.k}, {s.n, s.n})
TRN_CASE(syrk, TRN_AC, return blas::syrk(e, Uplo::Upper, Op::N, T(1), p->matrix(0), T(0), p->matrix(1), TRN_OPTIONS),
         TRN_THEIRS(OpenBlas<T>::syrk(TRN_UPPER, CblasNoTrans, n, k, T(1), p->data(0), k, T(0), p->data(1), n)),
         syrk(dn, dk))
TRN_CASE(herk, TRN_AC,
         return blas::herk(e, Uplo::Upper, Op::N, blas::Real<T>(1), p->matrix(0), blas::Real<T>(0), p->matrix(1),
                           TRN_OPTIONS),
         TRN_THEIRS(OpenBlas<T>::herk(TRN_UPPER, CblasNoTrans, n, k, T(1), p->data(0), k, T(0), p->data(1), n)),
         syrk(dn, dk))
TRN_CASE(syr2k, TRN_ABC,
         return blas::syr2k(e, Uplo::Upper, Op::N, T(1), p->matrix(0), p->matrix(1), T(0), p->matrix(2), TRN_OPTIONS),
         TRN_THEIRS(OpenBlas<T>::syr2k(TRN_UPPER, CblasNoTrans, n, k, T(1), p->data(0), k, p->data(1), k, T(0),
                                       p->data(2), n)),
         syr2k(dn, dk))
TRN_CASE(her2k, TRN_ABC,
         return blas::her2k(e, Uplo::Upper, Op::N, T(1), p->matrix(0), p->matrix(1), blas::Real<T>(0), p->matrix(2),
                            TRN_OPTIONS),
         TRN_THEIRS(OpenBlas<T>::her2k(TRN_UPPER, CblasNoTrans, n, k, T(1), p->data(0), k, p->data(1), k, T(0),
                                       p->data(2), n)),
         syr2k(dn, dk))
TRN_CASE(syrkx, TRN_ABC,
         return blas::syrkx(e, Uplo::Upper, Op::N, T(1), p->matrix(0), p->matrix(1), T(0), p->matrix(2), TRN_OPTIONS),
         TRN_NOBODY, syrkx(dn, dk))
TRN_CASE(herkx, TRN_ABC,
         return blas::herkx(e, Uplo::Upper, Op::N, T(1), p->matrix(0), p->matrix(1), blas::Real<T>(0), p->matrix(2),
                            TRN_OPTIONS),
         TRN_NOBODY, syrkx(dn, dk))
#define TRN_TRI CblasRowMajor, CblasUpper, CblasNoTrans, CblasNonUnit
TRN_CASE(trmm, TRN_SHAPES({s.m, s.m}, {s.m, s.n}),
         return blas::trmm(e, Side::Left, Uplo::Upper, Op::N, Diag::NonUnit, T(1), p->matrix(0), p->matrix(1),
                           TRN_OPTIONS),
         TRN_THEIRS(OpenBlas<T>::trmm(TRN_TRI, m, n, T(1), p->data(0), m, p->data(1), n)), trmm(dm, dn))
TRN_CASE(trsm, TRN_SHAPES({s.m, s.m}, {s.m, s.n}),
         return blas::trsm(e, Side::Left, Uplo::Upper, Op::N, Diag::NonUnit, T(1), p->matrix(0), p->matrix(1),
                           TRN_OPTIONS),
         TRN_THEIRS(OpenBlas<T>::trsm(TRN_TRI, m, n, T(1), p->data(0), m, p->data(1), n)), trmm(dm, dn))

constexpr BlasRow kGemm{"blas.gemm", "C = alpha op(A) op(B) + beta C", {}, TRN_FOUR(gemm)};
constexpr BlasRow kRows[] = {
    {"blas.gemm3m", "C = alpha op(A) op(B) + beta C from three real products", {}, TRN_COMPLEXES(gemm3m)},
    {"blas.symm", "C = alpha A B + beta C, A symmetric", {}, TRN_FOUR(symm)},
    {"blas.hemm", "C = alpha A B + beta C, A Hermitian", {}, TRN_COMPLEXES(hemm)},
    {"blas.syrk", "C = alpha A A^T + beta C, one triangle", {}, TRN_FOUR(syrk)},
    {"blas.herk", "C = alpha A A^H + beta C, one triangle", {}, TRN_COMPLEXES(herk)},
    {"blas.syr2k", "C = alpha (A B^T + B A^T) + beta C", {}, TRN_FOUR(syr2k)},
    {"blas.her2k", "C = alpha A B^H + conj(alpha) B A^H + beta C", {}, TRN_COMPLEXES(her2k)},
    {"blas.syrkx", "C = alpha A B^T + beta C, one triangle", {}, TRN_FOUR(syrkx)},
    {"blas.herkx", "C = alpha A B^H + beta C, one triangle", {}, TRN_COMPLEXES(herkx)},
    {"blas.trmm", "B = alpha op(A) B, A triangular", {}, TRN_FOUR(trmm)},
    {"blas.trsm", "op(A) X = alpha B", {}, TRN_FOUR(trsm)},
};

}  // namespace

std::span<const BlasRow> blas_level3_rows() { return kRows; }
const BlasRow& blas_gemm_row() { return kGemm; }

}  // namespace trn::tools
