// Algebraic multigrid by smoothed aggregation (Vanek, Mandel, Brezina 1996): a preconditioner for Hermitian positive
// definite matrices from discretised partial differential equations.
//
// Set-up, level by level: strongly connected unknowns form aggregates; the near-nullspace restricted to each aggregate,
// made orthonormal, is the tentative prolongation T; P = (I - (4/3)/lambda D^-1 A) T; the coarse matrix is P^H A P. The
// last level is inverted densely. Nodes without a connection, such as the identity rows of Dirichlet conditions, are
// left out of coarsening and solved by the inverses of their blocks. One application is a V-cycle with Chebyshev
// smoothing before and after, which is Hermitian, so that it serves conjugate gradients. Deterministic.
#pragma once

#include <optional>

#include <trn/sparse/preconditioners.hpp>

namespace trn::sparse {

template <Scalar T> struct AmgOptions {
  // n x k: what A hardly changes. The constant vector where there is none; rigid motions for elasticity.
  std::optional<MatrixView<const T>> nullspace = {};
  std::int64_t block = 1;  // unknowns of a node, which stay together
  double strength = 0;     // |a_ij| > strength sqrt(|a_ii a_jj|) connects two nodes
  ChebyshevOptions smoother = {.degree = 2, .ratio = 30};
  std::int64_t coarsest = 200;  // connected rows that are inverted densely; at most 2000
  int most_levels = 20;
};

struct AmgLevel {
  std::int64_t rows = 0, nnz = 0, aggregates = 0;
  std::int64_t separate = 0;  // rows of nodes that are connected to no other, which are solved there
};

namespace detail {
struct AmgAccess;
}

template <Scalar T> class Amg {
 public:
  using Value = T;
  Amg(const Csr<T>& a, const AmgOptions<T>& options = {});
  [[nodiscard]] std::int64_t rows() const;
  [[nodiscard]] std::int64_t columns() const { return rows(); }
  [[nodiscard]] const Executor& executor() const;
  [[nodiscard]] const Outcome& outcome() const;  // ZeroPivot: a diagonal that is zero, or a singular coarsest matrix
  [[nodiscard]] const std::vector<AmgLevel>& levels() const;
  [[nodiscard]] double operator_complexity() const;  // entries of all levels for one of A
  // A V-cycle from zero. Op C is the same; op T of complex types is not offered.
  void apply(Op op, T alpha, const MatrixView<const T>& x, T beta, const MatrixView<T>& y) const;

 private:
  friend struct detail::AmgAccess;
  struct Data;
  std::shared_ptr<const Data> data_;
};

template <Scalar T> [[nodiscard]] Amg<T> smoothed_aggregation(const Csr<T>& a, const AmgOptions<T>& options = {}) {
  return Amg<T>(a, options);
}

}  // namespace trn::sparse
