// Products of a long and a short group of indices, such as 100000 x 24 times 24 columns: the long operand is stationary
// and the short one moves.
#pragma once

#include <optional>
#include <trn/blas/product_program.hpp>

#include "scheme.hpp"

namespace trn::blas::device {

// Whether a product is one of these: one product of planes as they were loaded, one of M and N of at most 80 elements
// and the other one long, with the unit stride of its operand; k of at most 16 tiles. Strides in elements; of both
// operands only those that the product reads.
[[nodiscard]] bool is_skinny(const ProductShape& shape, const Scheme& scheme, const tile::Machine& machine);

// `g` has the factors, types and mode of the product.
void record_skinny_product(tile::Builder& builder, const ProductShape& shape, const ProductTensors& tensors,
                           const GemmShape& g, const Scheme& scheme);

// gemm's program where it is a skinny product of whole matrices.
[[nodiscard]] std::optional<tile::Program> skinny_gemm_program(const GemmShape& shape, const tile::Machine& machine);

}  // namespace trn::blas::device
