// Execution: one execution of one instruction, as the engines see it. read() and write() resolve an operand and do
// every run-time check on it, so that the arithmetic that follows cannot fail.
#pragma once

#include <trn/core/error.hpp>

#include "sim/operand.hpp"
#include "sim/race_check.hpp"
#include "sim/rows.hpp"

namespace trn::neuron::sim {

namespace isa = tile::isa;

// An engine's accumulators, one per partition, which keep their sums from one instruction to the next.
struct ReduceRegisters {
  explicit ReduceRegisters(std::int64_t partitions)
      : sums(static_cast<std::size_t>(partitions)), began(static_cast<std::size_t>(partitions)) {}
  std::vector<double> sums;  // fp32 values in Exact storage
  std::vector<bool> began;   // hold a value that the program may rely on
};

struct Execution {
  const tile::Program& program;
  const tile::Machine& machine;
  const SimOptions& options;
  Memory& memory;
  RaceCheck* races;  // null unless asked for
  ReduceRegisters& scalar_registers;
  ReduceRegisters& vector_registers;
  std::span<const std::int32_t> loops_around;  // of this instruction, outermost first
  std::int32_t index;
  const tile::Instruction& instruction;
  const tile::Point& point;

  [[nodiscard]] const tile::Access& access(std::size_t slot) const { return instruction.operands[slot]; }
  [[nodiscard]] bool has(std::size_t slot) const { return access(slot).present(); }
  // The engine that runs it; Any means the opcode's default, and what NKI documents for tensor_tensor on integers.
  [[nodiscard]] tile::Engine engine() const;

  // All reads come before the first write(), so that an instruction may update a tile in place.
  [[nodiscard]] Operand read(std::size_t slot) const;
  [[nodiscard]] Operand write(std::size_t slot) const;
  // The pieces of the two, for operands of which only parts are touched.
  [[nodiscard]] Operand resolved(std::size_t slot) const;
  void check_read(const Operand& o, std::size_t slot) const;
  void mark_written(const Operand& o) const;
  // Elements [begin, begin + n) only.
  void mark_written(const Operand& o, std::int64_t begin, std::int64_t n) const;
  // The matmul adds to dst: every byte must come from the Tensor Engine (from any writer where the machine allows it),
  // and keeps its state.
  void check_accumulates(const Operand& dst) const;

  [[nodiscard]] Rounder rounder(std::size_t slot) const;

  // Puts the state of a uniform buffer into its bytes, so that a part of it can differ.
  void spread_state(const Operand& o) const;
  void mark_part(const Operand& o, std::int64_t begin, std::int64_t n, std::uint8_t by) const;

  // "instruction 3 (nc_matmul ...)" for messages.
  [[nodiscard]] std::string where() const;
  template <class... Args>
  [[noreturn]] void refuse(std::string check, fmt::format_string<Args...> text, Args&&... args) const {
    throw DeviceError(fmt::format("{}: {}", where(), fmt::format(text, std::forward<Args>(args)...)), std::move(check));
  }
};

}  // namespace trn::neuron::sim
