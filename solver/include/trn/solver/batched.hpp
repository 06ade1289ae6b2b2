// Many small problems of one shape in one call. cuSOLVER: potrfBatched, potrsBatched, syevjBatched, XsyevBatched,
// gesvdjBatched, gesvdaStridedBatched. cuBLAS: getrfBatched, getrsBatched, getriBatched, matinvBatched, geqrfBatched,
// gelsBatched.
//
// On the host matrices of order up to 32 are factored by SIMD kernels, one matrix in each lane of a register
// (src/host/lanes); larger ones, and those that need care, go to LAPACK one after another on every thread. Results obey
// the contract of the operation for one matrix, which its header states: the same outcomes with the same indices, the
// same NaN where one is not finite, bounds in the same unit. One matrix that fails does not touch the others.
//
// On devices, float, orders to 64: potrf, getrf, geqrf, eigh and svd, one matrix in each partition and 128 at a time
// (batched_program.hpp), eigh and svd by Jacobi's rotations. Outcomes have the host's status and index, but a pivot is
// compared with zero as it was computed there. Barring over- and underflow in float32: |A - L L^T| <= (n + 8) u
// |L||L^T| and |P A - L U| <= (n + 3) u |L||U|, elementwise; QR, eigenproblems and singular values are scaled first and
// have small multiples of n u in units of norms. Where a Cholesky factorisation fails the factor means nothing from
// that column on. Listed matrices are gathered on the device first. eigh's Vectors::No leaves A as it was.
//
// Operands are raw addresses on the executor, so that a batch of 10,000 costs no 10,000 views. Matrices that are
// written must not overlap one another nor anything that is read. The result has an outcome per matrix.
#pragma once

#include <span>
#include <vector>

#include <trn/blas/storage.hpp>
#include <trn/solver/eigh.hpp>
#include <trn/solver/report.hpp>
#include <trn/solver/types.hpp>

namespace trn::solver {

using blas::Layout;

// The shape that every matrix of a batch has.
struct BatchShape {
  std::int64_t m = 0, n = 0;
  std::int64_t ld = 0;  // leading dimension; 0: packed
  Layout layout = Layout::ColumnMajor;
  bool operator==(const BatchShape&) const = default;
};

// Equally spaced, matrix p at first + p * stride, or at listed addresses; the list is in host memory and outlives the
// call.
template <class T> class Batch {
 public:
  static Batch strided(const BatchShape& shape, T* first, std::int64_t stride, std::int64_t count) {
    return Batch(shape, first, stride, nullptr, count);
  }
  static Batch listed(const BatchShape& shape, std::span<T* const> addresses) {
    return Batch(shape, nullptr, 0, addresses.data(), static_cast<std::int64_t>(addresses.size()));
  }
  // Of writable elements where const ones are wanted.
  template <class U>
  requires(std::is_const_v<T>&& std::same_as<U, std::remove_const_t<T>>) Batch(const Batch<U>& other)
      : Batch(other.shape(), other.first(), other.stride(), other.list(), other.count()) {}

  [[nodiscard]] const BatchShape& shape() const { return shape_; }
  [[nodiscard]] std::int64_t count() const { return count_; }
  [[nodiscard]] T* operator[](std::int64_t p) const { return list_ ? list_[p] : first_ + p * stride_; }
  [[nodiscard]] T* first() const { return first_; }
  [[nodiscard]] std::int64_t stride() const { return stride_; }
  [[nodiscard]] T* const* list() const { return list_; }
  [[nodiscard]] std::int64_t row_stride() const { return shape_.layout == Layout::RowMajor ? ld() : 1; }
  [[nodiscard]] std::int64_t column_stride() const { return shape_.layout == Layout::RowMajor ? 1 : ld(); }
  [[nodiscard]] MatrixView<T> view(const Executor& executor, std::int64_t p) const {
    return {executor, (*this)[p], shape_.m, shape_.n, row_stride(), column_stride()};
  }

 private:
  template <class U> friend class Batch;
  Batch(const BatchShape& shape, T* first, std::int64_t stride, T* const* list, std::int64_t count)
      : shape_(shape), first_(first), stride_(stride), list_(list), count_(count) {}
  [[nodiscard]] std::int64_t ld() const {
    return shape_.ld > 0 ? shape_.ld : shape_.layout == Layout::RowMajor ? shape_.n : shape_.m;
  }

  BatchShape shape_;
  T* first_;
  std::int64_t stride_;
  T* const* list_;
  std::int64_t count_;
};
template <class T> using ConstBatch = std::type_identity_t<Batch<const T>>;
using BatchOutcomes = std::vector<Outcome>;

// potrf, potrs of cholesky.hpp.
template <Scalar T> BatchOutcomes potrf_batched(const Executor& executor, Uplo uplo, const Batch<T>& a);
template <Scalar T>
BatchOutcomes potrs_batched(const Executor& executor, Uplo uplo, const ConstBatch<T>& factors, const Batch<T>& b);

// getrf, getrs of lu.hpp. Row p of `pivots` (count x min(m, n)) belongs to matrix p.
template <Scalar T>
BatchOutcomes getrf_batched(const Executor& executor, const Batch<T>& a, const MatrixView<std::int64_t>& pivots);
template <Scalar T> BatchOutcomes getrs_batched(const Executor& executor, Op op, const ConstBatch<T>& factors,
                                                const MatrixView<const std::int64_t>& pivots, const Batch<T>& b);
// The inverses, in memory of their own: from getrf's factors, or of the matrices. NaN when Singular or NotFinite.
template <Scalar T> BatchOutcomes getri_batched(const Executor& executor, const ConstBatch<T>& factors,
                                                const MatrixView<const std::int64_t>& pivots, const Batch<T>& inverses);
template <Scalar T>
BatchOutcomes matinv_batched(const Executor& executor, const ConstBatch<T>& a, const Batch<T>& inverses);

// geqrf of qr.hpp. Row p of `tau` (count x min(m, n)) belongs to matrix p.
template <Scalar T> BatchOutcomes geqrf_batched(const Executor& executor, const Batch<T>& a, const MatrixView<T>& tau);
// Least squares for m >= n and full rank: A becomes geqrf's factors, the first n rows of B the solution, the others
// Q^H B below, as Qr::solve has it.
template <Scalar T> BatchOutcomes gels_batched(const Executor& executor, const Batch<T>& a, const Batch<T>& b);

// Whole spectra: eigenvalues ascend in row p of w (count x n); vectors replace A when they are asked for. eigh of
// eigh.hpp; options.range must be all and options.certify Estimate.
template <Scalar T> BatchOutcomes eigh_batched(const Executor& executor, const Batch<T>& a,
                                               const MatrixView<Real<T>>& w, const EighOptions& options = {});
// svd of svd.hpp; singular values in row p of s (count x min(m, n)).
template <Scalar T> BatchOutcomes svd_batched(const Executor& executor, const ConstBatch<T>& a,
                                              const MatrixView<Real<T>>& s, const Batch<T>& u, const Batch<T>& vh);

}  // namespace trn::solver
