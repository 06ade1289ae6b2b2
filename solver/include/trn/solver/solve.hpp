// solve: X with A X = B replaces B, for one square matrix and many right-hand sides, with an error bound.
// cuSOLVER: cusolverDn<t>gesv, cusolverDnIRSXgesv, potrf + potrs, sytrs. LAPACK: gesv, posv, sysv, hesv, trtrs.
//
// The structure is trusted and never guessed: only what it names is read (one triangle, no Unit diagonal).
// Bound, ErrorMeasure::Forward: max|x - x*| / max|x*|, the largest over the columns.
//   Certify::Estimate   ||r|| cond / (||A|| ||x||) with the residual r = b - A x in exact arithmetic and an estimated
//                       condition number, norms of rows (infinity norms); with a target_error the size of the steps of
//                       refinement instead.
//   Certify::Rigorous   a proof, rounding counted: with an approximate inverse W and beta >= ||I - W A||_inf < 1,
//                       |x - x*| <= |W r| + beta / (1 - beta) max|W r|. W is a product of up to max_levels inverses
//                       (Rump), so that condition numbers to about 1e17 are served; x is refined to the last bit.
//                       Two Exact products per level, and sums of O(n^2) terms per column and step in software.
// Bound, ErrorMeasure::Backward: max over rows and columns of |b - A x| / (|A||x| + |b|), computed with Exact products;
// always a proof.
// A is taken as it is given: nothing is said about errors that it came with. Certificates compute in double; float and
// complex<float> are converted, which is exact.
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

// Auto: LU with partial pivoting (on devices QR), Cholesky, Bunch-Kaufman (QR) or substitution, as the structure says.
// Lu and Qr take any structure; Lu on devices needs gathers. Cholesky needs Positive.
enum class Factor : std::uint8_t { Auto, Lu, Qr, Cholesky };

// What the bound and the target are about.
enum class ErrorMeasure : std::uint8_t { Forward, Backward };

struct SolveOptions {
  Structure structure = Structure::General;
  Uplo uplo = Uplo::Lower;
  Diag diag = Diag::NonUnit;
  Factor factor = Factor::Auto;
  // 0: the type's own accuracy. Otherwise X is refined with exact residuals until the bound is at most this.
  double target_error = 0;
  ErrorMeasure measure = ErrorMeasure::Forward;
  Certify certify = Certify::Estimate;
  int max_levels = 3;  // factors of the approximate inverse; each costs an inverse and two Exact products
};

// A is not changed. The report's condition is an estimate in the infinity norm (of R for Qr). Singular: at a zero
// pivot, or at index -1 when X overflows; NotPositiveDefinite: of Structure::Positive. After these and NotFinite B is
// NaN. With Qr a diagonal element of R at rounding level is Singular too, and B holds the solution all the same.
template <Scalar T> Report solve(const Executor& executor, const ConstMatrix<T>& a, const MatrixView<T>& b,
                                 const SolveOptions& options = {});

}  // namespace trn::solver
