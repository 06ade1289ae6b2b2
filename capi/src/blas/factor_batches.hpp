// cuBLAS's factorisations of many small matrices: LU, inverses, QR, least squares, over trn::solver's batches.
#pragma once

#include <trn/solver/qr.hpp>

#include "../solver/lu.hpp"
#include "extended.hpp"

namespace trn::capi::blas {

namespace ts = trn::solver;

// info of the whole call: arguments that are wrong are statuses here.
inline void no_trouble(int* info) {
  require(info != nullptr, "info is null; it receives 0");
  *info = 0;
}
template <class T> [[nodiscard]] ts::Batch<T> listed(Call& c, const char* what, T* const* array, Int rows, Int columns,
                                                     Int ld, std::vector<T*>& list, Int count) {
  list = solver::batch_of(c, what, array, count, rows, columns, ld);
  return ts::Batch<T>::listed({rows, columns, ld}, list);
}
[[nodiscard]] inline MatrixView<Int> rows_of(Call& c, const Array<Int>& pivots, Int n, Int count) {
  return {c.executor, const_cast<Int*>(pivots.data()), count, n, std::max<Int>(n, 1), 1};
}
// Null: the rows were not exchanged.
[[nodiscard]] inline Array<Int> pivots_or_none(Call& c, const int* pivots, Int n, Int count) {
  if (pivots) return solver::take_pivots(c, pivots, n, count);
  std::vector<Int> rows;
  for (Int i = 0; i < n * count; ++i) rows.push_back(i % n);
  return Array<Int>::from_host(c.executor, {n * count}, rows);
}

template <class T> void getrf_batched(Call& c, Int n, T* const* a, Int lda, int* pivots, int* info, Int count) {
  std::vector<T*> list;
  const auto batch = listed(c, "A", a, n, n, lda, list, count);
  solver::check_info(c, info, count);
  if (n == 0 || count == 0) return;
  if (!pivots) {
    std::vector<int> found;
    for (Int k = 0; k < count; ++k) found.push_back(solver::eliminate(c, batch.view(c.executor, k)));
    return solver::put_ints(c, "info", info, found);
  }
  (void)device_memory(*c.handle.device, "P", pivots, n * count * static_cast<Int>(sizeof(int)));
  const Array<Int> rows(c.executor, {n * count});
  const auto outcomes = ts::getrf_batched<T>(c.executor, batch, rows_of(c, rows, n, count));
  solver::put_pivots(c, rows, pivots);
  solver::put_infos(c, outcomes, n, info);
}
template <class T> void getrs_batched(Call& c, OpArg op, Int n, Int nrhs, const T* const* a, Int lda, const int* pivots,
                                      T* const* b, Int ldb, int* info, Int count) {
  std::vector<const T*> factors;
  std::vector<T*> right;
  const Op turned = op_of(op);
  const auto fa = listed(c, "Aarray", a, n, n, lda, factors, count);
  const auto fb = listed(c, "Barray", b, n, nrhs, ldb, right, count);
  no_trouble(info);
  if (n == 0 || nrhs == 0 || count == 0) return;
  const auto rows = pivots_or_none(c, pivots, n, count);
  (void)ts::getrs_batched<T>(c.executor, turned, fa, rows_of(c, rows, n, count), fb);
}
template <class T> void getri_batched(Call& c, Int n, const T* const* a, Int lda, const int* pivots, T* const* to,
                                      Int ldc, int* info, Int count) {
  std::vector<const T*> factors;
  std::vector<T*> inverses;
  const auto fa = listed(c, "A", a, n, n, lda, factors, count);
  const auto fc = listed(c, "C", to, n, n, ldc, inverses, count);
  solver::check_info(c, info, count);
  if (n == 0 || count == 0) return;
  const auto rows = pivots_or_none(c, pivots, n, count);
  solver::put_infos(c, ts::getri_batched<T>(c.executor, fa, rows_of(c, rows, n, count), fc), n, info);
}
template <class T>
void matinv_batched(Call& c, Int n, const T* const* a, Int lda, T* const* to, Int ldc, int* info, Int count) {
  std::vector<const T*> from;
  std::vector<T*> inverses;
  const auto fa = listed(c, "A", a, n, n, lda, from, count);
  const auto fc = listed(c, "Ainv", to, n, n, ldc, inverses, count);
  solver::check_info(c, info, count);
  if (n > 0 && count > 0) solver::put_infos(c, ts::matinv_batched<T>(c.executor, fa, fc), n, info);
}
template <class T>
void geqrf_batched(Call& c, Int m, Int n, T* const* a, Int lda, T* const* tau, int* info, Int count) {
  const Int k = std::min(m, n);
  std::vector<T*> list;
  const auto batch = listed(c, "Aarray", a, m, n, lda, list, count);
  const auto factors = solver::batch_of(c, "TauArray", tau, count, k, 1, std::max<Int>(k, 1));
  no_trouble(info);
  if (k == 0 || count == 0) return;
  const Array<T> all(c.executor, {count * k});
  (void)ts::geqrf_batched<T>(c.executor, batch, MatrixView<T>(c.executor, const_cast<T*>(all.data()), count, k, k, 1));
  for (Int p = 0; p < count; ++p)
    copy_bytes(c.executor, all.data() + p * k, c.executor, factors[static_cast<std::size_t>(p)],
               k * static_cast<Int>(sizeof(T)));
}
template <class T> void gels_batched(Call& c, OpArg op, Int m, Int n, Int nrhs, T* const* a, Int lda, T* const* b,
                                     Int ldc, int* info, int* infos, Int count) {
  if (op_of(op) != Op::N) fail<NotImplemented>("least squares of a transposed matrix");
  require(m >= n, "A is {} x {}; it must have as many rows as columns, or more", m, n);
  std::vector<T*> list, right;
  const auto batch = listed(c, "Aarray", a, m, n, lda, list, count);
  const auto rhs = listed(c, "Carray", b, m, nrhs, ldc, right, count);
  if (infos) solver::check_info(c, infos, count);
  no_trouble(info);
  if (n == 0 || nrhs == 0 || count == 0) return;
  const auto outcomes = ts::gels_batched<T>(c.executor, batch, rhs);
  if (infos) solver::put_infos(c, outcomes, n, infos);
}

// A product with a matrix of one column; vectors with increments are matrices of one row.
template <class T, class Product>
void gemv_as_gemm(OpArg op, Int m, Int n, Int incx, Int incy, const Product& product) {
  require(incx != 0 && incy != 0, "increments are {} and {}; they must not be 0", incx, incy);
  if (incx < 0 || incy < 0) fail<NotImplemented>("a batch of vectors with increments {} and {}", incx, incy);
  const bool turned = op_of(op) != Op::N;
  const Int in = turned ? m : n, out = turned ? n : m;
  if (incx == 1 && incy == 1) return product(true, op, out, Int{1}, in, std::max<Int>(in, 1), std::max<Int>(out, 1));
  if (op_of(op) == Op::C && ComplexScalar<T>)
    fail<NotImplemented>("a conjugate transposed product of vectors with increments {} and {}", incx, incy);
  product(false, turned ? TRNBLAS_OP_N : TRNBLAS_OP_T, Int{1}, out, in, incx, incy);
}
template <class T> void gemv_batched(Call& c, OpArg op, Int m, Int n, const T* alpha, const T* const* a, Int lda,
                                     const T* const* x, Int incx, const T* beta, T* const* y, Int incy, Int count) {
  gemv_as_gemm<T>(op, m, n, incx, incy, [&](bool left, OpArg turn, Int rows, Int columns, Int k, Int ldx, Int ldy) {
    if (left)
      return gemm_batched<T>(c, turn, TRNBLAS_OP_N, rows, columns, k, alpha, a, lda, x, ldx, beta, y, ldy, count);
    gemm_batched<T>(c, TRNBLAS_OP_N, turn, rows, columns, k, alpha, x, ldx, a, lda, beta, y, ldy, count);
  });
}
template <class T> void gemv_strided_batched(Call& c, OpArg op, Int m, Int n, const T* alpha, const T* a, Int lda,
                                             Int stride_a, const T* x, Int incx, Int stride_x, const T* beta, T* y,
                                             Int incy, Int stride_y, Int count) {
  gemv_as_gemm<T>(op, m, n, incx, incy, [&](bool left, OpArg turn, Int rows, Int columns, Int k, Int ldx, Int ldy) {
    if (left)
      return gemm_strided_batched<T>(c, turn, TRNBLAS_OP_N, rows, columns, k, alpha, a, lda, stride_a, x, ldx, stride_x,
                                     beta, y, ldy, stride_y, count);
    gemm_strided_batched<T>(c, TRNBLAS_OP_N, turn, rows, columns, k, alpha, x, ldx, stride_x, a, lda, stride_a, beta, y,
                            ldy, stride_y, count);
  });
}

}  // namespace trn::capi::blas
