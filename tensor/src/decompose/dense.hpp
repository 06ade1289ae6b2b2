// Dense row-major tensors in host memory and the few operations that decompositions are made of: unfoldings, products
// with a matrix along a mode, norms, and left singular vectors without Gram matrices.
#pragma once

#include <cmath>
#include <span>
#include <vector>

#include <trn/blas/gemm.hpp>
#include <trn/core/array.hpp>
#include <trn/core/scalars.hpp>
#include <trn/tensor/decomposition.hpp>

namespace trn::tensor {

inline std::size_t as_size(std::int64_t i) { return static_cast<std::size_t>(i); }

template <Scalar T> struct Dense {
  Shape shape;
  std::vector<T> values;
  Dense() = default;
  explicit Dense(Shape s) : shape(std::move(s)), values(as_size(element_count(shape))) {}
  [[nodiscard]] std::int64_t rank() const { return static_cast<std::int64_t>(shape.size()); }
  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(values.size()); }
  // Products of the extents before and after a mode.
  [[nodiscard]] std::int64_t before(std::int64_t mode) const {
    std::int64_t n = 1;
    for (std::int64_t k = 0; k < mode; ++k) n *= shape[as_size(k)];
    return n;
  }
  [[nodiscard]] std::int64_t after(std::int64_t mode) const {
    std::int64_t n = 1;
    for (std::int64_t k = mode + 1; k < rank(); ++k) n *= shape[as_size(k)];
    return n;
  }
};

template <Scalar T> MatrixView<T> row_major(std::vector<T>& values, std::int64_t rows, std::int64_t columns) {
  return MatrixView<T>::row_major(Executor::host(), values.data(), rows, columns);
}
template <Scalar T>
MatrixView<const T> row_major(const std::vector<T>& values, std::int64_t rows, std::int64_t columns) {
  return MatrixView<const T>::row_major(Executor::host(), values.data(), rows, columns);
}

// C = op(A) op(B), on the host.
template <Scalar T>
void multiply(Op op_a, const MatrixView<const T>& a, Op op_b, const MatrixView<const T>& b, const MatrixView<T>& c) {
  (void)blas::gemm(Executor::host(), op_a, op_b, T(1), a, b, T(0), c);
}

// A copy in row-major order. Refuses executors that are not the host, null and empty tensors.
template <Scalar T> Dense<T> dense_copy(const char* operation, const Executor& executor, const View<const T>& x);
// The same of any executor.
template <Scalar T> Dense<T> downloaded(const char* operation, const Executor& executor, const View<const T>& x);
template <Scalar T> Array<T> to_array(const Executor& executor, const Dense<T>& x);
template <Scalar T> Matrix<T> to_matrix(const Executor& executor, const std::vector<T>& values, std::int64_t rows);
template <Scalar T> bool all_finite(std::span<const T> values);

// (l, k, r) -> (k, l, r): the unfolding along a mode as a row-major matrix n_k x rest.
template <Scalar T> Dense<T> mode_first(const Dense<T>& x, std::int64_t mode);
// y(l, :, r) = op(M) x(l, :, r).
template <Scalar T> Dense<T> mode_product(const Dense<T>& x, std::int64_t mode, Op op, const MatrixView<const T>& m);

// Frobenius norms of x and x - y by sums of blocks: a relative error of (256 + n / 256) u at most in double.
template <Scalar T> double norm(std::span<const T> x);
template <Scalar T> double distance(std::span<const T> x, std::span<const T> y);

// Left singular vectors of the n x m row-major matrix W: U is n x min(n, m), row-major. With m > n by QR of W^T, which
// is overwritten. ok: false where the SVD did not converge.
template <Scalar T> struct LeftVectors {
  std::vector<Real<T>> singular_values;  // descending
  std::vector<T> u;
  bool ok = true;
};
template <Scalar T> LeftVectors<T> left_vectors(std::vector<T>& w, std::int64_t n, std::int64_t m);
// The first r columns of a row-major matrix with n rows.
template <Scalar T> std::vector<T> first_columns(const std::vector<T>& u, std::int64_t n, std::int64_t r);

// The smallest r >= 1 with the norm of s[r], s[r + 1], ... at most `tolerance`, and that norm.
template <class R> std::pair<std::int64_t, double> truncation(const std::vector<R>& s, double tolerance) {
  double tail = 0;
  auto r = static_cast<std::int64_t>(s.size());
  while (r > 1 && std::hypot(tail, static_cast<double>(s[as_size(r - 1)])) <= tolerance) {
    tail = std::hypot(tail, static_cast<double>(s[as_size(--r)]));
  }
  return {r, tail};
}
template <class R> double tail_norm(const std::vector<R>& s, std::int64_t r) {
  double tail = 0;
  for (auto i = static_cast<std::int64_t>(s.size()); i-- > r;)
    tail = std::hypot(tail, static_cast<double>(s[as_size(i)]));
  return tail;
}

template <class T> inline constexpr double kUnitRoundoff = std::is_same_v<Real<T>, float> ? 0x1p-24 : 0x1p-53;

// Fills norm, error, bound and fit. `reconstruction` bounds ||computed - exact reconstruct||.
template <Scalar T>
void measure_error(const Dense<T>& x, const Dense<T>& y, double reconstruction, DecompositionReport& report);
// All figures NaN.
DecompositionReport not_finite_report();

}  // namespace trn::tensor
