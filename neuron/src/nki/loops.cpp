// The choice is made nest by nest: a loop that can be a device loop becomes one unless loops inside it leave fewer
// instructions to write.
#include "nki/loops.hpp"

#include <algorithm>
#include <numeric>

#include "nki/operand.hpp"

namespace trn::neuron::nki {

using tile::Access;
using tile::Affine;
using tile::Instruction;
using tile::Statement;
using tile::StatementKind;

namespace {

std::int64_t coefficient(const Affine& value, std::int32_t loop) {
  for (const Affine::Term& t : value.terms()) {
    if (t.variable == loop) return t.coefficient;
  }
  return 0;
}

class Choice {
 public:
  explicit Choice(const tile::Program& program) : program_(program), steps_(program.loops().size(), 0) {}

  std::vector<std::int64_t> choose() {
    (void)fewest(0, static_cast<std::int32_t>(program_.statements().size()));
    return std::move(steps_);
  }

 private:
  // Instructions of statements [begin, end) as they will be written and unrolled; fills steps_.
  std::int64_t fewest(std::int32_t begin, std::int32_t end) {
    std::int64_t total = 0;
    for (std::int32_t s = begin; s < end;) {
      const Statement& statement = program_.statements()[static_cast<std::size_t>(s)];
      if (statement.kind != StatementKind::Loop) {
        total += statement.kind == StatementKind::Instruction ? 1 : 0;
        ++s;
        continue;
      }
      const auto loop = static_cast<std::size_t>(statement.index);
      const std::int64_t inside = program_.loops()[loop].trip * fewest(s + 1, statement.end);
      const std::int64_t step = holds_dynamic(s) ? 0 : register_step(s), once = unrolled(s + 1, statement.end);
      if (step > 0 && once <= inside) {
        clear(s + 1, statement.end);
        steps_[loop] = step;
      }
      total += step > 0 ? std::min(once, inside) : inside;
      s = statement.end;
    }
    return total;
  }

  // The loop at statement `s` is dynamic or has one inside: device loops do not nest.
  bool holds_dynamic(std::int32_t s) const {
    for (std::int32_t i = s; i < program_.statements()[static_cast<std::size_t>(s)].end; ++i) {
      const Statement& inner = program_.statements()[static_cast<std::size_t>(i)];
      const bool loop = inner.kind == StatementKind::Loop;
      if (loop && is_dynamic(program_.loops()[static_cast<std::size_t>(inner.index)].kind)) return true;
    }
    return false;
  }

  std::int64_t unrolled(std::int32_t begin, std::int32_t end) const {
    std::int64_t total = 0;
    for (std::int32_t s = begin; s < end;) {
      const Statement& statement = program_.statements()[static_cast<std::size_t>(s)];
      const bool loop = statement.kind == StatementKind::Loop;
      if (loop) {
        total += program_.loops()[static_cast<std::size_t>(statement.index)].trip * unrolled(s + 1, statement.end);
      } else if (statement.kind == StatementKind::Instruction) {
        ++total;
      }
      s = loop ? statement.end : s + 1;
    }
    return total;
  }

  void clear(std::int32_t begin, std::int32_t end) {
    for (std::int32_t s = begin; s < end; ++s) {
      const Statement& statement = program_.statements()[static_cast<std::size_t>(s)];
      if (statement.kind == StatementKind::Loop) steps_[static_cast<std::size_t>(statement.index)] = 0;
    }
  }

  // The step of the register of the loop at statement `s`, or 0 when it has to be unrolled.
  std::int64_t register_step(std::int32_t s) const {
    const Statement& statement = program_.statements()[static_cast<std::size_t>(s)];
    struct Distance {
      std::int64_t elements, array;
    };
    std::vector<Distance> distances;
    for (std::int32_t i = s + 1; i < statement.end; ++i) {
      const Statement& inner = program_.statements()[static_cast<std::size_t>(i)];
      if (inner.kind != StatementKind::Instruction) continue;
      const Instruction& instruction = program_.instructions()[static_cast<std::size_t>(inner.index)];
      if (uses_elsewhere(instruction, statement.index)) return 0;
      for (const Access& access : instruction.operands) {
        const std::int64_t elements =
            access.target == tile::Target::Tensor ? coefficient(access.offset, statement.index) : 0;
        if (elements == 0) continue;
        const tile::TensorDecl& tensor = program_.tensors()[static_cast<std::size_t>(access.id)];
        if (elements < 0 || access.dtype != tensor.dtype || !follows_register(instruction)) return 0;
        distances.push_back({elements, element_count(declared_shape(tensor))});
      }
    }
    std::int64_t common = 0;
    for (const Distance& d : distances) common = std::gcd(common, d.elements);
    if (common == 0) return 1;
    const auto fits = [&](std::int64_t step) {
      return common % step == 0 && std::all_of(distances.begin(), distances.end(),
                                               [&](const Distance& d) { return d.array % (d.elements / step) == 0; });
    };
    for (std::int64_t step = 1; step * step <= common; ++step) {
      if (fits(step)) return step;
    }
    for (std::int64_t other = 1; other * other <= common; ++other) {  // divisors above the root, the largest first
      if (common % other == 0 && fits(common / other)) return common / other;
    }
    return 0;
  }

  static bool uses_elsewhere(const Instruction& instruction, std::int32_t loop) {
    bool attribute = false;
    instruction.visit([&]<class I>(const I& attributes) {
      I::visit(attributes, [&]<class T>(const char*, const T& field) {
        if constexpr (std::is_same_v<T, Affine>) attribute = attribute || coefficient(field, loop) != 0;
      });
    });
    if (attribute) return true;
    return std::any_of(instruction.operands.begin(), instruction.operands.end(), [&](const Access& a) {
      return a.is_tile() && (coefficient(a.offset, loop) != 0 || coefficient(a.partition, loop) != 0);
    });
  }

  static bool follows_register(const Instruction& instruction) {
    const auto* copy = instruction.as<tile::isa::DmaCopy>();
    return copy && !is_indirect(instruction) && copy->route.dge != tile::DgeMode::Static;
  }

  const tile::Program& program_;
  std::vector<std::int64_t> steps_;
};

}  // namespace

std::vector<std::int64_t> device_loops(const tile::Program& program, std::int64_t limit) {
  std::vector<std::int64_t> steps(program.loops().size(), 0);
  if (program.dynamic_instructions() > limit) steps = Choice(program).choose();
  // A dynamic loop is one of the device, and no static loop inside it is.
  for (std::size_t s = 0; s < program.statements().size(); ++s) {
    const Statement& statement = program.statements()[s];
    if (statement.kind != StatementKind::Loop) continue;
    const auto loop = static_cast<std::size_t>(statement.index);
    if (!is_dynamic(program.loops()[loop].kind)) continue;
    steps[loop] = 1;
    for (std::size_t i = s + 1; i < static_cast<std::size_t>(statement.end); ++i) {
      const Statement& inner = program.statements()[i];
      if (inner.kind == StatementKind::Loop) steps[static_cast<std::size_t>(inner.index)] = 0;
    }
  }
  return steps;
}

}  // namespace trn::neuron::nki
