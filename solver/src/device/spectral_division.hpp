// Spectral divide and conquer on a device, float32: the eigenvectors of a symmetric matrix from sign functions.
//
// S = sign(A - sigma I) has the eigenvectors of A, and P = (I + S) / 2 projects onto those with eigenvalues above
// sigma. Orthonormal bases Q of the ranges of P and I - P split A into Q1^T A Q1 and Q2^T A Q2, and so on down to
// leaves of 16, which the host diagonalises in double. A basis is P G with a Gaussian G, made orthonormal, and then *P
// times that, made orthonormal again*: G's square blocks are ill-conditioned and would amplify the error of P
// (neglected blocks of up to 3240 u without, 11 u with).
//
// Three sizes of halves. Up to 128: all at once in tiles (small_halves.hpp). Up to what SBUF holds four matrices of:
// two programs, one for S and one for the split (resident_sign.hpp, split_program.hpp). Larger ones: products and
// triangular solves of trnblas (sign_iteration.hpp, orthonormal_columns.hpp).
#pragma once

#include "device/padded.hpp"

namespace trn::solver::device {

// Eigenvalues number first to last - 1, or those in (lo, hi]: halves that hold none of them are not entered.
struct Wanted {
  std::int64_t first, last;
  double lo, hi;
};

struct Division {
  bool converged = true;
  std::int64_t begin = 0, count = 0;  // eigenvectors number begin to begin + count - 1, nearly in order
  Matrix<float> vectors;              // rows; more rows than count, the others mean nothing
  int steps = 0, depth = 0;           // polynomial steps, levels of halving
};

// A is padded(n) x padded(n), symmetric, its elements near 1 at most. Halves of orders above `resident` are divided by
// trnblas's operations; 0: where the machine has no room for the resident programs.
[[nodiscard]] Division divide(const Executor& executor, const Matrix<float>& a, std::int64_t n, const Wanted& wanted,
                              std::int64_t resident = 0);

}  // namespace trn::solver::device
