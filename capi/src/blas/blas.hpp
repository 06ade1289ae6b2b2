// The bodies of cuBLAS's routines: everything that capi/api/blas.api names.
#pragma once

#include "extended.hpp"
#include "factor_batches.hpp"
#include "handle.hpp"
#include "level1.hpp"
#include "level2.hpp"
#include "level3.hpp"
#include "typed.hpp"

namespace trn::capi::blas {

// Emulated products here are Bf16x6 and Exact, which have bounds of their own and nothing to tune.
template <class E> void set_emulation(Call&, E) {}
inline void set_mantissa_bits(Call&, int) {}
// No part of a device can be set aside: 0, all of it, is what there is.
inline void set_sm_count(Call&, int count) {
  require(count >= 0, "the number of processors is {}; it must be >= 0", count);
  if (count > 0) fail<NotImplemented>("a part of a device's processors ({})", count);
}
inline void get_sm_count(Call&, int* count) { answer("smCountTarget", count, 0); }

}  // namespace trn::capi::blas

#include "blas_bodies.hpp"
