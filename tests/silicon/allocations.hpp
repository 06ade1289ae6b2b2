// Counts what the calling thread allocates.
#pragma once

#include <cstdint>

namespace trn::neuron::testing {

[[nodiscard]] std::uint64_t allocations();

}  // namespace trn::neuron::testing
