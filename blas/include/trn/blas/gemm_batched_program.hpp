// The device kernel of batched gemm as a value: one program for a whole batch, for tools that print, emit, profile or
// estimate it.
#pragma once

#include <trn/blas/gemm_program.hpp>
#include <trn/core/precision.hpp>
#include <vector>

namespace trn::blas {

// `count` products C_p = alpha A_p B_p + beta C_p of one shape: A_p is m x k with strides (am, ak), B_p k x n with (bk,
// bn), C_p m x n with (cm, cn), in elements. m, n, count >= 1. alpha Zero, or k = 0: C_p = beta C_p. The distances
// between matrices are used when the batch is strided.
struct BatchedProducts {
  std::int64_t m = 1, n = 1, k = 1, count = 1;
  std::int64_t am = 1, ak = 1, bk = 1, bn = 1, cm = 1, cn = 1;
  std::int64_t stride_a = 0, stride_b = 0, stride_c = 0;
  Factor alpha = Factor::One, beta = Factor::Zero;
  bool operator==(const BatchedProducts&) const = default;
};

struct GemmBatchedShape {
  DType dtype = DType::Float32;
  Mode mode = Mode::Native;
  // Every matrix is a tensor of its own, at any address; otherwise one group whose matrices are equally spaced.
  bool listed = false;
  std::vector<BatchedProducts> groups;
  bool operator==(const GemmBatchedShape&) const = default;
};

// Tensors. Strided: inputs "a" (count x m x k), "b", where beta is not Zero "c_in", output "c" (over c_in).
// Listed: "a0", "a1", ... (m x k), "b0", ..., "c_in0", ..., "c0", ..., numbered through all groups. Factors that are an
// Input: "alpha0", "beta0", ... by group, float32. A group that changes nothing (beta One without products) has no
// tensors. Throws NotImplemented for other dtypes than Float32 and for mode Exact.
[[nodiscard]] tile::Program gemm_batched_program(const GemmBatchedShape& shape, const tile::Machine& machine);

// The bound of a mode of this program for k products: up to 128 fused products per matmul, one addition to PSUM for
// each of the mode's products of words, and three roundings for alpha and beta.
[[nodiscard]] double gemm_batched_error_bound(Mode mode, std::int64_t k);

}  // namespace trn::blas
