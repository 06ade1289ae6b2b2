// The bodies of cusolverMg. A grid has one device, whose matrices are whole: each routine is cuSOLVER's dense one on a
// part of a matrix, with info and eigenvalues in host memory.
#pragma once

#include <trnsolver_mg.h>

#include "../solver/solver.hpp"

struct trnsolverMgContext : trnblasContext {
  using trnblasContext::trnblasContext;
};

namespace trn::capi::solvermg {

using solver::Int, solver::ModeArg, solver::OpArg, solver::UploArg;

Handles<trnsolverMgContext>& handles();

struct Call : blas::Call {
  explicit Call(trnsolverMgContext& h) : blas::Call(h), copies(executor) { staging = &copies; }
  blas::Staging copies;
};

template <class F> trnsolverStatus_t call(trnsolverMgHandle_t handle, const char* function, const F& body) noexcept {
  return static_cast<trnsolverStatus_t>(guarded(function, solver::kCodes, [&] {
    const auto alive = handles().find(handle, "handle");
    if (alive->generation != alive->device->generation) throw BadHandle("the handle's device was reset");
    run(*alive->stream, [&] {
      Call c(*alive);
      body(c);
      c.copies.finish();
    });
  }));
}
template <class F> trnsolverStatus_t call(const char* function, const F& body) noexcept {
  return static_cast<trnsolverStatus_t>(guarded(function, solver::kCodes, body));
}

// Routines find memory of their own.
template <class... A> void buffer_size(Call&, A... arguments) { solver::one_size<Int>(1, arguments...); }

}  // namespace trn::capi::solvermg

#include "solvermg_bodies.hpp"
