// schedule: settles what the kernel left open, and returns the program with it filled in.
//
// - Engine::Any becomes the legal engine with the least work so far, each instruction weighed by how often it runs.
// - DMA descriptor source: Default becomes Hardware where the machine has it, Software for gathers, else Static.
// - DMA rings: the rule is stated in docs/simulator.md; loads and stores never share a ring, so a store that waits for
//   its data does not hold up the loads behind it.
// Program order itself is kept: every engine runs its instructions in the order the kernel recorded them.
#pragma once

#include <trn/tile/machine.hpp>
#include <trn/tile/program.hpp>

namespace trn::tile {

[[nodiscard]] Program schedule(const Program& program, const Machine& machine);

}  // namespace trn::tile
