// Transforms of signals and spectra that are stored in 16 bits, with a choice of rounding.
//
//   fft::Plan<float> plan(exec, fft::dense(fft::Kind::ComplexToComplex, fft::Direction::Forward, {n}));
//   fft::execute_stored(plan, x, y, Rounding::Stochastic{seed, step});   // x, y: 2 n numbers of bfloat16
//
// x is widened, which is exact, the plan runs in float32, and every number of its result is rounded once where it is
// stored. So a loop that keeps its field in bfloat16 between transforms halves what it holds, and rounds as
// trn/core/rounding.hpp says: number i of the output, the real part of a complex one first, has word number i of the
// stream. Equal results of the plan give equal bits on every executor. Host, trn1, trn2 and trn3.
//
// Accuracy: || y - exact ||_2 <= bound || exact ||_2 for the whole of one transform of what x holds, barring over- and
// underflow: the plan's bound and one rounding, half a unit to nearest (2^-8 for bfloat16, 2^-11 for float16), one unit
// stochastically. The result's mean over seeds is the plan's own.
#pragma once

#include <trn/core/rounding.hpp>
#include <trn/fft/plan.hpp>

namespace trn::fft {

template <class T>
concept StoredFloat = std::same_as<T, bfloat16> || std::same_as<T, float16>;

// `in` and `out` hold one number for each real and two for each complex point of the plan's sides, whose layouts are
// the plan's and leave no gaps; complex sides are interleaved. They may be the same memory. The vectors' own strides
// are free. Workspace: float32 copies of both sides.
template <StoredFloat T> Accuracy execute_stored(const Plan<float>& plan,
                                                 const std::type_identity_t<VectorView<const T>>& in,
                                                 const VectorView<T>& out, const Rounding& rounding = {});

}  // namespace trn::fft
