// Which loops of a long program are written as nl.fori_loop. NKI unrolls `range` completely; a device loop keeps one
// copy of its body and counts in a register, which an address may follow.
#pragma once

#include <cstdint>
#include <trn/tile/program.hpp>
#include <vector>

namespace trn::neuron::nki {

// By loop: 0 for `range`, else the step s of its register, which holds s times the loop's variable. All 0 when the
// program unrolls to at most `limit` instructions, and where no access can follow a register:
//   - only addresses in HBM depend on the loop, those of plain copies whose descriptors are not made beforehand;
//   - one register goes into one address, so the device loops that are chosen here do not nest;
//   - the distance between two iterations, divided by s, must be the step of a dimension of the array, or divide its
//     size, so that the array can be seen as rows of that length.
// Dynamic loops always have step 1.
[[nodiscard]] std::vector<std::int64_t> device_loops(const tile::Program& program, std::int64_t limit);

}  // namespace trn::neuron::nki
