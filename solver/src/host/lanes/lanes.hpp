// Small matrices, one in each lane of a SIMD register: as many as a register has lanes are factored at once by the same
// instructions. Nothing is shuffled, and rows of 4 x 4 tiles stay in registers.
//
// A group of lanes<Real>() matrices m x n, both at most kOrder, lies interleaved: element (i, j) of lane l at
// [(j m + i) lanes + l], complex ones as two such planes per element, real before imaginary.
// A lane whose matrix needs care is given back with bad[l] = 1 and undefined contents: not finite, not positive
// definite, a zero pivot, or numbers so large or small that squares leave the range. Its owner factors it in another
// way, from the original.
#pragma once

#include <complex>
#include <cstdint>

#include <trn/solver/types.hpp>

namespace trn::solver::host::lanes {

inline constexpr std::int64_t kOrder = 32;
inline constexpr std::int64_t kMostLanes = 64;

// R is float or double.
template <class R> [[nodiscard]] std::int64_t count();

// Columns of as many real matrices as there are lanes, into lanes and back: the first `rows` elements of the columns at
// from[l] (or to[l]), which lie one after another. Elements are transposed in registers.
template <class R> void interleave(std::int64_t rows, const R* const* from, R* to);
template <class R> void separate(std::int64_t rows, const R* from, R* const* to);

// The lower factor L of A = L L^H replaces the lower triangle.
template <class T> void potrf(std::int64_t n, Real<T>* a, unsigned char* bad);
// P A = L U. pivots[k lanes + l]: the row exchanged with row k. Columns of L keep the order that rows had when they
// were finished: exchanges of later columns have not been applied to them.
template <class T> void getrf(std::int64_t m, std::int64_t n, Real<T>* a, int* pivots, unsigned char* bad);
// Householder's V and R as LAPACK stores them; tau[k] as an element of a.
template <class T> void geqrf(std::int64_t m, std::int64_t n, Real<T>* a, Real<T>* tau, unsigned char* bad);
// Eigenvalues in w (n x lanes), not sorted, of symmetric matrices whose both triangles are given; with `vectors` the
// columns of a become orthonormal eigenvectors. `scratch` has n (n + 4) lanes elements.
template <class R> void eigh(std::int64_t n, R* a, R* w, bool vectors, R* scratch, unsigned char* bad);

}  // namespace trn::solver::host::lanes
