// Factorisation of an indefinite symmetric or Hermitian matrix with diagonal pivoting (Bunch and Kaufman):
// A = L D L^T, L D L^H, U D U^T or U D U^H, D with blocks of 1 x 1 and 2 x 2.
// cuSOLVER: cusolverDn<t>sytrf, cusolverDnXsytrs. LAPACK: sytrf, hetrf, sytrs, hetrs, sytri, hetri, sycon, hecon.
//
// Only the triangle that `uplo` names is read and written. pivots[k] >= 0: a 1 x 1 block, rows k and pivots[k] were
// exchanged; pivots[k] = -(p + 1) < 0 for both rows of a 2 x 2 block (LAPACK's ipiv with positive entries counted from
// 0). Views other than column-major ones are copied: the transpose would be the other of the two forms.
// Bound: ||A - P L D L^H P^T|| <= bound || |L||D||L^H| ||, a priori, (n + 8) times the type's factor (Higham, theorem
// 11.3, where the constant is a low-degree polynomial), barring underflow.
#pragma once

#include <trn/solver/report.hpp>
#include <trn/solver/types.hpp>

namespace trn::solver {

enum class Symmetry : std::uint8_t { Hermitian, Symmetric };  // the same for real types

struct LdlOptions {
  Symmetry symmetry = Symmetry::Hermitian;
};

// Singular at index k: D(k, k) is exactly zero; the factorisation is complete. NotFinite: the triangle becomes NaN.
template <Scalar T> Report sytrf(const Executor& executor, Uplo uplo, const MatrixView<T>& a,
                                 const VectorView<std::int64_t>& pivots, const LdlOptions& options = {});
// X with A X = B replaces B.
template <Scalar T> Report sytrs(const Executor& executor, Uplo uplo, const ConstMatrix<T>& factor,
                                 const VectorView<const std::int64_t>& pivots, const MatrixView<T>& b,
                                 const LdlOptions& options = {});
// The named triangle of A^-1 replaces the factor. Singular: D is, the factor is as it was.
template <Scalar T> Report sytri(const Executor& executor, Uplo uplo, const MatrixView<T>& factor,
                                 const VectorView<const std::int64_t>& pivots, const LdlOptions& options = {});

// How many eigenvalues are positive, negative and zero: those of D (Sylvester's law). Exactly zero blocks count as
// zero.
struct Inertia {
  std::int64_t positive = 0, negative = 0, zero = 0;
  friend bool operator==(const Inertia&, const Inertia&) = default;
};

// A factorisation as a value: it copies the triangle of A and can be used many times, from several threads. After
// Singular or NotFinite solve() returns that outcome and fills B with NaN, inverse() is NaN.
template <Scalar T> class Ldl {
 public:
  Ldl(const Executor& executor, Uplo uplo, const ConstMatrix<T>& a, const LdlOptions& options = {});
  [[nodiscard]] const Report& report() const { return report_; }
  [[nodiscard]] std::int64_t size() const { return storage_.rows(); }
  [[nodiscard]] MatrixView<const T> factor() const { return storage_.view().transposed(); }
  [[nodiscard]] VectorView<const std::int64_t> pivots() const;
  Report solve(const MatrixView<T>& b) const;
  [[nodiscard]] Matrix<T> inverse() const;  // both triangles
  // The same, and what sytri said of it: NotFinite where the inverse overflowed, which is NaN then.
  [[nodiscard]] Matrix<T> inverse(Report& report) const;
  [[nodiscard]] T determinant() const;
  [[nodiscard]] LogDeterminant<T> log_determinant() const;
  [[nodiscard]] Inertia inertia() const;   // refused for complex symmetric matrices, whose eigenvalues are complex
  [[nodiscard]] double condition() const;  // estimate in the 1-norm; infinite when singular

 private:
  Matrix<T> storage_;  // column-major: the transpose of a row-major matrix
  Array<std::int64_t> pivots_;
  Uplo uplo_;
  LdlOptions options_;
  Real<T> norm_ = 0;
  Report report_;
};

}  // namespace trn::solver
