// Many products in one call: C_b = alpha op(A_b) op(B_b) + beta C_b. cuBLAS: cublasSgemmBatched,
// cublasSgemmStridedBatched, cublasSgemmGroupedBatched. One dispatch, one device program, whatever the count; Exact on
// a device, and targets that need it, are products one after another.
//
// Operands are raw addresses on the executor, so that a batch of 10,000 costs no 10,000 views. Matrices are stored
// row-major or column-major with a leading dimension; op is applied to the stored matrix. The C_b must not overlap one
// another nor any A_b or B_b. A stride of 0 shares one A or B among all products.
#pragma once

#include <span>

#include <trn/blas/storage.hpp>

namespace trn::blas {

// The shape that every product of a batch (or of a group) has.
struct BatchShape {
  Op op_a = Op::N, op_b = Op::N;
  std::int64_t m = 0, n = 0, k = 0;
  std::int64_t lda = 0, ldb = 0, ldc = 0;  // 0: packed
  Layout layout = Layout::ColumnMajor;
  bool operator==(const BatchShape&) const = default;
};

// Strided: matrix b starts at a + b * stride_a, and so on.
template <Scalar T> Accuracy gemm_strided_batched(const Executor& executor, const BatchShape& shape, Number<T> alpha,
                                                  std::type_identity_t<const T*> a, std::int64_t stride_a,
                                                  std::type_identity_t<const T*> b, std::int64_t stride_b,
                                                  Number<T> beta, T* c, std::int64_t stride_c, std::int64_t count,
                                                  const ProductOptions& options = {});

// Pointer arrays: the arrays themselves are in host memory, what they point at is on the executor.
template <Scalar T> Accuracy gemm_batched(const Executor& executor, const BatchShape& shape, Number<T> alpha,
                                          std::type_identity_t<std::span<const T* const>> a,
                                          std::type_identity_t<std::span<const T* const>> b, Number<T> beta,
                                          std::span<T* const> c, const ProductOptions& options = {});

// Groups of different shapes and factors; group g takes the next groups[g].count pointers of each array.
template <Scalar T> struct GemmGroup {
  BatchShape shape;
  T alpha = 1, beta = 0;
  std::int64_t count = 0;
};
template <Scalar T> Accuracy gemm_grouped_batched(const Executor& executor,
                                                  std::type_identity_t<std::span<const GemmGroup<T>>> groups,
                                                  std::type_identity_t<std::span<const T* const>> a,
                                                  std::type_identity_t<std::span<const T* const>> b,
                                                  std::span<T* const> c, const ProductOptions& options = {});

}  // namespace trn::blas
