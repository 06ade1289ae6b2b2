// Krylov methods for A X = B, on any operator, in blocks of columns. SciPy: cg, minres, gmres, bicgstab, lsqr. Python
// trnsolver: cg, gmres.
//
// B and X are n x k, k right-hand sides. Every column has its own scalars; the operator is applied to all columns at
// once, because a device takes as long for one column as for a hundred. A column that has converged is left as it is.
//
// **Stopping**: ||b_j - A x_j||_2 <= tolerance ||b_j||_2 for every column j, first by the method's recurrence, then by
// residuals recomputed from x. Where the recomputed one is larger the method starts again from x; where that does not
// halve it, what the arithmetic can attain is reached, and the outcome is NotConverged. So Ok means that the residual
// in the report is small, and nothing else.
//
// Outcomes, index = column unless said otherwise:
//   Ok                    every column converged
//   NotConverged          max_iterations, the monitor said stop, or the arithmetic is exhausted; x is the last iterate
//   NotPositiveDefinite   cg, pipelined_cg, minres (its preconditioner), chebyshev: a (p, A p) or (r, M r) that is not
//                         positive
//   Breakdown             a division by zero in the recurrence of minres, gmres, bicgstab, idr or block_cg; x is the
//                         last iterate
//   NotFinite             b or the guess holds NaN or infinity, at the place report.hpp says; or -1: the operator made
//                         one, or a norm overflowed. X is NaN.
// A column of zeros in B gives zeros in X. Empty extents are Ok.
// Recurrences hold squares of norms. Columns of B whose norms leave 2^-31 .. 2^31 (double: 2^-255 .. 2^255) are scaled
// by powers of two, and X back. A is not: where (p, A p) underflows, a definite matrix can look as if it were not.
//
// Preconditioners approximate A^-1. cg, pipelined_cg and minres need Hermitian positive definite ones. gmres, fgmres,
// bicgstab and idr apply theirs from the right, so that the residual is that of the system itself. fgmres may be given
// one that changes from call to call.
//
// Executors: loops and scalars are the host's, products and vectors run on the operator's executor, which B and X must
// be on. Host: s d c z. Devices: s c (blas has no double vectors there); `idr` draws its directions on the host.
// Bound: the largest of the recomputed relative residuals, an estimate: the rounding of that residual is not in it.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include <trn/solver/operators.hpp>

namespace trn::solver {

enum class Guess : std::uint8_t { Zero, InX };  // where the iteration starts; Zero never reads X

struct KrylovOptions {
  double tolerance = 1e-6;
  std::int64_t max_iterations = 0;  // of one product with A each (bicgstab: two); 0: ten times the order, at least 100
  std::int64_t restart = 30;        // gmres, fgmres: dimension of the Krylov space
  Guess guess = Guess::Zero;
  // Called after every iteration with its number, from 1, and the recurrence's relative residuals; false stops.
  std::function<bool(std::int64_t iteration, std::span<const double> residuals)> monitor = {};
};

struct IterationReport : Report {
  std::vector<double> residuals;  // ||b_j - A x_j|| / ||b_j||, recomputed from x at the end; 0 for columns of zeros
  std::int64_t products = 0;      // applications of A or A^H to a block
};

// Conjugate gradients: Hermitian positive definite A.
template <Scalar T> IterationReport cg(const AnyOperator<T>& a, const ConstMatrix<T>& b, const MatrixView<T>& x,
                                       const KrylovOptions& options = {}, const AnyOperator<T>& m = {});
// One Krylov space for all columns (O'Leary 1980; directions that become dependent are dropped, Ji and Li 2017): fewer
// iterations than cg, k x k problems on the host.
template <Scalar T> IterationReport block_cg(const AnyOperator<T>& a, const ConstMatrix<T>& b, const MatrixView<T>& x,
                                             const KrylovOptions& options = {}, const AnyOperator<T>& m = {});
// Both reductions of a step before its product, so that they can overlap (Ghysels and Vanroose 2014). Its recurrences
// drift further from the residual than cg's: expect more restarts at small tolerances.
template <Scalar T> IterationReport pipelined_cg(const AnyOperator<T>& a, const ConstMatrix<T>& b,
                                                 const MatrixView<T>& x, const KrylovOptions& options = {},
                                                 const AnyOperator<T>& m = {});
// Hermitian A, indefinite too (Paige and Saunders 1975).
template <Scalar T> IterationReport minres(const AnyOperator<T>& a, const ConstMatrix<T>& b, const MatrixView<T>& x,
                                           const KrylovOptions& options = {}, const AnyOperator<T>& m = {});
// Any square A (Saad and Schultz 1986; flexible: Saad 1993).
template <Scalar T> IterationReport gmres(const AnyOperator<T>& a, const ConstMatrix<T>& b, const MatrixView<T>& x,
                                          const KrylovOptions& options = {}, const AnyOperator<T>& m = {});
template <Scalar T> IterationReport fgmres(const AnyOperator<T>& a, const ConstMatrix<T>& b, const MatrixView<T>& x,
                                           const KrylovOptions& options = {}, const AnyOperator<T>& m = {});
// Any square A, short recurrences (van der Vorst 1992).
template <Scalar T> IterationReport bicgstab(const AnyOperator<T>& a, const ConstMatrix<T>& b, const MatrixView<T>& x,
                                             const KrylovOptions& options = {}, const AnyOperator<T>& m = {});
// IDR(s) with biorthogonal residuals (van Gijzen and Sonneveld 2011).
struct IdrOptions : KrylovOptions {
  std::int64_t s = 4;
  std::uint64_t seed = 0;  // of the shadow space: Philox
};
template <Scalar T> IterationReport idr(const AnyOperator<T>& a, const ConstMatrix<T>& b, const MatrixView<T>& x,
                                        const IdrOptions& options = {}, const AnyOperator<T>& m = {});
// Chebyshev iteration for Hermitian A whose preconditioned spectrum lies in [lo, hi], lo > 0: no reductions but the
// residual's norm. Bounds that are wrong make it diverge, which ends as NotConverged or NotFinite.
struct SpectrumBounds {
  double lo, hi;
};
template <Scalar T> IterationReport chebyshev(const AnyOperator<T>& a, const ConstMatrix<T>& b, const MatrixView<T>& x,
                                              const SpectrumBounds& spectrum, const KrylovOptions& options = {},
                                              const AnyOperator<T>& m = {});

// Least squares (Paige and Saunders 1982): A is m x n of any shape, applied as Op::N and Op::C; X minimises
// ||A x_j - b_j||_2, with least norm when it starts from zero. A column has converged when ||r|| <= tolerance ||b||, or
// ||A^H r|| <= tolerance ||A||_F ||r||, with the recurrence's estimate of ||A||_F.
struct LsqrReport : IterationReport {
  std::vector<double> normal_residuals;  // ||A^H r_j|| / (||A||_F ||r_j||), recomputed; 0 where r_j = 0
};
template <Scalar T> LsqrReport lsqr(const AnyOperator<T>& a, const ConstMatrix<T>& b, const MatrixView<T>& x,
                                    const KrylovOptions& options = {});

}  // namespace trn::solver
