// LU factorisation with partial pivoting: P A = L U, and what it is used for.
// cuSOLVER: cusolverDn<t>getrf, getrs, cusolverDnXgetrf, Xgetrs. LAPACK: getrf, getrs, getri, gecon.
//
// L is unit lower, U upper, both in the memory of A. pivots[i], counted from 0, is the row that was exchanged with row
// i, in the order i = 0, 1, ... Bound: |P A - L U| <= bound |L||U| elementwise, a priori, barring underflow.
//
// On devices with gathers (trn2, trn3). float: "blocked lu, partial pivoting", programs for panels of 128 columns. The
// others: "recursive lu, partial pivoting", with "exact products" for double and complex<double>: strips of 16 columns
// on the host in wider arithmetic, where pivots are chosen, all else products of the device; the bound is relative to
// ||L(i, .)|| ||U(., j)||, to first order.
#pragma once

#include <vector>

#include <trn/solver/report.hpp>
#include <trn/solver/types.hpp>

namespace trn::solver {

// A is m x n and becomes L and U; pivots has min(m, n) elements. Singular at index k: U(k, k) is exactly zero; the
// factorisation is complete. NotFinite: A becomes NaN, pivots 0.
template <Scalar T> Report getrf(const Executor& executor, const MatrixView<T>& a,
                                 const VectorView<std::int64_t>& pivots, const FactorOptions& options = {});

// X with op(A) X = B replaces B; factor and pivots are getrf's of a square A.
template <Scalar T> Report getrs(const Executor& executor, Op op, const ConstMatrix<T>& factor,
                                 const VectorView<const std::int64_t>& pivots, const MatrixView<T>& b);

// A^-1 replaces the factor. Singular: U has a zero on its diagonal, the factor is as it was.
template <Scalar T>
Report getri(const Executor& executor, const MatrixView<T>& factor, const VectorView<const std::int64_t>& pivots);

// The reciprocal condition number, estimated from getrf's factor and the same norm of A.
template <Scalar T>
Real<T> gecon(const Executor& executor, Norm which, const MatrixView<T>& factor, std::type_identity_t<Real<T>> norm);

// The factorisation of a square matrix as a value: it copies A and can be used many times, from several threads.
// After Singular or NotFinite solve() returns that outcome and fills B with NaN, inverse() is NaN; determinants of a
// singular matrix are 0.
template <Scalar T> class Lu {
 public:
  Lu(const Executor& executor, const ConstMatrix<T>& a, const FactorOptions& options = {});
  [[nodiscard]] const Report& report() const { return report_; }
  [[nodiscard]] std::int64_t size() const { return storage_.rows(); }
  [[nodiscard]] MatrixView<const T> factor() const { return storage_.view().transposed(); }
  [[nodiscard]] VectorView<const std::int64_t> pivots() const;
  Report solve(const MatrixView<T>& b, Op op = Op::N) const;  // X with op(A) X = B replaces B
  [[nodiscard]] Matrix<T> inverse() const;
  // The same, and what getri said of it: NotFinite where the inverse overflowed, which is NaN then.
  [[nodiscard]] Matrix<T> inverse(Report& report) const;
  [[nodiscard]] T determinant() const;
  [[nodiscard]] LogDeterminant<T> log_determinant() const;
  [[nodiscard]] double condition(Norm which = Norm::One) const;  // estimate; infinite when singular

 private:
  Matrix<T> storage_;  // column-major: the transpose of a row-major matrix
  Array<std::int64_t> pivots_;
  Real<T> norms_[2] = {0, 0};  // of A: One, Infinity
  Report report_;
};

}  // namespace trn::solver
