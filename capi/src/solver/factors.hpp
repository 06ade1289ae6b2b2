// LU with pivots of either width.
#pragma once

#include <trn/solver/cholesky.hpp>
#include <trn/solver/lu.hpp>
#include <trn/solver/qr.hpp>

#include "outcome.hpp"

namespace trn::capi::solver {

template <class T, class I> void lu(Call& c, Int m, Int n, T* a, Int lda, I* pivots, int* info) {
  check_info(c, info);
  const auto matrix = c.matrix("A", a, m, n, lda);
  if (!pivots) fail<NotImplemented>("LU without pivoting (the pivots' address is null)");
  const Int k = std::min(m, n);
  require_device_memory(*c.handle.device, "the pivots", pivots, k * static_cast<Int>(sizeof(I)));
  if (k == 0) return put_info(c, info, 0);
  const Array<Int> rows(c.executor, {k});
  const auto report = ts::getrf<T>(c.executor, matrix, rows.view());
  put_pivots(c, rows, pivots);
  put_info(c, info, info_of(report.outcome, n));
}
template <class T, class I>
void lu_solve(Call& c, OpArg op, Int n, Int nrhs, const T* a, Int lda, const I* pivots, T* b, Int ldb, int* info) {
  check_info(c, info);
  const auto factor = c.matrix("A", a, n, n, lda);
  const auto x = c.matrix("B", b, n, nrhs, ldb);
  if (!pivots) fail<NotImplemented>("LU without pivoting (the pivots' address is null)");
  const auto rows = take_pivots(c, pivots, n);
  if (n > 0 && nrhs > 0) (void)ts::getrs<T>(c.executor, blas::op_of(op), factor, View<const Int>(rows.view()), x);
  put_info(c, info, 0);
}

}  // namespace trn::capi::solver
