// The table of calls: each opcode's keywords in the order of its documented signature, `dst` first. Keywords at their
// defaults are left out. What a call does not document is refused here; the machine's own rules are the verifier's.
#include "nki/instruction.hpp"

#include <cmath>
#include <trn/core/error.hpp>
#include <trn/tile/machine.hpp>

namespace trn::neuron::nki {

namespace {

using tile::Access;
using tile::Affine;
using tile::AluOp;
using tile::Attributes;
using tile::DgeMode;
using tile::Engine;
using tile::Instruction;
using tile::Opcode;


class Printer {
 public:
  Printer(const Module& module, std::int32_t index)
      : module_(module),
        index_(index),
        i_(module.program.instructions()[static_cast<std::size_t>(index)]),
        a_(i_.attributes),
        operands_(module, index),
        call_(fmt::format("nisa.{}", name(i_.opcode))) {}

  Call print() {
    switch (i_.opcode) {
      case Opcode::DmaCopy:
        dma_copy();
        break;
      case Opcode::DmaTranspose:
        dma_transpose();
        break;
      case Opcode::NcMatmul:
        nc_matmul();
        break;
      case Opcode::NcTranspose:
        access("dst", 0).access("data", 1).engine();
        break;
      case Opcode::TensorTensor:
        tensor_tensor();
        break;
      case Opcode::TensorScalar:
        tensor_scalar();
        break;
      case Opcode::ScalarTensorTensor:
        scalar_tensor_tensor();
        break;
      case Opcode::TensorReduce:
        tensor_reduce();
        break;
      case Opcode::TensorTensorScan:
        tensor_tensor_scan();
        break;
      case Opcode::TensorCopy:
        tensor_copy();
        break;
      case Opcode::TensorCopyPredicated:
        tensor_copy_predicated();
        break;
      case Opcode::Activation:
        activation();
        break;
      case Opcode::Reciprocal:
        access("dst", 0).access("data", 1);
        break;
      case Opcode::Memset:
        memset();
        break;
      case Opcode::Iota:
        iota();
        break;
      case Opcode::AffineSelect:
        affine_select();
        break;
      case Opcode::LocalGather:
        local_gather();
        break;
      case Opcode::TensorPartitionReduce:
        tensor_partition_reduce();
        break;
    }
    return std::move(call_);
  }

 private:
  template <class... Args>
  [[noreturn]] void unsupported(fmt::format_string<Args...> text, Args&&... args) const {
    fail<NotImplemented>("emit_nki: {}: {}", place(module_, index_), fmt::format(text, std::forward<Args>(args)...));
  }
  [[nodiscard]] const tile::Machine& machine() const { return tile::machine(module_.program.machine()); }
  [[nodiscard]] const Access& slot(std::size_t s) const { return i_.operands[s]; }

  Printer& access(const char* keyword, std::size_t s) { return text(keyword, operands_.access(slot(s))); }
  Printer& text(const char* keyword, std::string value) {
    call_.argument(keyword, std::move(value));
    return *this;
  }
  Printer& flag(const char* keyword, bool value) { return value ? text(keyword, "True") : *this; }
  Printer& op(const char* keyword, AluOp value) { return text(keyword, operator_name(value)); }
  Printer& engine() {
    if (i_.engine == Engine::Any) return *this;
    return text("engine", fmt::format("nisa.engine.{}", name(i_.engine)));
  }
  Printer& dge() {
    if (a_.dge == DgeMode::Default) return *this;
    return text("dge_mode", fmt::format("nisa.dge_mode.{}", name(a_.dge)));
  }
  // The operand of an operator: a (P, 1) tile or a constant; integers for bit operators.
  Printer& operand(const char* keyword, AluOp by, std::size_t s, double immediate) {
    if (slot(s).present()) return text(keyword, operands_.column(slot(s)));
    return text(keyword, is_bitvec(by) ? integer_literal(keyword, immediate) : float_literal(immediate));
  }

  std::string operator_name(AluOp value) const {
    if (value == AluOp::None || value == AluOp::Average) {
      unsupported("operator '{}' has no documented nl operator; use nl.add and scale the result", name(value));
    }
    if ((value == AluOp::AbsMax || value == AluOp::AbsMin) && !machine().abs_max_min) {
      unsupported(
          "operator nl.{} is documented for trn3, this program is for {}; combine nl.abs and nl.maximum or "
          "nl.minimum",
          name(value), machine().name);
    }
    return fmt::format("nl.{}", name(value));
  }

  std::string integer_literal(const char* keyword, double value) const {
    if (value != std::nearbyint(value) || std::abs(value) >= 0x1p53) {
      unsupported("{} = {} is not an integer, and the operand must be one here; round it when building the program",
                  keyword, value);
    }
    return fmt::format("{}", static_cast<std::int64_t>(value));
  }

  void dma_copy() {
    const bool indirect = slot(2).present();
    if (indirect && a_.dge != DgeMode::Default && a_.dge != DgeMode::Software) {
      unsupported("an indirect copy with dge_mode.{}; gathers and scatters need swdge: leave the mode open",
                  name(a_.dge));
    }
    if (a_.dge == DgeMode::Hardware && slot(0).dtype != slot(1).dtype) {
      unsupported(
          "dge_mode.hwdge between {} and {}; it needs equal dtypes: leave the mode open or convert on an engine",
          name(slot(0).dtype), name(slot(1).dtype));
    }
    for (const std::size_t s : {std::size_t{0}, std::size_t{1}}) {
      const bool indexed = indirect && (s == 0) == a_.scatter;
      text(s == 0 ? "dst" : "src", indexed ? operands_.indirect(slot(s), slot(2), a_.oob) : operands_.access(slot(s)));
    }
    if (indirect && a_.oob == tile::OobMode::Skip) text("oob_mode", "nisa.oob_mode.skip");
    dge();
  }

  // The first and the last dimension change places; both sides have the same rank.
  void dma_transpose() {
    static constexpr std::string_view kAxes[] = {"(1, 0)", "(2, 1, 0)", "(3, 1, 2, 0)"};
    const std::size_t rank = slot(0).dims.size() + 1;
    access("dst", 0).access("src", 1).text("axes", std::string(kAxes[rank - 2]));
    // Its hardware descriptors exist for one shape family; elsewhere the compiler chooses, as with no mode at all.
    const Access& src = slot(1);
    const std::int64_t rows = src.is_tile() ? src.partitions : src.dims.front().size;
    const bool hardware = rank == 2 && rows == 16 && (src.size() / rows) % 128 == 0 && size_bytes(src.dtype) == 2;
    if (a_.dge == DgeMode::Hardware && hardware) dge();
  }

  void nc_matmul() {
    access("dst", 0).access("stationary", 1).access("moving", 2).flag("is_transpose", a_.is_transpose);
    const Affine& accumulate = a_.accumulate;
    if (accumulate.is_constant()) {
      text("accumulate", accumulate.constant() != 0 ? "True" : "False");
    } else {
      text("accumulate",
           fmt::format("({} {} 0)", expression(module_.names, accumulate), accumulate.min() >= 0 ? ">" : "!="));
    }
    if (a_.perf_mode == tile::MatmulMode::DoubleRow) text("perf_mode", "nisa.matmul_perf_mode.double_row");
  }

  void tensor_tensor() {
    if (is_unary(a_.op0)) unsupported("nl.{} takes one operand; use tensor_scalar", name(a_.op0));
    if (a_.op0 == AluOp::Power && i_.engine == Engine::Vector) {
      unsupported("nl.power of two tiles on the Vector Engine; it is documented for GpSimd: choose Engine::GpSimd");
    }
    access("dst", 0).access("data1", 1).access("data2", 2).op("op", a_.op0).engine();
  }

  void tensor_scalar() {
    check_tensor_scalar_engine();
    access("dst", 0)
        .access("data", 1)
        .op("op0", a_.op0)
        .operand("operand0", a_.op0, 2, a_.imm0)
        .flag("reverse0", a_.reverse0);
    if (a_.op1 != AluOp::None) {
      op("op1", a_.op1).operand("operand1", a_.op1, 3, a_.imm1).flag("reverse1", a_.reverse1);
    }
    engine();
  }

  void check_tensor_scalar_engine() const {
    for (const AluOp value : {a_.op0, a_.op1}) {
      if ((value == AluOp::Square || value == AluOp::Relu) && (!machine().square_relu_in_tensor_scalar || value != a_.op0)) {
        unsupported("nl.{} in tensor_scalar is documented as op0 on trn3; use activation", name(value));
      }
    }
    if (i_.engine == Engine::GpSimd && (a_.op0 != AluOp::Rsqrt || a_.op1 != AluOp::None)) {
      unsupported("nl.{} on GpSimd; tensor_scalar documents that engine for nl.rsqrt alone: use the Vector Engine",
                  name(a_.op0));
    }
    if (i_.engine != Engine::Scalar) return;
    const bool multiply_add = a_.op0 == AluOp::Multiply && (a_.op1 == AluOp::None || a_.op1 == AluOp::Add);
    const bool add = a_.op0 == AluOp::Add && a_.op1 == AluOp::None;
    if (!machine().scalar_tensor_copy || (!machine().square_relu_in_tensor_scalar && !multiply_add && !add)) {
      unsupported(
          "(nl.{}, nl.{}) on the Scalar Engine of {}; it documents multiply, add and multiply-add from trn2 on: "
          "use activation or the Vector Engine",
          name(a_.op0), name(a_.op1), machine().name);
    }
  }

  void scalar_tensor_tensor() {
    access("dst", 0).access("data", 1).op("op0", a_.op0).operand("operand0", a_.op0, 2, a_.imm0);
    op("op1", a_.op1).access("operand1", 3);
  }

  void tensor_reduce() {
    switch (a_.op0) {
      case AluOp::Add:
      case AluOp::Subtract:
      case AluOp::Multiply:
      case AluOp::Maximum:
      case AluOp::Minimum:
      case AluOp::LogicalAnd:
      case AluOp::LogicalOr:
      case AluOp::LogicalXor:
      case AluOp::BitwiseAnd:
      case AluOp::BitwiseOr:
      case AluOp::BitwiseXor:
        break;
      default:
        unsupported("nl.{} is not a documented reduction operator", name(a_.op0));
    }
    const auto rank = static_cast<std::int64_t>(slot(1).dims.size());
    Shape axes;
    for (std::int64_t d = rank - a_.reduce_dims + 1; d <= rank; ++d) axes.push_back(d);
    access("dst", 0).op("op", a_.op0).access("data", 1).text("axis", tuple(axes)).flag("negate", a_.negate);
  }

  void tensor_tensor_scan() {
    access("dst", 0).access("data0", 1).access("data1", 2).operand("initial", AluOp::Add, 3, a_.imm0);
    op("op0", a_.op0).op("op1", a_.op1);
  }

  void tensor_copy() {
    if (i_.engine == Engine::Scalar && !machine().scalar_tensor_copy) {
      unsupported("the Scalar Engine of trn1 has no tensor_copy; use activation with ActFunction::Copy");
    }
    access("dst", 0).access("src", 1).engine();
  }

  void tensor_copy_predicated() {
    access("dst", 0).access("src", 1).access("predicate", 2).flag("reverse_pred", a_.reverse0);
  }

  void activation() {
    access("dst", 0).text("op", fmt::format("nl.{}", name(a_.function))).access("data", 1);
    if (slot(2).present()) {
      text("bias", operands_.column(slot(2)));
    } else if (a_.imm1 != 0) {
      if (!machine().activation_bias_immediate) {
        unsupported("bias = {} as a number; on trn1 it is documented as a [P, 1] tile: memset one and pass it",
                    a_.imm1);
      }
      text("bias", float_literal(a_.imm1));
    }
    if (slot(3).present()) {
      text("scale", operands_.column(slot(3)));
    } else if (a_.scale != 1) {
      text("scale", float_literal(a_.scale));
    }
    if (!slot(4).present()) return;
    op("reduce_op", a_.reduce_op).text("reduce_res", operands_.column(slot(4)));
    text("reduce_cmd", "nisa.reduce_cmd.reset_reduce");
  }

  void memset() {
    access("dst", 0);
    text("value", is_integer(slot(0).dtype) ? integer_literal("value", a_.imm0) : float_literal(a_.imm0)).engine();
  }

  void iota() {
    access("dst", 0).text("pattern", pattern(a_.pattern)).text("offset", std::to_string(a_.base));
    text("channel_multiplier", std::to_string(a_.channel_multiplier));
  }

  void affine_select() {
    access("dst", 0).text("pattern", pattern(a_.pattern));
    text("channel_multiplier", std::to_string(a_.channel_multiplier)).access("on_true_tile", 1);
    text("on_false_value", float_literal(a_.imm0)).op("cmp_op", a_.op0).text("offset", std::to_string(a_.base));
  }

  // Indices beyond those that dst has room for are not used.
  void local_gather() {
    access("dst", 0).access("src_buffer", 1).access("index", 2);
    if (a_.elements_per_index != 1) text("num_elem_per_idx", std::to_string(a_.elements_per_index));
    const std::int64_t used = slot(0).free_size() / a_.elements_per_index;
    const std::int64_t lanes = machine().partitions / machine().gpsimd_cores;  // they share one list of indices
    if (used != lanes * slot(2).free_size()) text("num_valid_indices", std::to_string(used));
  }

  void tensor_partition_reduce() {
    switch (a_.op0) {
      case AluOp::Add:
      case AluOp::Maximum:
      case AluOp::BitwiseOr:
      case AluOp::BitwiseAnd:
        break;
      default:
        unsupported(
            "nl.{} across partitions; documented are add, maximum, bitwise_or and bitwise_and: for an average, "
            "add and scale the result",
            name(a_.op0));
    }
    access("dst", 0).op("op", a_.op0).access("data", 1);
  }

  const Module& module_;
  std::int32_t index_;
  const Instruction& i_;
  const Attributes& a_;
  Operands operands_;
  Call call_;
};

}  // namespace

Call call(const Module& module, std::int32_t instruction) { return Printer(module, instruction).print(); }

}  // namespace trn::neuron::nki
