// The float64 form of pair_energy's device kernel: how its program cuts the work, and its launch.
#pragma once

#include <trn/blas/pair_energy_program.hpp>

#include "../kernels/pair_energy.hpp"

namespace trn::blas {

// Everything but `pairs` depends on naux, nvir and the machine alone, so that the bits of a pair do not depend on which
// other pairs there are.
struct SlicedCut {
  std::int64_t tiles, height;        // row tiles of T and their rows; the last may have fewer
  std::int64_t pairs, per_bank;      // j's of a batch, and of a PSUM bank
  std::int64_t part, parts;          // row tiles that are weighed and summed at once
  std::int64_t group_tiles, groups;  // tiles of 128 auxiliary functions between two assemblies of T
  std::int64_t left_slots;  // groups of B_i in SBUF: two, of this orbital and the next, where a group is all of it
  // Batches whose weights are in SBUF.
  [[nodiscard]] std::int64_t weight_slots() const { return parts > 1 ? 1 : 2; }
  SlicedCut(const SlicedPairEnergyShape& shape, const tile::Machine& machine);
  // Of a row of "sums": four words of squares and four of exchange for each part.
  [[nodiscard]] std::int64_t columns() const { return 8 * parts; }
};

// hi of T is a multiple of 2^-f.
[[nodiscard]] int sliced_fraction_bits(std::int64_t naux);

namespace device {
void pair_energy_sliced(const Executor& executor, const PairEnergyArgs& args);
}

}  // namespace trn::blas
