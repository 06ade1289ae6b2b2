// Products of float matrices in 8 or 4 bits: what Precision is for the wider modes, for the machine's narrow ones.
//
//   blas::gemm(exec, Op::N, Op::N, 1.0F, a, b, 0.0F, c, Quantized::Fp8E4M3);
//
// A and B are quantised where they are, multiplied, and thrown away; C is float. Fp8 modes: quantize with a scale for
// each row of op(A) and each column of op(B), then scaled_gemm (host, trn2, trn3; Fp8E4M3FN: host, trn3). Mx modes:
// rounding to bfloat16, mx_quantize with a scale for each 32 neighbours along k, then mx_gemm (host, trn3; MxFp4: host,
// whose 4-bit matrices MxMatrix::on copies to trn3). Every executor gives the same bits. Who multiplies a matrix often
// quantises it once and calls those himself.
//
// Accuracy, barring over- and underflow, in the unit of Precision's bounds:
//   |C - exact|(i, j) <= bound (|alpha| ||a_i|| ||b_j|| + |beta c_ij|),   bound = 2 e + e^2 + g (1 + e)^2,
// g the bound of the sums in fp32, and e what quantisation does to a row at most, relative to its Euclidean norm:
//
//   Fp8E4M3     2^-4 + sqrt(k) 2^-9 / 240      a code errs by u |x| or, below the smallest normal one, by half a step,
//   Fp8E4M3FN   2^-4 + sqrt(k) 2^-9 / 448      of which one is at most eta 2 max|x| / largest
//   Fp8E5M2     2^-3 + sqrt(k) 2^-16 / 57344
//   MxFp8E4M3   2^-4 + sqrt(32) 2^-17 ...      and (1 + 2^-8) (1 + e) - 1 of these for the rounding to bfloat16; steps
//   MxFp8E5M2   2^-3 + sqrt(32) 2^-31 ...      are eta 2^(1 - emax) max|x| of 32 neighbours
//   MxFp4       2^-2 + sqrt(32) 2^-3  ...      (a bound above 1, which says little: half a step is 1/8 of the largest)
//
// Quantized is a type of its own because a Precision is a promise that every operation keeps, or refuses, and that a
// target may choose (docs/precision.md). An infinity or a NaN in a row makes a row of NaN (Fp8) or counts as mx.hpp
// says. alpha = 0 reads neither A nor B, beta = 0 does not read C.
#pragma once

#include <span>
#include <string_view>

#include <trn/blas/types.hpp>

namespace trn::blas {

enum class Quantized : std::uint8_t { Fp8E4M3, Fp8E4M3FN, Fp8E5M2, MxFp8E4M3, MxFp8E5M2, MxFp4 };

// "fp8_e4m3", "fp8_e4m3fn", "fp8_e5m2", "mxfp8_e4m3", "mxfp8_e5m2", "mxfp4".
[[nodiscard]] const char* name(Quantized mode);
[[nodiscard]] std::span<const Quantized> all_quantized();
[[nodiscard]] Quantized parse_quantized(std::string_view text);  // throws InvalidArgument that lists them

struct QuantizedAccuracy {
  Quantized mode = Quantized::Fp8E4M3;
  double operands = 0;  // e
  double bound = 0;
};

// e for an inner dimension k.
[[nodiscard]] double quantization_error(Quantized mode, std::int64_t k);

QuantizedAccuracy gemm(const Executor& executor, Op op_a, Op op_b, float alpha, const MatrixView<const float>& a,
                       const MatrixView<const float>& b, float beta, const MatrixView<float>& c, Quantized mode);

}  // namespace trn::blas
