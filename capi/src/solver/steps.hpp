// Symmetric indefinite factors, steps inside of factorisations and batches of eigenproblems in one call. The host has
// them all; a device answers NOT_SUPPORTED, but to batches of float32.
#pragma once

#include <trn/solver/batched.hpp>
#include <trn/solver/factor_steps.hpp>
#include <trn/solver/ldl.hpp>

#include "outcome.hpp"

namespace trn::capi::solver {

inline constexpr ts::LdlOptions kSymmetric{ts::Symmetry::Symmetric};  // of complex types, too: A = A^T

// LAPACK's pivots of a symmetric factor: row + 1, or minus that in both rows of a 2 x 2 block. In C++: row, -(row + 1).
template <class I> void put_block_pivots(Call& c, const Array<Int>& from, I* to) {
  std::vector<I> counted;
  for (const Int p : from.to_host()) counted.push_back(static_cast<I>(p >= 0 ? p + 1 : p));
  const auto bytes = static_cast<Int>(counted.size() * sizeof(I));
  copy_bytes(Executor::host(), counted.data(), c.executor, device_memory(*c.handle.device, "the pivots", to, bytes),
             bytes);
}
template <class I> [[nodiscard]] Array<Int> take_block_pivots(Call& c, const I* from, Int n) {
  const auto bytes = n * static_cast<Int>(sizeof(I));
  from = device_memory(*c.handle.device, "the pivots", from, bytes);
  std::vector<I> counted(static_cast<std::size_t>(n));
  if (bytes > 0) copy_bytes(c.executor, from, Executor::host(), counted.data(), bytes);
  std::vector<Int> rows;
  for (const I p : counted) {
    require(p != 0 && p >= -n && p <= n, "a pivot is {}; it must be between 1 and {}, or minus that", p, n);
    rows.push_back(p > 0 ? p - 1 : p);
  }
  return Array<Int>::from_host(c.executor, {n}, rows);
}

template <class T> void sytrf(Call& c, UploArg uplo, Int n, T* a, Int lda, int* pivots, int* info) {
  check_info(c, info);
  const auto matrix = c.matrix("A", a, n, n, lda);
  const auto triangle = blas::uplo_of(uplo);
  if (!pivots) fail<NotImplemented>("a symmetric factorisation without pivots (their address is null)");
  (void)device_memory(*c.handle.device, "the pivots", pivots, n * static_cast<Int>(sizeof(int)));
  if (n == 0) return put_info(c, info, 0);
  const Array<Int> rows(c.executor, {n});
  const auto report = ts::sytrf<T>(c.executor, triangle, matrix, rows.view(), kSymmetric);
  put_block_pivots(c, rows, pivots);
  put_info(c, info, info_of(report.outcome, n));
}
template <class T> void sytri(Call& c, UploArg uplo, Int n, T* a, Int lda, const int* pivots, int* info) {
  check_info(c, info);
  const auto matrix = c.matrix("A", a, n, n, lda);
  const auto triangle = blas::uplo_of(uplo);
  const auto rows = take_block_pivots(c, pivots, n);
  if (n == 0) return put_info(c, info, 0);
  const auto report = ts::sytri<T>(c.executor, triangle, matrix, View<const Int>(rows.view()), kSymmetric);
  put_info(c, info, info_of(report.outcome, n));
}
template <class T, class I>
void sytrs(Call& c, UploArg uplo, Int n, Int nrhs, const T* a, Int lda, const I* pivots, T* b, Int ldb, int* info) {
  check_info(c, info);
  const auto factor = c.matrix("A", a, n, n, lda);
  const auto x = c.matrix("B", b, n, nrhs, ldb);
  const auto triangle = blas::uplo_of(uplo);
  const auto rows = take_block_pivots(c, pivots, n);
  ts::Outcome outcome;
  if (n > 0 && nrhs > 0)
    outcome = ts::sytrs<T>(c.executor, triangle, factor, View<const Int>(rows.view()), x, kSymmetric).outcome;
  put_info(c, info, info_of(outcome, n));
}

template <class T> void lauum(Call& c, UploArg uplo, Int n, T* a, Int lda, int* info) {
  check_info(c, info);
  const auto matrix = c.matrix("A", a, n, n, lda);
  const auto triangle = blas::uplo_of(uplo);
  ts::Outcome outcome;
  if (n > 0) outcome = ts::lauum<T>(c.executor, triangle, matrix).outcome;
  put_info(c, info, info_of(outcome, n));
}

// Rows k1 to k2, counted from 1; that of row i is pivots[k1 - 1 + (i - k1) |incx|]. A negative incx exchanges from the
// last row on.
template <class T> void laswp(Call& c, Int n, T* a, Int lda, Int k1, Int k2, const int* pivots, Int incx) {
  require(k1 >= 1 && k2 >= k1 - 1, "rows {} to {} are to be exchanged; they count from 1", k1, k2);
  require(incx != 0, "incx is 0");
  const Int count = k2 - k1 + 1, step = incx < 0 ? -incx : incx, length = count > 0 ? k1 + (count - 1) * step : 0;
  pivots = device_memory(*c.handle.device, "the pivots", pivots, length * static_cast<Int>(sizeof(int)));
  std::vector<int> counted(static_cast<std::size_t>(length));
  if (length > 0)
    copy_bytes(c.executor, pivots, Executor::host(), counted.data(), length * static_cast<Int>(sizeof(int)));
  std::vector<Int> rows;
  Int last = k2;
  for (Int i = 0; i < count; ++i) {
    const Int row = counted[static_cast<std::size_t>(k1 - 1 + i * step)];
    require(row >= 1 && row <= lda, "a pivot is {}; it must be between 1 and the leading dimension {}", row, lda);
    rows.push_back(row - 1), last = std::max(last, row);
  }
  const auto matrix = c.matrix("A", a, last, n, lda);
  if (count == 0 || n == 0) return;
  const auto held = Array<Int>::from_host(c.executor, {count}, rows);
  (void)ts::laswp<T>(c.executor, matrix, k1 - 1, View<const Int>(held.view()),
                     incx < 0 ? ts::Exchanges::Backward : ts::Exchanges::Forward);
}

template <class T> void larft(Call& c, trnsolverDirectMode_t direct, trnsolverStorevMode_t storev, Int n, Int k,
                              const T* v, Int ldv, const T* tau, T* t, Int ldt) {
  require(direct == TRNBLAS_DIRECT_FORWARD || direct == TRNBLAS_DIRECT_BACKWARD,
          "the direction is {}; it must be 0 or 1", static_cast<int>(direct));
  require(storev == TRNBLAS_STOREV_COLUMNWISE || storev == TRNBLAS_STOREV_ROWWISE,
          "the storage is {}; it must be 0 or 1", static_cast<int>(storev));
  const bool columns = storev == TRNBLAS_STOREV_COLUMNWISE;
  const auto vectors = c.matrix("V", v, columns ? n : k, columns ? k : n, ldv);
  const auto factors = column(c, "tau", tau, k);
  const auto triangle = c.matrix("T", t, k, k, ldt);
  if (k == 0) return;
  (void)ts::larft<T>(
      c.executor, direct == TRNBLAS_DIRECT_FORWARD ? ts::ReflectionOrder::Forward : ts::ReflectionOrder::Backward,
      columns ? ts::ReflectionStorage::Columns : ts::ReflectionStorage::Rows, vectors, factors, triangle);
}

// The matrices lie one behind the other, n columns of lda each; so do the eigenvalues.
template <class T>
void syev_batched(Call& c, ModeArg mode, UploArg uplo, Int n, T* a, Int lda, Real<T>* w, int* info, Int count) {
  require(count >= 0, "the batch has {} matrices", count);
  check_info(c, info, count);
  const bool vectors = mode == TRNSOLVER_EIG_MODE_VECTOR;
  require(vectors || mode == TRNSOLVER_EIG_MODE_NOVECTOR, "the mode is {}; it must be 0 or 1", static_cast<int>(mode));
  const auto triangle = blas::uplo_of(uplo);
  const auto all = c.matrix("A", a, n, n * count, lda);
  const auto values = c.vector("W", w, n * count, 1);
  if (count == 0) return;
  const auto batch = ts::Batch<T>::strided({n, n, lda}, all.data(), lda * n, count);
  ts::EighOptions options;
  options.uplo = triangle, options.vectors = vectors ? ts::Vectors::Yes : ts::Vectors::No;
  const MatrixView<Real<T>> rows(c.executor, values.data(), count, n, n, 1);
  put_infos(c, ts::eigh_batched<T>(c.executor, batch, rows, options), n, info);
}

}  // namespace trn::capi::solver
