// Products of 8-bit floats with scales. cuBLASLt: matmuls of CUDA_R_8F_E4M3 and CUDA_R_8F_E5M2 with A_SCALE and
// B_SCALE, one for a matrix, for each row or column, or for blocks of 128 along k.
//
//   C(i, j) = alpha sum over blocks t of k: sa(i, t) sb(t, j) (sum over k in t of A(i, k) B(k, j)) + beta C(i, j)
//
// A and B are float8_e4m3 (largest number 240), float8_e5m2 or float8_e4m3fn (448; on devices trn3 only), in any pair
// but the two kinds of e4m3 together. C is float, bfloat16 or float16. quantize.hpp makes such operands.
//
// scale_a has m rows or one, scale_b n columns or one: what has one is the same for all. The other extent is one (a
// scale for all of k) or ceil(k / 128) (a scale for each block). Without a scale the operand counts as it is.
//
// Every executor gives the same bits. Sums are fp32, in this order: without blocks, the products of 256 neighbours in k
// are added one after another from zero, and these sums are added one after another; with blocks, those of 128
// neighbours, each sum is multiplied by its factor and these are added from zero. A factor is
// fl(fl(alpha sa) sb), and C = fl(fl(beta C) + sum). The machine's own accumulation is fp32 always: accumulation in
// float16 is not offered, because PSUM does not have it and it loses 13 bits where nothing is gained.
//
// Accuracy: |C - exact|(i, j) <= bound (|alpha| sum over t of |sa sb| (|A||B|)_t + |beta C|)(i, j), barring over- and
// underflow; the products themselves are exact. What rounding to 8 bits did to the operands is quantize.hpp's bound.
// alpha = 0 drops the product, and A, B and the scales are not read; beta = 0 does not read C. Needs trn2 or trn3; trn1
// has no matmul of 256 rows and is refused.
#pragma once

#include <optional>

#include <trn/blas/gemm_ex.hpp>

namespace trn::blas {

inline constexpr std::int64_t kScaleBlock = 128;

struct ScaledOptions {
  std::optional<MatrixView<const float>> scale_a{};  // m or 1 rows, 1 or ceil(k / 128) columns
  std::optional<MatrixView<const float>> scale_b{};  // 1 or ceil(k / 128) rows, n or 1 columns
};

template <class T>
concept Float8 = std::same_as<std::remove_const_t<T>, float8_e4m3> ||
    std::same_as<std::remove_const_t<T>, float8_e4m3fn> || std::same_as<std::remove_const_t<T>, float8_e5m2>;

// Element types known at run time only.
Accuracy scaled_gemm_ex(const Executor& executor, Op op_a, Op op_b, float alpha, const TypedMatrix& a,
                        const TypedMatrix& b, float beta, const TypedMatrix& c, const ScaledOptions& options = {});

template <Float8 A, Float8 B, Element Out>
requires std::same_as<Out, float> || std::same_as<Out, bfloat16> || std::same_as<Out, float16> Accuracy
scaled_gemm(const Executor& executor, Op op_a, Op op_b, float alpha, const MatrixView<A>& a, const MatrixView<B>& b,
            float beta, const MatrixView<Out>& c, const ScaledOptions& options = {}) {
  return scaled_gemm_ex(executor, op_a, op_b, alpha, a, b, beta, c, options);
}

}  // namespace trn::blas
