// The runtime's bodies, in the order of capi/api/runtime.api. Each has the contract of the CUDA function of its name.
#pragma once

#include <trn_runtime.h>

#include "../context.hpp"

namespace trn::capi::runtime {

// Also what trnGetLastError returns.
trnError_t note(int status) noexcept;
struct Face {
  static constexpr StatusCodes codes{400, 1, 801, 2, 700, 999};
  static trnError_t status(int code) { return note(code); }
};

}  // namespace trn::capi::runtime

#include "runtime_bodies.hpp"
