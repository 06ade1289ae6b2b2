// QR factorisation by Householder reflections: A = Q R, and what it is used for.
// cuSOLVER: cusolverDn<t>geqrf, orgqr, ungqr, ormqr, unmqr, cusolverDnXgeqrf. LAPACK: the same names.
//
// Q = H(0) H(1) ... H(k-1), H(i) = I - tau[i] v v^H, v(0 .. i-1) = 0, v(i) = 1, the rest of v below the diagonal of
// column i; R on and above it. Bound: ||A - Q R||_F <= bound ||A||_F for an exactly unitary Q near the computed one, a
// priori and to first order, 6 k (m + 8) u (Higham, theorem 19.4; complex: 2 sqrt(2) times as much), barring underflow.
//
// On devices, float: "blocked qr", panels of 128 columns by CholeskyQR with shifts, Householder vectors reconstructed,
// compact WY updates. The bound is 6 k (m + 136) u: a panel's Q errs by a Gram matrix's sums (m + 128 roundings)
// and two triangular solves, as reflections of m elements do, each update by two sums. Columns that depend on others to
// working precision are perturbed by at most 3 u max|A|. The other types: "blocked qr, exact products" or, for
// complex<float>, "blocked qr, householder": LAPACK's reflections in strips of 16 columns on the host, in wider
// arithmetic, all else products of the device, in Exact for doubles. condition() takes a copy of R to the host.
#pragma once

#include <trn/solver/report.hpp>
#include <trn/solver/types.hpp>

namespace trn::solver {

// Which part of a unitary matrix: its first min(m, n) columns, or all.
enum class Basis : std::uint8_t { Thin, Full };

// A is m x n and becomes V and R; tau has min(m, n) elements. Always Ok, or NotFinite (A and tau become NaN).
template <Scalar T> Report geqrf(const Executor& executor, const MatrixView<T>& a, const VectorView<T>& tau,
                                 const FactorOptions& options = {});

// The first n columns of Q replace the m x n matrix A (n <= m), whose first k = size of tau columns hold geqrf's v.
template <Scalar T> Report orgqr(const Executor& executor, const MatrixView<T>& a, const blas::ConstVector<T>& tau);

// C = op(Q) C (Side::Left) or C op(Q) (Side::Right), with v and tau of geqrf. op is N or C; T as well for real types.
template <Scalar T> Report ormqr(const Executor& executor, Side side, Op op, const ConstMatrix<T>& a,
                                 const blas::ConstVector<T>& tau, const MatrixView<T>& c);

// A factorisation as a value: it copies A (m x n) and can be used many times, from several threads. After NotFinite
// everything it gives is NaN, with that outcome.
template <Scalar T> class Qr {
 public:
  Qr(const Executor& executor, const ConstMatrix<T>& a, const FactorOptions& options = {});
  [[nodiscard]] const Report& report() const { return report_; }
  [[nodiscard]] std::int64_t rows() const { return storage_.columns(); }
  [[nodiscard]] std::int64_t columns() const { return storage_.rows(); }
  [[nodiscard]] MatrixView<const T> factor() const { return storage_.view().transposed(); }
  [[nodiscard]] VectorView<const T> tau() const;
  [[nodiscard]] Matrix<T> q(Basis basis = Basis::Thin) const;
  [[nodiscard]] Matrix<T> r() const;                             // min(m, n) x n
  Report apply(Side side, Op op, const MatrixView<T>& c) const;  // op(Q) C or C op(Q), Q m x m

  // Least squares for m >= n: the first n rows of B (m rows) become the X that minimises ||A X - B||_2, the others hold
  // Q^H B below: their norms are the residuals'. Singular at index j: |r_jj| <= m u max|r_ii|. X is computed all the
  // same, or NaN where a diagonal element is exactly zero.
  Report solve(const MatrixView<T>& b) const;
  [[nodiscard]] double condition() const;  // of R (m >= n), estimate in the 1-norm

 private:
  Matrix<T> storage_;  // column-major: the transpose of a row-major matrix
  Array<T> tau_;
  Report report_;
};

}  // namespace trn::solver
