// The entry points of level 1: check the vectors, return where BLAS does, choose the precision, dispatch.
#include <cmath>
#include <limits>
#include <trn/blas/level1.hpp>

#include "checks.hpp"
#include "kernels.hpp"
#include "precision.hpp"

namespace trn::blas {

namespace {

template <class X, class Y> void same_size(const char* operation, const VectorView<X>& x, const VectorView<Y>& y) {
  require(x.size() == y.size(), "{}: x has {} elements, y has {}; give both the same", operation, x.size(), y.size());
}

template <class X, class Y> bool identical(const VectorView<X>& x, const VectorView<Y>& y) {
  return static_cast<const void*>(x.data()) == y.data() && x.stride() == y.stride();
}

template <class T> void written(const char* operation, const char* name, const VectorView<T>& x) {
  checks::distinct_elements(operation, name, checks::extent(x));
}

}  // namespace

template <Scalar T>
void axpy(const Executor& executor, Number<T> alpha, const ConstVector<T>& x, const VectorView<T>& y) {
  checks::operand("blas.axpy", "x", executor, x);
  checks::operand("blas.axpy", "y", executor, y);
  same_size("blas.axpy", x, y);
  if (y.size() == 0) return;
  written("blas.axpy", "y", y);
  if (!identical(x, y)) checks::no_overlap("blas.axpy", "x", checks::extent(x), "y", checks::extent(y));
  if (alpha == T(0)) return;
  dispatch(kAxpy, executor, {dtype_of<T>, y.size(), x.data(), x.stride(), y.data(), y.stride(), alpha});
}

template <Scalar T> void copy(const Executor& executor, const ConstVector<T>& x, const VectorView<T>& y) {
  checks::operand("blas.copy", "x", executor, x);
  checks::operand("blas.copy", "y", executor, y);
  same_size("blas.copy", x, y);
  if (y.size() == 0) return;
  written("blas.copy", "y", y);
  if (identical(x, y)) return;
  checks::no_overlap("blas.copy", "x", checks::extent(x), "y", checks::extent(y));
  dispatch(kCopy, executor, {dtype_of<T>, y.size(), x.data(), x.stride(), y.data(), y.stride()});
}

template <Scalar T> void swap(const Executor& executor, const VectorView<T>& x, const VectorView<T>& y) {
  checks::operand("blas.swap", "x", executor, x);
  checks::operand("blas.swap", "y", executor, y);
  same_size("blas.swap", x, y);
  if (y.size() == 0) return;
  written("blas.swap", "x", x);
  written("blas.swap", "y", y);
  if (identical(x, y)) return;
  checks::no_overlap("blas.swap", "x", checks::extent(x), "y", checks::extent(y));
  dispatch(kSwap, executor, {dtype_of<T>, y.size(), x.data(), x.stride(), y.data(), y.stride()});
}

template <Scalar T> void scal(const Executor& executor, Number<T> alpha, const VectorView<T>& x) {
  checks::operand("blas.scal", "x", executor, x);
  if (x.size() == 0) return;
  written("blas.scal", "x", x);
  dispatch(kScal, executor, {dtype_of<T>, x.size(), x.data(), x.stride(), alpha, RealScalar<T>});
}

template <ComplexScalar T> void scal_real(const Executor& executor, Real<T> alpha, const VectorView<T>& x) {
  checks::operand("blas.scal", "x", executor, x);
  if (x.size() == 0) return;
  written("blas.scal", "x", x);
  dispatch(kScal, executor, {dtype_of<T>, x.size(), x.data(), x.stride(), alpha, true});
}

namespace {

template <class T>
std::int64_t extreme(const KernelTable<ExtremeArgs>& kernels, const Executor& executor, const VectorView<const T>& x) {
  checks::operand(kernels.operation, "x", executor, x);
  std::int64_t result = -1;
  if (x.size() > 0) dispatch(kernels, executor, {dtype_of<T>, x.size(), x.data(), x.stride(), &result});
  return result;
}

// What the range of the type adds to the relative bound of asum or nrm2. Their terms are not negative, so a sum that
// overflows on the way is infinite at the end. Among the denormals asum has no error; nrm2 is rounded by up to one of
// the smallest of them.
template <class R> double lost_in_range(R value, bool is_rounded) {
  constexpr double kLeast = std::numeric_limits<R>::denorm_min();
  if (!std::isfinite(value)) return std::numeric_limits<double>::infinity();
  return is_rounded && value > 0 && value < std::numeric_limits<R>::min() ? kLeast / static_cast<double>(value) : 0;
}

template <class T> Measured<Real<T>> norm(const KernelTable<NormArgs>& kernels, const Executor& executor,
                                          const VectorView<const T>& x, Precision precision, double native_bound) {
  checks::operand(kernels.operation, "x", executor, x);
  const double exact_bound = 2 * unit_roundoff(dtype_of<T>);
  Accuracy accuracy = choose(kernels.operation, precision, native_bound, exact_bound);
  Real<T> value = 0;
  if (x.size() == 0) return {value, accuracy};
  const auto run = [&] {
    double result = 0;
    dispatch(kernels, executor, {dtype_of<T>, x.size(), x.data(), x.stride(), accuracy.mode, &result});
    value = static_cast<Real<T>>(result);
    if (precision.has_target()) accuracy.bound += lost_in_range(value, &kernels == &kNrm2);
  };
  run();
  if (!precision.has_target()) return {value, accuracy};
  const double target = precision.target_error();
  if (accuracy.bound > target && accuracy.mode == Mode::Native && executor.family() == Family::Host) {
    accuracy = {Mode::Exact, 1, exact_bound};
    run();
  }
  require(accuracy.bound <= target,
          "{}: the result is {}: x is not finite, or the result has left the range in which target error {} can be "
          "kept; scale x",
          kernels.operation, value, target);
  return {value, accuracy};
}

template <class T> Measured<T> product(const Executor& executor, const VectorView<const T>& x,
                                       const VectorView<const T>& y, bool conj, Precision precision) {
  checks::operand("blas.dot", "x", executor, x);
  checks::operand("blas.dot", "y", executor, y);
  same_size("blas.dot", x, y);
  const double u = unit_roundoff(dtype_of<T>), n = static_cast<double>(x.size());
  // n products and n additions in any order; a part of a complex product has 2 n terms, and |re| + |im| <= sqrt(2) |z|.
  const GemmArgs row{dtype_of<T>, dtype_of<T>, 1, 1,       x.size(), x.data(), 1,   x.stride(),
                     y.data(),    y.stride(),  1, nullptr, 1,        1,        1.0, 0.0};
  const Accuracy accuracy =
      choose("blas.dot", executor, precision, row, (ComplexScalar<T> ? 2 * std::sqrt(2.0) * (n + 2) : n + 1) * u, u);
  std::complex<double> result = 0;
  if (x.size() > 0)
    dispatch(kDot, executor,
             {dtype_of<T>, x.size(), x.data(), x.stride(), y.data(), y.stride(), conj, accuracy.mode, &result});
  if constexpr (RealScalar<T>) {
    return {static_cast<T>(result.real()), accuracy};
  } else {
    return {T(result), accuracy};
  }
}

}  // namespace

template <Scalar T> std::int64_t detail::amax(const Executor& executor, const VectorView<const T>& x) {
  return extreme<T>(kAmax, executor, x);
}
template <Scalar T> std::int64_t detail::amin(const Executor& executor, const VectorView<const T>& x) {
  return extreme<T>(kAmin, executor, x);
}

// Sums of terms that are all positive: their error is relative to the sum itself. nrm2: half the error of the sum of
// squares (n squares, n additions), and a square root.
template <Scalar T>
Measured<Real<T>> detail::asum(const Executor& executor, const VectorView<const T>& x, Precision precision) {
  const double terms = static_cast<double>(x.size()) * (ComplexScalar<T> ? 2 : 1);
  return norm<T>(kAsum, executor, x, precision, (terms + 1) * unit_roundoff(dtype_of<T>));
}
template <Scalar T>
Measured<Real<T>> detail::nrm2(const Executor& executor, const VectorView<const T>& x, Precision precision) {
  const double terms = static_cast<double>(x.size()) * (ComplexScalar<T> ? 2 : 1);
  return norm<T>(kNrm2, executor, x, precision, (terms / 2 + 4) * unit_roundoff(dtype_of<T>));
}
template <Scalar T> Measured<T> detail::dot(const Executor& executor, const VectorView<const T>& x,
                                            const VectorView<const T>& y, Precision precision) {
  return product<T>(executor, x, y, false, precision);
}
template <Scalar T> Measured<T> detail::dotc(const Executor& executor, const VectorView<const T>& x,
                                             const VectorView<const T>& y, Precision precision) {
  return product<T>(executor, x, y, ComplexScalar<T>, precision);
}

#define TRN_LEVEL1(T)                                                                                           \
  template void axpy<T>(const Executor&, Number<T>, const ConstVector<T>&, const VectorView<T>&);               \
  template void copy<T>(const Executor&, const ConstVector<T>&, const VectorView<T>&);                          \
  template void swap<T>(const Executor&, const VectorView<T>&, const VectorView<T>&);                           \
  template void scal<T>(const Executor&, Number<T>, const VectorView<T>&);                                      \
  template std::int64_t detail::amax<T>(const Executor&, const VectorView<const T>&);                           \
  template std::int64_t detail::amin<T>(const Executor&, const VectorView<const T>&);                           \
  template Measured<Real<T>> detail::asum<T>(const Executor&, const VectorView<const T>&, Precision);           \
  template Measured<Real<T>> detail::nrm2<T>(const Executor&, const VectorView<const T>&, Precision);           \
  template Measured<T> detail::dot<T>(const Executor&, const VectorView<const T>&, const VectorView<const T>&,  \
                                      Precision);                                                               \
  template Measured<T> detail::dotc<T>(const Executor&, const VectorView<const T>&, const VectorView<const T>&, \
                                       Precision);
TRN_LEVEL1(float)
TRN_LEVEL1(double)
TRN_LEVEL1(std::complex<float>)
TRN_LEVEL1(std::complex<double>)
#undef TRN_LEVEL1
template void scal_real<std::complex<float>>(const Executor&, float, const VectorView<std::complex<float>>&);
template void scal_real<std::complex<double>>(const Executor&, double, const VectorView<std::complex<double>>&);

}  // namespace trn::blas
