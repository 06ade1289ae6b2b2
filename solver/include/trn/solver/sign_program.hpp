// The sign function of symmetric matrices as one device program: every step of a schedule without leaving SBUF.
#pragma once

#include <cstdint>

#include <trn/tile/machine.hpp>
#include <trn/tile/program.hpp>

namespace trn::solver {

// Which polynomials of src/device/sign_schedule.hpp run before the closing step.
enum class SignStage : std::uint8_t {
  First,   // singular values in [1e-4, 1] times ||M||_F^1/2
  Short,   // in [0.03, 1]
  Closing  // near 1 already
};

struct SignShape {
  std::int64_t n = 128;    // a multiple of 128, at most resident_order(machine)
  std::int64_t tiles = 1;  // matrices; more than one only for n = 128
  SignStage stage = SignStage::First;
  bool operator==(const SignShape&) const = default;
};

// The largest order for which the resident programs of the spectral drivers have room in SBUF.
[[nodiscard]] std::int64_t resident_order(const tile::Machine& machine);

// Tensors: input "a" (tiles x n x n, symmetric); outputs "s" (the same), symmetric to the last bit, and "departure"
// (tiles x n): for each row of D = X X - I before the closing step the sum of squares.
//
// First takes inputs "ids" and "shift" (tiles x n) too. Rows with equal ids, which follow one another, are a diagonal
// block: X is A without what lies outside of the blocks, less the shifts on its diagonal, and every block is divided by
// its own norm. No block may be zero. Short and Closing take X as it is.
[[nodiscard]] tile::Program sign_program(const SignShape& shape, const tile::Machine& machine);

}  // namespace trn::solver
