// QR factorisation of a distributed matrix by Householder reflections, and least squares. qr.hpp's meaning on
// dist::Matrix, collective over the group. ScaLAPACK: p?geqrf, p?ormqr, p?gels. cuSOLVERMp:
// cusolverMpGeqrf, Ormqr, Gels.
//
// A is redistributed to whole columns on every rank, in blocks of its column block; a panel is factored by geqrf on the
// rank that has it and broadcast with its triangular factor (compact WY), the rest is updated locally. The bits depend
// on the column block and are the same for every number of ranks, grid and row block. A panel of every step reaches
// every rank: m n elements in all.
//
// On devices everything is the device's, panels by geqrf there: in float whole, in other types but for the strips of 16
// columns that geqrf's host part reduces (Exact products for doubles). The report's algorithm says which. The bound has
// 128 more terms than the host's, and in Exact the products' own.
#pragma once

#include <vector>

#include <trn/comm/matrix.hpp>
#include <trn/solver/report.hpp>
#include <trn/solver/types.hpp>

namespace trn::solver {

// What geqrf says: the report, and tau of qr.hpp on every rank.
template <Scalar T> struct DistReflections {
  Report report;
  std::vector<T> tau;
};

// A is m x n and becomes V and R.
// NotFinite is found panel by panel: the index is the first such element of the panel that has one, and unlike those of
// the local operation A and tau are left as the steps before it made them, with zeros for the tau that follow.
template <Scalar T> DistReflections<T> geqrf(const dist::Matrix<T>& a, const FactorOptions& options = {});

// C = Q C (Op::N) or Q^H C (Op::C; T for real types too), with V and tau of geqrf; C has A's rows.
template <Scalar T>
Report ormqr(Op op, const dist::Matrix<T>& factor, const std::vector<T>& tau, const dist::Matrix<T>& c);

// Least squares for m >= n: the first n rows of B (m rows) become the X that minimises ||A X - B||_2; the others hold
// the rest of Q^H B, whose norms are the residuals'. `factor` and tau are geqrf's. Singular at the first diagonal
// element of R that is zero: B is as it was.
template <Scalar T>
Report least_squares(const dist::Matrix<T>& factor, const std::vector<T>& tau, const dist::Matrix<T>& b);

}  // namespace trn::solver
