// Results stored in 16 or 8 bits with a choice of rounding: axpy, axpby, scal, the copy that converts, gemm,
// scaled_gemm and mx_gemm; and the copy back to float.
//
//   // w <- round(w - rate g): weights in bfloat16, gradients in float32, fresh random words in every step
//   blas::axpy(exec, -rate, gradient, weights, Rounding::Stochastic{seed, step});
//   // a moment of an optimiser: m <- round(0.1 g + 0.9 m)
//   blas::axpby(exec, 0.1F, gradient, 0.9F, moment, Rounding::Stochastic{seed + 1, step});
//
// Operands are widened to fp32, every operator rounds to fp32 once, and the result is rounded to y's type once, as
// `rounding` says (trn/core/rounding.hpp; element i of y is number i). Same bits on the host and on every device; only
// the payload of a NaN is not promised. y is bfloat16, float16, float8_e4m3, float8_e5m2 or float8_e4m3fn (on devices:
// trn3), x has y's type or is float. Vectors have one size, 0 is legal; strides may be negative and, for x, 0. x and y
// share no element.
//
// Error of axpy, barring overflow: |y' - (alpha x + y)| < unit(y') + 2^-24 (2 |alpha x| + |y|), where a unit is the
// distance of the neighbours of y' (to nearest: half of it); of axpby with 2 |beta y| in the place of |y|.
// Stochastically E[y'] is the fp32 value, so that n updates of one size below half a unit add up to sqrt(n)-like
// errors, where to nearest every one of them is lost.
//
// Rounding is an argument here and not a field of GemmOptions: that is shared with operations whose results are as wide
// as their arithmetic.
#pragma once

#include <trn/blas/mx.hpp>
#include <trn/blas/scaled_gemm.hpp>
#include <trn/core/rounding.hpp>

namespace trn::blas {

template <class T>
concept NarrowFloat = std::same_as<T, bfloat16> || std::same_as<T, float16> || std::same_as<T, float8_e4m3> ||
    std::same_as<T, float8_e4m3fn> || std::same_as<T, float8_e5m2>;

namespace detail {
// A vector whose type is known at run time.
struct AnyVector {
  Executor executor;
  DType dtype;
  void* data;  // of x: never written
  std::int64_t size, stride;
  template <class T> AnyVector(const VectorView<T>& v)
      : executor(v.executor()),
        dtype(dtype_of<std::remove_const_t<T>>),
        data(const_cast<std::remove_const_t<T>*>(v.data())),
        size(v.size()),
        stride(v.stride()) {}
};
void narrow_axpy(const Executor& executor, float alpha, const AnyVector& x, const AnyVector& y,
                 const Rounding& rounding);
void narrow_axpby(const Executor& executor, float alpha, const AnyVector& x, float beta, const AnyVector& y,
                  const Rounding& rounding);
void narrow_scal(const Executor& executor, float alpha, const AnyVector& x, const Rounding& rounding);
void narrow_copy(const Executor& executor, const AnyVector& x, const AnyVector& y, const Rounding& rounding = {});
template <NarrowFloat T> Accuracy narrow_gemm(const Executor& executor, Op op_a, Op op_b, float alpha,
                                              const MatrixView<const T>& a, const MatrixView<const T>& b, float beta,
                                              const MatrixView<T>& c, const Rounding& rounding, Precision precision);
Accuracy float8_gemm(const Executor& executor, Op op_a, Op op_b, float alpha, const TypedMatrix& a,
                     const TypedMatrix& b, float beta, const TypedMatrix& c, const Rounding& rounding,
                     const ScaledOptions& options = {});
Accuracy rounded_mx_gemm(const Executor& executor, float alpha, const MxMatrix& a, const MxMatrix& b, float beta,
                         const TypedMatrix& c, const Rounding& rounding);
}  // namespace detail

// y = round(alpha x + y). Returns at once when alpha = 0.
template <Element X, NarrowFloat Y>
requires(std::same_as<std::remove_const_t<X>, float> ||
         std::same_as<std::remove_const_t<X>, Y>) void axpy(const Executor& executor, float alpha,
                                                            const VectorView<X>& x, const VectorView<Y>& y,
                                                            const Rounding& rounding = {}) {
  detail::narrow_axpy(executor, alpha, x, y, rounding);
}
// y = round(alpha x + beta y). beta = 0 does not read y; x is read whatever alpha is.
template <Element X, NarrowFloat Y>
requires(std::same_as<std::remove_const_t<X>, float> ||
         std::same_as<std::remove_const_t<X>, Y>) void axpby(const Executor& executor, float alpha,
                                                             const VectorView<X>& x, float beta, const VectorView<Y>& y,
                                                             const Rounding& rounding = {}) {
  detail::narrow_axpby(executor, alpha, x, beta, y, rounding);
}
// x = round(alpha x).
template <NarrowFloat T>
void scal(const Executor& executor, float alpha, const VectorView<T>& x, const Rounding& rounding = {}) {
  detail::narrow_scal(executor, alpha, x, rounding);
}
// y = round(x).
template <Element X, NarrowFloat Y>
requires std::same_as < std::remove_const_t<X>,
float >
    void copy(const Executor& executor, const VectorView<X>& x, const VectorView<Y>& y, const Rounding& rounding = {}) {
  detail::narrow_copy(executor, x, y, rounding);
}
// y = x, exactly: every number of a narrow format is a float.
template <Element X>
requires NarrowFloat<std::remove_const_t<X>>
void copy(const Executor& executor, const VectorView<X>& x, const VectorView<float>& y) {
  detail::narrow_copy(executor, x, y);
}

// C = round(alpha S + beta C), S = op(A) op(B) in fp32 and in memory of its own: gemm of bfloat16 or float16 with a
// rounding of its result. Equal S give equal bits on every executor; S is equal where its sums are exact. The bound of
// the result counts one unit of C, not half of one. Beside the random words everything is gemm's; with Nearest it is
// gemm. Devices run two programs, the product and the rounding. With Stochastic a precision that is a target is
// NotImplemented.
template <Element A, Element B, NarrowFloat C>
requires(std::same_as<std::remove_const_t<A>, C>&& std::same_as<std::remove_const_t<B>, C>&& GemmTypes<C, C>) Accuracy
    gemm(const Executor& executor, Op op_a, Op op_b, float alpha, const MatrixView<A>& a, const MatrixView<B>& b,
         float beta, const MatrixView<C>& c, const Rounding& rounding, Precision precision = {}) {
  return detail::narrow_gemm<C>(executor, op_a, op_b, alpha, a, b, beta, c, rounding, precision);
}

// The same into 8 bits, of float, bfloat16 or float16 operands of one type (Native), or of two 8-bit ones (trn2, trn3;
// S then is scaled_gemm's, whose bits every executor has). alpha carries the scale that C is stored with; what exceeds
// C's largest number overflows.
template <Element A, Element B, Float8 C>
requires(!std::is_const_v<C> &&
         ((Float8<A> && Float8<B>) ||
          (std::same_as<std::remove_const_t<A>, std::remove_const_t<B>> &&
           (std::same_as<std::remove_const_t<A>, float> || std::same_as<std::remove_const_t<A>, bfloat16> ||
            std::same_as<std::remove_const_t<A>, float16>)))) Accuracy
    gemm(const Executor& executor, Op op_a, Op op_b, float alpha, const MatrixView<A>& a, const MatrixView<B>& b,
         float beta, const MatrixView<C>& c, const Rounding& rounding) {
  return detail::float8_gemm(executor, op_a, op_b, alpha, a, b, beta, c, rounding);
}

// scaled_gemm and mx_gemm into 16 or 8 bits with a rounding, in the same two steps: S is theirs with alpha = 1 and
// beta = 0, whose bits every executor has, and so has C. To nearest into 16 bits they are scaled_gemm and mx_gemm.
template <Float8 A, Float8 B, NarrowFloat C>
Accuracy scaled_gemm(const Executor& executor, Op op_a, Op op_b, float alpha, const MatrixView<A>& a,
                     const MatrixView<B>& b, float beta, const MatrixView<C>& c, const Rounding& rounding,
                     const ScaledOptions& options = {}) {
  return detail::float8_gemm(executor, op_a, op_b, alpha, a, b, beta, c, rounding, options);
}
template <NarrowFloat C> Accuracy mx_gemm(const Executor& executor, float alpha, const MxMatrix& a, const MxMatrix& b,
                                          float beta, const MatrixView<C>& c, const Rounding& rounding) {
  return detail::rounded_mx_gemm(executor, alpha, a, b, beta, c, rounding);
}

}  // namespace trn::blas
