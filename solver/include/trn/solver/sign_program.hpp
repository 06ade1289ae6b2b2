// The sign function of a small symmetric matrix as one device program: every step of a schedule without leaving SBUF.
#pragma once

#include <cstdint>

#include <trn/tile/machine.hpp>
#include <trn/tile/program.hpp>

namespace trn::solver {

// Which polynomials of src/device/sign_schedule.hpp run before the closing step.
enum class SignStage : std::uint8_t {
  First,   // singular values in [3e-5, 1]
  Short,   // in [0.03, 1]
  Closing  // near 1 already
};

struct SignShape {
  std::int64_t n = 1;  // at most 128
  SignStage stage = SignStage::First;
  bool operator==(const SignShape&) const = default;
};

// Tensors: inputs "x" (n x n, symmetric) and "scale" (one element), by which X is multiplied first; outputs "s"
// (n x n), symmetric to the last bit, and "departure" (n): for each row of D = X X - I before the closing step the sum
// of squares.
[[nodiscard]] tile::Program sign_program(const SignShape& shape, const tile::Machine& machine);

}  // namespace trn::solver
