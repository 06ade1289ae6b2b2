// Cholesky's factorisation of a distributed matrix: A = L L^H or A = U^H U, and solves with it. cholesky.hpp's meaning
// on dist::Matrix, collective over the group. ScaLAPACK: p?potrf, p?potrs. cuSOLVERMp: cusolverMpPotrf, Potrs.
//
// Right-looking over the blocks of A, which must be square. The bits depend on the block size and are the same for
// every number of ranks, grid and transport. The outcome is the same on every rank.
//
// Host: float, double and complex ones, Native; the bound is cholesky.hpp's. Devices: all of them, doubles by Exact
// products; diagonal blocks are factored by potrf there, and the bound, relative to ||l_i|| ||l_j||, adds up the
// largest of the local ones.
#pragma once

#include <trn/comm/matrix.hpp>
#include <trn/solver/report.hpp>
#include <trn/solver/types.hpp>

namespace trn::solver {

// The factor replaces the named triangle of A; the other one is neither read nor written. NotPositiveDefinite at index
// k: the leading minor of order k + 1 is not positive; the triangle holds a partial factorisation. NotFinite: what was
// left of the matrix held a NaN or an infinity at that index (row * n + column) when its diagonal block's turn came.
template <Scalar T> Report potrf(Uplo uplo, const dist::Matrix<T>& a, const FactorOptions& options = {});

// X with A X = B replaces B; `factor` is potrf's. B may have other blocks and another grid on the group.
template <Scalar T> Report potrs(Uplo uplo, const dist::Matrix<T>& factor, const dist::Matrix<T>& b);

}  // namespace trn::solver
