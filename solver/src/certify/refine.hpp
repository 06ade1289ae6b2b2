// Refinement of solutions with exact residuals: X as the sum of two words, and what is known about its error.
//
//   r = B - A X                 exact sums, kept as two words
//   proved:    z = W r, X <- X + z. With beta >= ||I - W A||:  |x* - x| <= |z| + beta / (1 - beta) max|z| before the
// step,
//              and |x* - x| <= radius of z + beta / (1 - beta) max|z| + rounding of the sum after it.
//   estimated: z by the factorisation. Steps that shrink by rho = |z_k| / |z_(k-1)| leave about rho / (1 - rho) |z_k|.
#pragma once

#include <functional>

#include "certify/inverse_chain.hpp"

namespace trn::solver::certify {

template <Wide D> struct Refined {
  Columns<D> high, low;   // X = high + low
  Columns<double> error;  // |x* - X|, elementwise: proved or estimated
  int steps = 0;
  bool contracting = true;  // false: the corrections did not shrink, the estimate is worth nothing
  Refined(std::int64_t n, std::int64_t columns) : high(n, columns), low(n, columns), error(n, columns) {}
};

// An upper bound of max|x* - x| / max|x*| for column j, with |x* - x| <= errors elementwise. Infinite when the error
// may be as large as the solution.
template <Wide D> double relative_error(const Columns<D>& x, const Columns<double>& errors, std::int64_t j);

// Both stop when every column's relative error is at most `goal`, or when steps stop helping.
template <Wide D>
Refined<D> refine_proved(const Columns<D>& a, const Columns<D>& b, const InverseChain<D>& chain, double goal);
// solve(r) replaces r by the factorisation's solution; false when it failed.
template <Wide D> Refined<D> refine_estimated(const Columns<D>& a, const Columns<D>& b,
                                              const std::function<bool(Columns<D>&)>& solve, double goal);

// The largest |b - A x| / (|A||x| + |b|), rounded upwards: the componentwise backward error of Oettli and Prager.
template <Wide D>
double backward_error(const Executor& executor, const Columns<D>& a, const Columns<D>& b, const Columns<D>& x);

}  // namespace trn::solver::certify
