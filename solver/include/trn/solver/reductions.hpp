// Reductions by unitary transformations, the first half of eigenvalues and singular values, as steps that can be
// called: to tridiagonal form (sytrd), bidiagonal form (gebrd) and Hessenberg form (gehrd); the matrices that they
// used, made (orgtr, orgbr, orghr) or applied (ormtr, ormbr, ormhr). Host. cuSOLVER: cusolverDn<t>sytrd, hetrd, orgtr,
// ungtr, ormtr, unmtr, gebrd, orgbr, ungbr. LAPACK: the same names, and gehrd, orghr, unghr, ormhr, unmhr, ormbr,
// unmbr. One name here for real and complex types, the real one.
//
// Q is a product of reflections H(i) = I - tau[i] v v^H, whose v stay in A where LAPACK leaves them, so that LAPACK's
// and cuSOLVER's routines can go on with them. Bounds: ||A - Q B P^H||_F <= bound ||A||_F (P = Q for sytrd and gehrd)
// for exactly unitary Q and P near the computed ones, a priori and to first order: every reflection is applied from
// both sides, 12 k (m + 8) u for k reflections of m elements (Higham, theorem 19.4; complex: 2 sqrt(2) times as much),
// barring underflow; for the others 6 k (m + 8) u as for geqrf. NaN and infinities in what is read: NotFinite, outputs
// NaN.
#pragma once

#include <trn/solver/report.hpp>
#include <trn/solver/types.hpp>

namespace trn::solver {

// A = Q T Q^H of order n. The named triangle of A becomes T and the v; d (n) and e (n - 1) are T's diagonal and what
// stands beside it, real. tau has n - 1 elements.
template <Scalar T> Report sytrd(const Executor& executor, Uplo uplo, const MatrixView<T>& a,
                                 const VectorView<Real<T>>& d, const VectorView<Real<T>>& e, const VectorView<T>& tau);
// Q replaces A, the whole of it.
template <Scalar T>
Report orgtr(const Executor& executor, Uplo uplo, const MatrixView<T>& a, const blas::ConstVector<T>& tau);
// C = op(Q) C or C op(Q). op is N or C; T as well for real types.
template <Scalar T> Report ormtr(const Executor& executor, Side side, Uplo uplo, Op op, const ConstMatrix<T>& a,
                                 const blas::ConstVector<T>& tau, const MatrixView<T>& c);

// A = Q B P^H, m x n, k = min(m, n): B is upper bidiagonal where m >= n, else lower. d (k) and e (k - 1) are its
// diagonals, real; tau_q and tau_p have k elements.
template <Scalar T> Report gebrd(const Executor& executor, const MatrixView<T>& a, const VectorView<Real<T>>& d,
                                 const VectorView<Real<T>>& e, const VectorView<T>& tau_q, const VectorView<T>& tau_p);
enum class BidiagonalFactor : std::uint8_t { Q, P };
// Factor Q: the first n columns of Q replace the m x n matrix A; `order` columns were reduced: m >= n >= min(m, order),
// tau is tau_q, min(m, order). Factor P: the first m rows of P^H replace A, `order` rows were reduced: n >= m >= min(n,
// order), tau is tau_p, min(n, order).
template <Scalar T> Report orgbr(const Executor& executor, BidiagonalFactor factor, std::int64_t order,
                                 const MatrixView<T>& a, const blas::ConstVector<T>& tau);
// C = op(F) C or C op(F), where F is Q or P. A is what gebrd left of a matrix with `order` columns (Q) or rows (P);
// with r = C's rows (Left) or columns (Right) it is r x min(r, order) for Q, min(r, order) x r for P.
template <Scalar T> Report ormbr(const Executor& executor, BidiagonalFactor factor, Side side, Op op,
                                 std::int64_t order, const ConstMatrix<T>& a, const blas::ConstVector<T>& tau,
                                 const MatrixView<T>& c);

// A = Q H Q^H of order n, H with zeros below its first subdiagonal. tau has n - 1 elements.
template <Scalar T> Report gehrd(const Executor& executor, const MatrixView<T>& a, const VectorView<T>& tau);
template <Scalar T> Report orghr(const Executor& executor, const MatrixView<T>& a, const blas::ConstVector<T>& tau);
template <Scalar T> Report ormhr(const Executor& executor, Side side, Op op, const ConstMatrix<T>& a,
                                 const blas::ConstVector<T>& tau, const MatrixView<T>& c);

}  // namespace trn::solver
