// The blocked triangular solve as a part of a program: what trsm_program is made of, and large members of a batch are
// solved by.
#pragma once

#include <trn/blas/trsm_program.hpp>
#include <trn/tile/builder.hpp>

namespace trn::blas::device {

struct TrsmOperands {
  // (m, m), (m, n), (m, n) of HBM, complex ones with a last dimension of 2; strides those of the shape.
  tile::Access a, b, x;
  tile::Access alpha;              // (128, 1), complex (128, 2); absent for 1
  tile::Access residual, largest;  // (1, n) of HBM; absent when nothing is measured
};

// Declares scratch: inside a recorded loop that loop must be sequential.
void solve_triangular(tile::Builder& b, const TrsmShape& shape, const TrsmOperands& operands);

// alpha's parts in every partition: (128, 1), complex (128, 2), from the input "alpha".
[[nodiscard]] tile::Access alpha_input(tile::Builder& b, bool complex);

// Throws NotImplemented for what `operation` has no kernel for.
void require_kernel_dtype(DType dtype, const tile::Machine& machine, const char* operation);

}  // namespace trn::blas::device
