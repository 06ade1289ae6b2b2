// Rules about operators and modes: what each instruction can compute, and what only some generations have
// (illegal-engine).
#include "verify_rules.hpp"

namespace trn::tile::rules {

namespace {

constexpr std::string_view kEngine = "illegal-engine";

bool is_comparison(AluOp op) { return op >= AluOp::Equal && op <= AluOp::Less; }

bool is_reduction(AluOp op) {
  switch (op) {
    case AluOp::Add:
    case AluOp::Subtract:
    case AluOp::Multiply:
    case AluOp::Maximum:
    case AluOp::Minimum:
    case AluOp::AbsMax:
    case AluOp::AbsMin:
    case AluOp::LogicalAnd:
    case AluOp::LogicalOr:
    case AluOp::LogicalXor:
    case AluOp::BitwiseAnd:
    case AluOp::BitwiseOr:
    case AluOp::BitwiseXor:
      return true;
    default:
      return false;
  }
}

bool is_partition_reduction(AluOp op) {
  return op == AluOp::Add || op == AluOp::Average || op == AluOp::Maximum || op == AluOp::BitwiseOr ||
         op == AluOp::BitwiseAnd;
}

// Two tiles in, one out: what the second slot needs.
bool is_binary(AluOp op) { return op != AluOp::None && op != AluOp::Average && !is_unary(op); }
bool is_element(AluOp op) { return op != AluOp::None && op != AluOp::Average; }

void check_matmul_modes(const Context& c) {
  const Attributes& a = c.instruction.attributes;
  const bool double_row = a.perf_mode == MatmulMode::DoubleRow;
  if (double_row && !c.machine.double_row) {
    c.report(kEngine, "perf_mode", "{} has no double_row; use two matmuls of half the contraction", c.machine.name);
  }
  if (a.is_transpose && !c.machine.pass_through_transpose) {
    c.report(kEngine, "is_transpose", "{} has no pass-through transpose; use nc_transpose", c.machine.name);
  }
  if (a.is_transpose && double_row) {
    c.report(kEngine, "is_transpose", "a transpose cannot use double_row; choose one of them");
  }
}

// An option that nothing reads is a mistake, not a default.
void check_tensor_scalar_options(const Context& c) {
  const Attributes& a = c.instruction.attributes;
  const auto refuse = [&](std::string_view subject, AluOp op) {
    c.report(kEngine, subject, "'{}' takes no such option; leave it out", name(op));
  };
  if (is_unary(a.op0) && (a.reverse0 || c.operand(2).present())) refuse("operand0", a.op0);
  if (is_unary(a.op1) && (a.reverse1 || c.operand(3).present())) refuse("operand1", a.op1);
  if (a.op1 == AluOp::None && (a.reverse1 || a.imm1 != 0 || c.operand(3).present())) refuse("operand1", a.op1);
}

void check_dma_modes(const Context& c) {
  const DgeMode dge = c.instruction.attributes.dge;
  const bool indirect = c.instruction.opcode == Opcode::DmaCopy && c.operand(2).present();
  if (indirect && (dge == DgeMode::Hardware || dge == DgeMode::Static)) {
    c.report(kEngine, "dge", "descriptors of an indirect copy cannot come from '{}'; leave it open or use '{}'",
             name(dge), name(DgeMode::Software));
  }
  const std::int32_t ring = c.instruction.attributes.ring;
  const auto rings = static_cast<std::int32_t>(2 * c.program.tensors().size() + 4);
  if (ring < -1 || ring >= rings) {
    c.report(kEngine, "ring", "ring {} does not exist; leave it open, or choose 0 to {}", ring, rings - 1);
  }
  if (dge == DgeMode::Hardware && !c.machine.hardware_dge) {
    c.report(kEngine, "dge", "{} has no hardware descriptor generator; leave it open or use '{}'", c.machine.name,
             name(DgeMode::Static));
  }
}

}  // namespace

void check_operations(const Context& c) {
  const Attributes& a = c.instruction.attributes;
  for (const AluOp op : {a.op0, a.op1, a.reduce_op}) {
    if ((op == AluOp::AbsMax || op == AluOp::AbsMin) && !c.machine.abs_max_min) {
      c.report(kEngine, "op", "{} has no {}; square or take abs first", c.machine.name, name(op));
    }
  }
  const auto expect = [&](bool good, std::string_view subject, AluOp op, std::string_view accepted) {
    if (!good) c.report(kEngine, subject, "'{}' is not available here; use {}", name(op), accepted);
  };
  constexpr std::string_view two = "an operator of two values", any = "an element operator",
                             arithmetic = "an arithmetic operator";
  switch (c.instruction.opcode) {
    case Opcode::NcMatmul:
      check_matmul_modes(c);
      break;
    case Opcode::DmaCopy:
    case Opcode::DmaTranspose:
      check_dma_modes(c);
      break;
    case Opcode::TensorTensor:
      expect(is_binary(a.op0), "op", a.op0, two);
      break;
    case Opcode::TensorScalar:
      expect(is_element(a.op0), "op0", a.op0, any);
      expect(a.op1 != AluOp::Average, "op1", a.op1, any);
      check_tensor_scalar_options(c);
      break;
    case Opcode::ScalarTensorTensor:
      expect(is_element(a.op0) && !is_bitvec(a.op0), "op0", a.op0, arithmetic);
      expect(is_binary(a.op1) && !is_bitvec(a.op1), "op1", a.op1, arithmetic);
      break;
    case Opcode::TensorTensorScan:
      expect(is_binary(a.op0) && !is_bitvec(a.op0), "op0", a.op0, arithmetic);
      expect(is_binary(a.op1) && !is_bitvec(a.op1), "op1", a.op1, arithmetic);
      break;
    case Opcode::TensorReduce:
      expect(is_reduction(a.op0), "op", a.op0, "a reduction such as add or maximum");
      break;
    case Opcode::TensorPartitionReduce:
      expect(is_partition_reduction(a.op0), "op", a.op0, "add, average, maximum, bitwise_or or bitwise_and");
      break;
    case Opcode::AffineSelect:
      expect(is_comparison(a.op0), "cmp_op", a.op0, "a comparison");
      break;
    default:
      break;
  }
}

}  // namespace trn::tile::rules
