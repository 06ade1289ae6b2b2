// The road to silicon, first half: a program as a readable NKI kernel (0.3+ dialect). The text was never compiled by
// AWS's toolchain here; the tests execute it with a NumPy stand-in for the documented calls and compare with the
// simulator.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <trn/tile/program.hpp>

namespace trn::neuron {

// Inputs become arguments in declaration order, outputs are returned in declaration order. An output that continues an
// input, or whose strides leave gaps, is an argument that the kernel stores into and returns: memory that NKI allocates
// starts undefined. Throws NotImplemented that names the construct when the program holds something NKI has no
// documented call for.
//
// NKI unrolls `range`. A program that executes more than `unroll_limit` instructions has its outermost loops written as
// nl.fori_loop where their addresses can follow a register; other loops stay `range`.
struct NkiOptions {
  std::int64_t unroll_limit = 20000;
};
[[nodiscard]] std::string emit_nki(const tile::Program& program, const NkiOptions& options = {});

// The tensors behind the kernel's parameters and results, by id. An output that continues an input stands in its place;
// outputs with gaps follow the inputs.
struct NkiTensors {
  std::vector<std::int32_t> arguments, results;
};
[[nodiscard]] NkiTensors nki_tensors(const tile::Program& program);

}  // namespace trn::neuron
