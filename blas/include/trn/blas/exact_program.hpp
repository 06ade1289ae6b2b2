// The device kernel of Precision Exact as a value: slices both operands to residues, multiplies them modulo every p and
// recombines.
#pragma once

#include <vector>

#include <trn/core/float_types.hpp>
#include <trn/tile/machine.hpp>
#include <trn/tile/program.hpp>

namespace trn::blas {

// op(A) is m x k with strides (am, ak), op(B) is k x n with (bk, bn), in elements of `in`: float64, float32, complex128
// or complex64. A complex product is the real one [Re A, -Im A; Im A, Re A] [Re B; Im B] of twice the rows and depth.
struct ExactShape {
  DType in = DType::Float64;
  int moduli = 16;
  std::int64_t m = 1, n = 1, k = 1;
  std::int64_t am = 1, ak = 1, bk = 1, bn = 1;
  bool conj_a = false, conj_b = false;
  bool lower = false;  // m = n, and of C the lower triangle is wanted: blocks above the diagonal are left out
  bool same =
      // op(B) is the conjugate transpose of op(A), with the same offsets: there is no input "b", and offsets are those
      // of A
      false;
  int limbs = 4;  // of a scaled number of either operand: 2 for numbers up to 2^38, 3 up to 2^55
  bool operator==(const ExactShape&) const = default;

  [[nodiscard]] std::int64_t rows() const { return is_complex(in) ? 2 * m : m; }
  [[nodiscard]] std::int64_t depth() const { return is_complex(in) ? 2 * k : k; }
  // Whether the integers of the product come out by columns.
  [[nodiscard]] bool by_columns() const { return n > rows() && !lower && !same; }
};

// Tensors: inputs "a" (m x k x words) and "b" (n x k x words), uint32 views of the operands' memory; "offsets" (n +
// rows, 1), float32: what each column of op(B), then each row of op(A), adds to the exponent field of its numbers;
// "table" (5, moduli), float32, and "weights", float16: the constants below. Output "limbs" (rows, L, n), or (n, L,
// rows) by_columns(), float32: integers below 2^24 in magnitude whose sum over l of limb[l] 2^(24 l) is the element of
// op(A) op(B) in integers, L the fewest that hold it; with `lower` defined for columns up to the row (modulo m). Throws
// NotImplemented when depth() is too large for the machine's SBUF.
[[nodiscard]] tile::Program exact_program(const ExactShape& shape, const tile::Machine& machine);

// The values of "table", row-major: the units of limbs 1, 2, 3 mod p divided by these units (0 where there are fewer
// limbs), 1/p, -p.
[[nodiscard]] std::vector<float> exact_table(int moduli, int limbs);
// The limbs of numbers with as many bits as so many moduli have room for in a product `depth` deep, the same for both
// operands.
[[nodiscard]] int exact_limbs(int moduli, std::int64_t depth);
// The values of "weights": Chinese remainders in digits of 12 bits, block diagonal over the columns that are recombined
// together.
[[nodiscard]] std::vector<float16> exact_weights(int moduli, const tile::Machine& machine);

}  // namespace trn::blas
