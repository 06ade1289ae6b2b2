// The energy step of density-fitted MP2, fused: for occupied pairs i <= j, T = B_i^T B_j (nvir x nvir), then
//
//   e_os(i,j) = (2 - d_ij) sum_ab T_ab T_ab / D_ab,     e_ss(i,j) = (2 - d_ij) sum_ab T_ab (T_ab - T_ba) / D_ab,
//   D_ab = e_i + e_j - e_a - e_b,     E = sum_{i<=j} (e_os + e_ss).
//
// T lives in PSUM and SBUF only, never in HBM. B holds, for each occupied orbital i, a naux x nvir matrix (row-major), nocc of
// them one after another: B(i, P, a). On a device the per-pair sums are returned in float-float words and added on the host
// in pair order, so the energy does not depend on blocks.
#pragma once

#include <trn/blas/types.hpp>

namespace trn::blas {

struct PairEnergy {
  double opposite_spin = 0, same_spin = 0;  // E = opposite_spin + same_spin
  Accuracy accuracy;                        // bound: on |E - exact|, absolute, for the data at hand
};

// B: (nocc, naux, nvir), contiguous. `occupied` has nocc orbital energies, `virtuals` nvir; every denominator must be negative.
template <Element X> requires RealScalar<std::remove_const_t<X>>
[[nodiscard]] PairEnergy pair_energy(const Executor& executor, const View<X>& b, const ConstVector<std::remove_const_t<X>>& occupied,
                                     const ConstVector<std::remove_const_t<X>>& virtuals, const ProductOptions& options = {});

}  // namespace trn::blas
