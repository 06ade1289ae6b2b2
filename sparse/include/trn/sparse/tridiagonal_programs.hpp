// The device program of factored tridiagonal systems, for tools and tests that print, emit, profile or estimate it.
//
// A system is a lane: 128 of them at a time, their unknowns along the free dimension. With A = L U and
//   y(i) = q(i) b(i) - l(i) y(i - 1),  x(i) = y(i) - u(i) x(i + 1)
// both recurrences are scans of the Vector Engine. The second one runs backwards and there is no access with a negative
// step, so the Tensor Engine turns y around before it and x after it, 128 unknowns at a time: a transpose, and a
// product with the matrix J of ones from corner to corner.
//
// Tensors: "factors" (groups of 128, 3, 128, n) float32: q, -l, and -u from the last unknown to the first; "b" (n,
// count) and "x", its memory.
#pragma once

#include <cstdint>

#include <trn/sparse/tridiagonal.hpp>
#include <trn/tile/machine.hpp>
#include <trn/tile/program.hpp>

namespace trn::sparse {

struct TridiagonalShape {
  std::int64_t n = 0, count = 0;
  std::int64_t b_row = 1, b_column = 1;
  bool operator==(const TridiagonalShape&) const = default;
};
// The most unknowns of a system that fit SBUF.
[[nodiscard]] std::int64_t tridiagonal_longest(const tile::Machine& machine);
[[nodiscard]] tile::Program tridiagonal_program(const TridiagonalShape& shape, const tile::Machine& machine);

}  // namespace trn::sparse
