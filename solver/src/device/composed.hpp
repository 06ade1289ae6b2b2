// Factorisations of the types that no engine has, composed of what the device does have: products, exact ones for
// double and complex<double>, float32 ones for complex<float>. Recursion splits every step into products and smaller
// steps; what is left are strips 16 wide, which the host works on in wider arithmetic, O(n^2) numbers in all.
#pragma once

#include <trn/blas/gemm.hpp>

#include "device/operands.hpp"

namespace trn::solver::device {

template <class T>
concept Composed = Scalar<T> && !std::same_as<T, float>;
inline constexpr std::int64_t kComposedLeaf = 16;

template <class T> inline constexpr Mode kModeOf = std::same_as<Real<T>, double> ? Mode::Exact : Mode::Native;
// A^H, which for real types has another name.
template <class T> inline constexpr Op kAdjoint = blas::ComplexScalar<T> ? Op::C : Op::T;

// The arithmetic of leaves: nothing that is added up there is seen to be rounded in T.
template <class T> struct LeafOf { using type = long double; };
template <> struct LeafOf<std::complex<float>> { using type = std::complex<double>; };
template <> struct LeafOf<std::complex<double>> { using type = std::complex<long double>; };
template <class T> using Leaf = typename LeafOf<T>::type;
// Without the tests for infinities of std::complex.
inline long double product(long double x, long double y) { return x * y; }
template <class R> std::complex<R> product(const std::complex<R>& x, const std::complex<R>& y) {
  return {x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real()};
}
inline long double conjugate(long double x) { return x; }
template <class R> std::complex<R> conjugate(const std::complex<R>& x) { return std::conj(x); }

// A leaf in host memory, row-major.
template <class T> struct LeafBlock {
  std::int64_t rows = 0, columns = 0;
  std::vector<Leaf<T>> values;
  LeafBlock(std::int64_t m, std::int64_t n) : rows(m), columns(n), values(static_cast<std::size_t>(m * n)) {}
  explicit LeafBlock(const MatrixView<const T>& a) : LeafBlock(a.rows(), a.columns()) {
    const Matrix<T> held = on_host(a);
    for (std::int64_t i = 0; i < rows * columns; ++i) values[static_cast<std::size_t>(i)] = Leaf<T>(held.data()[i]);
  }
  Leaf<T>& operator()(std::int64_t i, std::int64_t j) { return values[static_cast<std::size_t>(i * columns + j)]; }
  const Leaf<T>& operator()(std::int64_t i, std::int64_t j) const {
    return values[static_cast<std::size_t>(i * columns + j)];
  }
  // Rounded to T, once.
  [[nodiscard]] Matrix<T> rounded() const {
    Matrix<T> result(Executor::host(), rows, columns);
    for (std::int64_t i = 0; i < rows * columns; ++i) result.data()[i] = T(values[static_cast<std::size_t>(i)]);
    return result;
  }
};

// C = alpha op_a(A) op_b(B) + beta C on the device; what gemm says of it.
template <Composed T> double composed_product(const Executor& executor, Op op_a, Op op_b, T alpha,
                                              const MatrixView<const T>& a, const MatrixView<const T>& b, T beta,
                                              const MatrixView<T>& c) {
  if (c.rows() == 0 || c.columns() == 0) return 0;
  return blas::gemm(executor, op_a, op_b, alpha, a, b, beta, c, {.precision = {kModeOf<T>}}).bound;
}

// op(A) X = B for a triangle A; X replaces B. Forward or backward substitution of halves,
//   X1 = op(A)11^-1 B1,  B2 <- B2 - op(A)21 X1,  X2 = op(A)22^-1 B2.
// The result r: |B - op(A) X|(i, j) <= r ||op(A)(i, .)|| ||X(., j)||, to first order: a rounding of each X, and of each
// of the updates of an element, whose terms are no larger than the norms.
template <Composed T> double composed_divide(const Executor& executor, Uplo uplo, Op op, Diag diag,
                                             const MatrixView<const T>& a, const MatrixView<T>& b);

}  // namespace trn::solver::device
