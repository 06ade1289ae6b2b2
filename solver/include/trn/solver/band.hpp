// Systems with band and tridiagonal matrices: X with A X = B replaces B, A is not changed. LAPACK: gbsv, pbsv, gtsv,
// ptsv.
//
// Bound: as for LU and Cholesky of a full matrix with as many terms per element. NotFinite: B becomes NaN.
#pragma once

#include <trn/blas/storage.hpp>
#include <trn/solver/report.hpp>
#include <trn/solver/types.hpp>

namespace trn::solver {

template <class T> using ConstBand = std::type_identity_t<blas::BandView<const T>>;

// Square band matrix, partial pivoting. Singular at the first zero pivot: B becomes NaN.
template <Scalar T> Report gbsv(const Executor& executor, const ConstBand<T>& a, const MatrixView<T>& b);

// Hermitian positive definite band: kl = 0 (the upper triangle is stored) or ku = 0 (the lower one).
// NotPositiveDefinite at LAPACK's index: B becomes NaN.
template <Scalar T> Report pbsv(const Executor& executor, const ConstBand<T>& a, const MatrixView<T>& b);

// Tridiagonal: lower(i) = A(i + 1, i), upper(i) = A(i, i + 1), both of n - 1 elements. Partial pivoting.
template <Scalar T> Report gtsv(const Executor& executor, const ConstVector<T>& lower, const ConstVector<T>& diagonal,
                                const ConstVector<T>& upper, const MatrixView<T>& b);

// Hermitian positive definite tridiagonal: lower(i) = A(i + 1, i).
template <Scalar T> Report ptsv(const Executor& executor, const ConstVector<Real<T>>& diagonal,
                                const ConstVector<T>& lower, const MatrixView<T>& b);

}  // namespace trn::solver
