// Rules about which engine runs what, and which memory it reaches (illegal-engine, illegal-space). An instruction whose
// engine is still open must have at least one engine that can run it.
#include <algorithm>

#include "verify_rules.hpp"

namespace trn::tile::rules {

namespace {

constexpr std::string_view kEngine = "illegal-engine";
constexpr std::string_view kSpace = "illegal-space";

std::optional<Objection> no() { return std::nullopt; }

bool contains(const std::vector<Engine>& engines, Engine engine) {
  return std::find(engines.begin(), engines.end(), engine) != engines.end();
}

// Which memories an engine reaches.
std::optional<Objection> space_objection(const Context& c, Engine engine) {
  for (std::size_t slot = 0; slot < c.instruction.operands.size(); ++slot) {
    const Access& a = c.operand(slot);
    if (!a.present()) continue;
    const std::string subject(c.operand_name(slot));
    const bool writes = operand_role(c.instruction, slot) != Role::Read;
    if (engine == Engine::Dma) {
      if (c.in_psum(a)) return {{kSpace, subject, "DMA does not reach PSUM; copy through an SBUF tile"}};
      continue;
    }
    if (c.in_hbm(a)) {
      return {
          {kSpace, subject, fmt::format("only DMA reaches HBM, the {} engine does not; use dma_copy", name(engine))}};
    }
    if (engine == Engine::GpSimd && c.in_psum(a)) {
      return {{kSpace, subject, "the gpsimd engine does not reach PSUM; copy to SBUF with tensor_copy on vector"}};
    }
    if (engine == Engine::Tensor && writes && !c.in_psum(a)) {
      return {{kSpace, subject, "the tensor engine writes PSUM only; the tile is in SBUF"}};
    }
    if (engine == Engine::Tensor && !writes && !c.in_sbuf(a)) {
      return {{kSpace, subject, "the tensor engine reads SBUF only; the tile is in PSUM, copy it with tensor_copy"}};
    }
  }
  return no();
}

// tensor_scalar: what Scalar and GpSimd can do of it.
std::optional<Objection> tensor_scalar_objection(const Context& c, Engine engine) {
  const AluOp op0 = c.instruction.attributes.op0, op1 = c.instruction.attributes.op1;
  if (engine == Engine::Scalar) {
    const bool one = (op0 == AluOp::Multiply || op0 == AluOp::Add) && op1 == AluOp::None;
    const bool both = op0 == AluOp::Multiply && op1 == AluOp::Add;
    if (!one && !both) {
      return {{kEngine, "op0",
               fmt::format("the scalar engine has multiply, add and multiply+add, not {}+{}; use vector", name(op0),
                           name(op1))}};
    }
  }
  if (engine == Engine::GpSimd && (op0 != AluOp::Rsqrt || op1 != AluOp::None)) {
    return {{kEngine, "op0",
             fmt::format("the gpsimd engine has only rsqrt here, not {}+{}; use vector", name(op0), name(op1))}};
  }
  return no();
}

}  // namespace

std::optional<Objection> engine_objection(const Context& c, Engine engine) {
  const Opcode opcode = c.instruction.opcode;
  const OpcodeInfo& info = opcode_info(opcode);
  const Attributes& attributes = c.instruction.attributes;
  const std::string who(name(engine));
  if (!contains(info.engines, engine)) {
    return {{kEngine, "engine", fmt::format("the {} engine has no {}; leave the engine open", who, info.name)}};
  }
  const bool scalar_copy = opcode == Opcode::TensorCopy || opcode == Opcode::TensorScalar;
  if (engine == Engine::Scalar && scalar_copy && !c.machine.scalar_tensor_copy) {
    return {{kEngine, "engine",
             fmt::format("the scalar engine of {} has no {}; use activation, or vector", c.machine.name, info.name)}};
  }
  if (opcode == Opcode::TensorScalar) {
    if (auto objection = tensor_scalar_objection(c, engine)) return objection;
  }
  const bool square_or_relu = attributes.op0 == AluOp::Square || attributes.op0 == AluOp::Relu;
  if (opcode == Opcode::TensorScalar && square_or_relu && !c.machine.square_relu_in_tensor_scalar) {
    return {{kEngine, "op0",
             fmt::format("tensor_scalar of {} has no {}; use multiply, maximum, or activation", c.machine.name,
                         name(attributes.op0))}};
  }
  if (opcode == Opcode::Activation && attributes.imm1 != 0 && !c.machine.activation_bias_immediate) {
    return {{kEngine, "bias", fmt::format("activation of {} takes its bias from a tile, not a number", c.machine.name)}};
  }
  const bool bits = is_bitvec(attributes.op0) || is_bitvec(attributes.op1);
  if ((opcode == Opcode::TensorTensor || opcode == Opcode::TensorScalar) && bits && engine != Engine::Vector) {
    return {{kEngine, "op0", fmt::format("bit operations run on vector only, not on {}", who)}};
  }
  if (opcode == Opcode::TensorTensor && attributes.op0 == AluOp::Power && engine != Engine::GpSimd) {
    return {{kEngine, "op", fmt::format("power of two tiles runs on gpsimd only, not on {}", who)}};
  }
  if (opcode == Opcode::NcTranspose && engine == Engine::Vector) {
    const Access& data = c.operand(1);
    const std::int64_t side = quadrant(c.machine);
    if (data.partitions > side || free_elements(data) > side) {
      return {{kEngine, "data",
               fmt::format("vector transposes at most {} x {}, this is {} x {}; use the tensor engine or split", side,
                           side, data.partitions, free_elements(data))}};
    }
  }
  return space_objection(c, engine);
}

void check_engine(const Context& c) {
  const std::vector<Engine>& engines = opcode_info(c.instruction.opcode).engines;
  const Engine chosen = c.instruction.engine;
  if (chosen != Engine::Any || engines.size() == 1) {
    const auto objection = engine_objection(c, chosen == Engine::Any ? engines.front() : chosen);
    if (objection) c.report(objection->rule, objection->subject, "{}", objection->text);
    return;
  }
  std::string reasons;
  std::string_view rule;
  bool agree = true;
  for (const Engine engine : engines) {
    const auto objection = engine_objection(c, engine);
    if (!objection) return;
    agree = agree && (rule.empty() || rule == objection->rule);
    rule = objection->rule;
    reasons += fmt::format("{}{}: {}", reasons.empty() ? "" : "; ", name(engine), objection->text);
  }
  c.report(agree ? rule : kEngine, "engine", "no engine of {} can run it: {}", c.machine.name, reasons);
}

void check_spaces(const Context& c) {
  const auto not_both_psum = [&](std::size_t a, std::size_t b) {
    if (!c.in_psum(c.operand(a)) || !c.in_psum(c.operand(b))) return;
    c.report(kSpace, fmt::format("{} and {}", c.operand_name(a), c.operand_name(b)),
             "both inputs are in PSUM; at most one may be: copy the other to SBUF with tensor_copy");
  };
  switch (c.instruction.opcode) {
    case Opcode::TensorTensor:
    case Opcode::TensorTensorScan:
    case Opcode::TensorCopyPredicated:
      not_both_psum(1, 2);
      break;
    case Opcode::ScalarTensorTensor:
      not_both_psum(1, 3);
      break;
    case Opcode::DmaTranspose:
      if (!c.in_sbuf(c.operand(0))) c.report(kSpace, "dst", "dma_transpose writes SBUF tiles only; copy on from there");
      break;
    case Opcode::DmaCopy: {
      if (!c.operand(2).present()) break;
      const std::size_t indexed = c.instruction.attributes.scatter ? 0 : 1;
      if (!c.in_sbuf(c.operand(2))) c.report(kSpace, "index", "row indices must be in an SBUF tile; load them first");
      if (!c.in_hbm(c.operand(indexed))) {
        c.report(kSpace, c.operand_name(indexed),
                 "indices select rows of HBM tensors only; use local_gather inside SBUF");
      }
      break;
    }
    default:
      break;
  }
}

}  // namespace trn::tile::rules
