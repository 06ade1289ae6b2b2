// The device kernel of normal, log_normal, exponential, laplace, weibull, cauchy and bernoulli as a value: the program
// for one shape, for tools that print, emit, profile or estimate it.
#pragma once

#include <cstdint>
#include <trn/rand/generator.hpp>
#include <trn/tile/machine.hpp>
#include <trn/tile/program.hpp>
#include <vector>

namespace trn::rand {

// The distributions that take a fixed number of words per value. What each does with its words is in
// src/host/transforms.cpp, and in rand/README.md.
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

[[nodiscard]] const char* name(Law law);  // "log_normal", as operations and programs are called

struct Transform {
  Law law = Law::Normal;
  double location = 0, scale = 1, shape = 1;
  bool operator==(const Transform&) const = default;
};

// Seed, stream, position and the parameters of the distribution are inputs of the program; see FillShape.
struct TransformShape {
  Algorithm algorithm = Algorithm::Philox4x32_10;
  Law law = Law::Normal;
  std::int64_t count = 1;        // values to write, 1 .. kFillMax
  std::int64_t phase = 0;        // position mod 4
  DType dtype = DType::Float32;  // of the values; Bernoulli also UInt32
  bool operator==(const TransformShape&) const = default;
};

// Laws with a device kernel.
[[nodiscard]] constexpr bool has_program(Law law) { return law != Law::NormalInverse && law != Law::NormalCurand; }

// Tensors: input "parameters" (uint32, as many as transform_parameters returns), output "out" (count
// elements).
[[nodiscard]] tile::Program transform_program(const TransformShape& shape, const tile::Machine& machine);

// The input of a program that starts at state.position: fill_parameters, then four floats as bits: location, scale,
// shape and 0; for Bernoulli the 16-bit digits of the threshold p 2^64, the first one first, of which p = 1 has 65536.
[[nodiscard]] std::vector<std::uint32_t> transform_parameters(const State& state, const Transform& transform);

// How far a device's value may be from the host's, `value`. u is the same on both. ln differs by 2 ulp at most (0.8 and
// 0.5, to the next float), so an exponential by 2 and the rounding of its scaling; r by 1 + 1; sine and cosine by 3
// (the argument of the larger one rounds differently); z by 6 with the product. An argument's absolute error is the
// relative error of exp, which adds 2; the logarithm in a Weibull turns the 2 ulp of e into as much of an absolute
// error. A cotangent is a quotient of sines: the one of the smaller angle differs by 2, that of the larger one, whose
// argument rounds differently, by 3, quotient and product by 1.5. Bernoulli's comparisons are exact: 0. Simulators
// evaluate functions to half an ulp; silicon's accuracy is not published.
[[nodiscard]] double device_difference_bound(const Transform& transform, double value);

}  // namespace trn::rand
