// Proved bounds for eigenvalues and singular values, from approximate vectors and Exact products.
//
// Eigenvalues (Kahan; Cao, Xie and Li): R = A V - V diag(w), V square: |lambda_i - w_i| <= ||R||_2 / smin(V) for both
// in ascending order, and smin(V)^2 >= 1 - ||V^H V - I||_2. An eigenvalue also lies within ||r_i|| / ||v_i|| of w_i; it
// is lambda_i when no other interval of the first kind reaches that far. Singular values: A V = U S + R with V square
// gives s_i(A) smin(V) <= s_i(A V) <= s_i(A) smax(V), the same for U S, and |s_i(A V) - s_i(U S)| <= ||R||_2. So s_i(A)
// lies between (s_i smin(U) - ||R||) / smax(V) and (s_i smax(U) + ||R||) / smin(V).
#pragma once

#include "certify/bounded.hpp"

namespace trn::solver::certify {

// For every i a bound of |lambda_i - w_i|. A is Hermitian and written out, w ascends. Infinite when V proves nothing.
template <Wide D> std::vector<double> eigenvalue_bounds(const Executor& executor, const Columns<D>& a,
                                                        const Columns<D>& v, const std::vector<double>& w);

// For every i a bound of |s_i(A) - s_i|. A is m x n with m >= n, U m x n, V n x n, s descends.
template <Wide D> std::vector<double> singular_value_bounds(const Executor& executor, const Columns<D>& a,
                                                            const Columns<D>& u, const std::vector<double>& s,
                                                            const Columns<D>& v);

// The largest bound over the largest true value: max bound / (max|values| - max bound), rounded upwards; 0 when all is
// 0.
double relative_to_largest(const std::vector<double>& bounds, const std::vector<double>& values);

// A lower bound of the smallest eigenvalue of the Hermitian A (written out), or -infinity. A Cholesky factorisation of
// A - s I runs to its end, and D = L L^H - (A - s I) is bounded: lambda_min >= s - ||D||.
template <Wide D> double smallest_eigenvalue_bound(const Executor& executor, const Columns<D>& a);

}  // namespace trn::solver::certify
