// The entry points of operations that store in 16 or 8 bits with a rounding.
#include <trn/blas/narrow.hpp>

#include <trn/core/array.hpp>

#include "checks.hpp"
#include "kernels/narrow.hpp"

namespace trn::blas {

namespace {

checks::Extent extent_of(const detail::AnyVector& v) { return {v.data, {{v.size, v.stride}}, size_bytes(v.dtype), 1}; }

void check_vector(const char* operation, const char* name, const Executor& executor, const detail::AnyVector& v) {
  checks::check_owner(operation, name, executor, v.executor);
  checks::check_address(operation, name, v.data, v.size == 0);
}

// True where there is something to do.
bool checked(const char* operation, const Executor& executor, const detail::AnyVector& x, const detail::AnyVector& y) {
  check_vector(operation, "x", executor, x);
  check_vector(operation, "y", executor, y);
  require(x.size == y.size, "{}: x has {} elements, y has {}; give both the same", operation, x.size, y.size);
  if (y.size == 0) return false;
  checks::distinct_elements(operation, "y", extent_of(y));
  checks::no_overlap(operation, "x", extent_of(x), "y", extent_of(y));
  return true;
}

NarrowArgs sum_of(float alpha, const detail::AnyVector& x, float beta, const detail::AnyVector& y,
                  const Rounding& rounding) {
  return {x.dtype, y.dtype, 1, y.size, x.data, 1, x.stride, y.data, 1, y.stride, alpha, beta, rounding};
}

checks::Extent extent_of(const TypedMatrix& x) {
  return {x.data, {{x.rows, x.row_stride}, {x.columns, x.column_stride}}, size_bytes(x.dtype)};
}

// What concerns C itself; the product's own checks see A, B and a matrix of C's extents.
void check_result(const char* operation, const Executor& executor, const TypedMatrix& c) {
  require(c.rows >= 0 && c.columns >= 0, "{}: C is {} x {}; extents must be >= 0", operation, c.rows, c.columns);
  checks::check_owner(operation, "C", executor, c.executor);
  checks::check_address(operation, "C", c.data, c.rows == 0 || c.columns == 0);
  checks::distinct_elements(operation, "C", extent_of(c));
}

// C = round(alpha S + beta C) with S = product(sums), fp32 and in memory of its own; `multiplies`: there is a product
// at all, otherwise C = beta C, or zeros without reading it. The factors and the sum round three times more than S.
template <class Product> Accuracy rounded(const Executor& executor, float alpha, bool multiplies, float beta,
                                          const TypedMatrix& c, const Rounding& rounding, const Product& product) {
  const Array<float> sums(executor, {c.rows, c.columns});
  const auto s = MatrixView<float>::row_major(executor, sums.data(), c.rows, c.columns);
  Accuracy accuracy = product(multiplies ? 1.0F : 0.0F, s);
  if (c.rows == 0 || c.columns == 0) return accuracy;
  const double in_float = accuracy.bound + 3 * 0x1p-24,
               unit = (rounding.is_stochastic() ? 2 : 1) * unit_roundoff(c.dtype);
  accuracy.bound = in_float + unit * (1 + in_float);
  NarrowArgs store{DType::Float32, c.dtype,      c.rows,          c.columns, s.data(), s.row_stride(), 1,
                   c.data,         c.row_stride, c.column_stride, alpha,     beta,     rounding};
  if (!multiplies) {
    store.alpha = 1;
    if (beta != 0) store.x = nullptr;
  }
  dispatch(kRound, executor, store);
  return accuracy;
}

}  // namespace

void detail::narrow_axpy(const Executor& executor, float alpha, const AnyVector& x, const AnyVector& y,
                         const Rounding& rounding) {
  if (checked("blas.axpy", executor, x, y) && alpha != 0)
    dispatch(kNarrowAxpy, executor, sum_of(alpha, x, 1, y, rounding));
}

void detail::narrow_axpby(const Executor& executor, float alpha, const AnyVector& x, float beta, const AnyVector& y,
                          const Rounding& rounding) {
  if (checked("blas.axpby", executor, x, y)) dispatch(kNarrowAxpby, executor, sum_of(alpha, x, beta, y, rounding));
}

void detail::narrow_scal(const Executor& executor, float alpha, const AnyVector& x, const Rounding& rounding) {
  check_vector("blas.scal", "x", executor, x);
  if (x.size == 0) return;
  checks::distinct_elements("blas.scal", "x", extent_of(x));
  dispatch(kNarrowScal, executor,
           {x.dtype, x.dtype, 1, x.size, nullptr, 1, 1, x.data, 1, x.stride, 0, alpha, rounding});
}

void detail::narrow_copy(const Executor& executor, const AnyVector& x, const AnyVector& y, const Rounding& rounding) {
  if (checked("blas.copy", executor, x, y)) dispatch(kRound, executor, sum_of(1, x, 0, y, rounding));
}

template <NarrowFloat T> Accuracy detail::narrow_gemm(const Executor& executor, Op op_a, Op op_b, float alpha,
                                                      const MatrixView<const T>& a, const MatrixView<const T>& b,
                                                      float beta, const MatrixView<T>& c, const Rounding& rounding,
                                                      Precision precision) {
  if (!rounding.is_stochastic()) return detail::gemm<T, T>(executor, op_a, op_b, alpha, a, b, beta, c, {precision, {}});
  constexpr const char* operation = "blas.gemm";
  if (precision.has_target())
    fail<NotImplemented>("{}: a target error is for Rounding::Nearest; give a mode", operation);
  check_result(operation, executor, c);
  checks::no_overlap(operation, "A", checks::extent(a), "C", checks::extent(c));
  checks::no_overlap(operation, "B", checks::extent(b), "C", checks::extent(c));
  const bool multiplies = alpha != 0 && (op_a == Op::N ? a.columns() : a.rows()) > 0;
  return rounded(executor, alpha, multiplies, beta, c, rounding, [&](float one, const MatrixView<float>& s) {
    return detail::gemm<T, float>(executor, op_a, op_b, one, a, b, 0.0f, s, {precision, {}});
  });
}

// As above, C in 8 bits or the operands: the product in fp32 is gemm_ex's or, of 8-bit operands, scaled_gemm's.
Accuracy detail::float8_gemm(const Executor& executor, Op op_a, Op op_b, float alpha, const TypedMatrix& a,
                             const TypedMatrix& b, float beta, const TypedMatrix& c, const Rounding& rounding,
                             const ScaledOptions& options) {
  if (!rounding.is_stochastic() && !is_fp8(c.dtype))
    return scaled_gemm_ex(executor, op_a, op_b, alpha, a, b, beta, c, options);
  constexpr const char* operation = "blas.gemm";
  check_result(operation, executor, c);
  checks::no_overlap(operation, "A", extent_of(a), "C", extent_of(c));
  checks::no_overlap(operation, "B", extent_of(b), "C", extent_of(c));
  for (const auto& [name, scale] : {std::pair("scale_a", &options.scale_a), std::pair("scale_b", &options.scale_b)}) {
    if (*scale) checks::no_overlap(operation, name, checks::extent(**scale), "C", extent_of(c));
  }
  const bool multiplies = alpha != 0 && (op_a == Op::N ? a.columns : a.rows) > 0;
  return rounded(executor, alpha, multiplies, beta, c, rounding, [&](float one, const MatrixView<float>& s) {
    return is_fp8(a.dtype) ? scaled_gemm_ex(executor, op_a, op_b, one, a, b, 0, s, options)
                           : gemm_ex(executor, op_a, op_b, one, a, b, 0, s);
  });
}

Accuracy detail::rounded_mx_gemm(const Executor& executor, float alpha, const MxMatrix& a, const MxMatrix& b,
                                 float beta, const TypedMatrix& c, const Rounding& rounding) {
  check_result("blas.mx_gemm", executor, c);
  return rounded(executor, alpha, alpha != 0 && a.depth() > 0, beta, c, rounding,
                 [&](float one, const MatrixView<float>& s) { return blas::mx_gemm(executor, one, a, b, 0, s); });
}

#define TRN_NARROW_GEMM(T)                                                                                           \
  template Accuracy detail::narrow_gemm<T>(const Executor&, Op, Op, float, const MatrixView<const T>&,               \
                                           const MatrixView<const T>&, float, const MatrixView<T>&, const Rounding&, \
                                           Precision);
TRN_NARROW_GEMM(bfloat16)
TRN_NARROW_GEMM(float16)
#undef TRN_NARROW_GEMM

}  // namespace trn::blas
