// The order of a program that is written out: what a compiler may choose, chosen beforehand.
#pragma once

#include <trn/tile/reorder.hpp>
#include <trn/tile/stores.hpp>

namespace trn::sparse::device {

// Instructions of a program without loops in the order in which their operands are ready, with the same bits.
inline tile::Program ordered(tile::Program program, const tile::Machine& machine) {
  if (!program.loops().empty() || program.dynamic_instructions() > tile::kWrittenOut) return program;
  return tile::reorder(program, machine);
}

}  // namespace trn::sparse::device
