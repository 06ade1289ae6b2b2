// Device programs that look at operands and move them, for every solver: float32 matrices, or one triangle of them.
#pragma once

#include <cstdint>

#include <trn/tile/machine.hpp>
#include <trn/tile/program.hpp>

namespace trn::solver {

// Elements (i, j) with i >= j, with i <= j (of a square matrix), or all.
enum class MatrixPart : std::uint8_t { All, Lower, Upper };

struct FiniteShape {
  std::int64_t rows = 1, columns = 1;
  std::int64_t row_stride = 1, column_stride = 1;
  MatrixPart part = MatrixPart::All;
  bool operator==(const FiniteShape&) const = default;
};
// Tensors: input "a", output "flags" (128): zeros, or at least one NaN where an element of the part is NaN or infinite.
// Nothing outside the part is read. A row-major or column-major matrix streams through SBUF once.
[[nodiscard]] tile::Program finite_program(const FiniteShape& shape, const tile::Machine& machine);

struct CopyTriangleShape {
  std::int64_t n = 1;
  std::int64_t from_row = 1, from_column = 1, to_row = 1, to_column = 1;  // strides
  bool lower = true;
  bool zeros = true;  // the rest of B becomes zero; else it is not touched
  bool operator==(const CopyTriangleShape&) const = default;
};
// Tensors: input "a", output "b", and with zeros = false input "b_in", which b continues. DMA only, HBM to HBM;
// matrices that lie in different directions move element by element.
[[nodiscard]] tile::Program copy_triangle_program(const CopyTriangleShape& shape, const tile::Machine& machine);

}  // namespace trn::solver
