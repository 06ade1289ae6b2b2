// Many triangular solves in one call: op(A_b) X_b = alpha B_b or X_b op(A_b) = alpha B_b. cuBLAS: cublasStrsmBatched.
// A_b is m x m (Left) or n x n (Right), B_b is m x n; addresses on the executor, the arrays of addresses in host
// memory. On the device (float32 and complex64) the matrices A_b are copied whole, so all of them must have been
// written; what stands outside the triangle and on a Unit diagonal never matters.
#pragma once

#include <span>

#include <trn/blas/storage.hpp>

namespace trn::blas {

struct TrsmBatchShape {
  Side side = Side::Left;
  Uplo uplo = Uplo::Lower;
  Op op = Op::N;
  Diag diag = Diag::NonUnit;
  std::int64_t m = 0, n = 0;
  std::int64_t lda = 0, ldb = 0;  // 0: packed
  Layout layout = Layout::ColumnMajor;
  bool operator==(const TrsmBatchShape&) const = default;
};

template <Scalar T> void trsm_batched(const Executor& executor, const TrsmBatchShape& shape, Number<T> alpha,
                                      std::type_identity_t<std::span<const T* const>> a, std::span<T* const> b);

}  // namespace trn::blas
