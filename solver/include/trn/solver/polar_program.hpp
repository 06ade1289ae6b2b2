// The polar factor of a matrix as one device program: every step of a schedule without leaving SBUF.
#pragma once

#include <trn/solver/sign_program.hpp>

namespace trn::solver {

struct PolarShape {
  std::int64_t rows = 128, columns = 128;  // multiples of 128, rows >= columns
  SignStage stage = SignStage::First;
  bool operator==(const PolarShape&) const = default;
};

// Whether SBUF has room for it.
[[nodiscard]] bool polar_resident(const PolarShape& shape, const tile::Machine& machine);

// Tensors: input "x" (rows x columns, not zero); outputs "u" (the same), and of D = X^T X - I before the closing step
// "departure" and "diagonal" (columns): the sum of squares of each row, and its diagonal. First divides X by
// ||X^T X||_F^1/2 before.
[[nodiscard]] tile::Program polar_program(const PolarShape& shape, const tile::Machine& machine);

}  // namespace trn::solver
