// What a compute type of the Ex routines means.
#pragma once

#include "handle.hpp"

namespace trn::capi::blas {

// wide: alpha, beta and the matrices are double; otherwise float or narrower.
struct Compute {
  bool wide;
  Precision precision;
};
[[nodiscard]] Compute compute_of(const Call& c, trnblasComputeType_t type);

}  // namespace trn::capi::blas
