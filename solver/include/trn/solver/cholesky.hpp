// Cholesky factorisation of a Hermitian positive definite matrix: A = L L^H or A = U^H U, and what it is used for.
// cuSOLVER: cusolverDn<t>potrf, potrs, potri, cusolverDnXpotrf, Xpotrs. LAPACK: potrf, potrs, potri, pocon.
//
// Only the triangle that `uplo` names is read and written, so an A that is not Hermitian goes unnoticed; imaginary
// parts of the diagonal are taken as zero. Row-major views are used in place: the transpose of a Hermitian matrix is
// its conjugate, whose factor is the transposed one.
//
// Bound of a factorisation: |A - L L^H| <= bound |L||L^H| elementwise, a priori, barring underflow. Bound of a solve:
// A's distance to a matrix that X solves exactly, column by column, in the same unit.
//
// On devices: potrf, potrs, potri, pocon and the class, whose condition() estimates both norms from the factor, of
// complex matrices within sqrt(2) of LAPACK's. Report::algorithm says what ran:
//   float    "blocked cholesky": one program, float32 products. The bound is a priori, (min(n, 128) + 2 ceil(n / 128) +
//     min(n, 128) + 43) u (solver/src/device/cholesky.hpp derives it), barring over- and underflow: pivots below 2^-126
//     are lost. Orders to 11604 on trn2.
//   the others   "blocked cholesky, exact products" or, for complex<float>, "recursive cholesky": blocks of 16 rows on
//     the host in wider arithmetic, all else products of the device. The bound, to first order, is in ||l_i|| ||l_j||.
// A solve's bound is then relative to the norms of the rows of L: trsm's two, and that of the factorisation. Where the
// factorisation fails the block row of that pivot and all later ones mean nothing.
#pragma once

#include <trn/solver/report.hpp>
#include <trn/solver/types.hpp>

namespace trn::solver {

// The factor replaces the named triangle of A. NotPositiveDefinite at index k: the leading minor of order k + 1 is not
// positive; the triangle then holds a partial factorisation. NotFinite: the triangle becomes NaN.
template <Scalar T>
Report potrf(const Executor& executor, Uplo uplo, const MatrixView<T>& a, const FactorOptions& options = {});

// X with A X = B replaces B; `factor` is potrf's.
template <Scalar T>
Report potrs(const Executor& executor, Uplo uplo, const ConstMatrix<T>& factor, const MatrixView<T>& b);

// The named triangle of A^-1 replaces the factor. Singular when a diagonal element of the factor is zero.
template <Scalar T> Report potri(const Executor& executor, Uplo uplo, const MatrixView<T>& factor);

// The reciprocal condition number in the 1-norm, estimated from potrf's factor and the 1-norm of A.
template <Scalar T>
Real<T> pocon(const Executor& executor, Uplo uplo, const MatrixView<T>& factor, std::type_identity_t<Real<T>> norm);

// A factorisation as a value: it copies the triangle of A and can be used many times, from several threads.
// When it failed, report() says why, solve() returns that outcome and fills B with NaN, inverse() is NaN.
template <Scalar T> class Cholesky {
 public:
  Cholesky(const Executor& executor, Uplo uplo, const ConstMatrix<T>& a, const FactorOptions& options = {});
  [[nodiscard]] const Report& report() const { return report_; }
  [[nodiscard]] std::int64_t size() const { return factor_.rows(); }
  [[nodiscard]] Uplo uplo() const { return uplo_; }
  [[nodiscard]] MatrixView<const T> factor() const { return factor_.view(); }  // the other triangle is zero
  Report solve(const MatrixView<T>& b) const;                                  // X replaces B
  [[nodiscard]] Matrix<T> inverse() const;                                     // both triangles
  // The same, and what potri said of it: NotFinite where the inverse overflowed, which is NaN then.
  [[nodiscard]] Matrix<T> inverse(Report& report) const;
  [[nodiscard]] T determinant() const;  // NaN when the factorisation failed
  [[nodiscard]] LogDeterminant<T> log_determinant() const;
  [[nodiscard]] double condition() const;  // estimate in the 1-norm; infinite when the factorisation failed

 private:
  Matrix<T> factor_;
  Uplo uplo_;
  Real<T> norm_ = 0;
  Report report_;
};

}  // namespace trn::solver
