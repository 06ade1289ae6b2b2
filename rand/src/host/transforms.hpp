// Words to values, by the widest instruction set the machine has.
#pragma once

#include <cstdint>

#include "laws.hpp"

namespace trn::rand::host {

// More values than asked for may be written: both buffers hold a multiple of this many values and are aligned for
// vectors. `words` holds words_per_value 32-bit words for every value, `out` floats (Bernoulli: any 32-bit element).
inline constexpr std::int64_t kTransformGrain = 64;

void transform_values(const Transform& transform, const std::uint32_t* words, std::int64_t count, float* out);
void transform_values(const Transform& transform, const std::uint32_t* words, std::int64_t count, double* out);
// 0 or 1, with probability threshold * 2^-64; all ones when `always`.
void bernoulli_values(std::uint64_t threshold, bool always, const std::uint32_t* words, std::int64_t count,
                      std::uint32_t* out);

}  // namespace trn::rand::host
