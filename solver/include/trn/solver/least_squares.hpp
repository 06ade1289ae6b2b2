// Least squares for any shape and rank: X of least norm among those that minimise ||A X - B||_2, column by column.
// cuSOLVER: cusolverDnXgels and the IRS gels; LAPACK: gels, gelsd. NumPy: lstsq.
//
// A and B are not changed. Bound: relative to the norms of A and B, max(m, n) u times a modest constant that LAPACK
// does not state; an estimate. On devices: Svd for real types, Qr for all, where a diagonal element of R of at most
// max(m, n) u times the largest is Singular.
#pragma once

#include <vector>

#include <trn/solver/report.hpp>
#include <trn/solver/types.hpp>

namespace trn::solver {

enum class LeastSquaresMethod : std::uint8_t {
  Svd,  // singular values at or below rank_tolerance * largest count as zero (gelsd)
  Qr    // A is taken to have full rank (gels); Singular at the first zero on the diagonal of R
};

struct LeastSquaresOptions {
  LeastSquaresMethod method = LeastSquaresMethod::Svd;
  double rank_tolerance = -1;  // negative: max(m, n) * epsilon of the type
};

template <Scalar T> struct LeastSquaresReport : Report {
  std::int64_t rank = 0;                 // min(m, n) for Qr
  std::vector<Real<T>> singular_values;  // empty for Qr
};

// A is m x n, B m x k, X n x k. After NotFinite (also where X overflows, at its element), NotConverged or Singular X is
// NaN.
template <Scalar T> LeastSquaresReport<T> lstsq(const Executor& executor, const ConstMatrix<T>& a,
                                                const ConstMatrix<T>& b, const MatrixView<T>& x,
                                                const LeastSquaresOptions& options = {});

}  // namespace trn::solver
