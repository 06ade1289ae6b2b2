// Steps inside of factorisations that LAPACK and cuSOLVER have as functions of their own: exchanges of rows (laswp), a
// triangle times its adjoint (lauum), the triangular factor of a block of reflections (larft). Host. cuSOLVER:
// cusolverDn<t>laswp, cusolverDn<t>lauum, cusolverDnXlarft.
#pragma once

#include <trn/solver/report.hpp>
#include <trn/solver/types.hpp>

namespace trn::solver {

enum class Exchanges : std::uint8_t { Forward, Backward };

// Row first + i of A and row pivots[i] are exchanged, for i = 0, 1, ... or, backward, from the last i on, which undoes
// the former. Rows count from 0. Nothing is computed: the bound is 0, and NaN moves like any number.
template <Scalar T> Report laswp(const Executor& executor, const MatrixView<T>& a, std::int64_t first,
                                 const VectorView<const std::int64_t>& pivots,
                                 Exchanges exchanges = Exchanges::Forward);

// The upper triangle of U U^H replaces U, the lower one of L^H L replaces L; the other triangle is not touched.
// NotFinite also names the first element that overflowed. Bound: (n + 8) u, elementwise, relative to |U||U^H|; complex
// types, here and below: 2 sqrt(2) times as much.
template <Scalar T> Report lauum(const Executor& executor, Uplo uplo, const MatrixView<T>& a);

// k reflections H(i) = I - tau[i] v_i v_i^H, in the order H(0) H(1) ... (Forward) or H(k-1) ... H(0) (Backward).
enum class ReflectionOrder : std::uint8_t { Forward, Backward };
// Columns: V is n x k and v_i its column i; Rows: V is k x n and v_i^H its row i. As geqrf, geqlf, gelqf and gerqf
// leave them: forward, v_i has zeros before a one at place i, backward zeros behind a one at place n - k + i; neither
// the zeros nor the one are read.
enum class ReflectionStorage : std::uint8_t { Columns, Rows };

// T, k x k, with H = I - V T V^H for columns, I - V^H T V for rows: upper triangular forward, lower triangular
// backward; the other triangle is not written. tau has k elements, k <= n. Bound: ||H - what V and T make||_F <= bound,
// for unitary H(i): 6 k (n + 8) u, a priori and to first order.
template <Scalar T> Report larft(const Executor& executor, ReflectionOrder order, ReflectionStorage storage,
                                 const ConstMatrix<T>& v, const blas::ConstVector<T>& tau, const MatrixView<T>& t);

}  // namespace trn::solver
