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
    if (engine == Engine::Sync) {
      if (c.in_psum(a)) return {{kSpace, subject, "registers exchange values with SBUF and HBM only"}};
      continue;
    }
    const bool start = slot >= isa::DmaCopy::dst_offset && c.instruction.as<isa::DmaCopy>();
    if (c.in_register(a) && !start) {
      return {{kSpace, subject, "a register; only loops, addresses and register_store read one: store it to a tile"}};
    }
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

using Answer = std::optional<Objection>;

Answer scalar_copy_objection(const Context& c, Engine engine) {
  if (engine != Engine::Scalar || c.machine.scalar_tensor_copy) return no();
  return {{kEngine, "engine",
           fmt::format("the scalar engine of {} has no {}; use activation, or vector", c.machine.name,
                       opcode_info(c.instruction.opcode()).name)}};
}

Answer bits_objection(Engine engine, AluOp op) {
  if (!is_bitvec(op) || engine == Engine::Vector) return no();
  return {{kEngine, "op0", fmt::format("bit operations run on vector only, not on {}", name(engine))}};
}

// What one engine has of an instruction, beyond the row of opcode_info().
Answer objection_to(const Context& c, Engine engine, const isa::TensorScalar& a) {
  if (auto objection = scalar_copy_objection(c, engine)) return objection;
  if (engine == Engine::Scalar) {
    const bool one = (a.op0 == AluOp::Multiply || a.op0 == AluOp::Add) && a.op1 == AluOp::None;
    const bool both = a.op0 == AluOp::Multiply && a.op1 == AluOp::Add;
    if (!one && !both) {
      return {{kEngine, "op0",
               fmt::format("the scalar engine has multiply, add and multiply+add, not {}+{}; use vector", name(a.op0),
                           name(a.op1))}};
    }
  }
  if (engine == Engine::Vector && (a.op0 == AluOp::Rsqrt || a.op1 == AluOp::Rsqrt)) {
    return {{kEngine, a.op0 == AluOp::Rsqrt ? "op0" : "op1",
             "the vector engine has no rsqrt; use activation, or op0 alone on gpsimd"}};
  }
  if (engine == Engine::GpSimd && (a.op0 != AluOp::Rsqrt || a.op1 != AluOp::None)) {
    return {{kEngine, "op0",
             fmt::format("the gpsimd engine has only rsqrt here, not {}+{}; use vector", name(a.op0), name(a.op1))}};
  }
  const bool square_or_relu = a.op0 == AluOp::Square || a.op0 == AluOp::Relu;
  if (square_or_relu && !c.machine.square_relu_in_tensor_scalar) {
    return {{kEngine, "op0",
             fmt::format("tensor_scalar of {} has no {}; use multiply, maximum, or activation", c.machine.name,
                         name(a.op0))}};
  }
  return bits_objection(engine, is_bitvec(a.op0) ? a.op0 : a.op1);
}

Answer objection_to(const Context& c, Engine engine, const isa::TensorCopy&) {
  return scalar_copy_objection(c, engine);
}

Answer objection_to(const Context& c, Engine, const isa::Activation& a) {
  if (a.bias_value == 0 || c.machine.activation_bias_immediate) return no();
  return {{kEngine, "bias", fmt::format("activation of {} takes its bias from a tile, not a number", c.machine.name)}};
}

Answer objection_to(const Context&, Engine engine, const isa::TensorTensor& a) {
  if (a.op == AluOp::Power && engine != Engine::GpSimd) {
    return {{kEngine, "op", fmt::format("power of two tiles runs on gpsimd only, not on {}", name(engine))}};
  }
  return bits_objection(engine, a.op);
}

Answer objection_to(const Context& c, Engine engine, const isa::NcTranspose&) {
  if (engine != Engine::Vector) return no();
  const Access& data = c.operand(isa::NcTranspose::data);
  const std::int64_t side = quadrant(c.machine);
  if (data.partitions <= side && free_elements(data) <= side) return no();
  return {{kEngine, "data",
           fmt::format("vector transposes at most {} x {}, this is {} x {}; use the tensor engine or split", side, side,
                       data.partitions, free_elements(data))}};
}

// An instruction that came with a later generation.
Answer generation_objection(const Context& c, bool has, std::string_view instead) {
  if (has) return no();
  return {{kEngine, "engine",
           fmt::format("{} has no {}; {}", c.machine.name, opcode_info(c.instruction.opcode()).name, instead)}};
}
Answer objection_to(const Context& c, Engine, const isa::RangeSelect&) {
  return generation_objection(c, c.machine.range_select, "use iota, comparisons and select_reduce");
}
Answer objection_to(const Context& c, Engine, const isa::NonzeroWithCount&) {
  return generation_objection(c, c.machine.nonzero_with_count, "find the places on the host");
}
Answer objection_to(const Context& c, Engine, const isa::Exponential&) {
  return generation_objection(c, c.machine.vector_exponential, "use activation");
}
Answer objection_to(const Context& c, Engine, const isa::NcMatmulMx&) {
  return generation_objection(c, c.machine.microscaling, "use nc_matmul on operands of another dtype");
}
Answer objection_to(const Context& c, Engine, const isa::QuantizeMx&) {
  return generation_objection(c, c.machine.microscaling, "use a dtype that the machine has");
}

template <
    isa::OneOf<isa::BnStats, isa::BnAggr, isa::DmaCopy, isa::DmaTranspose, isa::NcMatmul, isa::ScalarTensorTensor,
               isa::TensorReduce, isa::TensorTensorScan, isa::TensorCopyPredicated, isa::Reciprocal, isa::Memset,
               isa::TensorScalarReduce, isa::TensorScalarCumulative, isa::SelectReduce, isa::Max8, isa::NcFindIndex8,
               isa::NcMatchReplace8, isa::Iota, isa::AffineSelect, isa::LocalGather, isa::TensorPartitionReduce>
        I>
Answer objection_to(const Context&, Engine, const I&) {
  return no();
}

template <isa::OneOf<isa::DmaCompute, isa::NcNGather, isa::NcStreamShuffle, isa::RegisterMove, isa::RegisterLoad,
                     isa::RegisterStore>
              I>
Answer objection_to(const Context&, Engine, const I&) {
  return no();
}

// Memories that an instruction needs, whatever its engine.
void not_both_psum(const Context& c, std::size_t a, std::size_t b) {
  if (!c.in_psum(c.operand(a)) || !c.in_psum(c.operand(b))) return;
  c.report(kSpace, fmt::format("{} and {}", c.operand_name(a), c.operand_name(b)),
           "both inputs are in PSUM; at most one may be: copy the other to SBUF with tensor_copy");
}
void check_space(const Context& c, const isa::TensorTensor&) {
  not_both_psum(c, isa::TensorTensor::data1, isa::TensorTensor::data2);
}
void check_space(const Context& c, const isa::TensorTensorScan&) {
  not_both_psum(c, isa::TensorTensorScan::data0, isa::TensorTensorScan::data1);
}
void check_space(const Context& c, const isa::TensorCopyPredicated&) {
  not_both_psum(c, isa::TensorCopyPredicated::src, isa::TensorCopyPredicated::predicate);
}
void check_space(const Context& c, const isa::ScalarTensorTensor&) {
  not_both_psum(c, isa::ScalarTensorTensor::data, isa::ScalarTensorTensor::operand1);
}
void check_space(const Context& c, const isa::SelectReduce&) {
  not_both_psum(c, isa::SelectReduce::on_true, isa::SelectReduce::predicate);
}
void check_space(const Context& c, const isa::DmaTranspose&) {
  if (c.in_sbuf(c.instruction.dst())) return;
  c.report(kSpace, "dst", "dma_transpose writes SBUF tiles only; copy on from there");
}
void check_space(const Context& c, const isa::DmaCopy& a) {
  using I = isa::DmaCopy;
  if (!is_indirect(c.instruction)) return;
  const I::Slot indexed = a.scatter ? I::dst : I::src;
  if (!c.in_sbuf(c.operand(I::index))) {
    c.report(kSpace, "index", "row indices must be in an SBUF tile; load them first");
  }
  if (c.in_hbm(c.operand(indexed))) return;
  c.report(kSpace, c.operand_name(indexed), "indices select rows of HBM tensors only; use local_gather inside SBUF");
}
void check_space(const Context& c, const isa::DmaCompute& a) {
  using I = isa::DmaCompute;
  if (!is_indirect(c.instruction)) return;
  if (!c.in_sbuf(c.operand(I::index))) {
    c.report(kSpace, "index", "row indices must be in an SBUF tile; load them first");
  }
  const I::Slot indexed = a.scatter ? I::dst : I::src1, listed = a.scatter ? I::src1 : I::dst;
  if (!c.in_hbm(c.operand(indexed))) {
    c.report(kSpace, c.operand_name(indexed), "indices select rows of HBM tensors only; use local_gather inside SBUF");
  }
  if (!c.in_sbuf(c.operand(listed))) {
    c.report(kSpace, c.operand_name(listed), "the rows that indices pair with HBM lie in SBUF; load them first");
  }
}
// One side is a register, the other one element of SBUF or HBM, or another register.
void expect_register(const Context& c, std::size_t slot) {
  const Access& a = c.operand(slot);
  if (!a.present() || c.in_register(a)) return;
  c.report(kSpace, c.operand_name(slot), "is not a register; allocate one with Builder::register_alloc");
}
void expect_memory(const Context& c, std::size_t slot) {
  if (!c.in_register(c.operand(slot))) return;
  c.report(kSpace, c.operand_name(slot), "is a register, not memory; use register_move between registers");
}
void check_space(const Context& c, const isa::RegisterMove&) {
  expect_register(c, isa::RegisterMove::dst);
  expect_register(c, isa::RegisterMove::src);
}
void check_space(const Context& c, const isa::RegisterLoad&) {
  expect_register(c, isa::RegisterLoad::dst);
  expect_memory(c, isa::RegisterLoad::src);
}
void check_space(const Context& c, const isa::RegisterStore&) {
  expect_memory(c, isa::RegisterStore::dst);
  expect_register(c, isa::RegisterStore::src);
}
template <isa::OneOf<isa::NcNGather, isa::NcStreamShuffle> I> void check_space(const Context&, const I&) {}
void check_space(const Context& c, const isa::QuantizeMx&) {
  using I = isa::QuantizeMx;
  for (const I::Slot slot : {I::dst, I::src, I::dst_scale}) {
    if (c.in_psum(c.operand(slot))) {
      c.report(kSpace, c.operand_name(slot), "quantize_mx works in SBUF only; copy with tensor_copy");
    }
  }
}
template <isa::OneOf<isa::NcMatmulMx, isa::Exponential, isa::BnStats, isa::BnAggr, isa::NcMatmul, isa::NcTranspose,
                     isa::TensorScalar, isa::TensorReduce, isa::TensorCopy, isa::Activation, isa::Reciprocal,
                     isa::Memset, isa::TensorScalarReduce, isa::TensorScalarCumulative, isa::RangeSelect, isa::Max8,
                     isa::NcFindIndex8, isa::NcMatchReplace8, isa::Iota, isa::AffineSelect, isa::LocalGather,
                     isa::NonzeroWithCount, isa::TensorPartitionReduce>
              I>
void check_space(const Context&, const I&) {}

}  // namespace

std::optional<Objection> engine_objection(const Context& c, Engine engine) {
  const OpcodeInfo& info = opcode_info(c.instruction.opcode());
  if (!contains(info.engines, engine)) {
    return {
        {kEngine, "engine", fmt::format("the {} engine has no {}; leave the engine open", name(engine), info.name)}};
  }
  auto objection = c.instruction.visit([&](const auto& attributes) { return objection_to(c, engine, attributes); });
  return objection ? objection : space_objection(c, engine);
}

void check_engine(const Context& c) {
  const std::vector<Engine>& engines = opcode_info(c.instruction.opcode()).engines;
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
  c.instruction.visit([&](const auto& attributes) { check_space(c, attributes); });
}

}  // namespace trn::tile::rules
