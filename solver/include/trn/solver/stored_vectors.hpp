// Iterations and sums whose vectors are stored in bfloat16, with rounding to nearest or stochastically: how a machine
// with narrow memory behaves, on the host and in software. Every element that a loop writes to memory is rounded there;
// arithmetic in between is the type's own. The random word of an element depends on the seed and its number alone
// (trn/core/convert.hpp), so that runs are reproducible.
//
// **Why stochastic.** To nearest, an update below half a unit in the last place of x is lost, every time: sums and slow
// iterations stand still. Stochastic rounding keeps such updates on average, E[round(y)] = y. Errors are then sums of
// independent-looking terms with mean zero, and grow with sqrt(n) u instead of n u (Connolly, Higham and Mary 2021).
// **Bounds of that kind are probabilistic**: for a sum, |error| <= lambda 2 u sqrt(sum of s_i^2) fails with probability
// at most 2 exp(-lambda^2 / 2) to first order, s_i the partial sums and 2 u = 2^-7 for bfloat16 (Azuma and Hoeffding).
#pragma once

#include <trn/solver/krylov.hpp>

namespace trn::solver {

enum class VectorRounding : std::uint8_t { Nearest, Stochastic };

struct StoredOptions : KrylovOptions {
  VectorRounding rounding = VectorRounding::Stochastic;
  std::uint64_t seed = 0;
};

struct StoredSum {
  float value = 0;
  double sure_bound = 0;      // 2 u sum |s_i| to first order (to nearest: half of it): holds for every rounding
  double probable_bound = 0;  // 4 * 2 u sqrt(sum s_i^2): fails with probability 7e-4; infinite for rounding to nearest
};
// x_0 + x_1 + ..., the accumulator stored in bfloat16 after every addition.
[[nodiscard]] StoredSum sum_stored(std::span<const float> x, const StoredOptions& options = {});

// Conjugate gradients with x, r and p stored in bfloat16. Reports and outcomes are cg's; residuals are formed in the
// type's own arithmetic from the stored x, so that they cannot fall much below 2^-8 times A's condition.
template <Scalar T> IterationReport cg_stored(const AnyOperator<T>& a, const ConstMatrix<T>& b, const MatrixView<T>& x,
                                              const StoredOptions& options = {});

// Richardson's iteration x <- x + omega (b - A x), x stored in bfloat16: refinement by small steps, the case where
// rounding to nearest stands still.
template <Scalar T> IterationReport richardson_stored(const AnyOperator<T>& a, const ConstMatrix<T>& b,
                                                      const MatrixView<T>& x, double omega,
                                                      const StoredOptions& options = {});

}  // namespace trn::solver
