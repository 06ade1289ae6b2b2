// The bodies of cuSOLVER's dense routines: everything that capi/api/solver.api names. A handle is a cuBLAS handle of
// another name: the same device, stream and look-up of addresses.
//
// `info` is LAPACK's: the pivot, minor or eigenvalue at which a routine stopped, counted from 1. For operands that hold
// NaN or infinity it is the order of the leading block with the first such element, and the results are NaN.
#pragma once

#include <tuple>

#include <trnsolver.h>

#include "../blas/handle.hpp"
#include "../element_types.hpp"

struct trnsolverDnContext : trnblasContext {
  using trnblasContext::trnblasContext;
};

namespace trn::capi::solver {

using blas::Call, blas::Real;
using Int = std::int64_t;
using OpArg = trnblasOperation_t;
using UploArg = trnblasFillMode_t;
using SideArg = trnblasSideMode_t;
using DiagArg = trnblasDiagType_t;
using ModeArg = trnsolverEigMode_t;

inline constexpr StatusCodes kCodes{1, 3, 9, 2, 6, 7};

Handles<trnsolverDnContext>& handles();

template <class F> trnsolverStatus_t call(trnsolverDnHandle_t handle, const char* function, const F& body) noexcept {
  return static_cast<trnsolverStatus_t>(guarded(function, kCodes, [&] {
    const auto alive = handles().find(handle, "handle");
    if (alive->generation != alive->device->generation) throw BadHandle("the handle's device was reset");
    Call c(*alive);
    const auto stream = alive->stream;  // its own thread must not be the last that lets go of it
    run(*stream, [&] { body(c); });
  }));
}
template <class F> trnsolverStatus_t call(const char* function, const F& body) noexcept {
  return static_cast<trnsolverStatus_t>(guarded(function, kCodes, body));
}

void create(trnsolverDnHandle_t* handle);
void destroy(Call& c);
void set_stream(Call& c, trnStream_t stream);
void get_stream(Call& c, trnStream_t* stream);
void get_version(int* version);
void create_params(trnsolverDnParams_t* params);
void destroy_params(trnsolverDnParams_t params);
void set_adv_options(trnsolverDnParams_t params, trnsolverDnFunction_t function, trnsolverAlgMode_t algorithm);

// Routines find memory of their own: a workspace of one element will do. Sizes are checked here already.
template <class A> void check_size(A value) {
  if constexpr (std::is_same_v<A, int> || std::is_same_v<A, Int>) require(value >= 0, "a size is {}", value);
}
// The last argument of the size's type receives it.
template <class P, class A> void take(P*& result, A argument) {
  if constexpr (std::is_same_v<A, P*>) result = argument;
}
template <class P, class... A> void one_size(P size, A... arguments) {
  (check_size(arguments), ...);
  P* result = nullptr;
  (take(result, arguments), ...);
  require(result != nullptr, "the address of the workspace's size is null");
  *result = size;
}
template <class... A> void buffer_size(Call&, A... arguments) { one_size<int>(1, arguments...); }
template <class... A> void buffer_bytes(Call&, A... arguments) { one_size<std::size_t>(16, arguments...); }
template <class... A> void buffer_sizes(Call&, A... arguments) {
  (check_size(arguments), ...);
  const auto all = std::tuple(arguments...);
  std::size_t *const device = std::get<sizeof...(A) - 2>(all), *const host = std::get<sizeof...(A) - 1>(all);
  require(device != nullptr && host != nullptr, "the address of a workspace's size is null");
  *device = 16, *host = 0;
}

template <class T> void potrf(Call& c, UploArg uplo, Int n, T* a, Int lda, T* work, Int lwork, int* info);
template <class T> void potrs(Call& c, UploArg uplo, Int n, Int nrhs, const T* a, Int lda, T* b, Int ldb, int* info);
template <class T> void potri(Call& c, UploArg uplo, Int n, T* a, Int lda, T* work, Int lwork, int* info);
template <class T> void potrf_batched(Call& c, UploArg uplo, Int n, T** a, Int lda, int* info, Int count);
template <class T>
void potrs_batched(Call& c, UploArg uplo, Int n, Int nrhs, T** a, Int lda, T** b, Int ldb, int* info, Int count);
template <class T> void getrf(Call& c, Int m, Int n, T* a, Int lda, T* work, int* pivots, int* info);
template <class T>
void getrs(Call& c, OpArg op, Int n, Int nrhs, const T* a, Int lda, const int* pivots, T* b, Int ldb, int* info);
template <class T> void geqrf(Call& c, Int m, Int n, T* a, Int lda, T* tau, T* work, Int lwork, int* info);
template <class T> void orgqr(Call& c, Int m, Int n, Int k, T* a, Int lda, const T* tau, T* work, Int lwork, int* info);
template <class T> void ormqr(Call& c, SideArg side, OpArg op, Int m, Int n, Int k, const T* a, Int lda, const T* tau,
                              T* b, Int ldb, T* work, Int lwork, int* info);
template <class T>
void syevd(Call& c, ModeArg mode, UploArg uplo, Int n, T* a, Int lda, Real<T>* w, T* work, Int lwork, int* info);
template <class T> void syevdx(Call& c, ModeArg mode, trnsolverEigRange_t range, UploArg uplo, Int n, T* a, Int lda,
                               Real<T> vl, Real<T> vu, Int il, Int iu, int* found, Real<T>* w, T* work, Int lwork,
                               int* info);
template <class T> void sygvd(Call& c, trnsolverEigType_t type, ModeArg mode, UploArg uplo, Int n, T* a, Int lda, T* b,
                              Int ldb, Real<T>* w, T* work, Int lwork, int* info);
template <class T> void gesvd(Call& c, signed char jobu, signed char jobvt, Int m, Int n, T* a, Int lda, Real<T>* s,
                              T* u, Int ldu, T* vt, Int ldvt, T* work, Int lwork, Real<T>* rwork, int* info);

using Params = trnsolverDnParams_t;
void x_potrf(Call& c, Params, UploArg uplo, Int n, Type type, void* a, Int lda, Type compute, void*, std::size_t, void*,
             std::size_t, int* info);
void x_potrs(Call& c, Params, UploArg uplo, Int n, Int nrhs, Type type, const void* a, Int lda, Type type_b, void* b,
             Int ldb, int* info);
void x_getrf(Call& c, Params, Int m, Int n, Type type, void* a, Int lda, Int* pivots, Type compute, void*, std::size_t,
             void*, std::size_t, int* info);
void x_getrs(Call& c, Params, OpArg op, Int n, Int nrhs, Type type, const void* a, Int lda, const Int* pivots,
             Type type_b, void* b, Int ldb, int* info);
void x_geqrf(Call& c, Params, Int m, Int n, Type type, void* a, Int lda, Type type_tau, void* tau, Type compute, void*,
             std::size_t, void*, std::size_t, int* info);
void x_syevd(Call& c, Params, ModeArg mode, UploArg uplo, Int n, Type type, void* a, Int lda, Type type_w, void* w,
             Type compute, void*, std::size_t, void*, std::size_t, int* info);
void x_gesvd(Call& c, Params, signed char jobu, signed char jobvt, Int m, Int n, Type type, void* a, Int lda,
             Type type_s, void* s, Type type_u, void* u, Int ldu, Type type_vt, void* vt, Int ldvt, Type compute, void*,
             std::size_t, void*, std::size_t, int* info);
void x_trtri(Call& c, UploArg uplo, DiagArg diag, Int n, Type type, void* a, Int lda, void*, std::size_t, void*,
             std::size_t, int* info);

}  // namespace trn::capi::solver
