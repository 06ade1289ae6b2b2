// Preconditioners that are linear operators of a sparse matrix: Jacobi, block Jacobi, symmetric Gauss-Seidel by
// colours, a Chebyshev polynomial, a sparse approximate inverse. Each satisfies trn::LinearOperator and belongs to one
// thread at a time. A zero on the diagonal is a result: outcome(), and apply() fills with NaN.
#pragma once

#include <trn/sparse/csr.hpp>
#include <trn/sparse/ordering.hpp>
#include <trn/sparse/outcome.hpp>
#include <trn/sparse/spmm.hpp>

namespace trn::sparse {

// Inverses of the b x b blocks on the diagonal; b = 1 is Jacobi. The last block may be smaller.
template <Scalar T> class BlockJacobi {
 public:
  using Value = T;
  explicit BlockJacobi(const Csr<T>& a, std::int64_t block = 1);
  [[nodiscard]] std::int64_t rows() const { return n_; }
  [[nodiscard]] std::int64_t columns() const { return n_; }
  [[nodiscard]] const Executor& executor() const { return work_.executor(); }
  [[nodiscard]] const Outcome& outcome() const { return outcome_; }  // index: first row of the singular block
  void apply(Op op, T alpha, const MatrixView<const T>& x, T beta, const MatrixView<T>& y) const;

 private:
  std::int64_t n_, block_;
  std::vector<T> inverses_;  // block after block, row-major
  Outcome outcome_;
  Array<T> work_;
  mutable std::vector<T> piece_;
};
template <Scalar T> [[nodiscard]] BlockJacobi<T> jacobi(const Csr<T>& a) { return BlockJacobi<T>(a, 1); }

// M = w/(2 - w) (D/w + L) D^-1 (D/w + U) with rows sorted by colour, so that rows of a colour are independent.
template <Scalar T> class Ssor {
 public:
  using Value = T;
  explicit Ssor(const Csr<T>& a, double weight = 1);
  [[nodiscard]] std::int64_t rows() const;
  [[nodiscard]] std::int64_t columns() const { return rows(); }
  [[nodiscard]] const Executor& executor() const;
  [[nodiscard]] const Outcome& outcome() const;
  [[nodiscard]] std::int32_t colours() const;
  void apply(Op op, T alpha, const MatrixView<const T>& x, T beta, const MatrixView<T>& y) const;

 private:
  struct Data;
  std::shared_ptr<const Data> data_;
};

// `degree` steps of Chebyshev's iteration for D^-1 A from zero: a polynomial in D^-1 A times D^-1. For Hermitian
// positive definite A it is one too, as long as the largest eigenvalue is not underestimated.
struct ChebyshevOptions {
  int degree = 3;
  double largest = 0;  // eigenvalue of D^-1 A; 0: estimated by a few steps of the power method, times 1.1
  double ratio = 30;   // largest / smallest of the interval that is damped
  int estimate_steps = 15;
};
template <Scalar T> class Chebyshev {
 public:
  using Value = T;
  explicit Chebyshev(const Csr<T>& a, const ChebyshevOptions& options = {});
  [[nodiscard]] std::int64_t rows() const { return plan_.rows(); }
  [[nodiscard]] std::int64_t columns() const { return plan_.rows(); }
  [[nodiscard]] const Executor& executor() const { return plan_.executor(); }
  [[nodiscard]] const Outcome& outcome() const { return outcome_; }
  [[nodiscard]] double largest() const { return largest_; }
  [[nodiscard]] const SpmmPlan<T>& plan() const { return plan_; }  // of A
  void apply(Op op, T alpha, const MatrixView<const T>& x, T beta, const MatrixView<T>& y) const;
  // One smoothing step: x improved towards A x = b, from zero when `zero` says that x is.
  void smooth(const T* b, T* x, bool zero) const;

 private:
  SpmmPlan<T> plan_;
  ChebyshevOptions options_;
  std::vector<T> inverse_diagonal_;
  Outcome outcome_;
  double largest_ = 0;
  Array<T> work_;  // residual, direction, one column in, one out
};

// M on the pattern of A that minimises ||A M - I|| in the Frobenius norm, column by column. apply() is a product.
template <Scalar T> [[nodiscard]] Csr<T> approximate_inverse(const Csr<T>& a);

}  // namespace trn::sparse
