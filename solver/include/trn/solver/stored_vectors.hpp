// Iterations and sums whose vectors are stored in bfloat16, with rounding to nearest or stochastically: how a machine
// with narrow memory behaves. Every element that a loop writes to memory is rounded there; arithmetic in between is the
// type's own. The iterations run where the operator and the vectors are, on devices in float and complex<float>; sums
// are the host's. Column number c that a run rounds has the words of stream step + c, its elements are numbered from 0,
// the real part of a complex one first (trn/core/rounding.hpp), so that runs are reproducible and equal vectors are
// rounded to equal bits on every executor. A sum's additions are numbered in one stream.
//
// **Why stochastic.** To nearest, an update below half a unit in the last place of x is lost, every time: sums and slow
// iterations stand still. Stochastic rounding keeps such updates on average, E[round(y)] = y. Errors are then sums of
// independent-looking terms with mean zero, and grow with sqrt(n) u instead of n u (Connolly, Higham and Mary 2021).
// **Bounds of that kind are probabilistic**: for a sum, |error| <= lambda 2 u sqrt(sum of s_i^2) fails with probability
// at most 2 exp(-lambda^2 / 2) to first order, s_i the partial sums and 2 u = 2^-7 for bfloat16 (Azuma and Hoeffding).
// Below its smallest normal number 2^-126 bfloat16 has a spacing of 2^-133, which is there in the place of 2 u |s_i|.
#pragma once

#include <trn/core/rounding.hpp>
#include <trn/solver/krylov.hpp>

namespace trn::solver {

struct StoredOptions : KrylovOptions {
  Rounding rounding = Rounding::Stochastic{};
};

struct StoredSum {
  float value = 0;
  // With d_i = max(2 u |s_i|, 2^-133), 0 where s_i = 0, and 2^-24 sum |s_i| more for the additions in float:
  double sure_bound = 0;      // sum d_i (to nearest: half of it): holds for every rounding
  double probable_bound = 0;  // 4 sqrt(sum d_i^2): fails with probability 7e-4; infinite for rounding to nearest
};
// x_0 + x_1 + ..., the accumulator stored in bfloat16 after every addition.
[[nodiscard]] StoredSum sum_stored(std::span<const float> x, const StoredOptions& options = {});

// Conjugate gradients with x, r and p stored in bfloat16; a guess in x is rounded first. Reports and outcomes are cg's;
// residuals are formed in the type's own arithmetic from the stored x: they cannot fall much below 2^-8 cond(A).
template <Scalar T> IterationReport cg_stored(const AnyOperator<T>& a, const ConstMatrix<T>& b, const MatrixView<T>& x,
                                              const StoredOptions& options = {});

// Richardson's iteration x <- x + omega (b - A x), x stored in bfloat16, a guess too: refinement by small steps, the
// case where rounding to nearest stands still.
template <Scalar T> IterationReport richardson_stored(const AnyOperator<T>& a, const ConstMatrix<T>& b,
                                                      const MatrixView<T>& x, double omega,
                                                      const StoredOptions& options = {});

}  // namespace trn::solver
