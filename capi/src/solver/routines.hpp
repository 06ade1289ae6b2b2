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

struct Face : Statuses<trnsolverStatus_t, 1, 3, 9, 2, 6, 7> {
  using Call = blas::Call;
  static auto find(trnsolverDnHandle_t handle) { return living(handle); }
};
using blas::get_stream, blas::set_stream;

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
  constexpr std::size_t kLast = sizeof...(A) - 1;  // behind the addresses a batch has its number of matrices
  constexpr std::size_t kHost =
      std::is_same_v<std::tuple_element_t<kLast, decltype(std::tuple(arguments...))>, std::size_t*> ? kLast : kLast - 1;
  std::size_t *const device = std::get<kHost - 1>(all), *const host = std::get<kHost>(all);
  require(device != nullptr && host != nullptr, "the address of a workspace's size is null");
  *device = 16, *host = 0;
}

}  // namespace trn::capi::solver
