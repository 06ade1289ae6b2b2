// The bodies of cusolverRf: LU of many matrices with one pattern whose pivots are known. The factors' pattern is given
// once; a new matrix is put into its places and eliminated without a search. On the host executor.
#pragma once

#include <trnsolver_rf.h>

#include "../solver/solver.hpp"

struct trnsolverRfCommon : trnblasContext {
  using trnblasContext::trnblasContext;
  trnsolverRfUnitDiagonal_t diagonal = TRNSOLVERRF_UNIT_DIAGONAL_STORED_L;
  trnsolverRfFactorization_t factorization = TRNSOLVERRF_FACTORIZATION_ALG0;
  trnsolverRfTriangularSolve_t triangular = TRNSOLVERRF_TRIANGULAR_SOLVE_ALG1;
  trnsolverRfResetValuesFastMode_t fast = TRNSOLVERRF_RESET_VALUES_FAST_MODE_OFF;
  double zero = 0, boost = 0;
  bool boosted = false;
  // The rows of L and U together, columns ascending; `diagonals` are the places of U's diagonal.
  int n = -1;
  std::vector<int> offsets, columns, diagonals;
  // Of one matrix or of a batch: values, whether they are factored, and the first pivot that was zero.
  struct Factors {
    std::vector<double> values;
    bool factored = false;
    int zero_pivot = -1;
  };
  std::vector<Factors> batch;
};

namespace trn::capi::solverrf {

using solver::Int;

struct Call : blas::Call {
  explicit Call(trnsolverRfCommon& h) : blas::Call(h), rf(h) {}
  trnsolverRfCommon& rf;
};

struct Face : solver::Face {
  using Call = solverrf::Call;
  static auto find(trnsolverRfHandle_t handle) { return living(handle); }
};

}  // namespace trn::capi::solverrf

#include "solverrf_bodies.hpp"
