// The sums over virtual orbitals a, b of one pair of occupied orbitals, from T = B_i^T B_j.
#pragma once

#include <cstdint>

#include "../kernels/pair_energy.hpp"

namespace trn::blas::host {

// sum T_ab^2 / (e_a + e_b - pair) and sum over a < b of (T_ab - T_ba)^2 / (e_a + e_b - pair), T n x n row-major; in
// double.
template <class T> PairSums pair_sums(const T* t, std::int64_t n, double pair_energy, const double* virtuals);

}  // namespace trn::blas::host
