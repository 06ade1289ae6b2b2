// Sparse direct solvers on the host: Cholesky, LU and QR. cuSOLVER: cusolverSp's csrlsvchol, csrlsvlu, csrlsvqr,
// csrlsqvqr and its low-level Chol and QR interfaces, cusolverRf's refactorisation.
//
// Multifrontal: an ordering that keeps fill low, a symbolic analysis once, then dense fronts on OpenBLAS. The analysis
// belongs to the pattern and is kept: refactor() takes new values and does the numerical part alone. Fronts are shared
// among threads; the bits do not depend on how many there are.
//
// Numerical trouble is a result (outcome(), with the row or column of A where it showed), never an exception; solve()
// then fills X with NaN. NotFinite: A has an entry that is not finite, or numbers overflowed on the way.
//
// solve() refines: x += A^-1 (b - A x), the residual in double for float and in 64-bit mantissas for double,
// and reports what remains. After one step a well-posed system has |b - A x|(i) <= (n + 2) u (|A||x|)(i).
#pragma once

#include <memory>
#include <optional>

#include <trn/sparse/csr.hpp>
#include <trn/sparse/ordering.hpp>
#include <trn/sparse/outcome.hpp>

namespace trn::sparse {

namespace detail {
template <Scalar T> struct CholeskyData;
template <Scalar T> struct LuData;
template <Scalar T> struct QrData;
}  // namespace detail

struct DirectOptions {
  // None, ReverseCuthillMcKee, MinimumDegree, NestedDissection; Best takes minimum degree or nested dissection,
  // whichever needs fewer operations. QR orders columns by the pattern of A^H A, LU rows and columns by that of A + A^T
  // after its rows were matched to columns.
  Reorder ordering = Reorder::Best;
  Permutation order = {};  // when not empty: this order, of columns, instead
};
struct CholeskyOptions : DirectOptions {
  Uplo uplo = Uplo::Lower;  // the triangle of A that is read
};
struct LuOptions : DirectOptions {
  double threshold = 0.1;  // a pivot is at least this part of the largest element of its column; in (0, 1]
  bool match = true;       // permute rows for a large diagonal and scale, by powers of two
};
struct QrOptions : DirectOptions {
  // |R(k,k)| at most this much times the largest 2-norm of a column of A counts as zero; negative: (m + n) u.
  double tolerance = -1;
};

struct FactorReport {
  Reorder ordering = Reorder::None;  // that was taken; Permutation given: None
  std::int64_t entries = 0;          // of the factors
  double flops = 0;                  // additions and multiplications of the factorisation, real or complex
  std::int64_t nodes = 0;            // dense fronts
  std::int64_t largest_front = 0;    // rows of it
  std::int64_t delayed = 0;          // LU: pivots that had to wait for a later front
};

struct Refinement {
  int steps = 1;  // at most; 0 solves once and reports the residual all the same
};
struct Solved {
  Outcome outcome;
  int steps = 0;             // of refinement that were taken
  double componentwise = 0;  // max_i |b - A x|_i / (|A||x|)_i; infinity where only the numerator is not zero
  double normwise = 0;       // max_i |b - A x|_i / max_i (|A||x|)_i
};
// What one step of refinement leaves of Solved::componentwise when the system of so many rows is well posed.
template <Scalar T> [[nodiscard]] double refined_error_bound(std::int64_t rows) {
  return static_cast<double>(rows + 2) * unit_roundoff(dtype_of<T>);
}

// A = L L^H, Hermitian positive definite. NotPositive names the row whose leading submatrix, in the factor's order, is
// not positive definite; a complex diagonal that is not real counts as such.
template <Scalar T> class Cholesky {
 public:
  using Value = T;
  explicit Cholesky(const Csr<T>& a, const CholeskyOptions& options = {});
  // New values on the same pattern. The temporary form also takes over the memory of the factor.
  [[nodiscard]] Cholesky refactor(const Csr<T>& a) const&;
  [[nodiscard]] Cholesky refactor(const Csr<T>& a) &&;

  [[nodiscard]] std::int64_t rows() const;
  [[nodiscard]] std::int64_t columns() const { return rows(); }
  [[nodiscard]] const Executor& executor() const;
  [[nodiscard]] const Outcome& outcome() const;
  [[nodiscard]] const FactorReport& report() const;
  [[nodiscard]] const Permutation& order() const;
  [[nodiscard]] Csr<T> lower() const;            // L of P A P^T; P takes row k from order()[k]
  [[nodiscard]] double log_determinant() const;  // NaN unless outcome().ok()

  // A X = B. B and X may be the same view.
  Solved solve(const std::type_identity_t<MatrixView<const T>>& b, const MatrixView<T>& x,
               const Refinement& refinement = {}) const;
  // A LinearOperator: the solve without refinement, one thread at a time.
  void apply(Op op, T alpha, const MatrixView<const T>& x, T beta, const MatrixView<T>& y) const;

 private:
  explicit Cholesky(std::shared_ptr<detail::CholeskyData<T>> data) : data_(std::move(data)) {}
  std::shared_ptr<detail::CholeskyData<T>> data_;
};

// P A Q = L U, threshold pivoting. Singular names a column of A that depends on others, structurally or exactly.
template <Scalar T> class Lu {
 public:
  using Value = T;
  explicit Lu(const Csr<T>& a, const LuOptions& options = {});
  // New values on the same pattern; pivots are chosen anew within the same ordering.
  [[nodiscard]] Lu refactor(const Csr<T>& a) const;

  [[nodiscard]] std::int64_t rows() const;
  [[nodiscard]] std::int64_t columns() const { return rows(); }
  [[nodiscard]] const Executor& executor() const;
  [[nodiscard]] const Outcome& outcome() const;
  [[nodiscard]] const FactorReport& report() const;

  // op(A) X = B. B and X may be the same view.
  Solved solve(const std::type_identity_t<MatrixView<const T>>& b, const MatrixView<T>& x, Op op = Op::N,
               const Refinement& refinement = {}) const;
  void apply(Op op, T alpha, const MatrixView<const T>& x, T beta, const MatrixView<T>& y) const;

 private:
  explicit Lu(std::shared_ptr<detail::LuData<T>> data) : data_(std::move(data)) {}
  std::shared_ptr<detail::LuData<T>> data_;
};

// A = Q R by Householder reflections, as many rows as columns or more: least squares min |b - A x|. With fewer rows the
// factors are those of A^H, and solve() gives the solution of A x = b with the least norm. Singular names a column (of
// A, or of A^H) that depends on others within the tolerance.
template <Scalar T> class Qr {
 public:
  using Value = T;
  explicit Qr(const Csr<T>& a, const QrOptions& options = {});
  [[nodiscard]] Qr refactor(const Csr<T>& a) const;

  [[nodiscard]] std::int64_t rows() const;  // of A
  [[nodiscard]] std::int64_t columns() const;
  [[nodiscard]] const Executor& executor() const;
  [[nodiscard]] const Outcome& outcome() const;
  [[nodiscard]] const FactorReport& report() const;
  [[nodiscard]] const Permutation& order() const;  // of the columns of A, or of A^H
  [[nodiscard]] Csr<T> r() const;                  // R, upper triangular, columns in that order

  // B is rows() x k, X is columns() x k. The report's residuals are those of A x = b when A is square or wide; with
  // more rows than columns those of the normal equations, |A^H r|_i / (|A^H| (|b| + |A||x|))_i with r = b - A x.
  Solved solve(const std::type_identity_t<MatrixView<const T>>& b, const MatrixView<T>& x,
               const Refinement& refinement = {}) const;

 private:
  explicit Qr(std::shared_ptr<detail::QrData<T>> data) : data_(std::move(data)) {}
  std::shared_ptr<detail::QrData<T>> data_;
};

}  // namespace trn::sparse
