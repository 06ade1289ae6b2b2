// Triangular solve with many right-hand sides: op(A) X = alpha B (Side::Left) or X op(A) = alpha B (Side::Right); X
// replaces B. alpha = 0 sets B to zero without reading A. The other triangle of A is never read, nor a Unit diagonal.
// No test for singularity. cuBLAS: cublasStrsm, ...
// The bound is on the residual: |alpha B - op(A) X|(i,j) <= bound * ||a_i|| ||x_j|| (columns of X for Left; rows for
// Right); infinite when X is not finite. How it comes about, barring underflow except in Exact:
//   host, Native       a priori, (min(m, h) + 2 ceil(m / h) + 6) u, h = 128; complex 2 sqrt(2) (... + 3 u), h = 64:
//     blocks (host/trsm.cpp)
//   host, other modes  measured: the residual in double and what that arithmetic may hide, (m + 3) 2^-52
//   device             measured in fp32 per diagonal block of 128 rows (64 complex ones), plus the rounding of the sums
//     around it
//   Exact, anywhere    measured in 80 bits per block of 64 rows, plus the certificates of the exact products: within a
//     few times the residual
// A target is kept by the bound of the solve at hand, what underflow may have lost counted: modes are tried in a copy
// of B, cheapest first; where none keeps it the call is refused and B is as it was. On the device (s and c): inverted
// diagonal blocks, one step of refinement each, everything else products in the mode asked for. The rows from a zero
// pivot on are infinite or NaN, those before are not touched by it; NaN or infinity in B spreads over its block of rows
// in its column and all later ones.
#pragma once

#include <trn/blas/types.hpp>

namespace trn::blas {

template <Scalar T> Accuracy trsm(const Executor& executor, Side side, Uplo uplo, Op op, Diag diag, Number<T> alpha,
                                  const ConstMatrix<T>& a, const MatrixView<T>& b, const ProductOptions& options = {});

}  // namespace trn::blas
