// The entry points of ScaLAPACK's factorisations, in s, d, c and z: p?potrf, p?getrf and p?geqrf are those of
// distributed matrices in square blocks as large as the caller's. Solves with the factors are ScaLAPACK's own, around
// our level 3. As there, a call that is not legal (blocks that are not square where they must be, a sub-matrix that
// begins within a block, too little workspace) goes to the ScaLAPACK behind, and so does a question for workspace.
#include <trn/solver/dist_cholesky.hpp>
#include <trn/solver/dist_lu.hpp>
#include <trn/solver/dist_qr.hpp>
#include <trn/tile/device.hpp>

#include "entry.hpp"

namespace {

using namespace trn;  // NOLINT

// Begins where a block does, and blocks are square.
template <class T> bool is_aligned(const Operand<T>& o) {
  const auto &row = o.descriptor.row, &column = o.descriptor.column;
  return row.block == column.block && row.first == row.block && column.first == column.block &&
         (o.i - 1) % row.block == 0 && (o.j - 1) % column.block == 0;
}

// LU moves rows by their numbers.
bool has_gathers() { return settings().on_host || tile::device_of(settings().executor).machine().indirect_dma; }

// Whether the executor has this factorisation; else ScaLAPACK serves it, around our level 3 there.
bool has_kernel(bool on_devices) {
  if (settings().on_host || on_devices) return true;
  note_host_call(settings(), "trnscalapack");
  return false;
}

template <class T> bool serve_potrf(Letter uplo, Int n, Passed<T> a, int* info) {
  const BlacsGrid* g = shared_grid({a.numbers});
  if (g == nullptr || !has_kernel(blas::RealScalar<T>)) return false;
  const auto o = operand(a, *g, *n, *n);
  if (!is_uplo(*uplo) || *n <= 0 || !all_can(*g, usable(o, *g) && is_aligned(o))) return false;
  const Squares<T> squares(*g, reading(o));
  const solver::Report report = solver::potrf<T>(uplo_of(*uplo), squares.matrix());
  give_back(*g, squares.matrix(), o);
  // A matrix that is not finite: LAPACK stops at the row of the first such pivot.
  const std::int64_t index = report.outcome.index;
  *info = report.outcome.ok()                                  ? 0
          : report.outcome.status == solver::Status::NotFinite ? static_cast<int>(index / *n + 1)
                                                               : static_cast<int>(index + 1);
  return true;
}

// pivots[k]: the row that was exchanged with row k, of the whole matrix and counted from 1, where row k's owner is.
template <class T> bool serve_getrf(Int m, Int n, Passed<T> a, int* pivots, int* info) {
  const BlacsGrid* g = shared_grid({a.numbers});
  if (g == nullptr || !has_kernel(has_gathers())) return false;
  const auto o = operand(a, *g, *m, *n);
  if (*m <= 0 || *n <= 0 || !all_can(*g, usable(o, *g) && is_aligned(o))) return false;
  const Squares<T> squares(*g, reading(o));
  const solver::DistPivots made = solver::getrf<T>(squares.matrix());
  // ScaLAPACK factors on where something is not finite; so does it now, with A as it was.
  if (made.report.outcome.status == solver::Status::NotFinite) return false;
  give_back(*g, squares.matrix(), o);
  for (std::size_t k = 0; k < made.pivots.size(); ++k) {
    const auto place = o.descriptor.row.place(o.i - 1 + static_cast<std::int64_t>(k));
    if (place.owner == g->row) pivots[place.local] = static_cast<int>(o.i + made.pivots[k]);
  }
  *info = static_cast<int>(made.report.outcome.lapack_info());
  return true;
}

template <class T> bool serve_geqrf(Int m, Int n, Passed<T> a, T* tau, T* work, Int lwork, int* info) {
  const BlacsGrid* g = shared_grid({a.numbers});
  if (g == nullptr) return false;
  const auto o = operand(a, *g, *m, *n);
  if (*m <= 0 || *n <= 0 || !all_can(*g, usable(o, *g))) return false;
  // The least workspace that ScaLAPACK documents: nb (rows + columns of this process + nb).
  const auto share = [](Axis axis, std::int64_t from, std::int64_t count, int rank) {
    axis.source = axis.place(from - 1).owner;
    axis.first = axis.block;
    axis.extent = count + (from - 1) % axis.block;
    return axis.local_extent(rank);
  };
  const std::int64_t nb = o.descriptor.column.block, least = nb * (share(o.descriptor.row, o.i, *m, g->row) +
                                                                   share(o.descriptor.column, o.j, *n, g->column) + nb);
  if (!all_can(*g, *lwork >= least)) return false;
  const Squares<T> squares(*g, reading(o));
  const solver::DistReflections<T> made = solver::geqrf<T>(squares.matrix());
  if (!made.report.outcome.ok()) return false;
  give_back(*g, squares.matrix(), o);
  for (std::size_t k = 0; k < made.tau.size(); ++k) {
    const auto place = o.descriptor.column.place(o.j - 1 + static_cast<std::int64_t>(k));
    if (place.owner == g->column) tau[place.local] = made.tau[k];
  }
  work[0] = T(static_cast<Real<T>>(least));
  *info = 0;
  return true;
}

}  // namespace

#define TRN_FACTORS(P, T)                                                                                          \
  TRN_ENTRY p##P##potrf_(Letter uplo, Int n, TRN_MATRIX(T, a), int* info) {                                        \
    enter(                                                                                                         \
        "p" #P "potrf_", Kind::Potrf, [&] { return serve_potrf<T>(uplo, n, TRN_PASSED(a), info); },                \
        [&] { call_behind("p" #P "potrf_", uplo, n, xa, ia, ja, da, info); });                                     \
  }                                                                                                                \
  TRN_ENTRY p##P##getrf_(Int m, Int n, TRN_MATRIX(T, a), int* pivots, int* info) {                                 \
    enter(                                                                                                         \
        "p" #P "getrf_", Kind::Getrf, [&] { return serve_getrf<T>(m, n, TRN_PASSED(a), pivots, info); },           \
        [&] { call_behind("p" #P "getrf_", m, n, xa, ia, ja, da, pivots, info); });                                \
  }                                                                                                                \
  TRN_ENTRY p##P##geqrf_(Int m, Int n, TRN_MATRIX(T, a), T* tau, T* work, Int lwork, int* info) {                  \
    enter(                                                                                                         \
        "p" #P "geqrf_", Kind::Geqrf, [&] { return serve_geqrf<T>(m, n, TRN_PASSED(a), tau, work, lwork, info); }, \
        [&] { call_behind("p" #P "geqrf_", m, n, xa, ia, ja, da, tau, work, lwork, info); });                      \
  }
TRN_FACTORS(s, float)
TRN_FACTORS(d, double)
TRN_FACTORS(c, C8)
TRN_FACTORS(z, C16)
