// QR with column pivoting, and what tells the rank of a matrix: LAPACK's geqp3 and gelsy, pseudoinverses, ranks, bases.
// SciPy: qr(pivoting=True), lstsq(lapack_driver='gelsy'), pinv, orth, null_space. NumPy: matrix_rank. Host;
// pinv, matrix_rank, range_basis and null_space of real types also on devices, by their svd.
//
// Rank tolerances are relative to the largest singular value (diagonal element for lstsq_pivoted); negative: max(m, n)
// times the type's epsilon. A is not changed except by geqp3. NaN and infinity: NotFinite at the place, results NaN.
#pragma once

#include <trn/solver/report.hpp>
#include <trn/solver/types.hpp>

namespace trn::solver {

// A P = Q R with |r_11| >= |r_22| >= ...: A (m x n) becomes the reflections and R as in geqrf, tau has min(m, n)
// elements, and column j of A P is column pivots[j] of A, counted from 0. Bound as geqrf's.
template <Scalar T> Report geqp3(const Executor& executor, const MatrixView<T>& a,
                                 const VectorView<std::int64_t>& pivots, const VectorView<T>& tau);

struct RankReport : Report {
  std::int64_t rank = 0;
};

// Least squares by a complete orthogonal factorisation: X of least norm for A cut off where the leading triangle's
// condition, estimated as it grows, passes 1 / rank_tolerance (gelsy). A is m x n, B m x k, X n x k. Faster than
// lstsq(), whose singular values decide more sharply.
template <Scalar T> RankReport lstsq_pivoted(const Executor& executor, const ConstMatrix<T>& a, const ConstMatrix<T>& b,
                                             const MatrixView<T>& x, double rank_tolerance = -1);

// Moore and Penrose's inverse, n x m: V S^-1 U^H over the singular values above the tolerance.
template <Scalar T>
RankReport pinv(const Executor& executor, const ConstMatrix<T>& a, const MatrixView<T>& x, double rank_tolerance = -1);

// The number of singular values above the tolerance.
template <Scalar T>
RankReport matrix_rank(const Executor& executor, const MatrixView<const T>& a, double rank_tolerance = -1);

// Orthonormal columns: of the range (m x rank) and of the null space (n x (n - rank)). No columns when A is not finite.
template <Scalar T> struct BasisResult {
  Matrix<T> vectors;
  RankReport report;
};
template <Scalar T>
BasisResult<T> range_basis(const Executor& executor, const MatrixView<const T>& a, double rank_tolerance = -1);
template <Scalar T>
BasisResult<T> null_space(const Executor& executor, const MatrixView<const T>& a, double rank_tolerance = -1);

}  // namespace trn::solver
