// Eigenvalues of pairs of general square matrices: A x beta = B x alpha, and the generalised Schur form A = Q S Z^H,
// B = Q P Z^H. LAPACK: ggev, gges. SciPy: eig(a, b), qz. MATLAB: eig(A, B), qz. Hermitian A with a positive definite B
// is eigh_generalized() of eigh.hpp.
//
// An eigenvalue is the pair (alpha, beta), beta >= 0: alpha / beta, infinite where beta is 0 (a singular B), and
// anything at all where both are next to 0 (A and B share a null vector). Bound: the eigenvalues are exact for matrices
// within bound * ||A||_F of A and bound * ||B||_F of B; n eps, an estimate, as are those of the vectors' residuals.
#pragma once

#include <trn/solver/eig.hpp>

namespace trn::solver {

namespace detail {
template <Scalar T> Report eig_generalized(const Executor& executor, const MatrixView<const T>& a,
                                           const MatrixView<const T>& b, const VectorView<ComplexOf<T>>& alpha,
                                           const VectorView<Real<T>>& beta, const EigVectors<T>& vectors);
}
// A and B are n x n and not changed; alpha and beta have n elements, vectors are n x n: A x_j beta_j = B x_j alpha_j,
// beta_j y_j^H A = alpha_j y_j^H B, each of Euclidean norm 1. Real matrices: alpha comes in conjugate pairs, the one
// with positive imaginary part first. NotConverged at index k: pairs k + 1 to n - 1 were found, at -1: the vectors were
// not; as after NotFinite (the first of A, else of B), all outputs are NaN.
template <class A, class B>
requires Scalar<std::remove_const_t<A>> Report eig_generalized(
    const Executor& executor, const MatrixView<A>& a, const MatrixView<B>& b,
    const VectorView<ComplexOf<std::remove_const_t<A>>>& alpha, const VectorView<Real<std::remove_const_t<A>>>& beta,
    const EigVectors<std::remove_const_t<A>>& vectors = {}) {
  return detail::eig_generalized<std::remove_const_t<A>>(executor, a, b, alpha, beta, vectors);
}

// Q and Z of the generalised Schur form; one, both or none.
template <Scalar T> struct SchurVectors { std::optional<MatrixView<T>> q{}, z{}; };
// S replaces A and P replaces B: upper triangular, P's diagonal not negative; for real types S has 2 x 2 blocks for
// conjugate pairs, where P is diagonal and positive. alpha and beta are the pairs in the order of the diagonals.
// NotConverged and NotFinite as above.
template <Scalar T> Report schur_generalized(const Executor& executor, const MatrixView<T>& a, const MatrixView<T>& b,
                                             const VectorView<ComplexOf<T>>& alpha, const VectorView<Real<T>>& beta,
                                             const SchurVectors<std::type_identity_t<T>>& vectors = {});

}  // namespace trn::solver
