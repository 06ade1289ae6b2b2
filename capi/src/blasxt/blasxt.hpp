// The bodies of cublasXt: cuBLAS's level 3 on operands that may lie in host memory. Everything is done when the call
// returns, by the first of the devices that were selected; how cublasXt cuts work into blocks changes nothing here.
#pragma once

#include <trnblas_xt.h>

#include "../blas/level3.hpp"

struct trnblasXtContext : trnblasContext {
  using trnblasContext::trnblasContext;
  int block_dim = 2048;
  trnblasXtPinnedMemMode_t pinning = TRNBLASXT_PINNING_DISABLED;
};

namespace trn::capi::blasxt {

struct Call : blas::Call {
  explicit Call(trnblasXtContext& h) : blas::Call(h), xt(h), copies(executor) { staging = &copies; }
  trnblasXtContext& xt;
  blas::Staging copies;
  void finish() { copies.finish(); }
};
struct Face : blas::Face {
  using Call = blasxt::Call;
  static auto find(trnblasXtHandle_t handle) { return living(handle); }
};

// Sizes are size_t here; those beyond int64_t become negative, and are refused as such.
template <class A> auto size(A value) {
  if constexpr (std::is_same_v<A, std::size_t>)
    return static_cast<std::int64_t>(value);
  else
    return value;
}
#define TRN_XT(name) \
  template <class T, class... A> void name(Call& c, A... arguments) { blas::name<T>(c, size(arguments)...); }
TRN_XT(gemm)
TRN_XT(symm)
TRN_XT(hemm)
TRN_XT(syrk)
TRN_XT(herk)
TRN_XT(syr2k)
TRN_XT(her2k)
TRN_XT(syrkx)
TRN_XT(herkx)
TRN_XT(trmm)
TRN_XT(trsm)
#undef TRN_XT

}  // namespace trn::capi::blasxt

#include "blasxt_bodies.hpp"
