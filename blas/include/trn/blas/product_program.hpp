// The product kernel of the device for groups of indices: every contraction of two tensors, recorded into a program.
//
//   D[h, m, n] = alpha sum_k A[h, m, k] B[h, k, n] + beta C[h, m, n]
//
// Each of h, m, n, k is a group of any number of indices, each index with a stride in every tensor: gemm has one index
// in m, n and k, a strided batch one in h as well, and a contraction of tensors whatever its labels make of it. Words,
// sums and the way out of PSUM are gemm's (gemm_program.hpp), so that modes, factors and bounds are the same.
#pragma once

#include <trn/blas/gemm_program.hpp>
#include <trn/tile/blocks/boxes.hpp>
#include <trn/tile/enums.hpp>

namespace trn::blas {

// A function of each element, one instruction: of the Scalar Engine's table, x op value on the Vector Engine, or 1 / x.
// Of real float32 elements.
struct ElementFunction {
  enum class Kind : std::uint8_t { None, Table, Scalar, Reciprocal };
  Kind kind = Kind::None;
  tile::ActFunction table = tile::ActFunction::Copy;
  tile::AluOp op = tile::AluOp::Multiply;
  double value = 1;
  [[nodiscard]] bool present() const { return kind != Kind::None; }
  bool operator==(const ElementFunction&) const = default;
};
// Strides of an index: in A, B, C and D, in elements of their types, 0 where a tensor does not have it.
struct ProductShape {
  DType in = DType::Float32, out = DType::Float32;  // of A and B, of C and D; as in GemmShape
  tile::blocks::BoxGroup h, m, n, k;                // innermost first; extents >= 1
  Factor alpha = Factor::One, beta = Factor::Zero;
  Mode mode = Mode::Native;
  bool conj_a = false, conj_b = false;
  // D = of_d(alpha sum_k of_a(A) of_b(B) + beta C): elements of A and B once they are on chip, those of D on their way
  // out of PSUM.
  ElementFunction of_a = {}, of_b = {}, of_d = {};
  bool operator==(const ProductShape&) const = default;
};

// Where the tensors lie: element (0, 0, ...) of each is the first of the access; only its memory, element type and
// offset count. Complex ones are float32 with (re, im) side by side. C is not read when beta is Zero and may be D's
// memory. alpha and beta: tiles of the factors that are inputs, in every partition, (P, 1), complex ones (P, 2); where
// such a tile is not given the factor is declared as an input of that name.
struct ProductTensors {
  tile::Access a, b, c, d;
  tile::Access alpha = {}, beta = {};
};

// Records the product. Throws NotImplemented for element types the Tensor Engine lacks.
void record_product(tile::Builder& builder, const ProductShape& shape, const ProductTensors& tensors);

// A program of its own with inputs "a", "b" and, where it is read, "c_in", which the output "c" continues (C's strides
// are D's then); factors as in gemm_program.
[[nodiscard]] tile::Program product_program(const ProductShape& shape, const tile::Machine& machine);

// Whether the long operand of the product may lie in any order of its indices at no cost: a product of a long and a
// short group. Of others the kernel wants D's unit stride in the operand that has it.
[[nodiscard]] bool product_is_skinny(const ProductShape& shape, const tile::Machine& machine);

// The number of products that one sum of the kernel counts as: product_error_bound(mode, in, false, product_depth(k))
// holds. K of several indices may fill its last tiles less.
[[nodiscard]] std::int64_t product_depth(const tile::blocks::BoxGroup& k, const tile::Machine& machine);

}  // namespace trn::blas
