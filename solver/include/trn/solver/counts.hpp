// Arithmetic of dense solvers: what a benchmark divides by time. Leading terms of the classical algorithms, as LAPACK's
// authors count them, for real matrices of order n or m x n; complex ones take four times as many real operations.
#pragma once

#include <algorithm>

namespace trn::solver::counts {

inline constexpr double kComplexFactor = 4;

[[nodiscard]] constexpr double cube(double n) { return n * n * n; }
[[nodiscard]] constexpr double potrf(double n) { return cube(n) / 3; }
[[nodiscard]] constexpr double getrf(double n) { return 2 * cube(n) / 3; }
// Householder reflections of the k = min(m, n) columns of an l = max(m, n) high matrix.
[[nodiscard]] constexpr double geqrf(double m, double n) {
  const double k = std::min(m, n), l = std::max(m, n);
  return 2 * k * k * (l - k / 3);
}
// Tridiagonal form, implicit QR with vectors: 9 n^3.
[[nodiscard]] constexpr double eigh(double n) { return 9 * cube(n); }
// Thin, with vectors, by bidiagonal form and implicit QR: 22 n^3 for square matrices, of others in the ratio of geqrf.
[[nodiscard]] constexpr double svd(double m, double n) { return 16.5 * geqrf(m, n); }
[[nodiscard]] constexpr double solve(double n, double nrhs) { return getrf(n) + 2 * n * n * nrhs; }

}  // namespace trn::solver::counts
