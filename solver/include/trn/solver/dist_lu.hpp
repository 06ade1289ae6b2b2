// LU factorisation of a distributed matrix with partial pivoting: P A = L U, and solves with it. lu.hpp's meaning on
// dist::Matrix, collective over the group. ScaLAPACK: p?getrf, p?getrs. cuSOLVERMp: cusolverMpGetrf.
//
// A is redistributed to whole columns on every rank, in blocks of its column block: a panel is factored on the rank
// that has it and broadcast, everything else is local. The pivot is the largest |Re| + |Im| of the column, the smallest
// row of several. Bits, pivots and outcome depend on the column block and are the same for every number of ranks, grid
// and row block. A panel of every step reaches every rank: m n elements in all.
//
// On devices with gathers everything is the device's, panels by getrf there: in float whole, in other types but for the
// strips of 16 columns that getrf's host part reduces (Exact products for doubles). The report's algorithm says which.
// Its bound, of |P A - L U| relative to |L||U|, adds up the largest of the panels', of the solves' and of the
// products', and a rounding of the sum for each panel; in Exact relative to ||l_i|| ||u_j||. Infinite for a singular
// matrix.
#pragma once

#include <vector>

#include <trn/comm/matrix.hpp>
#include <trn/solver/report.hpp>
#include <trn/solver/types.hpp>

namespace trn::solver {

// What getrf says: the report, and the pivots of lu.hpp on every rank.
struct DistPivots {
  Report report;
  std::vector<std::int64_t> pivots;
};

// A is m x n and becomes L and U. Singular at index k: U(k, k) is exactly zero; the factorisation is complete.
// NotFinite is found panel by panel: the index is the first such element of the panel that has one, and unlike those of
// the local operation A and the pivots are left as the steps before it made them.
template <Scalar T> DistPivots getrf(const dist::Matrix<T>& a, const FactorOptions& options = {});

// X with op(A) X = B replaces B; factor and pivots are getrf's of a square A. B may have other blocks and another grid.
template <Scalar T>
Report getrs(Op op, const dist::Matrix<T>& factor, const std::vector<std::int64_t>& pivots, const dist::Matrix<T>& b);

}  // namespace trn::solver
