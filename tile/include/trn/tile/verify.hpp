// verify: every rule of the instruction set that can be known before running. One diagnostic per broken rule, each with
// the id that docs/simulator.md lists.
#pragma once

#include <string>
#include <vector>

#include <trn/tile/machine.hpp>
#include <trn/tile/program.hpp>

namespace trn::tile {

struct Diagnostic {
  std::string rule;          // "partition-rule", "out-of-bounds", "illegal-space", ...
  std::int32_t instruction;  // index, or -1
  std::string message;       // instruction, operand, values, limit, remedy
};

[[nodiscard]] std::vector<Diagnostic> verify(const Program& program, const Machine& machine);
// Throws DeviceError with the first diagnostic (and the count of the others), its check() set to the rule.
void verify_or_throw(const Program& program, const Machine& machine);

}  // namespace trn::tile
