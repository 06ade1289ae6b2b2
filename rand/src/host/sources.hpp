// The algorithms that are not made of blocks: each fills a whole draw, threads included.
#pragma once

#include <array>
#include <cstdint>
#include <trn/rand/fill_program.hpp>

namespace trn::rand::host {

// out[i] = value i of the draw that starts at `state`. `draw` is Raw32, OpenClosed, HalfOpen or OpenClosedDouble; the
// last counts from value number `index` after the origin (Xorwow), otherwise the position says where.
void fill_xorwow(const State& state, Draw draw, std::uint64_t index, std::int64_t n, void* out);
void fill_mrg32k3a(const State& state, Draw draw, std::int64_t n, void* out);
void fill_mt19937(const State& state, Draw draw, std::int64_t n, void* out);

// Points of the quasi-random algorithms; n is a multiple of the dimensions. Any draw that the algorithm has.
void fill_quasi(const State& state, Draw draw, std::int64_t n, void* out);

// A column's state before step `row` of subsequence `column`: what the jumps are made of, for their tests.
struct XorwowState {
  std::array<std::uint32_t, 5> v;
  std::uint32_t d;
};
[[nodiscard]] XorwowState xorwow_state(std::uint64_t seed, std::uint64_t row, std::uint64_t column);
struct Mrg32k3aState {
  std::array<std::uint32_t, 3> x, y;  // oldest first
};
[[nodiscard]] Mrg32k3aState mrg32k3a_state(std::uint64_t seed, std::uint64_t row, std::uint64_t column);

}  // namespace trn::rand::host
