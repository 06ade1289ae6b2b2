// LinearOperator: what an iterative method needs of a matrix, and of a preconditioner.
//
// y = alpha op(A) x + beta y on blocks of columns, because one column costs the Tensor Engine as much as 64. Sparse
// matrices, dense ones, stencils, factorisations and multigrid cycles are all operators; the Krylov loops of trnsolver
// take any of them. The rules of `apply`:
//
// - x and y are on executor(), with as many columns as one another, and do not overlap; beta = 0 never reads y.
// - It allocates nothing, so that a loop of applications costs no memory traffic but its own; work space belongs to the
//   operator. One operator is therefore applied by one thread at a time unless its type says otherwise.
// - An op it does not have is refused by InvalidArgument or NotImplemented, never ignored.
#pragma once

#include <concepts>
#include <cstdint>

#include <trn/core/scalars.hpp>
#include <trn/core/view.hpp>

namespace trn {

template <class A, class T>
concept LinearOperator = Scalar<T> &&
    requires(const A& a, T scale, const MatrixView<const T>& x, const MatrixView<T>& y) {
  { a.rows() } -> std::convertible_to<std::int64_t>;
  { a.columns() } -> std::convertible_to<std::int64_t>;
  { a.executor() } -> std::convertible_to<const Executor&>;
  a.apply(Op::N, scale, x, scale, y);
};

}  // namespace trn
