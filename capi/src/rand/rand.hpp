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

void create_generator(trnrandGenerator_t* generator, trnrandRngType_t type);
void create_generator_host(trnrandGenerator_t* generator, trnrandRngType_t type);
void destroy_generator(Handle& g);
void get_version(int* version);
void set_stream(Handle& g, trnStream_t stream);
void set_seed(Handle& g, unsigned long long seed);
void set_offset(Handle& g, unsigned long long offset);
void set_ordering(Handle& g, trnrandOrdering_t order);
void set_dimensions(Handle& g, unsigned dimensions);
void generate_seeds(Handle& g);
void generate(Handle& g, unsigned* out, std::size_t count);
void generate_long_long(Handle& g, unsigned long long* out, std::size_t count);
void generate_uniform(Handle& g, float* out, std::size_t count);
void generate_uniform(Handle& g, double* out, std::size_t count);
void generate_normal(Handle& g, float* out, std::size_t count, float mean, float stddev);
void generate_normal(Handle& g, double* out, std::size_t count, double mean, double stddev);
void generate_log_normal(Handle& g, float* out, std::size_t count, float mean, float stddev);
void generate_log_normal(Handle& g, double* out, std::size_t count, double mean, double stddev);
void generate_poisson(Handle& g, unsigned* out, std::size_t count, double lambda);
void generate_binomial(Handle& g, unsigned* out, std::size_t count, unsigned n, double p);

}  // namespace trn::capi::rand
