// Level 1: operations on vectors. cuBLAS: cublasSaxpy, cublasDdot, cublasIsamax, ... and their C and Z forms.
//
// All vectors of a call have one size; 0 is legal. Strides may be negative and, for vectors that are only read, 0.
// Vectors of which one is written must not overlap, except that identical views are allowed for copy and swap (nothing
// happens) and for axpy (y = alpha y + y). Reductions return to the caller also when the vectors lie on a device.
//
// Bounds are barring over- and underflow. With a target dot counts what underflow can lose and refuses operands that
// are not finite or may overflow; asum and nrm2 refuse a result that is not finite, and count a denormal's rounding.
//
// |z| of a complex element in asum, amax and amin is |re| + |im|, as BLAS has it.
#pragma once

#include <trn/blas/types.hpp>

namespace trn::blas {

namespace detail {
template <Scalar T> std::int64_t amax(const Executor&, const VectorView<const T>& x);
template <Scalar T> std::int64_t amin(const Executor&, const VectorView<const T>& x);
template <Scalar T> Measured<Real<T>> asum(const Executor&, const VectorView<const T>& x, Precision precision);
template <Scalar T> Measured<Real<T>> nrm2(const Executor&, const VectorView<const T>& x, Precision precision);
template <Scalar T>
Measured<T> dot(const Executor&, const VectorView<const T>& x, const VectorView<const T>& y, Precision precision);
template <Scalar T>
Measured<T> dotc(const Executor&, const VectorView<const T>& x, const VectorView<const T>& y, Precision precision);
}  // namespace detail

// The scalar type behind a view's element.
template <class X> using ValueOf = std::remove_const_t<X>;

// y = alpha x + y. Returns at once when alpha = 0.
template <Scalar T>
void axpy(const Executor& executor, Number<T> alpha, const ConstVector<T>& x, const VectorView<T>& y);
// y = x.
template <Scalar T> void copy(const Executor& executor, const ConstVector<T>& x, const VectorView<T>& y);
// x <-> y.
template <Scalar T> void swap(const Executor& executor, const VectorView<T>& x, const VectorView<T>& y);
// x = alpha x; alpha = 0 still multiplies, so NaN stays NaN (reference BLAS).
template <Scalar T> void scal(const Executor& executor, Number<T> alpha, const VectorView<T>& x);
// csscal, zdscal: x = alpha x with a real alpha.
template <ComplexScalar T> void scal_real(const Executor& executor, Real<T> alpha, const VectorView<T>& x);

// 0-based number of the first element of largest |x_i|, of smallest |x_i|; -1 when x is empty. (cuBLAS counts from 1.)
template <Element X>
requires Scalar<ValueOf<X>>
[[nodiscard]] std::int64_t amax(const Executor& executor, const VectorView<X>& x) {
  return detail::amax<ValueOf<X>>(executor, x);
}
template <Element X>
requires Scalar<ValueOf<X>>
[[nodiscard]] std::int64_t amin(const Executor& executor, const VectorView<X>& x) {
  return detail::amin<ValueOf<X>>(executor, x);
}

// sum |x_i|, and sqrt(sum |x_i|^2) without overflow or underflow on the way.
template <Element X>
requires Scalar<ValueOf<X>>
[[nodiscard]] Real<ValueOf<X>> asum(const Executor& executor, const VectorView<X>& x) {
  return detail::asum<ValueOf<X>>(executor, x, {}).value;
}
template <Element X>
requires Scalar<ValueOf<X>>
[[nodiscard]] Real<ValueOf<X>> nrm2(const Executor& executor, const VectorView<X>& x) {
  return detail::nrm2<ValueOf<X>>(executor, x, {}).value;
}
// sum x_i y_i (dotu for complex types), and sum conj(x_i) y_i.
template <Element X>
requires Scalar<ValueOf<X>>
[[nodiscard]] ValueOf<X> dot(const Executor& executor, const VectorView<X>& x, const ConstVector<ValueOf<X>>& y) {
  return detail::dot<ValueOf<X>>(executor, x, y, {}).value;
}
template <Element X>
requires Scalar<ValueOf<X>>
[[nodiscard]] ValueOf<X> dotc(const Executor& executor, const VectorView<X>& x, const ConstVector<ValueOf<X>>& y) {
  return detail::dotc<ValueOf<X>>(executor, x, y, {}).value;
}

// The same with a stated precision: Native, or Exact, which sums with error-free transformations so that the result is
// the exact one rounded once (dot, asum), or within one unit in the last place (nrm2). The bound is relative: to asum
// itself, to nrm2 itself, to ||x|| ||y|| for the products.
template <Element X>
requires Scalar<ValueOf<X>>
[[nodiscard]] Measured<Real<ValueOf<X>>> asum(const Executor& executor, const VectorView<X>& x, Precision precision) {
  return detail::asum<ValueOf<X>>(executor, x, precision);
}
template <Element X>
requires Scalar<ValueOf<X>>
[[nodiscard]] Measured<Real<ValueOf<X>>> nrm2(const Executor& executor, const VectorView<X>& x, Precision precision) {
  return detail::nrm2<ValueOf<X>>(executor, x, precision);
}
template <Element X>
requires Scalar<ValueOf<X>>
[[nodiscard]] Measured<ValueOf<X>> dot(const Executor& executor, const VectorView<X>& x,
                                       const ConstVector<ValueOf<X>>& y, Precision precision) {
  return detail::dot<ValueOf<X>>(executor, x, y, precision);
}
template <Element X>
requires Scalar<ValueOf<X>>
[[nodiscard]] Measured<ValueOf<X>> dotc(const Executor& executor, const VectorView<X>& x,
                                        const ConstVector<ValueOf<X>>& y, Precision precision) {
  return detail::dotc<ValueOf<X>>(executor, x, y, precision);
}

}  // namespace trn::blas
