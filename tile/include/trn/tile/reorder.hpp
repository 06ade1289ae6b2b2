// reorder: the program as a compiler may order it. Nothing but the order of instructions and the width of copies out of
// PSUM changes; every dependence that the tracker sees is kept, so the results have the same bits.
//
// - Loops are unrolled, and tiles become ranges of bytes of one SBUF and one PSUM tile at the addresses that allocate()
//   chose: a dependence is then a fact about bytes.
// - Copies out of PSUM whose sources and destinations continue one another become one, up to a PSUM bank.
// - A loop of the device stays one: its body is reordered by itself, and nothing moves across its ends.
// - A list scheduler goes through a window of the program: of the instructions whose predecessors are placed, the one
//   that can start first comes next, in program order where several can.
#pragma once

#include <cstdint>

#include <trn/tile/machine.hpp>
#include <trn/tile/program.hpp>

namespace trn::tile {

struct ReorderOptions {
  std::int64_t window = 512;    // instructions of the program in which the scheduler looks for the next one
  std::int64_t limit = 100000;  // executed instructions at most: the result is unrolled
};

// Throws NotImplemented when the program executes more instructions than the limit.
[[nodiscard]] Program reorder(const Program& program, const Machine& machine, const ReorderOptions& options = {});

}  // namespace trn::tile
