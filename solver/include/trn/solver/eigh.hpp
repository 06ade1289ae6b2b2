// Eigenvalues and eigenvectors of Hermitian and real symmetric matrices: A V = V diag(w), and A V = B V diag(w).
// cuSOLVER: cusolverDn<t>syevd, heevd, syevdx, syevj, sygvd, hegvd, cusolverDnXsyevd. LAPACK: syevd, syevr, sygvd.
//
// Only the triangle that `uplo` names is read. Eigenvalues ascend. With vectors they replace A, column j for w[j];
// without, A is not changed. Divide and conquer for whole spectra; relatively robust representations for
// ranges, whose vectors are less orthogonal (17 n eps was seen, LAPACK accepts 50).
// Certify::Rigorous proves a bound for every eigenvalue by Exact products (src/certify/spectra.hpp has the theorem); it
// takes whole spectra only, and computes vectors even when they are not asked for.
//
// Bound: |w - exact| <= bound ||A||_2; n eps, an estimate (LAPACK states "a modestly growing function of n"; its
// testers accept 30 n eps / 2).
//
// Devices, real types: spectral divide and conquer in float, for double refined with Exact products. In float a range
// enters only the halves that hold some of it. Range::values is decided by the eigenvalues as they were computed: one
// that is nearer to lo or hi than bound ||A||_2 may come out on either side (a zero as 1e-16, which is in (0, 1]), and
// so `found` may differ from the host's; Range::indices has no such case. The bound is the norm of the residual
// A V - V W as it was computed, in units of ||A||_2; pairs whose residual is not small are NotConverged. iterations
// counts steps (of polynomials, or of the refinement), levels the halvings (or the zooms into clusters).
// eigh_generalized: Cholesky and trnblas's triangular products and solves before and after.
#pragma once

#include <vector>

#include <trn/solver/report.hpp>
#include <trn/solver/types.hpp>

namespace trn::solver {

enum class Vectors : std::uint8_t { Yes, No };

// Which eigenvalues: all, those in (lo, hi], or number first to last - 1 of the ascending ones, counted from 0.
struct Range {
  enum class Kind : std::uint8_t { All, Values, Indices };
  Kind kind = Kind::All;
  double lo = 0, hi = 0;
  std::int64_t first = 0, last = 0;
  [[nodiscard]] static Range all() { return {}; }
  [[nodiscard]] static Range values(double lo, double hi) { return {Kind::Values, lo, hi, 0, 0}; }
  [[nodiscard]] static Range indices(std::int64_t first, std::int64_t last) {
    return {Kind::Indices, 0, 0, first, last};
  }
};

struct EighOptions {
  Range range = {};
  Vectors vectors = Vectors::Yes;
  Uplo uplo = Uplo::Lower;
  Certify certify = Certify::Estimate;
};

struct EighReport : Report {
  std::vector<double> error_bounds;  // of |w[i] - exact|, absolute; empty unless Rigorous
  std::int64_t found = 0;            // so many elements of w and columns of A were written; the others hold NaN
};

// A is n x n, w has n elements. NotConverged and NotFinite: w is NaN, and A too when vectors were asked for.
template <Scalar T> EighReport eigh(const Executor& executor, const MatrixView<T>& a, const VectorView<Real<T>>& w,
                                    const EighOptions& options = {});

// The generalised problems with a positive definite B.
enum class GeneralizedForm : std::uint8_t { AxIsBxLambda, ABxIsXLambda, BAxIsXLambda };

struct GeneralizedOptions {
  GeneralizedForm form = GeneralizedForm::AxIsBxLambda;
  Vectors vectors = Vectors::Yes;
  Uplo uplo = Uplo::Lower;  // of A and B
};

// V^H B V = I for the first two forms, V^H B^-1 V = I for the third. B is not changed. NotPositiveDefinite: of B, at
// LAPACK's index; w is NaN then, and A too when vectors were asked for.
template <Scalar T> EighReport eigh_generalized(const Executor& executor, const MatrixView<T>& a,
                                                const ConstMatrix<T>& b, const VectorView<Real<T>>& w,
                                                const GeneralizedOptions& options = {});

}  // namespace trn::solver
