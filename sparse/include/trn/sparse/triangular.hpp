// Triangular solves: X = alpha op(A)^-1 B. cuSPARSE: SpSV, SpSM, their analysis and updateMatrix.
//
// The analysis puts rows into levels; rows of one level need only earlier ones, so they are shared among threads when a
// level is wide. A row is computed by one thread in the order of its columns: the same bits for any number of threads.
// Residuals, real types: |alpha b - op(A) x|(i) <= (k_i + 2) u (|op(A)||x|)(i), k_i the entries of row i. Complex
// types: (k_i + 6) u in tests, not proved: a product rounds 2 sqrt(2) u, and the compiler's division states no bound.
//
// On a device (float) the triangle becomes blocks of 128 x 128 (triangular_programs.hpp), whose diagonal ones D the
// plan inverts on the host, in double. With k = min(n, 128), g the most blocks of a block row and the terms of
// trn/tile/words.hpp for native products, the residual of a window of 128 rows is at most
//   (k + 2 g + 5) u |D||D^-1| (|alpha B| + sum |L||X| + |D||X|),
// L the blocks beside D, barring overflow; TriangularReport::condition is the largest row sum of |D||D^-1|. A chain of
// dependent windows takes about half a microsecond a window: many columns, or many windows of a level, pay for it, and
// one column of a long chain belongs to the host; TriangularReport has both times. Zeros of a block meet rows of X: an
// infinity or NaN there reaches every row of a window whose block is stored.
#pragma once

#include <trn/sparse/csr.hpp>
#include <trn/sparse/outcome.hpp>

namespace trn::sparse {

namespace detail {
template <Scalar T> struct TriangularData;
struct TriangularAccess;
}  // namespace detail

struct TriangularOptions {
  Op op = Op::N;
  Uplo uplo = Uplo::Lower;  // the triangle of A that is read; entries of the other one are ignored
  Diag diag = Diag::NonUnit;
  std::int64_t columns = 1;  // of B, as a rule: what a device's time is estimated for
};

struct TriangularReport {
  std::int64_t nnz = 0, longest_row = 0;  // of the triangle
  // Devices.
  std::int64_t tiles = 0, levels = 0;  // blocks of 128 x 128, and levels of windows of 128 rows
  std::int64_t most_tiles = 0;         // of a window
  double fill = 0;                     // entries of the triangle for one place in a tile
  double condition = 0;                // the largest row sum of |D||D^-1|, D the diagonal blocks
  double modelled_seconds = 0;         // of one solve with TriangularOptions::columns columns, launch included
  double host_seconds = 0;             // of one host core at a nominal 1 (one column) or 4 GFLOP/s
};

// A LinearOperator: apply() is the solve. op other than N is for operators on the host; choose TriangularOptions::op
// where it is known.
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
  [[nodiscard]] std::int64_t levels() const;  // of rows
  [[nodiscard]] const Outcome& outcome() const;
  [[nodiscard]] const TriangularReport& report() const;

 private:
  friend struct detail::TriangularAccess;
  Csr<T> a_;
  TriangularOptions options_;
  std::int64_t n_;
  std::shared_ptr<const detail::TriangularData<T>> data_;
};

}  // namespace trn::sparse
