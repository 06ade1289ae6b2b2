// Level 1: vectors of n elements with unit stride.
#include <trn/blas/level1.hpp>
#include <trn/blas/rotations.hpp>

#include "blas_case.hpp"
#include "host/cblas.hpp"

namespace trn::tools {

namespace {

namespace cb = blas::host::cb;
using blas::Op;

#define TRN_X TRN_SHAPES({1, s.n})
#define TRN_XY TRN_SHAPES({1, s.n}, {1, s.n})

TRN_CASE(axpy, TRN_XY, TRN_PLAIN(blas::axpy(e, T(1e-3f), p->vector(0), p->vector(1))),
         TRN_THEIRS(cb::axpy(n, T(1e-3f), p->data(0), 1, p->data(1), 1)), axpy(dn))
TRN_CASE(copy, TRN_XY, TRN_PLAIN(blas::copy(e, p->vector(0), p->vector(1))),
         TRN_THEIRS(cb::copy(n, p->data(0), 1, p->data(1), 1)), copy(dn))
TRN_CASE(swap, TRN_XY, TRN_PLAIN(blas::swap(e, p->vector(0), p->vector(1))),
         TRN_THEIRS(cb::swap(n, p->data(0), 1, p->data(1), 1)), swap(dn))
TRN_CASE(scal, TRN_X, TRN_PLAIN(blas::scal(e, T(-1), p->vector(0))), TRN_THEIRS(cb::scal(n, T(-1), p->data(0), 1)),
         scal(dn))
TRN_CASE(scal_real, TRN_X, TRN_PLAIN(blas::scal_real(e, blas::Real<T>(-1), p->vector(0))),
         TRN_THEIRS(cb::scal_real(n, blas::Real<T>(-1), p->data(0), 1)), scal_real(dn))
TRN_CASE(amax, TRN_X, TRN_PLAIN((void)blas::amax(e, p->vector(0))), TRN_NOBODY, amax(dn))
TRN_CASE(amin, TRN_X, TRN_PLAIN((void)blas::amin(e, p->vector(0))), TRN_NOBODY, amax(dn))
TRN_CASE(asum, TRN_X, return blas::asum(e, p->vector(0), s.precision).accuracy, TRN_NOBODY, asum(dn))
TRN_CASE(nrm2, TRN_X, return blas::nrm2(e, p->vector(0), s.precision).accuracy, TRN_NOBODY, nrm2(dn))
TRN_CASE(dot, TRN_XY, return blas::dot(e, p->vector(0), p->vector(1), s.precision).accuracy,
         TRN_THEIRS((void)cb::dot(n, p->data(0), 1, p->data(1), 1, false)), dot(dn))
TRN_CASE(dotc, TRN_XY, return blas::dotc(e, p->vector(0), p->vector(1), s.precision).accuracy,
         TRN_THEIRS((void)cb::dot(n, p->data(0), 1, p->data(1), 1, true)), dot(dn))
TRN_CASE(rot, TRN_XY, TRN_PLAIN(blas::rot(e, p->vector(0), p->vector(1), blas::Real<T>(0.8f), T(0.6f))),
         TRN_THEIRS(cb::rot(n, p->data(0), 1, p->data(1), 1, blas::Real<T>(0.8f), blas::Real<T>(0.6f))), rot(dn))
TRN_CASE(rotm, TRN_XY,
         TRN_PLAIN(blas::rotm(e, p->vector(0), p->vector(1), {T(-1), T(0.8f), T(-0.6f), T(0.6f), T(0.8f)})), TRN_NOBODY,
         rot(dn))
TRN_CASE(rotg, TRN_SHAPES({1, 2}),
         TRN_PLAIN(for (std::int64_t i = 0; i < s.n; ++i) p->data(0)[0] = blas::rotg(p->data(0)[1], p->data(0)[0]).s),
         TRN_NOBODY, rotg(dn))
TRN_CASE(rotmg, TRN_SHAPES({1, 4}),
         TRN_PLAIN(for (std::int64_t i = 0; i < s.n; ++i)
                       p->data(0)[3] = blas::rotmg(T(1), T(1), T(1), p->data(0)[3]).h.h21),
         TRN_NOBODY, rotmg(dn))

constexpr BlasSize kScalar{1, 1000, 1};
constexpr BlasSize kSize{1, std::int64_t{1} << 23, 1};
constexpr BlasRow kRows[] = {
    {"blas.axpy", "y = alpha x + y", kSize, TRN_FOUR(axpy)},
    {"blas.copy", "y = x", kSize, TRN_FOUR(copy)},
    {"blas.swap", "x <-> y", kSize, TRN_FOUR(swap)},
    {"blas.scal", "x = alpha x", kSize, TRN_FOUR(scal)},
    {"blas.scal_real", "x = alpha x, alpha real", kSize, TRN_COMPLEXES(scal_real)},
    {"blas.amax", "first index of the largest element", kSize, TRN_FOUR(amax)},
    {"blas.amin", "first index of the smallest element", kSize, TRN_FOUR(amin)},
    {"blas.asum", "sum of absolute values", kSize, TRN_FOUR(asum)},
    {"blas.nrm2", "Euclidean norm", kSize, TRN_FOUR(nrm2)},
    {"blas.dot", "sum x_i y_i", kSize, TRN_FOUR(dot)},
    {"blas.dotc", "sum conj(x_i) y_i", kSize, TRN_FOUR(dotc)},
    {"blas.rot", "plane rotation", kSize, TRN_FOUR(rot)},
    {"blas.rotm", "modified plane rotation", kSize, TRN_REALS(rotm)},
    {"blas.rotg", "makes a rotation, n times", kScalar, TRN_FOUR(rotg), true},
    {"blas.rotmg", "makes a modified rotation, n times", kScalar, TRN_REALS(rotmg), true},
};

}  // namespace

std::span<const BlasRow> blas_level1_rows() { return kRows; }

}  // namespace trn::tools
