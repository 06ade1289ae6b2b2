// The device kernels of scaled_gemm and quantize as values, for tools that print, emit, profile or estimate them.
#pragma once

#include <trn/blas/gemm_program.hpp>

namespace trn::blas {

// op(A) is m x k with strides (am, ak), op(B) is k x n with (bk, bn), C is m x n with (cm, cn), in elements.
struct ScaledShape {
  DType a = DType::Float8E4M3, b = DType::Float8E4M3, out = DType::Float32;
  std::int64_t m = 1, n = 1, k = 1;
  std::int64_t am = 1, ak = 1, bk = 1, bn = 1, cm = 1, cn = 1;
  bool even_a = true, even_b = true;  // the operand's address is even: two neighbours in k may be moved as one number
  // Strides of the scales; 0: one for all. `blocks`: either has one for every 128 of k.
  std::int64_t a_row = 0, a_block = 0, b_block = 0, b_column = 0;
  bool blocks = false;
  bool alpha_on_columns = false;  // the factor is fl(fl(alpha sb) sa)
  Factor beta = Factor::Zero;
  bool operator==(const ScaledShape&) const = default;
};

// Tensors: inputs "a" (m x k), "b" (k x n), "scale_a", "scale_b", "alpha" (one float), where beta is read "c_in" and,
// where it is Input, "beta"; output "c" (m x n). Throws NotImplemented where the machine lacks double rows or the type.
[[nodiscard]] tile::Program scaled_gemm_program(const ScaledShape& shape, const tile::Machine& machine);

// x is rows x columns with strides (xr, xc), q with (qr, qc), scale with (sr, sg), 0 where one is for all.
struct QuantizeShape {
  DType q = DType::Float8E4M3;
  std::int64_t rows = 1, columns = 1;
  std::int64_t xr = 1, xc = 1, qr = 1, qc = 1, sr = 0, sg = 0;
  bool operator==(const QuantizeShape&) const = default;
};

// Tensors: input "x", outputs "q" and "scale".
[[nodiscard]] tile::Program quantize_program(const QuantizeShape& shape, const tile::Machine& machine);

}  // namespace trn::blas
