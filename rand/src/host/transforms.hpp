// Words to values, by the widest instruction set the machine has.
#pragma once

#include <cstdint>

#include "laws.hpp"

namespace trn::rand::host {

// `count` is a multiple of this. `words` holds words_per_value 32-bit words for every value and is aligned for vectors;
// `out` need not be.
inline constexpr std::int64_t kTransformGrain = 64;

void transform_values(const Transform& transform, const std::uint32_t* words, std::int64_t count, float* out);
void transform_values(const Transform& transform, const std::uint32_t* words, std::int64_t count, double* out);
// 0 or 1, with probability threshold * 2^-64; all ones when `always`.
void bernoulli_values(std::uint64_t threshold, bool always, const std::uint32_t* words, std::int64_t count,
                      std::uint32_t* out);

}  // namespace trn::rand::host
