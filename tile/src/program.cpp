// Program construction: index checks, hash, and the count of executed instructions.
#include <trn/tile/program.hpp>

#include <algorithm>

#include <trn/core/error.hpp>

#include "fields.hpp"

namespace trn::tile {

std::string_view name(TensorKind e) {
  switch (e) {
    case TensorKind::Input:
      return "input";
    case TensorKind::Output:
      return "output";
    case TensorKind::Scratch:
      return "scratch";
  }
  return {};
}
std::string_view name(LoopKind e) {
  switch (e) {
    case LoopKind::Parallel:
      return "parallel";
    case LoopKind::Sequential:
      return "sequential";
    case LoopKind::Counted:
      return "counted";
    case LoopKind::While:
      return "while";
  }
  return {};
}
std::string_view name(StatementKind e) {
  switch (e) {
    case StatementKind::Instruction:
      return "instruction";
    case StatementKind::Alloc:
      return "alloc";
    case StatementKind::Loop:
      return "loop";
  }
  return {};
}

namespace {

void check_affine(const Program::Parts& parts, const Affine& affine) {
  for (const Affine::Term& t : affine.terms()) {
    ensure(t.variable >= 0 && static_cast<std::size_t>(t.variable) < parts.loops.size(),
           "program '{}': loop variable {} does not exist", parts.name, t.variable);
    ensure(t.trip == parts.loops[static_cast<std::size_t>(t.variable)].trip,
           "program '{}': an index believes loop '{}' has {} iterations, it has {}", parts.name,
           parts.loops[static_cast<std::size_t>(t.variable)].name, t.trip,
           parts.loops[static_cast<std::size_t>(t.variable)].trip);
  }
}

void check_instruction(const Program::Parts& parts, const Instruction& instruction) {
  const OpcodeInfo& info = opcode_info(instruction.opcode());
  ensure(instruction.operands.size() == info.operands.size(), "program '{}': {} with {} operands instead of {}",
         parts.name, info.name, instruction.operands.size(), info.operands.size());
  for (std::size_t i = 0; i < info.operands.size(); ++i) {
    const Access& access = instruction.operands[i];
    ensure(access.present() || info.operands[i].optional, "program '{}': {} lacks operand {}", parts.name, info.name,
           info.operands[i].name);
    if (!access.present()) continue;
    const std::size_t count = access.is_tile() ? parts.tiles.size() : parts.tensors.size();
    ensure(access.id >= 0 && static_cast<std::size_t>(access.id) < count, "program '{}': {} names {} {} of {}",
           parts.name, info.name, name(access.target), access.id, count);
    check_affine(parts, access.offset);
    check_affine(parts, access.partition);
  }
  instruction.visit([&](const auto& attributes) {
    for_each_field<Affine>(attributes, [&](const char*, const Affine& affine) { check_affine(parts, affine); });
  });
}

void check_loop(const Program::Parts& parts, const LoopDecl& loop) {
  ensure(loop.trip >= 1, "program '{}': loop '{}' has no iterations", parts.name, loop.name);
  if (!is_dynamic(loop.kind)) {
    ensure(loop.bound == -1, "program '{}': loop '{}' is {} and has a register", parts.name, loop.name,
           name(loop.kind));
    return;
  }
  ensure(loop.bound >= 0 && static_cast<std::size_t>(loop.bound) < parts.tiles.size(),
         "program '{}': loop '{}' counts by tile {} of {}", parts.name, loop.name, loop.bound, parts.tiles.size());
}

// Statements [begin, end) form whole loops and every index exists. Who walks a program recurses into its loops, so
// their depth is limited.
void check_block(const Program::Parts& parts, std::int32_t begin, std::int32_t end, int depth = 0) {
  ensure(depth <= kDeepestLoop, "program '{}': loops nest more than {} deep", parts.name, kDeepestLoop);
  for (std::int32_t s = begin; s < end;) {
    const Statement& statement = parts.statements[static_cast<std::size_t>(s)];
    const std::size_t count = statement.kind == StatementKind::Instruction ? parts.instructions.size()
                              : statement.kind == StatementKind::Alloc     ? parts.tiles.size()
                                                                           : parts.loops.size();
    ensure(statement.index >= 0 && static_cast<std::size_t>(statement.index) < count,
           "program '{}': statement {} points at {} {} of {}", parts.name, s, name(statement.kind), statement.index,
           count);
    if (statement.kind != StatementKind::Loop) {
      ++s;
      continue;
    }
    ensure(statement.end > s && statement.end <= end,
           "program '{}': the loop at statement {} ends at {} outside its block", parts.name, s, statement.end);
    check_loop(parts, parts.loops[static_cast<std::size_t>(statement.index)]);
    check_block(parts, s + 1, statement.end, depth + 1);
    s = statement.end;
  }
}

}  // namespace

Program::Program(Parts parts) : parts_(std::move(parts)) {
  check_block(parts_, 0, static_cast<std::int32_t>(parts_.statements.size()));
  for (const Instruction& instruction : parts_.instructions) check_instruction(parts_, instruction);
  hash_ = field_hash(parts_);
}

bool follows_register(const Program& program, const Instruction& instruction) {
  for (std::size_t slot = 0; slot < instruction.operands.size(); ++slot) {
    const Access& a = instruction.operands[slot];
    if (!a.present() || a.is_tile()) continue;
    if (dynamic_start(instruction, slot)) return true;
    for (const Affine::Term& t : a.offset.terms()) {
      if (is_dynamic(program.loops()[static_cast<std::size_t>(t.variable)].kind)) return true;
    }
  }
  return false;
}

bool Program::has_dynamic_loops() const {
  return std::any_of(parts_.loops.begin(), parts_.loops.end(), [](const LoopDecl& l) { return is_dynamic(l.kind); });
}

std::int64_t Program::dynamic_instructions() const {
  std::int64_t total = 0;
  std::vector<std::pair<std::int32_t, std::int64_t>> open;  // (end, iterations of the whole nest)
  for (std::int32_t s = 0; s < static_cast<std::int32_t>(parts_.statements.size()); ++s) {
    while (!open.empty() && open.back().first <= s) open.pop_back();
    const std::int64_t times = open.empty() ? 1 : open.back().second;
    const Statement& statement = parts_.statements[static_cast<std::size_t>(s)];
    if (statement.kind == StatementKind::Instruction) total += times;
    if (statement.kind == StatementKind::Loop) {
      open.emplace_back(statement.end, times * parts_.loops[static_cast<std::size_t>(statement.index)].trip);
    }
  }
  return total;
}

}  // namespace trn::tile
