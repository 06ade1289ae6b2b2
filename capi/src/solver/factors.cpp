// Cholesky, LU and QR.
#include "factors.hpp"

#include <trn/solver/batched.hpp>
#include <trn/solver/triangular.hpp>

namespace trn::capi::solver {

using blas::op_of, blas::side_of, blas::uplo_of;

template <class T> void potrf(Call& c, UploArg uplo, Int n, T* a, Int lda, T*, Int, int* info) {
  check_info(c, info);
  const auto m = c.matrix("A", a, n, n, lda);
  put_info(c, info, n == 0 ? 0 : info_of(ts::potrf<T>(c.executor, uplo_of(uplo), m).outcome, n));
}
template <class T> void potrs(Call& c, UploArg uplo, Int n, Int nrhs, const T* a, Int lda, T* b, Int ldb, int* info) {
  check_info(c, info);
  const auto factor = c.matrix("A", a, n, n, lda);
  const auto x = c.matrix("B", b, n, nrhs, ldb);
  if (n > 0 && nrhs > 0) (void)ts::potrs<T>(c.executor, uplo_of(uplo), factor, x);
  put_info(c, info, 0);
}
template <class T> void potri(Call& c, UploArg uplo, Int n, T* a, Int lda, T*, Int, int* info) {
  check_info(c, info);
  const auto m = c.matrix("A", a, n, n, lda);
  put_info(c, info, n == 0 ? 0 : info_of(ts::potri<T>(c.executor, uplo_of(uplo), m).outcome, n));
}

template <class T> void potrf_batched(Call& c, UploArg uplo, Int n, T** a, Int lda, int* info, Int count) {
  const auto list = batch_of(c, "Aarray", a, count, n, n, lda);
  check_info(c, info, count);
  if (count > 0)
    put_infos(c, ts::potrf_batched<T>(c.executor, uplo_of(uplo), ts::Batch<T>::listed({n, n, lda}, list)), n, info);
}
// cuSOLVER has it for one right-hand side, and one info for the batch.
template <class T>
void potrs_batched(Call& c, UploArg uplo, Int n, Int nrhs, T** a, Int lda, T** b, Int ldb, int* info, Int count) {
  check_info(c, info);
  const auto factors = batch_of(c, "Aarray", a, count, n, n, lda),
             right = batch_of(c, "Barray", b, count, n, nrhs, ldb);
  if (count > 0 && n > 0 && nrhs > 0)
    (void)ts::potrs_batched<T>(c.executor, uplo_of(uplo), ts::Batch<T>::listed({n, n, lda}, factors),
                               ts::Batch<T>::listed({n, nrhs, ldb}, right));
  put_info(c, info, 0);
}

template <class T> void getrf(Call& c, Int m, Int n, T* a, Int lda, T*, int* pivots, int* info) {
  lu(c, m, n, a, lda, pivots, info);
}
template <class T>
void getrs(Call& c, OpArg op, Int n, Int nrhs, const T* a, Int lda, const int* pivots, T* b, Int ldb, int* info) {
  lu_solve(c, op, n, nrhs, a, lda, pivots, b, ldb, info);
}

template <class T> void geqrf(Call& c, Int m, Int n, T* a, Int lda, T* tau, T*, Int, int* info) {
  check_info(c, info);
  const auto matrix = c.matrix("A", a, m, n, lda);
  const auto factors = column(c, "TAU", tau, std::min(m, n));
  if (m > 0 && n > 0) (void)ts::geqrf<T>(c.executor, matrix, factors);
  put_info(c, info, 0);
}
template <class T> void orgqr(Call& c, Int m, Int n, Int k, T* a, Int lda, const T* tau, T*, Int, int* info) {
  check_info(c, info);
  require(n >= 0 && n <= m && k >= 0 && k <= n, "extents are m = {}, n = {}, k = {}; k <= n <= m", m, n, k);
  const auto matrix = c.matrix("A", a, m, n, lda);
  const auto factors = column(c, "tau", tau, k);
  if (n > 0) (void)ts::orgqr<T>(c.executor, matrix, factors);
  put_info(c, info, 0);
}
template <class T> void ormqr(Call& c, SideArg side, OpArg op, Int m, Int n, Int k, const T* a, Int lda, const T* tau,
                              T* b, Int ldb, T*, Int, int* info) {
  check_info(c, info);
  const auto where = side_of(side);
  const Int order = where == blas::Side::Left ? m : n;
  require(k >= 0 && k <= order, "k is {}; it must be between 0 and {}", k, order);
  const auto reflectors = c.matrix("A", a, order, k, lda);
  const auto factors = column(c, "tau", tau, k);
  const auto to = c.matrix("C", b, m, n, ldb);
  if (m > 0 && n > 0 && k > 0) (void)ts::ormqr<T>(c.executor, where, op_of(op), reflectors, factors, to);
  put_info(c, info, 0);
}

#define TRN_INSTANTIATE(T)                                                               \
  template void potrf(Call&, UploArg, Int, T*, Int, T*, Int, int*);                      \
  template void potrs(Call&, UploArg, Int, Int, const T*, Int, T*, Int, int*);           \
  template void potri(Call&, UploArg, Int, T*, Int, T*, Int, int*);                      \
  template void potrf_batched(Call&, UploArg, Int, T**, Int, int*, Int);                 \
  template void potrs_batched(Call&, UploArg, Int, Int, T**, Int, T**, Int, int*, Int);  \
  template void getrf(Call&, Int, Int, T*, Int, T*, int*, int*);                         \
  template void getrs(Call&, OpArg, Int, Int, const T*, Int, const int*, T*, Int, int*); \
  template void geqrf(Call&, Int, Int, T*, Int, T*, T*, Int, int*);                      \
  template void orgqr(Call&, Int, Int, Int, T*, Int, const T*, T*, Int, int*);           \
  template void ormqr(Call&, SideArg, OpArg, Int, Int, Int, const T*, Int, const T*, T*, Int, T*, Int, int*);
TRN_INSTANTIATE(float)
TRN_INSTANTIATE(double)
TRN_INSTANTIATE(std::complex<float>)
TRN_INSTANTIATE(std::complex<double>)
#undef TRN_INSTANTIATE

void x_potrf(Call& c, Params, UploArg uplo, Int n, Type type, void* a, Int lda, Type compute, void*, std::size_t, void*,
             std::size_t, int* info) {
  require_one_type({type, compute});
  with_type(type, [&]<class T>(T*) { potrf<T>(c, uplo, n, static_cast<T*>(a), lda, nullptr, 0, info); });
}
void x_potrs(Call& c, Params, UploArg uplo, Int n, Int nrhs, Type type, const void* a, Int lda, Type type_b, void* b,
             Int ldb, int* info) {
  require_one_type({type, type_b});
  with_type(type, [&]<class T>(T*) {
    potrs<T>(c, uplo, n, nrhs, static_cast<const T*>(a), lda, static_cast<T*>(b), ldb, info);
  });
}
void x_getrf(Call& c, Params, Int m, Int n, Type type, void* a, Int lda, Int* pivots, Type compute, void*, std::size_t,
             void*, std::size_t, int* info) {
  require_one_type({type, compute});
  with_type(type, [&]<class T>(T*) { lu(c, m, n, static_cast<T*>(a), lda, pivots, info); });
}
void x_getrs(Call& c, Params, OpArg op, Int n, Int nrhs, Type type, const void* a, Int lda, const Int* pivots,
             Type type_b, void* b, Int ldb, int* info) {
  require_one_type({type, type_b});
  with_type(type, [&]<class T>(T*) {
    lu_solve(c, op, n, nrhs, static_cast<const T*>(a), lda, pivots, static_cast<T*>(b), ldb, info);
  });
}
void x_geqrf(Call& c, Params, Int m, Int n, Type type, void* a, Int lda, Type type_tau, void* tau, Type compute, void*,
             std::size_t, void*, std::size_t, int* info) {
  require_one_type({type, type_tau, compute});
  with_type(type,
            [&]<class T>(T*) { geqrf<T>(c, m, n, static_cast<T*>(a), lda, static_cast<T*>(tau), nullptr, 0, info); });
}
void x_trtri(Call& c, UploArg uplo, DiagArg diag, Int n, Type type, void* a, Int lda, void*, std::size_t, void*,
             std::size_t, int* info) {
  check_info(c, info);
  with_type(type, [&]<class T>(T*) {
    const auto m = c.matrix("A", static_cast<T*>(a), n, n, lda);
    const auto outcome =
        n == 0 ? ts::Outcome{} : ts::trtri<T>(c.executor, uplo_of(uplo), blas::diag_of(diag), m).outcome;
    put_info(c, info, info_of(outcome, n));
  });
}

}  // namespace trn::capi::solver
