// Matrices of the spectral drivers on a device: row-major float32 in sizes from a ladder, so that problems whose size
// the data decides meet few programs. Rows and columns beyond the true size are zero.
#pragma once

#include <vector>

#include <trn/blas/gemm.hpp>
#include <trn/blas/level1.hpp>

#include "device/operands.hpp"

namespace trn::solver::device {

// Multiples of 128 up to 1024, then eighths of an octave.
[[nodiscard]] std::int64_t padded(std::int64_t n);

[[nodiscard]] Matrix<float> zeros(const Executor& executor, std::int64_t rows, std::int64_t columns);

[[nodiscard]] inline VectorView<float> flat(const Matrix<float>& a) {
  return {a.view().executor(), a.data(), a.rows() * a.columns()};
}
[[nodiscard]] inline double frobenius(const Matrix<float>& a) {
  return static_cast<double>(blas::nrm2(a.view().executor(), flat(a)));
}
inline void scale(const Matrix<float>& a, double factor) {
  blas::scal(a.view().executor(), static_cast<float>(factor), flat(a));
}

// Divides A by the power of two at its largest element: squares of unscaled numbers would leave float32's range.
// Returns the exponent.
int scale_to_one(const Executor& executor, const Matrix<float>& a);

// The first k elements of the diagonal: O(n) numbers that the host reads and writes.
[[nodiscard]] std::vector<float> diagonal_of(const Matrix<float>& a, std::int64_t k);
void set_diagonal(const Matrix<float>& a, const std::vector<float>& values, std::int64_t from = 0);

// The full matrix of which `low` has the lower triangle; bits unchanged.
void expand(const Executor& executor, const Matrix<float>& low, const Matrix<float>& full);

// C = alpha op(A) op(B) + beta C in tf32x3; and the lower triangle of alpha op(A) op(B)^T + beta C, known symmetric.
void product(const Executor& executor, Op op_a, Op op_b, double alpha, const MatrixView<const float>& a,
             const MatrixView<const float>& b, double beta, const MatrixView<float>& c);
void symmetric_product(const Executor& executor, Op op, double alpha, const Matrix<float>& a, const Matrix<float>& b,
                       double beta, const Matrix<float>& low);

}  // namespace trn::solver::device
