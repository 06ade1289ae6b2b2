// The distributions that take a fixed number of words per value: their names and parameters as the kernels of both
// families see them. What each does with its words is in host/transforms.cpp, and in rand/README.md.
#pragma once

#include <cstdint>

namespace trn::rand {

enum class Law : std::uint8_t {
  Normal,         // location + scale z, z by Box-Muller with a full tail
  NormalInverse,  // location + scale z, z = inverse of the distribution function
  NormalCurand,   // location + scale z, z as curandGenerateNormal computes it
  LogNormal,      // e^(location + scale z), z as for Normal
  Exponential,    // scale e, e standard exponential
  Laplace,        // location +- scale e
  Weibull,        // scale e^shape (shape is the reciprocal of Weibull's k)
  Cauchy,         // location + scale c
  Bernoulli,      // 1 where the uniform is below location, else 0
};

struct Transform {
  Law law = Law::Normal;
  double location = 0, scale = 1, shape = 1;
  bool operator==(const Transform&) const = default;
};

// 32-bit words that one value takes. Values come in pairs that share their words: value v, counted in this unit, has
// the partner v ^ 1.
[[nodiscard]] constexpr int words_per_value(Law law, bool wide) { return wide || law == Law::NormalInverse ? 2 : 1; }

}  // namespace trn::rand
