// Eigenvalues of general square matrices: A x = lambda x, and the Schur form A = Z T Z^H. cuSOLVER: cusolverDnXgeev.
// LAPACK: geev, geevx, gees, trevc. NumPy: eig; SciPy: schur.
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

// How near eigenvalues and vectors are to those of A, geevx: each eigenvalue moves by at most about
// bound * norm / eigenvalues[j], each right vector by an angle of about bound * norm / vectors[j].
enum class Balance : std::uint8_t { None, Permute, Scale, Both };
template <Scalar T> struct EigConditions {
  VectorView<Real<T>> eigenvalues;  // |y_j^H x_j|: 1 for a normal matrix, small where eigenvalues are sensitive
  VectorView<Real<T>> vectors;      // an estimate of the separation of w_j from the others
};
struct EigConditionsReport : Report {
  std::int64_t first = 0, last = -1;  // rows and columns that no exchange isolated; from 0
  double norm = 0;                    // 1-norm of the balanced matrix
};
// eig() with both vectors, of a matrix that is first balanced: rows and columns are exchanged so that eigenvalues are
// isolated, and scaled by powers of two so that norms are alike. Vectors are those of A, conditions of the balanced
// matrix. n x n outputs and n elements each; NotConverged and NotFinite as for eig().
namespace detail {
template <Scalar T> EigConditionsReport eig_conditions(const Executor& executor, const MatrixView<const T>& a,
                                                       const VectorView<ComplexOf<T>>& w,
                                                       const MatrixView<ComplexOf<T>>& right,
                                                       const MatrixView<ComplexOf<T>>& left,
                                                       const EigConditions<T>& conditions, Balance balance);
}
template <class A>
requires Scalar<std::remove_const_t<A>> EigConditionsReport
eig_conditions(const Executor& executor, const MatrixView<A>& a, const VectorView<ComplexOf<std::remove_const_t<A>>>& w,
               const MatrixView<ComplexOf<std::remove_const_t<A>>>& right,
               const MatrixView<ComplexOf<std::remove_const_t<A>>>& left,
               const EigConditions<std::remove_const_t<A>>& conditions, Balance balance = Balance::Both) {
  return detail::eig_conditions<std::remove_const_t<A>>(executor, a, w, right, left, conditions, balance);
}

// Eigenvectors from schur(): of T where no Z is given, of A = Z T Z^H where it is (trevc). Each has Euclidean norm 1.
// What lies below T's diagonal, for real types below its blocks, is not read. Bound: the residual ||T x - w x||, of an
// x of norm 1, is at most bound * ||T||_F; n eps, an estimate. NotFinite: of T or Z; outputs are NaN.
template <Scalar T> Report schur_vectors(const Executor& executor, const ConstMatrix<T>& t,
                                         const EigVectors<T>& vectors,
                                         const std::optional<std::type_identity_t<MatrixView<const T>>>& z = {});

}  // namespace trn::solver
