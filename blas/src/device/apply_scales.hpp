// 8-bit floats times their scales, as bfloat16: how scaled_gemm brings scales that are powers of two into a product
// that sums in PSUM. A number of four significant bits times a power of two is a bfloat16, exactly.
#pragma once

#include <trn/tile/machine.hpp>
#include <trn/tile/program.hpp>

namespace trn::blas::device {

// x is rows x depth with strides (xr, xk), the scales have (sr, sg), 0 where one is for all; groups are 128 of depth.
struct ApplyScalesShape {
  DType x = DType::Float8E4M3;
  std::int64_t rows = 1, depth = 1, xr = 1, xk = 1, sr = 0, sg = 0;
  // y's contiguous direction: depth, or rows.
  [[nodiscard]] bool along_depth() const { return xk == 1 || xr != 1; }
  [[nodiscard]] std::int64_t yr() const { return along_depth() ? depth : 1; }
  [[nodiscard]] std::int64_t yk() const { return along_depth() ? 1 : rows; }
  bool operator==(const ApplyScalesShape&) const = default;
};

// Tensors: inputs "x" and "scale", output "y" (bfloat16, rows x depth with strides (yr, yk)).
[[nodiscard]] tile::Program apply_scales_program(const ApplyScalesShape& shape, const tile::Machine& machine);

}  // namespace trn::blas::device
