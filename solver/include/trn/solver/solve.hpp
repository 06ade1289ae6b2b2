// solve: X with A X = B replaces B, for one square matrix and many right-hand sides, with an error bound.
// cuSOLVER: cusolverDn<t>gesv, cusolverDnIRSXgesv, potrf + potrs, sytrs. LAPACK: gesv, posv, sysv, hesv, trtrs.
//
// The structure is trusted and never guessed: only what it names is read (one triangle, no Unit diagonal).
// Bound: max|x - x*| / max|x*|, the largest over the columns: ||r|| cond / (||A|| ||x||) with the residual r = b - A x
// in exact arithmetic and an estimated condition number, norms of rows (infinity norms).
#pragma once

#include <trn/solver/report.hpp>
#include <trn/solver/types.hpp>

namespace trn::solver {

enum class Structure : std::uint8_t {
  General,
  Positive,   // Hermitian positive definite; the triangle `uplo` is read
  Hermitian,  // the triangle `uplo` is read; the same as Symmetric for real types
  Symmetric,
  Triangular  // the triangle `uplo` is read; diag says whether the diagonal is
};

// Auto: LU with partial pivoting, Cholesky, Bunch-Kaufman or substitution, as the structure says. Lu and Qr take any
// structure; Cholesky needs Positive.
enum class Factor : std::uint8_t { Auto, Lu, Qr, Cholesky };

struct SolveOptions {
  Structure structure = Structure::General;
  Uplo uplo = Uplo::Lower;
  Diag diag = Diag::NonUnit;
  Factor factor = Factor::Auto;
};

// A is not changed. The report's condition is an estimate in the infinity norm (of R for Qr). Singular: at a zero
// pivot, or at index -1 when X overflows; NotPositiveDefinite: of Structure::Positive. After these and NotFinite B is
// NaN. With Qr a diagonal element of R at rounding level is Singular too, and B holds the solution all the same.
template <Scalar T> Report solve(const Executor& executor, const ConstMatrix<T>& a, const MatrixView<T>& b,
                                 const SolveOptions& options = {});

}  // namespace trn::solver
