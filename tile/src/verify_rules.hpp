// The rules behind verify(), grouped by topic: one function per group, each looking at one instruction and reporting
// what it breaks. Sizes and offsets are computed without overflow, because a program may come from a file.
#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <trn/tile/print.hpp>
#include <trn/tile/verify.hpp>
#include <utility>
#include <vector>

namespace trn::tile::rules {

__extension__ typedef __int128 Wide;  // offsets of 64-bit factors

struct Context {
  const Program& program;
  const Machine& machine;
  const Instruction& instruction;
  std::int32_t index;
  std::vector<Diagnostic>& diagnostics;

  [[nodiscard]] const Access& operand(std::size_t slot) const { return instruction.operands[slot]; }
  [[nodiscard]] std::string_view operand_name(std::size_t slot) const {
    return opcode_info(instruction.opcode()).operands[slot].name;
  }
  [[nodiscard]] const TileDecl& tile(const Access& access) const {
    return program.tiles()[static_cast<std::size_t>(access.id)];
  }
  [[nodiscard]] bool in_psum(const Access& access) const {
    return access.is_tile() && tile(access).space == Space::Psum;
  }
  [[nodiscard]] bool in_sbuf(const Access& access) const {
    return access.is_tile() && tile(access).space == Space::Sbuf;
  }
  [[nodiscard]] bool in_register(const Access& access) const {
    return access.is_tile() && tile(access).space == Space::Register;
  }
  [[nodiscard]] bool in_hbm(const Access& access) const { return access.target == Target::Tensor; }
  [[nodiscard]] bool is_dma() const { return opcode_info(instruction.opcode()).engines.front() == Engine::Dma; }

  // "instruction: operand: what is wrong, the limit, what to do"
  template <class... Args>
  void report(std::string_view rule, std::string_view subject, fmt::format_string<Args...> text, Args&&... args) const {
    diagnostics.push_back({std::string(rule), index,
                           fmt::format("program '{}': {}: {}: {}", program.name(), print(program, instruction), subject,
                                       fmt::format(text, std::forward<Args>(args)...))});
  }
};

// Partitions of a quadrant: the grain of partition starts and the largest Vector Engine transpose.
[[nodiscard]] inline std::int64_t quadrant(const Machine& machine) { return machine.partitions / 4; }

struct Range {
  Wide low = 0, high = 0;
};
// Every value of an index expression lies in [low, high], and both are taken.
[[nodiscard]] Range range_of(const Affine& affine);
// Element offsets the pattern adds to its first element.
[[nodiscard]] Range pattern_range(const std::vector<Dim>& dims);
// Products of sizes, held at the largest 64-bit value; 0 when a size is not positive.
[[nodiscard]] std::int64_t count(const std::vector<Dim>& dims);
[[nodiscard]] inline std::int64_t free_elements(const Access& access) { return count(access.dims); }
[[nodiscard]] std::int64_t elements(const Access& access);
// For messages: values beyond 64 bits are held at the end of that range.
[[nodiscard]] std::int64_t clamp(Wide value);

// Why `engine` cannot run this instruction, or nothing. `rule` is "illegal-engine" or "illegal-space".
struct Objection {
  std::string_view rule;
  std::string subject;
  std::string text;
};
[[nodiscard]] std::optional<Objection> engine_objection(const Context& context, Engine engine);

// True when every operand has a pattern with positive sizes that stays inside its tile or tensor.
[[nodiscard]] bool check_bounds(const Context& context);
void check_partitions(const Context& context);  // partition-rule
// Scales of a microscaling tile have a partition rule of their own.
[[nodiscard]] bool is_scale(const Instruction& instruction, std::size_t slot);
void check_patterns(const Context& context);    // size-limit of access patterns
void check_psum_bank(const Context& context);   // psum-bank-crossed
void check_engine(const Context& context);      // illegal-engine, illegal-space by engine
void check_spaces(const Context& context);      // illegal-space by opcode
void check_operations(const Context& context);  // illegal-engine: operators an instruction does not have
void check_dtypes(const Context& context);      // illegal-dtype
void check_shapes(const Context& context);      // size-limit and partition-rule: how operands fit one another
// The overloads of check_shapes in verify_rules_matmul.cpp and verify_rules_transfer.cpp.
void check_shape(const Context& context, const isa::NcMatmul& attributes);
void check_shape(const Context& context, const isa::NcMatmulMx& attributes);
void check_shape(const Context& context, const isa::QuantizeMx& attributes);
void check_shape(const Context& context, const isa::NcTranspose& attributes);
void check_shape(const Context& context, const isa::DmaCopy& attributes);
void check_shape(const Context& context, const isa::DmaTranspose& attributes);
void check_shape(const Context& context, const isa::DmaCompute& attributes);
// The overloads in verify_rules_register.cpp.
void check_shape(const Context& context, const isa::RegisterMove& attributes);
void check_shape(const Context& context, const isa::RegisterLoad& attributes);
void check_shape(const Context& context, const isa::RegisterStore& attributes);
void check_starts(const Context& context);  // dynamic starts of dma_copy: illegal-space, illegal-dtype, size-limit

// tile-out-of-scope and loop-kind, over the whole statement tree.
void check_scopes(const Program& program, const Machine& machine, std::vector<Diagnostic>& diagnostics);

}  // namespace trn::tile::rules
