// Randomised linear algebra: low-rank decompositions, traces, eigenvalues and least squares from sketches. The random
// numbers are trnrand's Philox, drawn on the host: the same seed gives the same sketch on every executor.
//
// The decompositions take any operator (a dense matrix as DenseOperator). Where an error is **measured** it is a bound:
// ||A - U S V^H||_F is formed from A's columns, as the operator gives them, 128 at a time, the bound of every product
// and of the sums is added, and Report::guarantee is Rigorous. Everything said of the sketch's quality, and the error
// of a trace, is **probabilistic** and called so: it holds for most seeds, not for every one.
// Executors: host s d c z; devices s c, with problems of the sketch's order (k + oversampling) on the host.
// NaN and infinity from the operator give NotFinite at -1 and results of NaN.
#pragma once

#include <vector>

#include <trn/solver/krylov.hpp>

namespace trn::solver {

struct SketchOptions {
  std::int64_t oversampling = 10;  // columns of the sketch beyond k
  int power_iterations = 2;        // products with A^H A (with A for eigh_randomized) that sharpen the sketch
  std::uint64_t seed = 0;
  bool measure_error = true;  // costs a product with n columns; otherwise the bound is infinite
};

struct LowRankReport : Report {
  double error = 0;           // a bound of ||A - approximation||_F, absolute
  std::int64_t products = 0;  // columns that A or A^H was applied to
};

// A ~ U diag(s) V^H of rank k <= min(m, n), s descending (Halko, Martinsson and Tropp 2011). report.accuracy.bound is
// the error over ||A||_F. PCA is this with a centred A.
template <Scalar T> struct LowRankSvd {
  Matrix<T> u;             // m x k, on the operator's executor
  std::vector<Real<T>> s;  // k
  Matrix<T> vh;            // k x n
  LowRankReport report;
};
template <Scalar T> LowRankSvd<T> rsvd(const OperatorRef<T>& a, std::int64_t k, const SketchOptions& options = {});

// Hermitian A ~ V diag(w) V^H, the k eigenvalues of largest modulus in the sketched space, by falling modulus. Each has
// a residual ||A v - w v||, within which (but for its rounding) lies an eigenvalue of A.
template <Scalar T> struct LowRankEigh {
  Matrix<T> v;             // n x k
  std::vector<Real<T>> w;  // k
  std::vector<double> residuals;
  LowRankReport report;
};
template <Scalar T>
LowRankEigh<T> eigh_randomized(const OperatorRef<T>& a, std::int64_t k, const SketchOptions& options = {});

// Positive semidefinite A ~ V diag(w) V^H from one pass over A (Nystroem's approximation, stabilised by a shift; Tropp,
// Yurtsever, Udell and Cevher 2017). NotPositiveDefinite: the sketched matrix is not.
template <Scalar T> LowRankEigh<T> nystroem(const OperatorRef<T>& a, std::int64_t k, const SketchOptions& options = {});

// The trace of a square operator from products with random signs. standard_error is estimated from the samples: the
// error exceeds twice of it in one seed of twenty, of seven where one eigenvalue is left; no bound. Hutch++ (Meyer,
// Musco, Musco and Woodruff 2021) spends two thirds of the samples on a low-rank part, whose trace is exact.
template <Scalar T> struct TraceEstimate {
  T value = T(0);
  double standard_error = 0;
  std::int64_t products = 0;
  Outcome outcome;
};
template <Scalar T>
TraceEstimate<T> trace_hutchinson(const OperatorRef<T>& a, std::int64_t samples, std::uint64_t seed = 0);
template <Scalar T>
TraceEstimate<T> trace_hutchpp(const OperatorRef<T>& a, std::int64_t samples, std::uint64_t seed = 0);

// Eigenvalues of a general operator from a Krylov basis that is only orthogonalised against its last few vectors, and
// a sketched least squares problem in place of the projection (Nakatsukasa, Tropp 2022). The k Ritz values of largest
// modulus, with their vectors (unit, host memory) and residuals ||A x - lambda x||, from the products A B of the basis.
// NotConverged at the dimension that was reached where the Krylov space ends before k.
struct SketchedRitzOptions {
  std::int64_t basis = 0;       // 0: 2 k + 20
  std::int64_t truncation = 4;  // vectors that a new one is made orthogonal to
  std::uint64_t seed = 0;
};
template <Scalar T> struct SketchedRitz {
  std::vector<std::complex<Real<T>>> w;
  Matrix<std::complex<Real<T>>> x;  // n x k
  std::vector<double> residuals;
  Report report;
};
template <Scalar T> SketchedRitz<T> sketched_rayleigh_ritz(const OperatorRef<T>& a, std::int64_t k,
                                                           const SketchedRitzOptions& options = {});

// Least squares for tall dense A of full rank (m >= n): R of a sketch of 2 n + 20 rows makes A R^-1 nearly orthonormal
// (condition below about 6, probabilistic), and lsqr converges in a few dozen steps whatever A's condition (Rokhlin and
// Tygert 2008). One pass of it errs by the condition of R times a rounding; so x is refined: the residual b - A x is
// formed anew and solved for again, which is backward stable (Epperly, Meier and Nakatsukasa 2024). Converged:
// ||A^H r|| <= tolerance ||A||_F (||r|| + ||A||_F ||x||), the report's normal_residuals. Singular: a zero in R.
struct SketchedLstsqOptions {
  double tolerance = 0;  // 0: sqrt(m) epsilon
  std::uint64_t seed = 0;
};
template <Scalar T> LsqrReport lstsq_sketched(const Executor& executor, const ConstMatrix<T>& a,
                                              const ConstMatrix<T>& b, const MatrixView<T>& x,
                                              const SketchedLstsqOptions& options = {});

}  // namespace trn::solver
