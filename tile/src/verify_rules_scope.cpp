// Rules about the statement tree: tiles are used after their Alloc inside the loop body that holds it, loop variables
// inside their loop (tile-out-of-scope), PSUM is never accumulated over a parallel loop, and dynamic loops have what
// the device can do (loop-kind).
#include <algorithm>

#include "fields.hpp"
#include "verify_rules.hpp"

namespace trn::tile::rules {

namespace {

class ScopeWalk {
 public:
  ScopeWalk(const Program& program, const Machine& machine, std::vector<Diagnostic>& diagnostics)
      : program_(program),
        machine_(machine),
        diagnostics_(diagnostics),
        alloc_depth_(program.tiles().size(), kHidden),
        stale_(program.tiles().size(), false) {}

  void block(std::int32_t begin, std::int32_t end) {
    std::vector<std::int32_t> opened;
    for (std::int32_t s = begin; s < end;) {
      const Statement& statement = program_.statements()[static_cast<std::size_t>(s)];
      const auto index = static_cast<std::size_t>(statement.index);
      switch (statement.kind) {
        case StatementKind::Alloc:
          alloc_depth_[index] = static_cast<std::ptrdiff_t>(loops_.size());
          stale_[index] = false;
          opened.push_back(statement.index);
          ++s;
          break;
        case StatementKind::Instruction:
          check({program_, machine_, program_.instructions()[index], statement.index, diagnostics_});
          ++s;
          break;
        case StatementKind::Loop: {
          const LoopDecl& loop = program_.loops()[index];
          const bool parallel = loop.kind == LoopKind::Parallel;
          if (is_dynamic(loop.kind)) check_dynamic(loop, s, statement.end);
          loops_.push_back(statement.index);
          if (parallel) registers_.push_back({});
          const Registers before = registers_.back();
          block(s + 1, statement.end);
          if (is_dynamic(loop.kind)) may_not_have_run(before);
          if (loop.kind == LoopKind::While) stale_[static_cast<std::size_t>(loop.bound)] = true;
          if (parallel) leave_registers();
          loops_.pop_back();
          s = statement.end;
          break;
        }
      }
    }
    for (const std::int32_t tile : opened) alloc_depth_[static_cast<std::size_t>(tile)] = kHidden;
  }

 private:
  static constexpr std::ptrdiff_t kHidden = -1;

  void check(const Context& c) {
    for (std::size_t slot = 0; slot < c.instruction.operands.size(); ++slot) {
      const Access& a = c.operand(slot);
      if (!a.present()) continue;
      if (a.is_tile() && alloc_depth_[static_cast<std::size_t>(a.id)] == kHidden) {
        c.report("tile-out-of-scope", c.operand_name(slot),
                 "tile '{}' is used outside the loop body that allocates it, or before that; allocate it further out",
                 c.tile(a).name);
      }
      check_variables(c, c.operand_name(slot), a.partition);
      check_variables(c, c.operand_name(slot), a.offset);
      check_addresses(c, slot);
      if (c.in_register(a)) check_register(c, slot);
    }
    c.instruction.visit([&](const auto& attributes) {
      for_each_field<Affine>(attributes, [&](const char* field, const Affine& a) {
        check_variables(c, field, a);
        if (dynamic_terms(a) > 0) report_variable(c, field);
      });
    });
    if (const auto* matmul = c.instruction.as<isa::NcMatmul>()) check_accumulation(c, matmul->accumulate);
    if (const auto* matmul = c.instruction.as<isa::NcMatmulMx>()) check_accumulation(c, matmul->accumulate);
    check_registers(c);
  }

  // The registers of the Scalar and of the Vector Engine, inside one parallel loop or outside of all.
  struct Registers {
    struct One {
      bool began = false, used = false;
    };
    One scalar, vector;
  };

  // What stays in an engine's registers begins inside the innermost parallel loop around it: its iterations share the
  // registers, and their order is free.
  void check_registers(const Context& c) {
    const RegisterUse use = register_use(c.instruction);
    if (!use.any()) return;
    Registers::One& mine = use.engine == Engine::Vector ? registers_.back().vector : registers_.back().scalar;
    const bool known = mine.began || use.begins;
    mine.used = true;
    mine.began = known && !use.undefines;
    if (!use.takes_up || known) return;
    c.report("loop-kind", "reduce_cmd", "'{}' takes up sums that nothing began {}; begin with '{}' there",
             name(use.cmd), registers_.size() > 1 ? "in this iteration of the parallel loop" : "before it",
             name(ReduceCmd::ResetReduce));
  }

  // After a parallel loop that used the registers, they hold what its last iteration left, whichever that was.
  void leave_registers() {
    const Registers inner = registers_.back();
    registers_.pop_back();
    if (inner.scalar.used) registers_.back().scalar = {false, true};
    if (inner.vector.used) registers_.back().vector = {false, true};
  }

  // What a loop of the device began is not known to have begun; what it ended is not known to be there.
  void may_not_have_run(const Registers& before) {
    Registers& now = registers_.back();
    now.scalar.began = now.scalar.began && before.scalar.began;
    now.vector.began = now.vector.began && before.vector.began;
  }

  [[nodiscard]] LoopKind kind_of(std::int32_t loop) const {
    return program_.loops()[static_cast<std::size_t>(loop)].kind;
  }
  [[nodiscard]] std::ptrdiff_t dynamic_terms(const Affine& affine) const {
    return std::count_if(affine.terms().begin(), affine.terms().end(),
                         [&](const Affine::Term& t) { return is_dynamic(kind_of(t.variable)); });
  }
  static void report_variable(const Context& c, std::string_view subject) {
    c.report("loop-kind", subject,
             "follows the variable of a loop of the device, which is a register; only addresses of dma_copy in HBM do, "
             "and that of a counted loop");
  }

  // The variable of a Counted loop is a register: it moves the start of one side of a dma_copy, and nothing else does.
  void check_addresses(const Context& c, std::size_t slot) const {
    const Access& a = c.operand(slot);
    const std::ptrdiff_t terms = dynamic_terms(a.offset);
    const bool condition = std::any_of(a.offset.terms().begin(), a.offset.terms().end(),
                                       [&](const Affine::Term& t) { return kind_of(t.variable) == LoopKind::While; });
    const bool address = c.in_hbm(a) && c.instruction.as<isa::DmaCopy>();
    if (dynamic_terms(a.partition) > 0 || condition || (terms > 0 && !address)) {
      return report_variable(c, c.operand_name(slot));
    }
    if (terms + (dynamic_start(c.instruction, slot) ? 1 : 0) <= 1) return;
    c.report("loop-kind", c.operand_name(slot), "an address follows one register, this one {}; store the sum in one",
             terms + (dynamic_start(c.instruction, slot) ? 1 : 0));
  }

  // Inside a dynamic loop only the registers of its body change, and the condition; afterwards the condition's value is
  // the loop's own affair.
  void check_register(const Context& c, std::size_t slot) {
    const std::int32_t id = c.operand(slot).id;
    const auto tile = static_cast<std::size_t>(id);
    if (operand_role(c.instruction, slot) == Role::Read) {
      if (!stale_[tile]) return;
      c.report("loop-kind", c.operand_name(slot), "register '{}' was the condition of a loop; load it anew",
               program_.tiles()[tile].name);
      return;
    }
    stale_[tile] = false;
    for (std::size_t d = 0; d < loops_.size(); ++d) {
      const LoopDecl& loop = program_.loops()[static_cast<std::size_t>(loops_[d])];
      const bool outside = alloc_depth_[tile] != kHidden && alloc_depth_[tile] <= static_cast<std::ptrdiff_t>(d);
      if (!is_dynamic(loop.kind) || !outside || (loop.kind == LoopKind::While && loop.bound == id)) continue;
      c.report("loop-kind", c.operand_name(slot),
               "register '{}' from outside the loop '{}' changes inside it; keep such a value in a tile",
               program_.tiles()[tile].name, loop.name);
    }
  }

  void check_dynamic(const LoopDecl& loop, std::int32_t begin, std::int32_t end) {
    const auto tile = static_cast<std::size_t>(loop.bound);
    const auto report = [&](const char* rule, const std::string& text) {
      diagnostics_.push_back(
          {rule, -1, fmt::format("program '{}': {} loop '{}': {}", program_.name(), name(loop.kind), loop.name, text)});
    };
    const std::string& bound = program_.tiles()[tile].name;
    if (program_.tiles()[tile].space != Space::Register) {
      return report("illegal-space", fmt::format("'{}' is not a register; load it into one", bound));
    }
    if (alloc_depth_[tile] == kHidden) {
      report("tile-out-of-scope", fmt::format("register '{}' is not allocated here; allocate it further out", bound));
    }
    if (stale_[tile]) {
      report("loop-kind", fmt::format("register '{}' was the condition of a loop; load it anew", bound));
    }
    if (loop.kind != LoopKind::While) return;
    for (std::int32_t s = begin + 1; s < end; ++s) {
      const Statement& statement = program_.statements()[static_cast<std::size_t>(s)];
      if (statement.kind != StatementKind::Instruction) continue;
      const Access& dst = program_.instructions()[static_cast<std::size_t>(statement.index)].dst();
      if (dst.is_tile() && dst.id == loop.bound) return;
    }
    report("loop-kind",
           fmt::format("nothing in it changes register '{}', so it never ends; load it in the body", bound));
  }

  void check_variables(const Context& c, std::string_view subject, const Affine& affine) const {
    for (const Affine::Term& t : affine.terms()) {
      if (std::find(loops_.begin(), loops_.end(), t.variable) != loops_.end()) continue;
      c.report("tile-out-of-scope", subject,
               "loop variable '{}' is used outside its loop; move the instruction into it",
               program_.loops()[static_cast<std::size_t>(t.variable)].name);
    }
  }

  // The loops inside the tile's scope are those opened after its Alloc. A parallel one among them must give every
  // iteration its own part of the tile, or never add to what another iteration left there.
  void check_accumulation(const Context& c, const Affine& accumulate) const {
    const Access& dst = c.instruction.dst();
    if (!dst.is_tile() || accumulate == Affine(0)) return;
    const std::ptrdiff_t depth = alloc_depth_[static_cast<std::size_t>(dst.id)];
    if (depth == kHidden) return;
    const auto uses = [](const Affine& affine, std::int32_t variable) {
      return std::any_of(affine.terms().begin(), affine.terms().end(),
                         [&](const Affine::Term& t) { return t.variable == variable; });
    };
    for (auto loop = loops_.begin() + depth; loop != loops_.end(); ++loop) {
      const LoopDecl& decl = program_.loops()[static_cast<std::size_t>(*loop)];
      const bool own_part = (uses(dst.offset, *loop) || uses(dst.partition, *loop)) && !uses(accumulate, *loop);
      if (decl.kind != LoopKind::Parallel || own_part) continue;
      c.report(
          "loop-kind", "accumulate",
          "sums into '{}' over the iterations of parallel loop '{}', whose order is free; make the loop sequential",
          c.tile(dst).name, decl.name);
    }
  }

  const Program& program_;
  const Machine& machine_;
  std::vector<Diagnostic>& diagnostics_;
  std::vector<std::ptrdiff_t>
      alloc_depth_;                       // by tile: how many loops were open at its Alloc, kHidden outside its scope
  std::vector<bool> stale_;               // by tile: a register that ended a while loop
  std::vector<std::int32_t> loops_;       // open ones, outermost first
  std::vector<Registers> registers_{{}};  // of the program, and of each open parallel loop
};

}  // namespace

void check_scopes(const Program& program, const Machine& machine, std::vector<Diagnostic>& diagnostics) {
  ScopeWalk(program, machine, diagnostics).block(0, static_cast<std::int32_t>(program.statements().size()));
}

}  // namespace trn::tile::rules
