// The bodies of cuRAND's host API: everything that capi/api/rand.api names.
#pragma once

#include <trn/rand/generator.hpp>

#include <trnrand.h>

#include "../call.hpp"
#include "../memory.hpp"

struct trnrandGenerator_st {
  trn::capi::Device* device;
  int generation;
  bool on_host;  // made by CreateGeneratorHost: draws into host memory
  std::shared_ptr<trn::capi::StreamObject> stream;
  trn::rand::Generator generator;
  std::uint64_t offset = 0;
};

namespace trn::capi::rand {

inline constexpr StatusCodes kCodes{101, 104, 103, 102, 201, 999};
Handles<trnrandGenerator_st>& handles();

using Handle = trnrandGenerator_st;
using Call = Handle;

// Runs the body in the generator's stream, behind what is there.
template <class F> trnrandStatus_t call(trnrandGenerator_t generator, const char* function, const F& body) noexcept {
  return static_cast<trnrandStatus_t>(guarded(function, kCodes, [&] {
    const auto alive = handles().find(generator, "generator");
    if (alive->generation != alive->device->generation) throw BadHandle("the generator's device was reset");
    const auto stream = alive->stream;  // its own thread must not be the last that lets go of it
    run(*stream, [&] { body(*alive); });
  }));
}
template <class F> trnrandStatus_t call(const char* function, const F& body) noexcept {
  return static_cast<trnrandStatus_t>(guarded(function, kCodes, body));
}

}  // namespace trn::capi::rand

#include "rand_bodies.hpp"
