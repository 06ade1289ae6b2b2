// The calls: one print() per instruction, with its keywords in the order of its documented signature, `dst` first.
// Keywords at their defaults are left out. What a call does not document is refused here; the machine's own rules are
// the verifier's.
#include "nki/instruction.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <trn/core/error.hpp>
#include <trn/tile/machine.hpp>

namespace trn::neuron::nki {

namespace {

using tile::Access;
using tile::Affine;
using tile::AluOp;
using tile::DgeMode;
using tile::Engine;
using tile::Instruction;
namespace isa = tile::isa;

class Printer {
 public:
  Printer(const Module& module, std::int32_t index)
      : module_(module),
        index_(index),
        i_(module.program.instructions()[static_cast<std::size_t>(index)]),
        operands_(module, index),
        call_(fmt::format("nisa.{}", name(i_.opcode()))) {}

  Call print() {
    i_.visit([this](const auto& attributes) { print(attributes); });
    return std::move(call_);
  }

 private:
  template <class... Args> [[noreturn]] void unsupported(fmt::format_string<Args...> text, Args&&... args) const {
    fail<NotImplemented>("emit_nki: {}: {}", place(module_, index_), fmt::format(text, std::forward<Args>(args)...));
  }
  [[nodiscard]] const tile::Machine& machine() const { return tile::machine(module_.program.machine()); }
  [[nodiscard]] const Access& slot(std::size_t s) const { return i_.operands[s]; }

  // An operand under its own keyword.
  Printer& access(std::size_t s) { return text(opcode_info(i_.opcode()).operands[s].name, operands_.access(slot(s))); }
  Printer& text(std::string_view keyword, std::string value) {
    call_.argument(keyword, std::move(value));
    return *this;
  }
  Printer& flag(const char* keyword, bool value) { return value ? text(keyword, "True") : *this; }
  Printer& op(const char* keyword, AluOp value) { return text(keyword, operator_name(value)); }
  Printer& engine() {
    if (i_.engine == Engine::Any) return *this;
    return text("engine", fmt::format("nisa.engine.{}", name(i_.engine)));
  }
  Printer& dge(DgeMode mode) {
    if (mode == DgeMode::Default) return *this;
    return text("dge_mode", fmt::format("nisa.dge_mode.{}", name(mode)));
  }
  // The operand of an operator: a (P, 1) tile or a constant; integers for bit operators.
  Printer& operand(const char* keyword, AluOp by, std::size_t s, double immediate) {
    if (slot(s).present()) return text(keyword, operands_.column(slot(s)));
    if (!is_bitvec(by)) return text(keyword, float_literal(immediate));
    if (static_cast<double>(static_cast<float>(immediate)) != immediate) {
      unsupported("{} = {} of nl.{} is not an fp32 number, and an immediate is one; take it from a tile or shift",
                  keyword, immediate, name(by));
    }
    return text(keyword, integer_literal(keyword, immediate));
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

  // A constant of this dtype: NKI wants an int for integers, a float for floats.
  std::string constant(const char* keyword, DType dtype, double value) const {
    return is_integer(dtype) ? integer_literal(keyword, value) : float_literal(value);
  }

  void print(const isa::DmaCopy& a) {
    using I = isa::DmaCopy;
    const bool indirect = slot(I::index).present();
    if (indirect && a.route.dge != DgeMode::Default && a.route.dge != DgeMode::Software) {
      unsupported("an indirect copy with dge_mode.{}; gathers and scatters need swdge: leave the mode open",
                  name(a.route.dge));
    }
    if (a.route.dge == DgeMode::Hardware && slot(I::dst).dtype != slot(I::src).dtype) {
      unsupported(
          "dge_mode.hwdge between {} and {}; it needs equal dtypes: leave the mode open or convert on an engine",
          name(slot(I::dst).dtype), name(slot(I::src).dtype));
    }
    for (const I::Slot s : {I::dst, I::src}) {
      const bool indexed = indirect && (s == I::dst) == a.scatter;
      const auto start = dynamic_start(i_, s);
      if (indexed)
        text(s == I::dst ? "dst" : "src", operands_.indirect(slot(s), slot(I::index), a.oob));
      else if (start)
        text(s == I::dst ? "dst" : "src", operands_.starting_at(slot(s), slot(start->from), start->step));
      else
        access(s);
    }
    if (indirect && a.oob == tile::OobMode::Skip) text("oob_mode", "nisa.oob_mode.skip");
    dge(a.route.dge);
    if (a.issuer != tile::DmaIssuer::Default) text("engine", fmt::format("nisa.engine.{}", name(a.issuer)));
  }

  // The first and the last dimension change places; both sides have the same rank.
  void print(const isa::DmaTranspose& a) {
    using I = isa::DmaTranspose;
    static constexpr std::string_view kAxes[] = {"(1, 0)", "(2, 1, 0)", "(3, 1, 2, 0)"};
    const std::size_t rank = slot(I::dst).dims.size() + 1;
    access(I::dst).access(I::src).text("axes", std::string(kAxes[rank - 2]));
    // Its hardware descriptors exist for one shape family; elsewhere the compiler chooses, as with no mode at all.
    const Access& src = slot(I::src);
    const std::int64_t rows = src.is_tile() ? src.partitions : src.dims.front().size;
    const bool hardware = rank == 2 && rows == 16 && src.size() / rows <= 128 && size_bytes(src.dtype) == 2;
    if (a.route.dge == DgeMode::Hardware && hardware) dge(a.route.dge);
  }

  // The part of the array, where it is not all of it.
  Printer& array_tile(const isa::ArrayTile& tile) {
    if (tile.whole()) return *this;
    const auto at = [&](const Affine& a) { return expression(module_.names, a); };
    return text("tile_position", fmt::format("({}, {})", at(tile.row), at(tile.column)))
        .text("tile_size", tuple({tile.rows, tile.columns}));
  }
  Printer& accumulates(const Affine& accumulate) {
    if (accumulate.is_constant()) return text("accumulate", accumulate.constant() != 0 ? "True" : "False");
    return text("accumulate",
                fmt::format("({} {} 0)", expression(module_.names, accumulate), accumulate.min() >= 0 ? ">" : "!="));
  }

  void print(const isa::NcMatmul& a) {
    using I = isa::NcMatmul;
    access(I::dst).access(I::stationary).access(I::moving).flag("is_transpose", a.is_transpose);
    accumulates(a.accumulate).array_tile(a.tile);
    if (a.perf_mode == tile::MatmulMode::DoubleRow) text("perf_mode", "nisa.matmul_perf_mode.double_row");
  }

  // Unsigned elements in a microscaling tile seen as NKI's packed dtype.
  Printer& packed(std::size_t s, tile::MxFormat format) {
    return text(opcode_info(i_.opcode()).operands[s].name,
                operands_.access_as(slot(s), fmt::format("nl.{}", name(format))));
  }
  void print(const isa::NcMatmulMx& a) {
    using I = isa::NcMatmulMx;
    access(I::dst).packed(I::stationary, a.stationary_format).packed(I::moving, a.moving_format);
    access(I::stationary_scale)
        .access(I::moving_scale)
        .array_tile(tile::array_tile(i_, machine()))
        .accumulates(a.accumulate);
  }
  void print(const isa::QuantizeMx& a) {
    using I = isa::QuantizeMx;
    packed(I::dst, a.format).access(I::src).access(I::dst_scale);
  }
  void print(const isa::BnStats&) { access(isa::BnStats::dst).access(isa::BnStats::data); }
  void print(const isa::BnAggr&) { access(isa::BnAggr::dst).access(isa::BnAggr::data); }
  void print(const isa::Exponential& a) {
    using I = isa::Exponential;
    access(I::dst).access(I::src);
    if (slot(I::max_value).present() || a.max_value_value != 0) {
      operand("max_value", AluOp::Subtract, I::max_value, a.max_value_value);
    }
    if (slot(I::reduce_res).present()) text("reduce_res", operands_.column(slot(I::reduce_res)));
    if (a.reduce_cmd == tile::ReduceCmd::Idle) return;
    text("reduce_cmd", fmt::format("nisa.reduce_cmd.{}", name(a.reduce_cmd)));
    if (a.reduce_cmd != tile::ReduceCmd::LoadReduce) return;
    operand("reduce_init", AluOp::Add, I::reduce_init, a.reduce_init_value);
  }

  void print(const isa::NcTranspose&) { access(isa::NcTranspose::dst).access(isa::NcTranspose::data).engine(); }
  void print(const isa::Reciprocal&) { access(isa::Reciprocal::dst).access(isa::Reciprocal::data); }

  void print(const isa::TensorTensor& a) {
    using I = isa::TensorTensor;
    if (is_unary(a.op)) unsupported("nl.{} takes one operand; use tensor_scalar", name(a.op));
    if (a.op == AluOp::Power && i_.engine == Engine::Vector) {
      unsupported("nl.power of two tiles on the Vector Engine; it is documented for GpSimd: choose Engine::GpSimd");
    }
    access(I::dst).access(I::data1).access(I::data2).op("op", a.op).engine();
  }

  void print(const isa::TensorScalar& a) {
    using I = isa::TensorScalar;
    check_engine(a);
    access(I::dst)
        .access(I::data)
        .op("op0", a.op0)
        .operand("operand0", a.op0, I::operand0, a.operand0_value)
        .flag("reverse0", a.reverse0);
    if (a.op1 != AluOp::None) {
      op("op1", a.op1).operand("operand1", a.op1, I::operand1, a.operand1_value).flag("reverse1", a.reverse1);
    }
    engine();
  }

  void check_engine(const isa::TensorScalar& a) const {
    for (const AluOp value : {a.op0, a.op1}) {
      if ((value == AluOp::Square || value == AluOp::Relu) &&
          (!machine().square_relu_in_tensor_scalar || value != a.op0)) {
        unsupported("nl.{} in tensor_scalar is documented as op0 on trn3; use activation", name(value));
      }
    }
    if (i_.engine == Engine::Vector && (a.op0 == AluOp::Rsqrt || a.op1 == AluOp::Rsqrt)) {
      unsupported("nl.rsqrt on the Vector Engine; tensor_scalar documents it for GpSimd as op0: use activation");
    }
    if (i_.engine == Engine::GpSimd && (a.op0 != AluOp::Rsqrt || a.op1 != AluOp::None)) {
      unsupported("nl.{} on GpSimd; tensor_scalar documents that engine for nl.rsqrt alone: use the Vector Engine",
                  name(a.op0));
    }
    if (i_.engine != Engine::Scalar) return;
    const bool multiply_add = a.op0 == AluOp::Multiply && (a.op1 == AluOp::None || a.op1 == AluOp::Add);
    const bool add = a.op0 == AluOp::Add && a.op1 == AluOp::None;
    if (!machine().scalar_tensor_copy || (!machine().square_relu_in_tensor_scalar && !multiply_add && !add)) {
      unsupported(
          "(nl.{}, nl.{}) on the Scalar Engine of {}; it documents multiply, add and multiply-add from trn2 on: "
          "use activation or the Vector Engine",
          name(a.op0), name(a.op1), machine().name);
    }
  }

  void print(const isa::ScalarTensorTensor& a) {
    using I = isa::ScalarTensorTensor;
    access(I::dst).access(I::data).op("op0", a.op0).operand("operand0", a.op0, I::operand0, a.operand0_value);
    op("op1", a.op1).access(I::operand1).flag("reverse0", a.reverse0).flag("reverse1", a.reverse1);
  }

  void print(const isa::TensorReduce& a) {
    using I = isa::TensorReduce;
    switch (a.op) {
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
        unsupported("nl.{} is not a documented reduction operator", name(a.op));
    }
    const auto rank = static_cast<std::int64_t>(slot(I::data).dims.size());
    Shape axes;
    for (std::int64_t d = rank - a.reduce_dims + 1; d <= rank; ++d) axes.push_back(d);
    access(I::dst).op("op", a.op).access(I::data).text("axis", tuple(axes)).flag("negate", a.negate);
  }

  void print(const isa::TensorTensorScan& a) {
    using I = isa::TensorTensorScan;
    access(I::dst).access(I::data0).access(I::data1);
    operand("initial", AluOp::Add, I::initial, a.initial_value);
    op("op0", a.op0).op("op1", a.op1).flag("reverse0", a.reverse0).flag("reverse1", a.reverse1);
  }

  void print(const isa::TensorCopy&) {
    using I = isa::TensorCopy;
    if (i_.engine == Engine::Scalar && !machine().scalar_tensor_copy) {
      unsupported("the Scalar Engine of trn1 has no tensor_copy; use activation with ActFunction::Copy");
    }
    access(I::dst).access(I::src).engine();
  }

  void print(const isa::TensorCopyPredicated& a) {
    using I = isa::TensorCopyPredicated;
    access(I::dst);
    if (slot(I::src).present())
      access(I::src);
    else
      text("src", constant("src", slot(I::dst).dtype, a.src_value));
    access(I::predicate).flag("reverse_pred", a.reverse_pred);
  }

  void print(const isa::Activation& a) {
    using I = isa::Activation;
    access(I::dst).text("op", fmt::format("nl.{}", name(a.op))).access(I::data);
    if (slot(I::bias).present()) {
      text("bias", operands_.column(slot(I::bias)));
    } else if (a.bias_value != 0) {
      if (!machine().activation_bias_immediate) {
        unsupported("bias = {} as a number; on trn1 it is documented as a [P, 1] tile: memset one and pass it",
                    a.bias_value);
      }
      text("bias", float_literal(a.bias_value));
    }
    if (slot(I::scale).present()) {
      text("scale", operands_.column(slot(I::scale)));
    } else if (a.scale_value != 1) {
      text("scale", float_literal(a.scale_value));
    }
    if (a.reduce_op != AluOp::None) op("reduce_op", a.reduce_op);
    if (slot(I::reduce_res).present()) text("reduce_res", operands_.column(slot(I::reduce_res)));
    if (a.reduce_cmd == tile::ReduceCmd::Idle) return;
    text("reduce_cmd", fmt::format("nisa.reduce_cmd.{}", name(a.reduce_cmd)));
  }

  void print(const isa::Memset& a) {
    using I = isa::Memset;
    access(I::dst);
    text("value", constant("value", slot(I::dst).dtype, a.value)).engine();
  }

  // Always said: releases differ in what a call without it does.
  Printer& reduce_cmd(tile::ReduceCmd cmd) { return text("reduce_cmd", fmt::format("nisa.reduce_cmd.{}", name(cmd))); }
  Printer& column_if_present(std::size_t s) {
    return slot(s).present() ? text(opcode_info(i_.opcode()).operands[s].name, operands_.column(slot(s))) : *this;
  }

  void print(const isa::TensorScalarReduce& a) {
    using I = isa::TensorScalarReduce;
    access(I::dst).access(I::data).op("op0", a.op0).operand("operand0", a.op0, I::operand0, a.operand0_value);
    op("reduce_op", a.reduce_op).column_if_present(I::reduce_res).reduce_cmd(a.reduce_cmd);
    if (a.reduce_cmd == tile::ReduceCmd::LoadReduce) {
      operand("reduce_init", AluOp::Add, I::reduce_init, a.reduce_init_value);
    }
    flag("reduce_res_negate", a.reduce_res_negate);
  }

  void print(const isa::TensorScalarCumulative& a) {
    using I = isa::TensorScalarCumulative;
    access(I::dst).access(I::src).op("op0", a.op0).op("op1", a.op1).operand("imm0", a.op0, I::imm0, a.imm0_value);
    if (a.reduce_cmd == tile::ReduceCmd::LoadReduce) operand("imm1", AluOp::Add, I::imm1, a.imm1_value);
    reduce_cmd(a.reduce_cmd);
  }

  void print(const isa::SelectReduce& a) {
    using I = isa::SelectReduce;
    access(I::dst).access(I::predicate).access(I::on_true);
    operand("on_false", AluOp::Add, I::on_false, a.on_false_value).column_if_present(I::reduce_res);
    reduce_cmd(a.reduce_cmd).op("reduce_op", AluOp::Maximum).flag("reverse_pred", a.reverse_pred);
  }

  // The hardware has one fill value, the lowest fp32 number; releases differ in their default.
  void print(const isa::RangeSelect& a) {
    using I = isa::RangeSelect;
    access(I::dst).access(I::on_true_tile).op("comp_op0", a.comp_op0).op("comp_op1", a.comp_op1);
    column_if_present(I::bound0).column_if_present(I::bound1).reduce_cmd(a.reduce_cmd);
    column_if_present(I::reduce_res).op("reduce_op", AluOp::Maximum);
    text("range_start", std::to_string(a.range_start));
    text("on_false_value", float_literal(static_cast<double>(std::numeric_limits<float>::lowest())));
  }

  void print(const isa::Max8&) { access(isa::Max8::dst).access(isa::Max8::src); }
  void print(const isa::NcFindIndex8&) {
    using I = isa::NcFindIndex8;
    access(I::dst).access(I::data).access(I::vals);
  }
  void print(const isa::NcMatchReplace8& a) {
    using I = isa::NcMatchReplace8;
    access(I::dst).access(I::data).access(I::vals).text("imm", float_literal(a.imm));
    if (slot(I::dst_idx).present()) access(I::dst_idx);
  }

  void print(const isa::Iota& a) {
    using I = isa::Iota;
    access(I::dst).text("pattern", pattern(a.value.pattern)).text("offset", std::to_string(a.value.offset));
    text("channel_multiplier", std::to_string(a.value.channel_multiplier));
  }

  void print(const isa::AffineSelect& a) {
    using I = isa::AffineSelect;
    access(I::dst).text("pattern", pattern(a.value.pattern));
    text("channel_multiplier", std::to_string(a.value.channel_multiplier)).access(I::on_true_tile);
    text("on_false_value", float_literal(a.on_false_value)).op("cmp_op", a.cmp_op);
    text("offset", std::to_string(a.value.offset));
  }

  // Indices beyond those that dst has room for are not used.
  void print(const isa::LocalGather& a) {
    using I = isa::LocalGather;
    access(I::dst).access(I::src_buffer).access(I::index);
    if (a.elements_per_index != 1) text("num_elem_per_idx", std::to_string(a.elements_per_index));
    const std::int64_t used = slot(I::dst).free_size() / a.elements_per_index;
    const std::int64_t lanes = machine().partitions / machine().gpsimd_cores;  // they share one list of indices
    if (used != lanes * slot(I::index).free_size()) text("num_valid_indices", std::to_string(used));
  }

  void print(const isa::NonzeroWithCount& a) {
    using I = isa::NonzeroWithCount;
    access(I::dst).access(I::src).text("index_offset", std::to_string(a.index_offset));
    text("padding_val", std::to_string(a.padding_val));
  }

  void print(const isa::TensorPartitionReduce& a) {
    using I = isa::TensorPartitionReduce;
    switch (a.op) {
      case AluOp::Add:
      case AluOp::Maximum:
      case AluOp::BitwiseOr:
      case AluOp::BitwiseAnd:
        break;
      default:
        unsupported(
            "nl.{} across partitions; documented are add, maximum, bitwise_or and bitwise_and: for an average, "
            "add and scale the result",
            name(a.op));
    }
    access(I::dst).op("op", a.op).access(I::data);
  }

  void print(const isa::DmaCompute& a) {
    using I = isa::DmaCompute;
    const bool indirect = slot(I::index).present();
    const auto side = [&](std::size_t s) {
      const bool indexed = indirect && (s == I::src1) != a.scatter && !slot(s).is_tile();
      return indexed ? operands_.indirect(slot(s), slot(I::index), a.oob) : operands_.access(slot(s));
    };
    std::string sources;
    for (std::size_t s = I::src0; s < I::index; ++s) {
      if (slot(s).present()) sources += (sources.empty() ? "" : ", ") + side(s);
    }
    text("dst", side(I::dst)).text("srcs", fmt::format("[{}]", sources)).op("reduce_op", AluOp::Add);
    if (indirect && a.oob == tile::OobMode::Skip) text("oob_mode", "nisa.oob_mode.skip");
  }

  void print(const isa::NcNGather&) {
    using I = isa::NcNGather;
    access(I::dst).access(I::data).access(I::indices);
  }

  void print(const isa::NcStreamShuffle& a) {
    using I = isa::NcStreamShuffle;
    access(I::dst).access(I::src).text("shuffle_mask", fmt::format("[{}]", fmt::join(a.mask, ", ")));
  }

  void print(const isa::RegisterMove& a) {
    using I = isa::RegisterMove;
    access(I::dst);
    if (slot(I::src).present())
      access(I::src);
    else
      text("src", std::to_string(a.src_value));
  }
  void print(const isa::RegisterLoad&) {
    access(isa::RegisterLoad::dst).text("src", operands_.column(slot(isa::RegisterLoad::src)));
  }
  void print(const isa::RegisterStore&) {
    text("dst", operands_.column(slot(isa::RegisterStore::dst))).access(isa::RegisterStore::src);
  }

  const Module& module_;
  std::int32_t index_;
  const Instruction& i_;
  Operands operands_;
  Call call_;
};

}  // namespace

Call call(const Module& module, std::int32_t instruction) { return Printer(module, instruction).print(); }

}  // namespace trn::neuron::nki
