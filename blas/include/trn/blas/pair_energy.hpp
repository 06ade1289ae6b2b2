// The energy step of density-fitted MP2, fused: for occupied pairs i <= j, T = B_i^T B_j (nvir x nvir), then
//
//   e_os(i,j) = (2 - d_ij) sum_ab T_ab T_ab / D_ab,     e_ss(i,j) = (2 - d_ij) sum_ab T_ab (T_ab - T_ba) / D_ab,
//   D_ab = e_i + e_j - e_a - e_b < 0,     E = sum_{i<=j} (e_os + e_ss).
//
// D is symmetric in a and b, so with Z_ab = T_ab / sqrt|D_ab| both are sums of squares, free of cancellation:
//
//   e_os = -(2 - d_ij) sum_ab Z_ab^2,     e_ss = -(2 - d_ij) sum_{a<b} (Z_ab - Z_ba)^2.
//
// T lives in PSUM and SBUF only, never in HBM. B holds, for each occupied orbital i, a naux x nvir matrix (row-major),
// nocc of them one after another: B(i, P, a). Every kernel returns its sums pair by pair; the entry point adds them in
// pair order in double-double, so the energy has the same bits for every number of threads.
//
// Where not all of B fits, a caller takes blocks of occupied orbitals: pairs within a block by the call above, and
// pairs of two blocks I and J by a call on both, one after the other in one B, with `left` the size of I. Terms pair by
// pair are in the result; they are the same in every cut into blocks.
//
// Precision. On the host Native only: sgemm or dgemm, everything after it in double. On a device float operands in
// Native (fp32), Tf32, Bf16, Tf32x3 (two tfloat32 words, three products) and Bf16x6 (three bfloat16 words, six
// products); target(e) runs the modes from the cheapest on until the bound is at most e. float64 operands on a device
// in Exact (or target(e)): integer slices of 42 bits below the largest element of each column (i, a) of B, products and
// sums of slices exact, two fp32 words after them; up to 512 virtual orbitals. Unlike other uses of Exact the bits
// differ from the host's; errors of 1e-13 of the energy are usual. Inf or NaN in B makes the energy NaN.
//
// The bound on |E - exact| holds for the data at hand, barring underflow. Norms of all columns b_ia of B are computed
// beside the energy. With
// |dT_ab| <= g ||b_ia|| ||b_jb||, g the product's relative bound in this mode, and x_a = e_a - (e_i + e_j) / 2 > 0,
//
//   |D_ab| = x_a + x_b >= 2 sqrt(x_a x_b),   so   || dT / sqrt|D| ||_F <= g N(b_i) N(b_j),     N(y)^2 = sum_a ||y_a||^2
//     / sqrt(2 x_a):
//
// high virtuals count as little as they do in the energy. (Exact: 1.25 sqrt(naux) 2^-42 (N(s_i) N(b_j) + N(s_j) N(b_i))
// + c N(s_i) N(s_j), s_ia the scale of a column, c as in pair_energy_sliced.cpp.) With G = that + r ||Z||, r the
// relative error of one weighted element, the triangle inequality gives, per pair,
//
//   |d sum Z^2| <= G (2 ||Z|| + G),     |d sum_{a<b} (Z_ab - Z_ba)^2| <= G (2 sqrt(2 s) + 2 G),   s = that sum,
//
// plus the rounding of the sums. It is infinite where the gap between the highest occupied and the lowest virtual
// energy is lost in the rounding of the energies, and where the energy is not a number. In Exact on a device r
// grows by 2^-41 of the largest energies over the gap, and the gap is lost when a pair's smallest |D| is below 2^-15 of
// the largest occupied and virtual |energy| added up: then the energy may be NaN, too.
#pragma once

#include <vector>

#include <trn/blas/types.hpp>

namespace trn::blas {

struct PairEnergyOptions {
  Precision precision = {};
  // 0: all pairs i <= j of B. Otherwise only pairs of one orbital i < left and one j >= left.
  std::int64_t left = 0;
  // At least every |energy| of all calls that are to have the same bits pair by pair: the float64 kernel of a device
  // cuts energies into words from there. 0: those of this call alone.
  double largest_energy = 0;
  // How well B itself is known: ||dB_i||_F <= input_errors[i], one for each occupied orbital, or empty. The bound then
  // covers it: G grows by N(e_i) N(b_j) + N(e_j) N(b_i) + N(e_i) N(e_j), N(e) = e max_a (2 x_a)^-1/4.
  std::vector<double> input_errors = {};
};

// One pair's part of the energy, the factor 2 - d_ij included.
struct PairTerm {
  double opposite_spin = 0, same_spin = 0, bound = 0;
};

struct PairEnergy {
  double opposite_spin = 0, same_spin = 0;  // E = opposite_spin + same_spin
  Accuracy accuracy;                        // bound: on |E - exact|, absolute, for the data at hand
  std::vector<PairTerm>
      pairs;  // row by row: (0, 0), (0, 1), ..., (1, 1), ... ; with `left`: (0, left), (0, left + 1), ...
};

namespace detail {
template <RealScalar T> PairEnergy pair_energy(const Executor&, const View<const T>& b,
                                               const VectorView<const T>& occupied, const VectorView<const T>& virtuals,
                                               const PairEnergyOptions& options);
}  // namespace detail

// B: (nocc, naux, nvir), contiguous. `occupied` has nocc orbital energies, `virtuals` nvir; every denominator must be
// negative, that is every occupied energy below every virtual one: the host reads the energies to check it.
template <Element X>
requires RealScalar<std::remove_const_t<X>>
[[nodiscard]] PairEnergy pair_energy(const Executor& executor, const View<X>& b,
                                     const ConstVector<std::remove_const_t<X>>& occupied,
                                     const ConstVector<std::remove_const_t<X>>& virtuals,
                                     const PairEnergyOptions& options = {}) {
  return detail::pair_energy<std::remove_const_t<X>>(executor, b, occupied, virtuals, options);
}

}  // namespace trn::blas
