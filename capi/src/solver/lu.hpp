// LU with pivots of either width.
#pragma once

#include <trn/solver/lu.hpp>

#include "outcome.hpp"

namespace trn::capi::solver {

// Gaussian elimination without pivots, on the host. info: the first pivot that is zero or not finite.
template <class T> [[nodiscard]] int eliminate(Call& c, const MatrixView<T>& a) {
  if (c.executor.family() == Family::Device) fail<NotImplemented>("LU without pivots (their address is null)");
  const auto at = [&](Int i, Int j) -> T& { return a.data()[i + j * a.column_stride()]; };
  int info = 0;
  for (Int k = 0; k < std::min(a.rows(), a.columns()); ++k) {
    const T pivot = at(k, k);
    if (info == 0 && !(std::abs(pivot) > 0 && std::isfinite(std::abs(pivot)))) info = static_cast<int>(k) + 1;
    for (Int i = k + 1; pivot != T(0) && i < a.rows(); ++i) at(i, k) /= pivot;  // LAPACK leaves the column of a zero
    for (Int j = k + 1; j < a.columns(); ++j)
      for (Int i = k + 1; i < a.rows(); ++i) at(i, j) -= at(i, k) * at(k, j);
  }
  return info;
}
template <class T, class I> void getrf(Call& c, Int m, Int n, T* a, Int lda, I* pivots, int* info) {
  check_info(c, info);
  const auto matrix = c.matrix("A", a, m, n, lda);
  if (!pivots) return put_info(c, info, eliminate(c, matrix));
  const Int k = std::min(m, n);
  (void)device_memory(*c.handle.device, "the pivots", pivots, k * static_cast<Int>(sizeof(I)));
  if (k == 0) return put_info(c, info, 0);
  const Array<Int> rows(c.executor, {k});
  const auto report = ts::getrf<T>(c.executor, matrix, rows.view());
  put_pivots(c, rows, pivots);
  put_info(c, info, info_of(report.outcome, n));
}
[[nodiscard]] inline Array<Int> unmoved(Call& c, Int n) {
  std::vector<Int> rows;
  for (Int i = 0; i < n; ++i) rows.push_back(i);
  return Array<Int>::from_host(c.executor, {n}, rows);
}
template <class T, class I>
void getrs(Call& c, OpArg op, Int n, Int nrhs, const T* a, Int lda, const I* pivots, T* b, Int ldb, int* info) {
  check_info(c, info);
  const auto factor = c.matrix("A", a, n, n, lda);
  const auto x = c.matrix("B", b, n, nrhs, ldb);
  const auto rows = pivots ? take_pivots(c, pivots, n) : unmoved(c, n);
  if (n > 0 && nrhs > 0) (void)ts::getrs<T>(c.executor, blas::op_of(op), factor, View<const Int>(rows.view()), x);
  put_info(c, info, 0);
}

}  // namespace trn::capi::solver
