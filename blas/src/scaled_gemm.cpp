// The entry points of scaled_gemm and quantize.
#include <trn/blas/quantize.hpp>
#include <trn/tile/blocks/loops.hpp>

#include "checks.hpp"
#include "fold.hpp"
#include "kernels/scaled.hpp"

namespace trn::blas {

namespace {

using tile::blocks::ceil_div;

TypedMatrix folded(Op op, TypedMatrix x) {
  if (op == Op::N) return x;
  std::swap(x.rows, x.columns), std::swap(x.row_stride, x.column_stride);
  return x;
}

checks::Extent extent(const TypedMatrix& x) {
  return {x.data, {{x.rows, x.row_stride}, {x.columns, x.column_stride}}, size_bytes(x.dtype)};
}

void check(const char* operation, const char* name, const Executor& executor, const TypedMatrix& x) {
  require(x.rows >= 0 && x.columns >= 0, "{}: {} is {} x {}; extents must be >= 0", operation, name, x.rows, x.columns);
  checks::check_owner(operation, name, executor, x.executor);
  checks::check_address(operation, name, x.data, x.rows == 0 || x.columns == 0);
}

// Strides of a scale along what it may have one of for all.
std::int64_t stride_of(const char* operation, const char* operand, const char* what, std::int64_t extent,
                       std::int64_t stride, std::int64_t all) {
  require(extent == 1 || extent == all, "{}: {} has {} {}; it must have 1 or {}", operation, operand, extent, what,
          all);
  return extent <= 1 ? 0 : stride;
}

// Roundings on the way of one product into C: those of its sum, of the sums' sum, of its factor (three) and of
// beta C + sum.
double bound_of(const ScaledShape& s) {
  const std::int64_t depth = s.blocks ? kScaleBlock : 2 * kScaleBlock, sums = ceil_div(s.k, depth);
  const double u = unit_roundoff(DType::Float32), count = static_cast<double>(std::min(s.k, depth) + sums + 4);
  return count * u / (1 - count * u) + (s.out == DType::Float32 ? 0 : unit_roundoff(s.out));
}

}  // namespace

Float8Limits float8_limits(DType dtype) {
  switch (dtype) {
    case DType::Float8E4M3:
      return {240, 0x1p-4, 0x1p-9};
    case DType::Float8E4M3FN:
      return {448, 0x1p-4, 0x1p-9};
    case DType::Float8E5M2:
      return {57344, 0x1p-3, 0x1p-16};
    default:
      fail<InvalidArgument>("float8_limits: {} is not an 8-bit float; use float8_e4m3, float8_e4m3fn or float8_e5m2",
                            name(dtype));
  }
}

Accuracy scaled_gemm_ex(const Executor& executor, Op op_a, Op op_b, float alpha, const TypedMatrix& a,
                        const TypedMatrix& b, float beta, const TypedMatrix& c, const ScaledOptions& options) {
  constexpr const char* kOperation = "blas.scaled_gemm";
  checks::enumerators(kOperation, op_a, op_b);
  for (const auto& [what, x] : {std::pair("A", &a), std::pair("B", &b)}) {
    require(is_fp8(x->dtype), "{}: {} is {}; it must be float8_e4m3, float8_e4m3fn or float8_e5m2", kOperation, what,
            name(x->dtype));
  }
  const bool kinds = a.dtype != b.dtype && a.dtype != DType::Float8E5M2 && b.dtype != DType::Float8E5M2;
  require(!kinds, "{}: A is {} and B is {}; the two kinds of e4m3 cannot be multiplied: convert one", kOperation,
          name(a.dtype), name(b.dtype));
  require(c.dtype == DType::Float32 || c.dtype == DType::BFloat16 || c.dtype == DType::Float16,
          "{}: C is {}; it must be float32, bfloat16 or float16", kOperation, name(c.dtype));
  check(kOperation, "A", executor, a);
  check(kOperation, "B", executor, b);
  check(kOperation, "C", executor, c);
  const TypedMatrix fa = folded(op_a, a), fb = folded(op_b, b);
  require(fa.rows == c.rows && fb.columns == c.columns && fa.columns == fb.rows,
          "{}: op(A) is {} x {} (op {}), op(B) is {} x {} (op {}), C is {} x {}; they must be m x k, k x n and m x n",
          kOperation, fa.rows, fa.columns, letter(op_a), fb.rows, fb.columns, letter(op_b), c.rows, c.columns);
  ScaledShape s{a.dtype, b.dtype, c.dtype, c.rows, c.columns, fa.columns};
  s.am = fa.row_stride, s.ak = fa.column_stride, s.bk = fb.row_stride, s.bn = fb.column_stride;
  s.cm = c.row_stride, s.cn = c.column_stride;
  const std::int64_t blocks = ceil_div(s.k, kScaleBlock);
  const checks::Extent out = extent(c);
  const float *scale_a = nullptr, *scale_b = nullptr;
  if (options.scale_a) {
    const MatrixView<const float>& x = *options.scale_a;
    checks::operand(kOperation, "scale_a", executor, x);
    s.a_row = stride_of(kOperation, "scale_a", "rows", x.rows(), x.row_stride(), s.m);
    s.a_block = stride_of(kOperation, "scale_a", "columns", x.columns(), x.column_stride(), blocks);
    s.blocks = x.columns() > 1;
    scale_a = x.data();
    checks::no_overlap(kOperation, "scale_a", checks::extent(x), "C", out);
  }
  if (options.scale_b) {
    const MatrixView<const float>& x = *options.scale_b;
    checks::operand(kOperation, "scale_b", executor, x);
    s.b_block = stride_of(kOperation, "scale_b", "rows", x.rows(), x.row_stride(), blocks);
    s.b_column = stride_of(kOperation, "scale_b", "columns", x.columns(), x.column_stride(), s.n);
    s.blocks = s.blocks || x.rows() > 1;
    scale_b = x.data();
    checks::no_overlap(kOperation, "scale_b", checks::extent(x), "C", out);
  }
  s.even_a = reinterpret_cast<std::uintptr_t>(fa.data) % 2 == 0;
  s.even_b = reinterpret_cast<std::uintptr_t>(fb.data) % 2 == 0;
  s.beta = beta == 0 ? Factor::Zero : beta == 1 ? Factor::One : Factor::Input;
  const Accuracy accuracy{Mode::Native, 1, bound_of(s)};
  if (s.m == 0 || s.n == 0) return accuracy;
  checks::distinct_elements(kOperation, "C", out);
  checks::no_overlap(kOperation, "A", extent(a), "C", out);
  checks::no_overlap(kOperation, "B", extent(b), "C", out);
  dispatch(kScaledGemm, executor, ScaledArgs{s, fa.data, fb.data, scale_a, scale_b, c.data, alpha, beta});
  return accuracy;
}

void detail::quantize(const Executor& executor, const MatrixView<const float>& x, const TypedMatrix& q,
                      const MatrixView<float>& scale) {
  constexpr const char* kOperation = "blas.quantize";
  checks::operand(kOperation, "x", executor, x);
  check(kOperation, "q", executor, q);
  checks::operand(kOperation, "scale", executor, scale);
  require(x.rows() == q.rows && x.columns() == q.columns, "{}: x is {} x {}, q is {} x {}; they must be equal",
          kOperation, x.rows(), x.columns(), q.rows, q.columns);
  const std::int64_t groups = ceil_div(x.columns(), kScaleBlock);
  QuantizeShape s{q.dtype, x.rows(), x.columns(), x.row_stride(), x.column_stride(), q.row_stride, q.column_stride};
  s.sr = stride_of(kOperation, "scale", "rows", scale.rows(), scale.row_stride(), x.rows());
  s.sg = stride_of(kOperation, "scale", "columns", scale.columns(), scale.column_stride(), groups);
  require(scale.rows() != 1 || x.rows() == 1 || groups <= 1 || scale.columns() == 1,
          "{}: scale is 1 x {}; one row of scales serves a matrix of one row: use 1 x 1 or {} x {}", kOperation,
          scale.columns(), x.rows(), groups);
  if (x.rows() == 0 || x.columns() == 0) return;
  checks::distinct_elements(kOperation, "q", extent(q));
  checks::distinct_elements(kOperation, "scale", checks::extent(scale));
  checks::no_overlap(kOperation, "x", checks::extent(x), "q", extent(q));
  checks::no_overlap(kOperation, "x", checks::extent(x), "scale", checks::extent(scale));
  checks::no_overlap(kOperation, "q", extent(q), "scale", checks::extent(scale));
  dispatch(kQuantize, executor, QuantizeArgs{s, x.data(), q.data, scale.data()});
}

}  // namespace trn::blas
