// Level 2: n x n matrices, upper triangles, bands of k diagonals, row-major.
#include <trn/blas/gemv.hpp>
#include <trn/blas/ger.hpp>
#include <trn/blas/symv.hpp>
#include <trn/blas/syr.hpp>
#include <trn/blas/trmv.hpp>

#include "blas_case.hpp"
#include "host/cblas.hpp"

namespace trn::tools {

namespace {

namespace cb = blas::host::cb;
using blas::BandView;
using blas::Diag;
using blas::Op;
using blas::PackedView;
using blas::Uplo;
constexpr auto kRow = blas::Layout::RowMajor;

template <class T> PackedView<T> packed(const Executor& e, T* data, std::int64_t n) {
  return {e, data, n, Uplo::Upper, kRow};
}
template <class T> BandView<T> band(const Executor& e, T* data, std::int64_t n, std::int64_t kl, std::int64_t ku) {
  return {e, data, n, n, kl, ku, kl + ku + 1, kRow};
}

#define TRN_AXY TRN_SHAPES({s.m, s.n}, {1, s.n}, {1, s.m})
#define TRN_SQUARE TRN_SHAPES({s.n, s.n}, {1, s.n}, {1, s.n})
#define TRN_PACKED TRN_SHAPES({1, s.n * (s.n + 1) / 2}, {1, s.n}, {1, s.n})
#define TRN_BAND TRN_SHAPES({s.n, s.k + 1}, {1, s.n}, {1, s.n})
#define TRN_UPPER CblasRowMajor, CblasUpper
#define TRN_TRI CblasRowMajor, CblasUpper, CblasNoTrans, CblasUnit

TRN_CASE(gemv, TRN_AXY,
         return blas::gemv(e, Op::N, T(1), p->matrix(0), p->vector(1), T(0), p->vector(2), {s.precision}),
         TRN_THEIRS(cb::gemv(CblasRowMajor, CblasNoTrans, m, n, T(1), p->data(0), n, p->data(1), 1, T(0), p->data(2),
                             1)),
         gemv(dm, dn))
TRN_CASE(gbmv, TRN_SHAPES({s.n, 2 * s.k + 1}, {1, s.n}, {1, s.n}),
         TRN_PLAIN(blas::gbmv(e, Op::N, T(1), band(e, p->data(0), s.n, s.k, s.k), p->vector(1), T(0), p->vector(2))),
         TRN_THEIRS(cb::gbmv(CblasRowMajor, CblasNoTrans, n, n, k, k, T(1), p->data(0), 2 * k + 1, p->data(1), 1, T(0),
                             p->data(2), 1)),
         gbmv(dn, dk))
TRN_CASE(ger, TRN_AXY, TRN_PLAIN(blas::ger(e, T(1e-6f), p->vector(2), p->vector(1), p->matrix(0))),
         TRN_THEIRS(cb::ger(CblasRowMajor, m, n, T(1e-6f), p->data(2), 1, p->data(1), 1, false, p->data(0), n)),
         ger(dm, dn))
TRN_CASE(gerc, TRN_AXY, TRN_PLAIN(blas::gerc(e, T(1e-6f), p->vector(2), p->vector(1), p->matrix(0))),
         TRN_THEIRS(cb::ger(CblasRowMajor, m, n, T(1e-6f), p->data(2), 1, p->data(1), 1, true, p->data(0), n)),
         ger(dm, dn))
TRN_CASE(symv, TRN_SQUARE, TRN_PLAIN(blas::symv(e, Uplo::Upper, T(1), p->matrix(0), p->vector(1), T(0), p->vector(2))),
         TRN_THEIRS(cb::symv(TRN_UPPER, n, T(1), p->data(0), n, p->data(1), 1, T(0), p->data(2), 1)), symv(dn))
TRN_CASE(hemv, TRN_SQUARE, TRN_PLAIN(blas::hemv(e, Uplo::Upper, T(1), p->matrix(0), p->vector(1), T(0), p->vector(2))),
         TRN_THEIRS(cb::hemv(TRN_UPPER, n, T(1), p->data(0), n, p->data(1), 1, T(0), p->data(2), 1)), symv(dn))
TRN_CASE(sbmv, TRN_BAND,
         TRN_PLAIN(blas::sbmv(e, Uplo::Upper, T(1), band(e, p->data(0), s.n, 0, s.k), p->vector(1), T(0),
                              p->vector(2))),
         TRN_THEIRS(cb::sbmv(TRN_UPPER, n, k, T(1), p->data(0), k + 1, p->data(1), 1, T(0), p->data(2), 1)),
         sbmv(dn, dk))
TRN_CASE(hbmv, TRN_BAND,
         TRN_PLAIN(blas::hbmv(e, Uplo::Upper, T(1), band(e, p->data(0), s.n, 0, s.k), p->vector(1), T(0),
                              p->vector(2))),
         TRN_THEIRS(cb::hbmv(TRN_UPPER, n, k, T(1), p->data(0), k + 1, p->data(1), 1, T(0), p->data(2), 1)),
         sbmv(dn, dk))
TRN_CASE(spmv, TRN_PACKED, TRN_PLAIN(blas::spmv(e, T(1), packed(e, p->data(0), s.n), p->vector(1), T(0), p->vector(2))),
         TRN_THEIRS(cb::spmv(TRN_UPPER, n, T(1), p->data(0), p->data(1), 1, T(0), p->data(2), 1)), symv(dn))
TRN_CASE(hpmv, TRN_PACKED, TRN_PLAIN(blas::hpmv(e, T(1), packed(e, p->data(0), s.n), p->vector(1), T(0), p->vector(2))),
         TRN_THEIRS(cb::hpmv(TRN_UPPER, n, T(1), p->data(0), p->data(1), 1, T(0), p->data(2), 1)), symv(dn))
TRN_CASE(syr, TRN_SQUARE, TRN_PLAIN(blas::syr(e, Uplo::Upper, T(1e-6f), p->vector(1), p->matrix(0))),
         TRN_THEIRS(cb::syr(TRN_UPPER, n, T(1e-6f), p->data(1), 1, p->data(0), n)), syr(dn))
TRN_CASE(her, TRN_SQUARE, TRN_PLAIN(blas::her(e, Uplo::Upper, blas::Real<T>(1e-6f), p->vector(1), p->matrix(0))),
         TRN_THEIRS(cb::her(TRN_UPPER, n, blas::Real<T>(1e-6f), p->data(1), 1, p->data(0), n)), syr(dn))
TRN_CASE(syr2, TRN_SQUARE, TRN_PLAIN(blas::syr2(e, Uplo::Upper, T(1e-6f), p->vector(1), p->vector(2), p->matrix(0))),
         TRN_THEIRS(cb::syr2(TRN_UPPER, n, T(1e-6f), p->data(1), 1, p->data(2), 1, p->data(0), n)), syr2(dn))
TRN_CASE(her2, TRN_SQUARE, TRN_PLAIN(blas::her2(e, Uplo::Upper, T(1e-6f), p->vector(1), p->vector(2), p->matrix(0))),
         TRN_THEIRS(cb::her2(TRN_UPPER, n, T(1e-6f), p->data(1), 1, p->data(2), 1, p->data(0), n)), syr2(dn))
TRN_CASE(spr, TRN_PACKED, TRN_PLAIN(blas::spr(e, T(1e-6f), p->vector(1), packed(e, p->data(0), s.n))),
         TRN_THEIRS(cb::spr(TRN_UPPER, n, T(1e-6f), p->data(1), 1, p->data(0))), syr(dn))
TRN_CASE(hpr, TRN_PACKED, TRN_PLAIN(blas::hpr(e, blas::Real<T>(1e-6f), p->vector(1), packed(e, p->data(0), s.n))),
         TRN_THEIRS(cb::hpr(TRN_UPPER, n, blas::Real<T>(1e-6f), p->data(1), 1, p->data(0))), syr(dn))
TRN_CASE(spr2, TRN_PACKED, TRN_PLAIN(blas::spr2(e, T(1e-6f), p->vector(1), p->vector(2), packed(e, p->data(0), s.n))),
         TRN_THEIRS(cb::spr2(TRN_UPPER, n, T(1e-6f), p->data(1), 1, p->data(2), 1, p->data(0))), syr2(dn))
TRN_CASE(hpr2, TRN_PACKED, TRN_PLAIN(blas::hpr2(e, T(1e-6f), p->vector(1), p->vector(2), packed(e, p->data(0), s.n))),
         TRN_THEIRS(cb::hpr2(TRN_UPPER, n, T(1e-6f), p->data(1), 1, p->data(2), 1, p->data(0))), syr2(dn))
TRN_CASE(trmv, TRN_SQUARE, TRN_PLAIN(blas::trmv(e, Uplo::Upper, Op::N, Diag::Unit, p->matrix(0), p->vector(1))),
         TRN_THEIRS(cb::trmv(TRN_TRI, n, p->data(0), n, p->data(1), 1)), trmv(dn))
TRN_CASE(trsv, TRN_SQUARE, TRN_PLAIN(blas::trsv(e, Uplo::Upper, Op::N, Diag::Unit, p->matrix(0), p->vector(1))),
         TRN_THEIRS(cb::trsv(TRN_TRI, n, p->data(0), n, p->data(1), 1)), trmv(dn))
TRN_CASE(tbmv, TRN_BAND,
         TRN_PLAIN(blas::tbmv(e, Uplo::Upper, Op::N, Diag::Unit, band(e, p->data(0), s.n, 0, s.k), p->vector(1))),
         TRN_THEIRS(cb::tbmv(TRN_TRI, n, k, p->data(0), k + 1, p->data(1), 1)), tbmv(dn, dk))
TRN_CASE(tbsv, TRN_BAND,
         TRN_PLAIN(blas::tbsv(e, Uplo::Upper, Op::N, Diag::Unit, band(e, p->data(0), s.n, 0, s.k), p->vector(1))),
         TRN_THEIRS(cb::tbsv(TRN_TRI, n, k, p->data(0), k + 1, p->data(1), 1)), tbmv(dn, dk))
TRN_CASE(tpmv, TRN_PACKED, TRN_PLAIN(blas::tpmv(e, Op::N, Diag::Unit, packed(e, p->data(0), s.n), p->vector(1))),
         TRN_THEIRS(cb::tpmv(TRN_TRI, n, p->data(0), p->data(1), 1)), trmv(dn))
TRN_CASE(tpsv, TRN_PACKED, TRN_PLAIN(blas::tpsv(e, Op::N, Diag::Unit, packed(e, p->data(0), s.n), p->vector(1))),
         TRN_THEIRS(cb::tpsv(TRN_TRI, n, p->data(0), p->data(1), 1)), trmv(dn))

constexpr BlasSize kSize{2048, 2048, 1}, kBand{1, 1 << 18, 8};
constexpr BlasRow kRows[] = {
    {"blas.gemv", "y = alpha op(A) x + beta y", kSize, TRN_FOUR(gemv)},
    {"blas.gbmv", "the same, A a band of 2 k + 1 diagonals", kBand, TRN_FOUR(gbmv)},
    {"blas.ger", "A = alpha x y^T + A", kSize, TRN_FOUR(ger)},
    {"blas.gerc", "A = alpha x y^H + A", kSize, TRN_FOUR(gerc)},
    {"blas.symv", "y = alpha A x + beta y, A symmetric", kSize, TRN_FOUR(symv)},
    {"blas.hemv", "the same, A Hermitian", kSize, TRN_COMPLEXES(hemv)},
    {"blas.sbmv", "symv, A a band", kBand, TRN_FOUR(sbmv)},
    {"blas.hbmv", "hemv, A a band", kBand, TRN_COMPLEXES(hbmv)},
    {"blas.spmv", "symv, A packed", kSize, TRN_FOUR(spmv)},
    {"blas.hpmv", "hemv, A packed", kSize, TRN_COMPLEXES(hpmv)},
    {"blas.syr", "A = alpha x x^T + A", kSize, TRN_FOUR(syr)},
    {"blas.her", "A = alpha x x^H + A", kSize, TRN_COMPLEXES(her)},
    {"blas.syr2", "A = alpha (x y^T + y x^T) + A", kSize, TRN_FOUR(syr2)},
    {"blas.her2", "A = alpha x y^H + conj(alpha) y x^H + A", kSize, TRN_COMPLEXES(her2)},
    {"blas.spr", "syr, A packed", kSize, TRN_FOUR(spr)},
    {"blas.hpr", "her, A packed", kSize, TRN_COMPLEXES(hpr)},
    {"blas.spr2", "syr2, A packed", kSize, TRN_FOUR(spr2)},
    {"blas.hpr2", "her2, A packed", kSize, TRN_COMPLEXES(hpr2)},
    {"blas.trmv", "x = op(A) x, A triangular", kSize, TRN_FOUR(trmv)},
    {"blas.trsv", "x = op(A)^-1 x", kSize, TRN_FOUR(trsv)},
    {"blas.tbmv", "trmv, A a band", kBand, TRN_FOUR(tbmv)},
    {"blas.tbsv", "trsv, A a band", kBand, TRN_FOUR(tbsv)},
    {"blas.tpmv", "trmv, A packed", kSize, TRN_FOUR(tpmv)},
    {"blas.tpsv", "trsv, A packed", kSize, TRN_FOUR(tpsv)},
};

}  // namespace

std::span<const BlasRow> blas_level2_rows() { return kRows; }

}  // namespace trn::tools
