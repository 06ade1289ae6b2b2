// Triangular solve with distributed operands: op(A) X = alpha B (Side::Left) or X op(A) = alpha B (Side::Right); X
// replaces B. trsm.hpp's meaning, collective over the group. PBLAS: p?trsm.
//
// B stays where it is. Block after block of its rows (columns), the diagonal block of A is solved with, one local trsm
// per block of B, and what it contributes is subtracted from the rest. The bits depend on the blocks of B and are the
// same for every number of ranks and grid. A may have any blocks and grid on B's group.
//
// Modes: Native, the device modes of trsm, and Exact (double on devices), where every block of B has a plan of its own.
// The bound is on the residual, |alpha B - op(A) X|(i,j) <= bound ||a_i|| ||x_j||: the largest of the local solves,
// what the products around them lose, and a rounding of the sum per block; the same on every rank.
// Errors as in dist_gemm.hpp.
#pragma once

#include <trn/blas/types.hpp>
#include <trn/comm/matrix.hpp>

namespace trn::blas {

template <Scalar T> Accuracy trsm(Side side, Uplo uplo, Op op, Diag diag, Number<T> alpha, const dist::Matrix<T>& a,
                                  const dist::Matrix<T>& b, const ProductOptions& options = {});

}  // namespace trn::blas
