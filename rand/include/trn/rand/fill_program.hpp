// The device kernel of raw32 and uniform as a value: the program for one shape, for tools that print, emit, profile or
// estimate it.
#pragma once

#include <cstdint>
#include <trn/rand/generator.hpp>
#include <trn/tile/machine.hpp>
#include <trn/tile/program.hpp>
#include <vector>

namespace trn::rand {

// What becomes of the words. Devices make the first three.
enum class Draw : std::uint8_t { Raw32, OpenClosed, HalfOpen, Raw64, OpenClosedDouble, HalfOpenDouble };

// Seed, stream and position are inputs of the program. Of the position only its remainder modulo 4 decides what is
// computed where, so a loop of calls needs at most four programs, and one when it draws multiples of four.
struct FillShape {
  Algorithm algorithm = Algorithm::Philox4x32_10;
  Draw draw = Draw::Raw32;
  std::int64_t count = 1;  // values to write, 1 .. kFillMax
  std::int64_t phase = 0;  // position mod 4
  bool operator==(const FillShape&) const = default;
};

// Values that one program can make: block numbers relative to the first stay below 2^31.
inline constexpr std::int64_t kFillMax = std::int64_t{1} << 32;

// Tensors: input "parameters" (uint32, as many as fill_parameters returns), output "out" (count elements, uint32 for
// Raw32, else float32).
[[nodiscard]] tile::Program fill_program(const FillShape& shape, const tile::Machine& machine);

// The input of a program that starts at state.position: counter words and the key schedule.
[[nodiscard]] std::vector<std::uint32_t> fill_parameters(const State& state);

// How many values one program may make from here, at most kFillMax: the counter word that counts blocks on the chip
// must not wrap, which it does after 2^34 values (Threefry) or 2^50 (Philox).
[[nodiscard]] std::uint64_t fill_run_length(const State& state);

}  // namespace trn::rand
