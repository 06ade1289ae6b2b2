// The device kernel of trsm_batched as a value: one program for a whole batch, for tools that print, emit, profile or
// estimate it.
#pragma once

#include <trn/blas/gemm_program.hpp>

namespace trn::blas {

// T_p X_p = alpha B_p for p = 0 .. count - 1, each as in TrsmShape with mode Native.
struct TrsmBatchedShape {
  DType dtype = DType::Float32;
  std::int64_t m = 1, n = 1, count = 1;
  std::int64_t am = 1, an = 1, bm = 1, bn = 1;
  bool lower = true, unit = false, conj = false;
  Factor alpha = Factor::One;
  bool operator==(const TrsmBatchedShape&) const = default;
};

// Tensors, complex ones as float32 with a last dimension of 2: inputs "a0", "a1", ... (m x m), "b0", ... (m x n, same
// memory as x0, ...) and, where alpha is an Input, "alpha" (one element); outputs "x0", .... alpha is not Zero. Throws
// NotImplemented for other dtypes.
[[nodiscard]] tile::Program trsm_batched_program(const TrsmBatchedShape& shape, const tile::Machine& machine);

}  // namespace trn::blas
