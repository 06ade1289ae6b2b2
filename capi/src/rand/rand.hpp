// The bodies of cuRAND's host API: everything that capi/api/rand.api names.
#pragma once

#include <trn/rand/generator.hpp>

#include <trnrand.h>

#include "../context.hpp"
#include "../memory.hpp"

struct trnrandGenerator_st : trn::capi::Context {
  trnrandGenerator_st(trn::capi::Device& d, bool host, trn::rand::Generator g)
      : Context(&d, d.generation, trn::capi::stream_of(nullptr)), on_host(host), generator(std::move(g)) {}
  bool on_host;  // made by CreateGeneratorHost: draws into host memory
  trn::rand::Generator generator;
  std::uint64_t offset = 0;
};

namespace trn::capi::rand {

using Handle = trnrandGenerator_st;
using Call = Handle;
struct Face : Statuses<trnrandStatus_t, 101, 104, 103, 102, 201, 999> {
  using Call = Handle;
  static auto find(trnrandGenerator_t generator) { return living(generator, "generator"); }
};

}  // namespace trn::capi::rand

#include "rand_bodies.hpp"
