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

struct Call : blas::Call {
  explicit Call(trnsolverMgContext& h) : blas::Call(h), copies(executor) { staging = &copies; }
  blas::Staging copies;
  void finish() { copies.finish(); }
};
struct Face : solver::Face {
  using Call = solvermg::Call;
  static auto find(trnsolverMgHandle_t handle) { return living(handle); }
};

// Routines find memory of their own.
template <class... A> void buffer_size(Call&, A... arguments) { solver::one_size<Int>(1, arguments...); }

}  // namespace trn::capi::solvermg

#include "solvermg_bodies.hpp"
