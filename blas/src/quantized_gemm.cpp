// gemm in the quantised modes: quantisation of both operands and the product of what it made.
#include <trn/blas/quantized_gemm.hpp>

#include <cmath>

#include <trn/blas/mx.hpp>
#include <trn/blas/quantize.hpp>
#include <trn/core/array.hpp>

#include "fold.hpp"
#include "kernels/narrow.hpp"

namespace trn::blas {

namespace {

constexpr Quantized kModes[] = {Quantized::Fp8E4M3,   Quantized::Fp8E4M3FN, Quantized::Fp8E5M2,
                                Quantized::MxFp8E4M3, Quantized::MxFp8E5M2, Quantized::MxFp4};

bool is_mx(Quantized mode) { return mode >= Quantized::MxFp8E4M3; }

// Of an MX format: half a unit of the last place of 1, the smallest number above zero, the exponent of the largest.
struct MxLimits {
  MxType type;
  double roundoff, smallest;
  int emax;
};
MxLimits mx_limits(Quantized mode) {
  if (mode == Quantized::MxFp8E4M3) return {MxType::Float8E4M3FN, 0x1p-4, 0x1p-9, 8};
  if (mode == Quantized::MxFp8E5M2) return {MxType::Float8E5M2, 0x1p-3, 0x1p-16, 15};
  return {MxType::Float4E2M1FN, 0x1p-2, 0x1p-1, 2};
}

using View = MatrixView<const float>;

// Rows of x, quantised: what an operand of scaled_gemm needs.
template <class T> struct Rows {
  Array<T> codes;
  Array<float> scales;
  Rows(const Executor& executor, const View& x, bool read)
      : codes(executor, {x.rows(), x.columns()}), scales(executor, {x.rows(), 1}) {
    if (read) quantize(executor, x, view(), MatrixView<float>::row_major(executor, scales.data(), x.rows(), 1));
  }
  [[nodiscard]] MatrixView<T> view() const {
    return MatrixView<T>::row_major(codes.executor(), codes.data(), codes.shape()[0], codes.shape()[1]);
  }
};

// op(A) and op(B)^T, both with k along their rows.
struct Product {
  const Executor& executor;
  float alpha;
  View a, b;
  float beta;
  MatrixView<float> c;
  [[nodiscard]] bool reads() const { return alpha != 0 && a.columns() > 0; }
};

template <class T> Accuracy by_rows(const Product& p) {
  const Rows<T> a(p.executor, p.a, p.reads()), b(p.executor, p.b, p.reads());
  ScaledOptions options;
  if (p.reads()) {
    options.scale_a = View::row_major(p.executor, a.scales.data(), p.a.rows(), 1);
    options.scale_b = View::row_major(p.executor, b.scales.data(), 1, p.b.rows());
  }
  return scaled_gemm(p.executor, Op::N, Op::T, p.alpha, a.view(), b.view(), p.beta, p.c, options);
}

MxMatrix in_groups(const Executor& executor, const View& x, MxType type, bool read) {
  if (!read || x.rows() == 0) return {executor, type, x.rows(), x.columns()};
  const Array<bfloat16> narrow(executor, {x.rows(), x.columns()});
  dispatch(kRound, executor,
           {DType::Float32,
            DType::BFloat16,
            x.rows(),
            x.columns(),
            x.data(),
            x.row_stride(),
            x.column_stride(),
            narrow.data(),
            x.columns(),
            1,
            1,
            0,
            {}});
  return mx_quantize(executor, MatrixView<const bfloat16>::row_major(executor, narrow.data(), x.rows(), x.columns()),
                     type);
}

Accuracy multiply(const Product& p, Quantized mode) {
  switch (mode) {
    case Quantized::Fp8E4M3:
      return by_rows<float8_e4m3>(p);
    case Quantized::Fp8E4M3FN:
      return by_rows<float8_e4m3fn>(p);
    case Quantized::Fp8E5M2:
      return by_rows<float8_e5m2>(p);
    default: {
      const MxType type = mx_limits(mode).type;
      return mx_gemm(p.executor, p.alpha, in_groups(p.executor, p.a, type, p.reads()),
                     in_groups(p.executor, p.b, type, p.reads()), p.beta, p.c);
    }
  }
}

void check_mode(const char* operation, Quantized mode) {
  operands::check_enumerator(operation, "Quantized", mode, Quantized::MxFp4);
}

}  // namespace

const char* name(Quantized mode) {
  constexpr const char* kNames[] = {"fp8_e4m3", "fp8_e4m3fn", "fp8_e5m2", "mxfp8_e4m3", "mxfp8_e5m2", "mxfp4"};
  check_mode("name", mode);
  return kNames[static_cast<std::size_t>(mode)];
}

std::span<const Quantized> all_quantized() { return kModes; }

Quantized parse_quantized(std::string_view text) {
  std::string all;
  for (const Quantized mode : kModes) {
    if (text == name(mode)) return mode;
    all += (all.empty() ? "" : ", ") + std::string(name(mode));
  }
  fail<InvalidArgument>("'{}' is not a quantised mode; choose one of {}", text, all);
}

double quantization_error(Quantized mode, std::int64_t k) {
  check_mode("quantization_error", mode);
  require(k >= 0, "quantization_error: k is {}; it must be >= 0", k);
  if (!is_mx(mode)) {
    const Float8Limits f = float8_limits(mode == Quantized::Fp8E4M3     ? DType::Float8E4M3
                                         : mode == Quantized::Fp8E4M3FN ? DType::Float8E4M3FN
                                                                        : DType::Float8E5M2);
    return f.roundoff + std::sqrt(static_cast<double>(k)) * f.smallest / f.largest;
  }
  const MxLimits f = mx_limits(mode);
  const double groups = f.roundoff + std::sqrt(static_cast<double>(kMxGroup)) * std::ldexp(f.smallest, -f.emax);
  return (1 + unit_roundoff(DType::BFloat16)) * (1 + groups) - 1;
}

QuantizedAccuracy gemm(const Executor& executor, Op op_a, Op op_b, float alpha, const MatrixView<const float>& a,
                       const MatrixView<const float>& b, float beta, const MatrixView<float>& c, Quantized mode) {
  constexpr const char* kOperation = "blas.gemm";
  checks::enumerators(kOperation, op_a, op_b);
  check_mode(kOperation, mode);
  checks::operand(kOperation, "A", executor, a);
  checks::operand(kOperation, "B", executor, b);
  checks::operand(kOperation, "C", executor, c);
  const View fa = folded(op_a, a), fb = folded(op_b, b).transposed();
  require(fa.rows() == c.rows() && fb.rows() == c.columns() && fa.columns() == fb.columns(),
          "{}: op(A) is {} x {} (op {}), op(B) is {} x {} (op {}), C is {} x {}; they must be m x k, k x n and m x n",
          kOperation, fa.rows(), fa.columns(), letter(op_a), fb.columns(), fb.rows(), letter(op_b), c.rows(),
          c.columns());
  checks::distinct_elements(kOperation, "C", checks::extent(c));
  checks::no_overlap(kOperation, "A", checks::extent(a), "C", checks::extent(c));
  checks::no_overlap(kOperation, "B", checks::extent(b), "C", checks::extent(c));
  const double sums = multiply({executor, alpha, fa, fb, beta, c}, mode).bound;
  const double e = quantization_error(mode, fa.columns());
  return {mode, e, e * (2 + e) + sums * (1 + e) * (1 + e)};
}

}  // namespace trn::blas
