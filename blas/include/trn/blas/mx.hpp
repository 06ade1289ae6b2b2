// Microscaling (MX) matrices and their product: 8-bit or 4-bit floats with one power of two for each 32 neighbours
// along k, as the Open Compute Project's MX formats have it. trn3 multiplies them at four times the rate of bfloat16.
// cuBLASLt: matmuls with CUBLASLT_MATMUL_MATRIX_SCALE_VEC32_UE8M0.
//
//   C = alpha A B^T + beta C,   A m x k and B n x k, both with groups along k
//
// C is float, bfloat16 or float16. Every executor gives the same bits: a value times its scale is a float; the products
// of 512 neighbours in k are added one after another from zero, these sums one after another, and
// C = fl(fl(beta C) + fl(alpha sum)), in fp32. Accuracy: |C - exact| <= bound (|alpha| |A||B|^T + |beta C|), A and B as
// their formats hold them, barring over- and underflow.
//
// mx_quantize rounds bfloat16 or float16: scale = 2^(floor(log2 max|x|) - (emax - 1)) over the group, so that the
// largest value keeps one bit of headroom, then x / scale to nearest even:
//   |x - scale q| <= max(u |x|, scale eta / 2),  u = 2^-4, 2^-3, 2^-2,  eta = 2^-9, 2^-16, 2^-1 for the three formats.
// A group with an infinity or a NaN has the largest scale, at which the largest number is infinite as a float: its
// finite values are lost. NaN stays NaN in 8-bit formats and is refused by the 4-bit one, which has none. Where scale q
// exceeds the largest float, as for 4 bits and |x| near 2^128, the value is infinite. The engine's instruction makes
// 8-bit formats only: 4-bit matrices are made on the host and copied (on()). alpha = 0 drops the product; beta = 0 does
// not read C.
#pragma once

#include <span>
#include <vector>

#include <trn/blas/types.hpp>
#include <trn/core/array.hpp>

namespace trn::blas {

enum class MxType : std::uint8_t { Float8E4M3FN, Float8E5M2, Float4E2M1FN };
[[nodiscard]] const char* name(MxType type);  // "float8_e4m3fn", "float8_e5m2", "float4_e2m1fn"

inline constexpr std::int64_t kMxGroup = 32;

// rows x depth values in the layout of the Tensor Engine: four neighbours along k in one 32-bit (16-bit) element, the
// elements of a row `padded_rows` apart. depth is padded to a multiple of 128 and rows to an even number, with zeros.
class MxMatrix {
 public:
  // All zeros.
  MxMatrix(const Executor& executor, MxType type, std::int64_t rows, std::int64_t depth);
  // Codes one to a byte, row by row, and the scales (the exponent plus 127, 255 is NaN), ceil(depth / 32) to a row.
  [[nodiscard]] static MxMatrix from_host(const Executor& executor, MxType type, std::int64_t rows, std::int64_t depth,
                                          std::span<const std::uint8_t> codes, std::span<const std::uint8_t> scales);

  [[nodiscard]] const Executor& executor() const { return data_.executor(); }
  [[nodiscard]] MxType type() const { return type_; }
  [[nodiscard]] std::int64_t rows() const { return rows_; }
  [[nodiscard]] std::int64_t depth() const { return depth_; }
  [[nodiscard]] std::int64_t padded_rows() const { return (rows_ + 1) / 2 * 2; }
  [[nodiscard]] std::int64_t padded_depth() const { return (depth_ + 127) / 128 * 128; }
  [[nodiscard]] std::int64_t bits() const { return type_ == MxType::Float4E2M1FN ? 4 : 8; }

  // The values times their scales, row by row.
  [[nodiscard]] std::vector<float> to_host() const;
  // A copy on another executor.
  [[nodiscard]] MxMatrix on(const Executor& executor) const;

  // padded_depth / 4 rows of padded_rows elements; padded_depth / 32 rows of padded_rows bytes.
  [[nodiscard]] const Array<std::uint8_t>& data() const { return data_; }
  [[nodiscard]] const Array<std::uint8_t>& scales() const { return scales_; }

 private:
  MxType type_;
  std::int64_t rows_, depth_;
  Array<std::uint8_t> data_, scales_;
};

// x is rows x depth.
[[nodiscard]] MxMatrix mx_quantize(const Executor& executor, const MatrixView<const bfloat16>& x, MxType type);
[[nodiscard]] MxMatrix mx_quantize(const Executor& executor, const MatrixView<const float16>& x, MxType type);

Accuracy mx_gemm(const Executor& executor, float alpha, const MxMatrix& a, const MxMatrix& b, float beta,
                 const MatrixView<float>& c);
Accuracy mx_gemm(const Executor& executor, float alpha, const MxMatrix& a, const MxMatrix& b, float beta,
                 const MatrixView<bfloat16>& c);
Accuracy mx_gemm(const Executor& executor, float alpha, const MxMatrix& a, const MxMatrix& b, float beta,
                 const MatrixView<float16>& c);

}  // namespace trn::blas
