// Devices that keep the programs which a function asks for, so that a tool can print, emit or estimate them.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <trn/tile/device.hpp>

namespace trn::tools {

// The programs that `call` runs on an executor of that machine, in order. Memory is there but nothing is computed: what
// `call` reads back is zeros.
[[nodiscard]] std::vector<std::shared_ptr<const tile::Program>> recorded_programs(
    const tile::Machine& machine, const std::function<void(const Executor&)>& call);

// The same for a function whose course depends on what its programs compute: they run on a simulator of the machine.
[[nodiscard]] std::vector<std::shared_ptr<const tile::Program>> executed_programs(
    const tile::Machine& machine, const std::function<void(const Executor&)>& call);

// A run and what it read: for each tensor of the program its memory from the lowest to the highest element before the
// run. Empty for scratch and for outputs that continue nothing.
using ProgramOperands = std::vector<std::vector<std::byte>>;
struct KeptRun {
  std::shared_ptr<const tile::Program> program;
  ProgramOperands operands;
};
struct KeptCall {
  std::vector<KeptRun> runs;
  std::set<std::string> operations;  // that were dispatched to a device: "solver.potrf", "blas.gemm"
};
[[nodiscard]] KeptCall kept_call(const tile::Machine& machine, const std::function<void(const Executor&)>& call);

// The bytes of such memory.
[[nodiscard]] std::size_t operand_bytes(const tile::TensorDecl& tensor);

}  // namespace trn::tools
