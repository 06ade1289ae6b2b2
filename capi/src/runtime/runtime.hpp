// The runtime's bodies, in the order of capi/api/runtime.api. Each has the contract of the CUDA function of its name.
#pragma once

#include <trn_runtime.h>

#include "../call.hpp"

namespace trn::capi::runtime {

// Also what trnGetLastError returns.
trnError_t note(int status) noexcept;
inline constexpr StatusCodes kCodes{400, 1, 801, 2, 700, 999};

template <class F> trnError_t call(const char* function, const F& body) noexcept {
  return note(guarded(function, kCodes, body));
}

}  // namespace trn::capi::runtime

#include "runtime_bodies.hpp"
