// Triangular solve with many right-hand sides: op(A) X = alpha B (Side::Left) or X op(A) = alpha B (Side::Right); X replaces B.
// alpha = 0 sets B to zero without reading A. The other triangle of A is never read, nor a Unit diagonal. No test for
// singularity. cuBLAS: cublasStrsm, ...
// The bound is on the residual: |alpha B - op(A) X|(i,j) <= bound * ||a_i|| ||x_j|| (columns of X for Left; rows for Right).
//
// A target is kept by the bound of the solve at hand: on a device the modes are tried in a copy of B, cheapest first and Exact last; where none keeps it the
// call is refused and B is as it was.
//
// On the device (float32 and complex64): inverted diagonal blocks of 128 rows, one step of refinement each, everything else products in the
// mode asked for. The residual that a solve leaves is measured on the device, and the reported bound is what was measured plus
// the rounding of the arithmetic around it: it holds for the operands at hand and is infinite when X is not finite. The rows from a zero pivot
// on are infinite or NaN, those before are not touched by it; NaN or infinity in B spreads over its block of rows (128, 64 for complex64) in
// its column and all later ones.
#pragma once

#include <trn/blas/types.hpp>

namespace trn::blas {

template <Scalar T>
Accuracy trsm(const Executor& executor, Side side, Uplo uplo, Op op, Diag diag, Number<T> alpha, const ConstMatrix<T>& a,
              const MatrixView<T>& b, const ProductOptions& options = {});

}  // namespace trn::blas
