// The device kernel of raw32, raw64 and uniform for Sobol points as a value: the program for one shape, for tools that
// print, emit, profile or estimate it. Sobol32 and ScrambledSobol32 in all draws, Sobol64 and ScrambledSobol64 too.
#pragma once

#include <cstdint>
#include <string>
#include <trn/rand/fill_program.hpp>
#include <utility>
#include <vector>

namespace trn::rand {

// The direction numbers and the position are inputs of the program. All that the position decides is whether it is a
// multiple of sobol_run: a loop of calls needs at most two programs.
struct SobolShape {
  Draw draw = Draw::Raw32;  // Raw32, Raw64, OpenClosed or HalfOpen
  std::int64_t dimensions = 1;
  std::int64_t points = 1;
  bool aligned = true;  // the first point's number is a multiple of sobol_run
  bool operator==(const SobolShape&) const = default;
};

// Algorithms that have the program.
[[nodiscard]] constexpr bool has_sobol_program(Algorithm a) {
  return a == Algorithm::Sobol32 || a == Algorithm::ScrambledSobol32 || a == Algorithm::Sobol64 ||
         a == Algorithm::ScrambledSobol64;
}

// Points that one partition makes in a row, a power of two.
[[nodiscard]] std::int64_t sobol_run(Draw draw, std::int64_t dimensions, std::int64_t points,
                                     const tile::Machine& machine);

[[nodiscard]] SobolShape sobol_shape(const State& state, Draw draw, std::int64_t points, const tile::Machine& machine);

// Tensors: the inputs that sobol_inputs returns, all uint32, and the output "out" of shape (dimensions, points),
// float32 for the uniform draws, else uint32; Raw64 has two words for a point, low word first.
[[nodiscard]] tile::Program sobol_program(const SobolShape& shape, const tile::Machine& machine);

// Name and words of every input of the program for points state.position, state.position + 1, ... The shape is
// sobol_shape's for this state.
[[nodiscard]] std::vector<std::pair<std::string, std::vector<std::uint32_t>>> sobol_inputs(
    const State& state, const SobolShape& shape, const tile::Machine& machine);

}  // namespace trn::rand
