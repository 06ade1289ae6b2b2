// Eigenvalues of general square matrices: A x = lambda x, and the Schur form A = Z T Z^H. cuSOLVER: cusolverDnXgeev.
// LAPACK: geev, gees. NumPy: eig; SciPy: schur.
//
// Bound: the computed eigenvalues are exact for a matrix within bound * ||A||_F; n eps, an estimate. Nothing is said
// about the distance to A's own eigenvalues, which depends on their conditions.
#pragma once

#include <complex>
#include <optional>

#include <trn/solver/report.hpp>
#include <trn/solver/types.hpp>

namespace trn::solver {

template <class T> using ComplexOf = std::complex<Real<T>>;

template <Scalar T> struct EigVectors {
  // A x_j = w_j x_j, column j of `right`; y_j^H A = w_j y_j^H, column j of `left`. Each has Euclidean norm 1.
  std::optional<MatrixView<ComplexOf<T>>> right{}, left{};
};

namespace detail {
template <Scalar T> Report eig(const Executor& executor, const MatrixView<const T>& a,
                               const VectorView<ComplexOf<T>>& w, const EigVectors<T>& vectors);
}
// A is n x n and not changed; w has n elements, vectors are n x n. Real A: complex eigenvalues come in conjugate pairs,
// the one with positive imaginary part first. NotConverged at index k: eigenvalues k + 1 to n - 1 were found; as after
// NotFinite, all outputs are NaN.
template <class A>
requires Scalar<std::remove_const_t<A>> Report eig(const Executor& executor, const MatrixView<A>& a,
                                                   const VectorView<ComplexOf<std::remove_const_t<A>>>& w,
                                                   const EigVectors<std::remove_const_t<A>>& vectors = {}) {
  return detail::eig<std::remove_const_t<A>>(executor, a, w, vectors);
}

// T replaces A: upper triangular, for real types with 2 x 2 blocks for conjugate pairs. Z, if given, is unitary. w
// holds the eigenvalues in the order of T's diagonal. NotConverged and NotFinite: all outputs are NaN.
template <Scalar T> Report schur(const Executor& executor, const MatrixView<T>& a, const VectorView<ComplexOf<T>>& w,
                                 const std::optional<std::type_identity_t<MatrixView<T>>>& z = {});

}  // namespace trn::solver
