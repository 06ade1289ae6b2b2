// A stochastic estimate of the DF-MP2 energy of a closed shell, with a confidence interval.
//
// The energy is a trace. With B(i, P, a) of df_mp2.hpp, Laplace's transform of the denominator,
//
//   1 / x = sum_k w_k exp(-t_k x),    x = e_a + e_b - e_i - e_j > 0,
//   B~(i, P, a) = B(i, P, a) exp(-t_k (e_a - e_i) / 2),
//
// separates the orbitals: E = -tr A, A = sum_k w_k (2 M_k^2 - X_k), symmetric, of the order of the fitting functions,
//
//   M_PQ = sum_ia B~(i, P, a) B~(i, Q, a),    X_PQ = sum_ijab B~(i, P, a) B~(j, Q, b) sum_R B~(i, R, b) B~(j, R, a),
//
// and A times a vector x costs, by R_ia = sum_P x_P B~(i, P, a), G_ijQ = sum_b R_jb B~(i, Q, b) and
// W_ia = sum_jQ G_ijQ B~(j, Q, a), products of nocc^2 naux nvir for every point k (contractions of trntensor). The
// trace is estimated by Hutch++ (Meyer, Musco, Musco and Woodruff 2021) from random numbers of trnrand: a third of the
// products makes an orthonormal Q, which captures the largest part of A, a third its share tr(Q^T A Q), and the last
// third g^T R g with random signs g for the residual R = P A P, P = 1 - Q Q^T. Unbiased, but for the quadrature. The
// same seed gives the same bits for every number of threads.
//
// Quadrature. 1 / x = int exp(s - x exp(s)) ds over all s, by the trapezoidal rule with step h. By Poisson's summation
// formula its relative error is at most 2 sum_(m >= 1) |Gamma(1 + 2 pi i m / h)| for every x, with
// |Gamma(1 + i y)|^2 = pi y / sinh(pi y). Points below s_0 are left out, x h exp(s_0 - h) / (1 - exp(-h)) of 1 / x at
// most, and those beyond s_1, exp(-x exp(s_1)) at most where x exp(s_1) >= 1. With eps the sum of the three and of the
// rounding of nodes and weights, |dE| <= eps |E|: ab and ba have one denominator, and their terms together,
// T_ab^2 + T_ba^2 + (T_ab - T_ba)^2, are never negative.
//
// Rounding. With N = ||B~||_F^2 every product with a unit vector, rounded after each operation, errs by n eps / 2 times
// 3 N^2 at most, n the operations in a row. So does its part of the trace, where Q counts by its norm sqrt(k) and g by
// its square, naux at most: all in all n eps (naux + sqrt(k)) 3 S, S = sum_k w_k N_k^2, twice the first order.
//
// Interval: Student's 97.5 % point times the standard error, and those two bounds. The standard error is
// sqrt(2 / m) ||R||_F for m vectors g, with ||R||_F^2 estimated by the mean of ||R g||^2: the variance of g^T R g is
// 2 ||R||_F^2 less a sum of squares. (The spread of the g^T R g would do for many eigenvalues alike. For a residual of
// rank one g^T R g is a chi-square number with one degree of freedom, and Student's interval from nine of them covers
// 85 %.) For g of normal numbers the interval covers 95.0 to 95.8 % at rank one, for every m from 6 on, and as much as
// the normal distribution has within Student's point for many eigenvalues alike: 99 % at m = 6, 96 % at m = 20. A
// statistical statement, which fails for a seed in twenty or fewer; not a bound.
//
// On the host alone. For small molecules it costs more than the exact energy.
#pragma once

#include <trn/mp2/df_mp2.hpp>

namespace trn::mp2 {

struct StochasticOptions {
  std::int64_t samples = 60;  // products with A, at least 18; a third of them makes the statistics
  std::uint64_t seed = 0;
  std::int64_t frozen = 0;
  double quadrature = 1e-6;  // eps above, at most
  std::int64_t memory_bytes = std::int64_t{1} << 31;
};

struct StochasticMp2 {
  double energy = 0;
  double standard_error = 0;                        // hartree, as the next three
  double interval = 0;                              // half the width of the 95 % interval, bounds included
  double quadrature_error = 0, rounding_error = 0;  // those bounds
  double quadrature = 0;                            // eps above
  std::int64_t samples = 0, points = 0;             // products with A; points of the quadrature
  std::uint64_t seed = 0;
  std::vector<Stage> stages;
};

// InvalidArgument for an unrestricted reference, fewer than 18 samples, no orbital to correlate or no virtual one, and
// memory that does not hold B.
[[nodiscard]] StochasticMp2 stochastic_mp2(const Scf& scf, const Basis& orbital, const Basis& fitting,
                                           const StochasticOptions& options);

// Nodes t and weights w with |x sum w exp(-t x) - 1| <= error for all x in [least, most]. InvalidArgument outside
// 1e-290 <= least <= most <= 1e290 and 0 < error < 1, and for errors that double does not reach: some 1e-14.
struct Laplace {
  std::vector<double> nodes, weights;
  double error = 0;
};
[[nodiscard]] Laplace laplace_quadrature(double least, double most, double error);

}  // namespace trn::mp2
