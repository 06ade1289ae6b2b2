// A proof that a Hermitian matrix is positive definite, with a lower bound of its smallest eigenvalue.
//
// A Cholesky factorisation of A - s I for a shift s near half of the smallest eigenvalue, and an Exact product that
// bounds how far L L^H is from it: lambda_min >= s - ||L L^H - (A - s I)||. Positive: A is positive definite, and for
// every b ||x - x*||_2 <= ||b - A x||_2 / bound. Zero, negative or -infinity: nothing was proved; A may be positive
// definite all the same, with a condition number above about 2^50 / n. Computed in double for every type.
#pragma once

#include <trn/solver/report.hpp>
#include <trn/solver/types.hpp>

namespace trn::solver {

namespace detail {
template <Scalar T> double smallest_eigenvalue_bound(const Executor& executor, Uplo uplo, const MatrixView<const T>& a);
}
// Only the triangle that `uplo` names is read; A may be a view of const or of writable elements. -infinity for
// non-finite A, +infinity for an empty one.
template <class A>
requires Scalar<std::remove_const_t<A>>
[[nodiscard]] double smallest_eigenvalue_bound(const Executor& executor, Uplo uplo, const MatrixView<A>& a) {
  return detail::smallest_eigenvalue_bound<std::remove_const_t<A>>(executor, uplo, a);
}

}  // namespace trn::solver
