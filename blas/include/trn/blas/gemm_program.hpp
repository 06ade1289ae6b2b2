// The device kernel of gemm as a value: the program for one shape, for tools that print, emit, profile or estimate it.
#pragma once

#include <trn/core/precision.hpp>
#include <trn/tile/machine.hpp>
#include <trn/tile/program.hpp>

namespace trn::blas {

// How a factor enters the program: as itself when that saves work, else as an input, so that a new value needs no new
// program. Input is one real number, ComplexInput a pair (re, im), for complex64 only.
enum class Factor : std::uint8_t { Zero, One, Input, ComplexInput };

// Which elements of C are computed. Of the diagonal 128 x 128 blocks of a triangle the other half is neither read nor
// written.
enum class Region : std::uint8_t { All, Lower, Upper };

// What is known of an operand. Of the others than General one triangle is read; a triangular one has zeros in the
// other.
enum class Structure : std::uint8_t { General, Symmetric, Hermitian, Triangular };

// op(A) is m x k with strides (am, ak), op(B) is k x n with (bk, bn), C is m x n with (cm, cn), in elements: a
// transpose is a swap of two strides. All extents >= 1.
struct GemmShape {
  DType in = DType::Float32, out = DType::Float32;
  std::int64_t m = 1, n = 1, k = 1;
  std::int64_t am = 1, ak = 1, bk = 1, bn = 1, cm = 1, cn = 1;
  Factor alpha = Factor::One, beta = Factor::Zero;
  Mode mode = Mode::Native;  // float32 and complex64 operands take every mode but Exact, the others Native

  // complex64: strides count real numbers, and an imaginary part lies a_im real numbers after its real part: 1 for
  // interleaved pairs, another distance for planes.
  std::int64_t a_im = 1, b_im = 1, c_im = 1;
  bool conj_a = false, conj_b = false;
  bool three_products = false;  // Gauss: three real products for a complex one instead of four

  // A product that fills one triangle of a square C. hermitian: the diagonal's imaginary parts become zero, old ones
  // are not read.
  Region region = Region::All;
  bool hermitian = false;
  bool same_operand = false;  // op(B) is op(A)^T, the same memory: turned once for both

  // At most one operand has structure; it is square. `stored` names the triangle of op(A) or op(B) that is read.
  Structure a_structure = Structure::General, b_structure = Structure::General;
  Region stored = Region::All;
  bool unit_diagonal = false;
  bool in_place = false;  // C is the memory of the general operand

  bool operator==(const GemmShape&) const = default;
};

// Tensors: inputs "a" (m x k), "b" (k x n; not with same_operand), when beta is not Zero or a triangle is computed also
// "c_in" (m x n; c continues it), and "alpha", "beta" (float32, one element, two for ComplexInput) where the factor is
// an input; output "c" (m x n). Complex tensors are float32 with a last dimension of 2. alpha is not Zero.
// Throws NotImplemented for dtypes the Tensor Engine lacks, InvalidArgument for operands larger than the machine's HBM.
[[nodiscard]] tile::Program gemm_program(const GemmShape& shape, const tile::Machine& machine);

// What the arithmetic of the device kernel errs by, first order, barring over- and underflow:
// |C - exact| <= bound * (|alpha| |A||B| + |beta| |C|), elementwise; with three_products a norm-wise statement,
// |A||B| replaced by ||a_i||_2 ||b_j||_2. blas/src/device/scheme.cpp derives it. The rounding of a narrower output type
//   is not in it.
[[nodiscard]] double product_error_bound(Mode mode, DType in, bool three_products, std::int64_t k);

}  // namespace trn::blas
