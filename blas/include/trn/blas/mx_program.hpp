// The device kernels of mx_gemm and mx_quantize as values, for tools that print, emit, profile or estimate them.
#pragma once

#include <trn/blas/gemm_program.hpp>
#include <trn/blas/mx.hpp>

namespace trn::blas {

// A is m x k, B is n x k, C is m x n with strides (cm, cn).
struct MxGemmShape {
  MxType a = MxType::Float8E4M3FN, b = MxType::Float8E4M3FN;
  DType out = DType::Float32;
  std::int64_t m = 1, n = 1, k = 1, cm = 1, cn = 1;
  Factor alpha = Factor::One, beta = Factor::Zero;
  bool operator==(const MxGemmShape&) const = default;
};

// Tensors: inputs "a", "a_scale", "b", "b_scale" as MxMatrix lays them out, "alpha" and "beta" (float32, one element)
// where the factor is Input, "c_in" where beta is read; output "c" (m x n). Throws NotImplemented without MX.
[[nodiscard]] tile::Program mx_gemm_program(const MxGemmShape& shape, const tile::Machine& machine);

// x is rows x depth of `in`, bfloat16 or float16, with strides (xr, xk).
struct MxQuantizeShape {
  MxType type = MxType::Float8E4M3FN;
  DType in = DType::BFloat16;
  std::int64_t rows = 1, depth = 1, xr = 1, xk = 1;
  bool operator==(const MxQuantizeShape&) const = default;
};

// Tensors: input "x", outputs "data" and "scale" as MxMatrix lays them out.
[[nodiscard]] tile::Program mx_quantize_program(const MxQuantizeShape& shape, const tile::Machine& machine);

}  // namespace trn::blas
