// The device kernel of Precision Exact as a value: slices both operands to residues and multiplies them modulo every p.
#pragma once

#include <trn/tile/machine.hpp>
#include <trn/tile/program.hpp>

namespace trn::blas {

// op(A) is m x k with strides (am, ak), op(B) is k x n with (bk, bn), in elements of `in`: float64, float32, complex128 or
// complex64. A complex product is the real one [Re A, -Im A; Im A, Re A] [Re B; Im B] of twice the rows and depth.
struct ExactShape {
  DType in = DType::Float64;
  int moduli = 16;
  std::int64_t m = 1, n = 1, k = 1;
  std::int64_t am = 1, ak = 1, bk = 1, bn = 1;
  bool conj_a = false, conj_b = false;
  bool operator==(const ExactShape&) const = default;

  [[nodiscard]] std::int64_t rows() const { return is_complex(in) ? 2 * m : m; }
  [[nodiscard]] std::int64_t depth() const { return is_complex(in) ? 2 * k : k; }
};

// Tensors: inputs "a" (m x k x words) and "b" (n x k x words), uint32 views of the operands' memory; "offset_a" (rows, 1) and
// "offset_b" (n, 1), float32: what each row of op(A) and column of op(B) adds to the exponent field of its numbers; "table" (5, moduli),
// float32: 2^16, 2^32, 2^48 mod p divided by these powers, 1/p, -p. Output "digits" (moduli, rows, n), int16: op(A) op(B) mod p, some
// representative. Throws NotImplemented when depth() is too large for the machine's SBUF.
[[nodiscard]] tile::Program exact_program(const ExactShape& shape, const tile::Machine& machine);

// The values of "table", row-major.
[[nodiscard]] std::vector<float> exact_table(int moduli);

}  // namespace trn::blas
