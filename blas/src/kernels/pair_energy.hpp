// The kernels of pair_energy, both families.
#pragma once

#include <trn/blas/types.hpp>
#include <trn/core/dispatch.hpp>

namespace trn::blas {

// Sums of one occupied pair, without sign and without the factor 2 - d_ij.
struct PairSums {
  double squares = 0;   // sum_ab Z_ab^2
  double exchange = 0;  // sum_{a<b} (Z_ab - Z_ba)^2
};

// A pair_energy after its entry point: contiguous B, no extent zero.
struct PairEnergyArgs {
  DType dtype;
  Mode mode;
  std::int64_t nocc, naux, nvir;
  const void *b, *occupied, *virtuals;
  std::int64_t occupied_stride, virtual_stride;
  PairSums* pairs;    // host memory, in the order of PairRange
  double* norms2;     // host memory, nocc x nvir: ||b_ia||^2
  double* scale;      // host memory, nocc x nvir: s_ia, powers of two >= |b_ia|, set by the float64 kernel of a device
  std::int64_t left;  // PairRange
  double largest_energy;
};

namespace host {
void pair_energy(const Executor& executor, const PairEnergyArgs& args);
}
namespace device {
void pair_energy(const Executor& executor, const PairEnergyArgs& args);
}

inline constexpr KernelTable<PairEnergyArgs> kPairEnergy{"blas.pair_energy", host::pair_energy, device::pair_energy};

}  // namespace trn::blas
