// The road to silicon, first half: a program as a readable NKI kernel (0.3+ dialect). The text was never compiled by
// AWS's toolchain here; the tests execute it with a NumPy stand-in for the documented calls and compare with the simulator.
#pragma once

#include <string>

#include <trn/tile/program.hpp>

namespace trn::neuron {

// Inputs become arguments in declaration order, outputs are returned in declaration order. Throws NotImplemented that
// names the construct when the program holds something NKI has no documented call for.
[[nodiscard]] std::string emit_nki(const tile::Program& program);

}  // namespace trn::neuron
