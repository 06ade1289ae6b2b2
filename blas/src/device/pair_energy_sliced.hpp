// The float64 form of pair_energy's device kernel, for the kernel table and the door.
#pragma once

#include "../kernels/pair_energy.hpp"

namespace trn::blas {

namespace device {
void pair_energy_sliced(const Executor& executor, const PairEnergyArgs& args);
}

}  // namespace trn::blas
