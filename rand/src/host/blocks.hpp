// Runs of values and single blocks on the host, by the widest instruction set the machine has.
#pragma once

#include <cstdint>
#include <trn/rand/fill_program.hpp>

#include "algorithms.hpp"

namespace trn::rand::host {

// out[i] = value state.position + i, i < count: uint32 or float elements as `draw` says, Raw32, OpenClosed or HalfOpen.
void fill_run(const State& state, Draw draw, std::int64_t count, void* out);

// out[i] = the block of any counter under any key, by the same vector code.
void encrypt(Algorithm algorithm, const Words4* counters, std::int64_t count, const Words4& key, Words4* out);

// out[i] = double number index + i after state.origin, as cuRAND pairs the words of Philox.
void philox_doubles(const State& state, std::uint64_t index, std::int64_t n, double* out);

}  // namespace trn::rand::host
