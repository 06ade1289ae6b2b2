// Triangular solves: X = alpha op(A)^-1 B. cuSPARSE: SpSV, SpSM, their analysis and updateMatrix.
//
// The analysis puts rows into levels; rows of one level need only earlier ones, so they are shared among threads when a
// level is wide. A row is computed by one thread in the order of its columns: the same bits for any number of threads.
// Residuals, real types: |alpha b - op(A) x|(i) <= (k_i + 2) u (|op(A)||x|)(i), k_i the entries of row i. Complex
// types: (k_i + 6) u in tests, not proved: a product rounds 2 sqrt(2) u, and the compiler's division states no bound.
#pragma once

#include <trn/sparse/csr.hpp>
#include <trn/sparse/outcome.hpp>

namespace trn::sparse {

namespace detail {
template <Scalar T> struct TriangularData;
}

struct TriangularOptions {
  Op op = Op::N;
  Uplo uplo = Uplo::Lower;  // the triangle of A that is read; entries of the other one are ignored
  Diag diag = Diag::NonUnit;
};

// A LinearOperator: apply() is the solve. op other than N is for operators; choose TriangularOptions::op where it is
// known.
template <Scalar T> class TriangularPlan {
 public:
  using Value = T;
  TriangularPlan(const Executor& executor, const Csr<T>& a, const TriangularOptions& options = {});

  // ZeroPivot when a diagonal element is absent or zero: X then becomes NaN. B and X may be the same view.
  Outcome solve(T alpha, const std::type_identity_t<MatrixView<const T>>& b, const MatrixView<T>& x) const;
  void apply(Op op, T alpha, const MatrixView<const T>& x, T beta, const MatrixView<T>& y) const;
  [[nodiscard]] TriangularPlan with_values(const VectorView<const T>& values) const;

  [[nodiscard]] std::int64_t rows() const { return n_; }
  [[nodiscard]] std::int64_t columns() const { return n_; }
  [[nodiscard]] const Executor& executor() const { return a_.executor(); }
  [[nodiscard]] std::int64_t levels() const;
  [[nodiscard]] const Outcome& outcome() const;

 private:
  Csr<T> a_;
  TriangularOptions options_;
  std::int64_t n_;
  std::shared_ptr<const detail::TriangularData<T>> data_;
};

}  // namespace trn::sparse
