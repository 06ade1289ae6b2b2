// Instruction: an engine, operands and the attributes of one nki.isa call. opcode_info() is the table of operand names,
// roles and engines that the verifier, printer, emitter and simulator share; the names are NKI's keywords.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <trn/tile/isa.hpp>

namespace trn::tile {

// The attributes of a fresh instruction, every field at its default.
[[nodiscard]] Attributes default_attributes(Opcode opcode);

struct Instruction {
  Engine engine = Engine::Any;
  std::vector<Access> operands;  // one per Slot of the instruction; slot 0 is dst
  Attributes attributes = isa::Memset{};

  [[nodiscard]] Opcode opcode() const { return static_cast<Opcode>(attributes.index()); }
  [[nodiscard]] const Access& dst() const { return operands.front(); }
  // The attributes of instruction I, or null for another instruction.
  template <class I> [[nodiscard]] const I* as() const { return std::get_if<I>(&attributes); }
  template <class I> [[nodiscard]] I* as() { return std::get_if<I>(&attributes); }
  // f(attributes) with the instruction's own type.
  template <class F> decltype(auto) visit(F&& f) const { return std::visit(std::forward<F>(f), attributes); }

  // Field by field, numbers by their bits: a NaN equals itself, 0 and -0 differ.
  bool operator==(const Instruction& other) const;
  template <class Self, class V> static void visit(Self& self, V&& v) {
    Opcode opcode = self.opcode();
    v("opcode", opcode);
    if constexpr (!std::is_const_v<Self>) {
      if (opcode != self.opcode()) self.attributes = default_attributes(opcode);
    }
    v("engine", self.engine);
    v("operands", self.operands);
    std::visit([&](auto& attributes) { v("attributes", attributes); }, self.attributes);
  }
};

enum class Role : std::uint8_t { Write, Read, ReadWrite };
struct OperandInfo {
  std::string_view name;  // NKI's keyword
  Role role = Role::Read;
  bool optional = false;
};
struct OpcodeInfo {
  std::string_view name;              // NKI's call
  std::vector<OperandInfo> operands;  // in the order of the instruction's Slot
  std::vector<Engine> engines;        // legal ones, the default first
};
[[nodiscard]] const OpcodeInfo& opcode_info(Opcode opcode);

// How this instruction uses operand `slot`: a matmul's dst is ReadWrite unless `accumulate` is the constant 0.
[[nodiscard]] Role operand_role(const Instruction& instruction, std::size_t slot);

// What an instruction does with its engine's accumulator registers, one fp32 number per partition that later
// instructions of the engine find again.
struct RegisterUse {
  Engine engine = Engine::Any;  // whose: Scalar or Vector
  std::size_t slot = 0;         // the operand whose partitions say which registers
  ReduceCmd cmd = ReduceCmd::Idle;
  bool begins = false;     // gives them values that do not depend on what they held
  bool takes_up = false;   // needs what an earlier instruction left in them
  bool undefines = false;  // leaves values that nothing may rely on
  [[nodiscard]] bool any() const { return begins || takes_up || undefines; }
  [[nodiscard]] bool writes() const { return cmd != ReduceCmd::Idle || undefines; }
};
[[nodiscard]] RegisterUse register_use(const Instruction& instruction);

// The route of a DMA instruction; null for the others.
[[nodiscard]] const isa::DmaRoute* dma_route(const Instruction& instruction);
[[nodiscard]] isa::DmaRoute* dma_route(Instruction& instruction);
// An index operand decides which part of an HBM operand is touched: dma_copy with an index.
[[nodiscard]] bool is_indirect(const Instruction& instruction);

// The start of an operand that only the device knows: operand `slot` of a dma_copy, moved by the value of the operand
// in `from` times `step` elements, the value between 0 and `max`.
struct DynamicStart {
  std::size_t from = 0;
  std::int64_t step = 0, max = 0;
};
[[nodiscard]] std::optional<DynamicStart> dynamic_start(const Instruction& instruction, std::size_t slot);
// The operand with one more dimension for every place where it can start: what it can touch.
[[nodiscard]] Access reach(const Access& access, const DynamicStart& start);

}  // namespace trn::tile
