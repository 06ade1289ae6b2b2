// What `trnsci fuzz tile` shares between the generator of programs and the checks.
#pragma once

#include <trn/tile/machine.hpp>
#include <trn/tile/program.hpp>

#include "fuzz_random.hpp"

namespace trn::tools::fuzz {

// A small program for `machine`: tiles of all sizes, loads, stores, arithmetic, matmuls, gathers, and loops of every
// kind, nested. It reads nothing that was not written and writes its output as a whole. Now and then an iteration of a
// parallel loop writes what is not its own, for the race check to find.
[[nodiscard]] tile::Program random_program(Random& random, const tile::Machine& machine);

}  // namespace trn::tools::fuzz
