// The device kernels of level 1 and of gemv and ger as values: programs for tools that print, emit, profile or estimate
// them.
//
// Vectors are float32, or complex64 as pairs of float32 in memory; n >= 1, strides in elements. A vector that is
// changed is bound twice, as input "x_in" or "y_in" and as output "x" or "y" that continues it; one that is only read
// is the input "x" or "y". Numbers such as alpha are one input "factors", so that another value needs no other program.
#pragma once

#include <trn/tile/machine.hpp>
#include <trn/tile/program.hpp>

namespace trn::blas {

// Zero: x = 0; Mix: the two rows of x, y = H (x, y) for a real 2 x 2 matrix (rot, rotm); MixComplex: rot with a complex
// s.
enum class VectorOperation : std::uint8_t { Zero, Axpy, Copy, Swap, Scal, ScalReal, Mix, MixComplex };
struct VectorShape {
  VectorOperation operation = VectorOperation::Axpy;
  bool complex = false;
  std::int64_t n = 1, incx = 1, incy = 1;  // incy is 1 where there is no y
  bool x_is_y = false;                     // Axpy of a vector to itself: there is no tensor x
  bool operator==(const VectorShape&) const = default;
};
// factors: Axpy, Scal: re alpha, im alpha, -im alpha (complex) or alpha; ScalReal: alpha; Mix: h11, h12, h21, h22;
// MixComplex: c, re s, im s, -re s, -im s; the others: none.
[[nodiscard]] tile::Program vector_program(const VectorShape& shape, const tile::Machine& machine);

// Per piece and partition; the host finishes in double. Output "partial" (128, pieces, columns):
//   Asum                 sum |re| + |im|
//   Nrm2                 s, a power of two that keeps the squares in range, and sums of (s x)^2, 512 numbers each
//   Dot                  sum x y; complex: sums of re re, im im, re im, im re
//   Amax, Amin           the extreme |re| + |im| and the largest (columns - column) where it occurs; with `skip_nan`
//     NaN never wins
enum class Reduction : std::uint8_t { Asum, Nrm2, Dot, Amax, Amin };
struct ReductionShape {
  Reduction reduction = Reduction::Asum;
  bool complex = false, skip_nan = false;
  std::int64_t n = 1, incx = 1, incy = 1;
  bool operator==(const ReductionShape&) const = default;
};
[[nodiscard]] tile::Program reduction_program(const ReductionShape& shape, const tile::Machine& machine);
[[nodiscard]] std::int64_t reduction_columns(const ReductionShape& shape);

// y = alpha A x + beta y, A (m x n) with strides (am, an), conjugated with conj. Inputs "a", "x", with beta also
// "y_in", factors: re alpha, im alpha, -im alpha and the same of beta (real types: alpha, beta); output "y".
struct GemvShape {
  bool complex = false, conj = false, beta = false;
  std::int64_t m = 1, n = 1, am = 1, an = 1, incx = 1, incy = 1;
  bool operator==(const GemvShape&) const = default;
};
[[nodiscard]] tile::Program gemv_program(const GemvShape& shape, const tile::Machine& machine);

// A = alpha x y^T + A, y conjugated with conj_y, x with conj_x. Inputs "x", "y", "a_in", factors
// re alpha, im alpha, -im alpha (real: alpha); output "a".
struct GerShape {
  bool complex = false, conj_x = false, conj_y = false;
  std::int64_t m = 1, n = 1, am = 1, an = 1, incx = 1, incy = 1;
  bool operator==(const GerShape&) const = default;
};
[[nodiscard]] tile::Program ger_program(const GerShape& shape, const tile::Machine& machine);

}  // namespace trn::blas
