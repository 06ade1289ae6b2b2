// The device kernel of trsm as a value: the program for one shape, for tools that print, emit, profile or estimate it.
#pragma once

#include <trn/blas/gemm_program.hpp>
#include <trn/core/precision.hpp>

namespace trn::blas {

// T X = alpha B: T is m x m, lower or upper triangular, strides (am, an); B and X are m x n, strides (bm, bn); in
// elements of dtype, Float32 or Complex64. conj: conj(T) stands in T's place. All extents >= 1. mode: Native, Tf32,
// Bf16, Tf32x3 or Bf16x6, of the products with T's blocks below the diagonal ones; the diagonal ones are always
// multiplied in fp32.
struct TrsmShape {
  DType dtype = DType::Float32;
  std::int64_t m = 1, n = 1;
  std::int64_t am = 1, an = 1, bm = 1, bn = 1;
  bool lower = true, unit = false, conj = false;
  Factor alpha = Factor::One;
  Mode mode = Mode::Native;
  bool operator==(const TrsmShape&) const = default;
};

// Tensors, complex ones as float32 with a last dimension of 2: inputs "a" (m x m), "b" (m x n; x continues it) and,
// where alpha is an Input, "alpha" (one element); outputs "x" (m x n), and for each column j, float32: "residual", the
// largest |r_ij| / max_k |T_ik| over the rows, r what the solve leaves of a block's equations as computed, k over the
// diagonal block; "largest", max_i |x_ij|. alpha is not Zero. Throws NotImplemented for other dtypes and modes.
[[nodiscard]] tile::Program trsm_program(const TrsmShape& shape, const tile::Machine& machine);

// The bound of trsm.hpp for one solve, from what the program measured (host arrays of n elements): measured residual
// plus the rounding of everything that computed it.
[[nodiscard]] double trsm_residual_bound(const TrsmShape& shape, const float* residual, const float* largest);

}  // namespace trn::blas
