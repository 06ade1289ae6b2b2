// A few eigenvalues and eigenvectors of Hermitian operators. SciPy: eigsh, lobpcg. cuSOLVER has no counterpart.
//
// w has k elements and V is n x k, 1 <= k <= n: the k smallest or largest eigenvalues, ascending, and orthonormal
// vectors. A pair has converged when ||A v - w v||_2 <= tolerance ||A||, the largest Ritz value seen for ||A||; the
// residuals in the report are recomputed from the vectors at the end. Each says that A, if its rounding is left aside,
// has an eigenvalue within it; that none between them was missed is not proved, only likely from a random start.
//
// Outcomes: NotConverged with the first pair that did not, w and V the last approximations; NotFinite at -1: the
// operator made NaN or infinity, outputs are NaN. k = 0 and n = 0 are Ok.
// w is in host memory. Executors: as for the Krylov methods; projected problems and random starts are the host's.
// Bound: the largest residual over ||A||, an estimate.
#pragma once

#include <vector>

#include <trn/solver/operators.hpp>

namespace trn::solver {

enum class End : std::uint8_t { Smallest, Largest };

struct SpectrumOptions {
  End end = End::Smallest;
  double tolerance = 0;             // 0: the root of the type's epsilon; eigenvalues are then good to its square
  std::int64_t max_iterations = 0;  // 0: 300 restarts, steps or filters
  std::int64_t basis = 0;           // lanczos: dimension of the Krylov space; 0: 2 k + 20
  std::int64_t degree = 12;         // filtered_subspace: of the polynomial
  std::uint64_t seed = 0;           // of the random start: Philox
};

struct SpectrumReport : Report {
  std::vector<double> residuals;  // ||A v - w v||_2 of every pair, absolute, recomputed
  std::int64_t products = 0;      // columns that A was applied to
  std::int64_t found = 0;         // feast: so many eigenvalues lie in the interval
};

// Lanczos with full reorthogonalisation and thick restarts (Wu and Simon 2000). One vector at a time: further copies of
// a multiple eigenvalue are looked for from new random vectors until nothing changes; lobpcg and filtered_subspace see
// them at once.
template <Scalar T> SpectrumReport lanczos(const AnyOperator<T>& a, const VectorView<std::type_identity_t<Real<T>>>& w,
                                           const MatrixView<T>& v, const SpectrumOptions& options = {});

// Locally optimal block preconditioned conjugate gradients (Knyazev 2001), with an orthonormal basis of [X, R, P] in
// every step (Hetmaniuk and Lehoucq 2006). m approximates A^-1, for End::Smallest.
template <Scalar T> SpectrumReport lobpcg(const AnyOperator<T>& a, const VectorView<std::type_identity_t<Real<T>>>& w,
                                          const MatrixView<T>& v, const SpectrumOptions& options = {},
                                          const AnyOperator<T>& m = {});

// Subspace iteration with Chebyshev polynomials that are small on the unwanted part (Zhou, Saad, Tiago and Chelikowsky
// 2006): products and one orthonormalisation per step, the shape that devices like.
template <Scalar T> SpectrumReport filtered_subspace(const AnyOperator<T>& a,
                                                     const VectorView<std::type_identity_t<Real<T>>>& w,
                                                     const MatrixView<T>& v, const SpectrumOptions& options = {});

// FEAST (Polizzi 2009): all eigenvalues of a dense Hermitian matrix in [lo, hi], by a contour integral of the resolvent
// (8 points on the half circle, one LU factorisation each). w and V have room for k; the first report.found of them are
// written, the others hold NaN. NotConverged at k: the interval seems to hold k or more, give more room. Host only.
template <Scalar T> SpectrumReport feast(const Executor& executor, const ConstMatrix<T>& a, double lo, double hi,
                                         const VectorView<std::type_identity_t<Real<T>>>& w, const MatrixView<T>& v,
                                         const SpectrumOptions& options = {});

}  // namespace trn::solver
