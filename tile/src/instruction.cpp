// Names of the instruction set and the table of opcodes. A name is NKI's own spelling; an enumerator past the last one
// has the empty name, which is how code that maps names back to enumerators knows where to stop.
#include <trn/tile/instruction.hpp>

#include <algorithm>

#include <trn/core/error.hpp>

#include "fields.hpp"

namespace trn::tile {

namespace {
template <class E, std::size_t N> std::string_view nth(const std::array<std::string_view, N>& names, E e) {
  const auto i = static_cast<std::size_t>(e);
  return i < N ? names[i] : std::string_view();
}
}  // namespace

std::string_view name(Engine e) {
  static constexpr std::array<std::string_view, 7> names{"any", "tensor", "vector", "scalar", "gpsimd", "dma", "sync"};
  return nth(names, e);
}
std::string_view name(Space e) {
  static constexpr std::array<std::string_view, 3> names{"sbuf", "psum", "register"};
  return nth(names, e);
}
std::string_view name(Target e) {
  static constexpr std::array<std::string_view, 3> names{"none", "tile", "tensor"};
  return nth(names, e);
}
std::string_view name(MatmulMode e) {
  static constexpr std::array<std::string_view, 2> names{"none", "double_row"};
  return nth(names, e);
}
std::string_view name(MxFormat e) {
  static constexpr std::array<std::string_view, 3> names{"float8_e4m3fn_x4", "float8_e5m2_x4", "float4_e2m1fn_x4"};
  return nth(names, e);
}
std::string_view name(DgeMode e) {
  static constexpr std::array<std::string_view, 4> names{"unknown", "none", "hwdge", "swdge"};
  return nth(names, e);
}
std::string_view name(DmaIssuer e) {
  static constexpr std::array<std::string_view, 3> names{"unknown", "sync", "scalar"};
  return nth(names, e);
}
std::string_view name(ReduceCmd e) {
  static constexpr std::array<std::string_view, 5> names{"idle", "reset", "reduce", "reset_reduce", "load_reduce"};
  return nth(names, e);
}
std::string_view name(OobMode e) {
  static constexpr std::array<std::string_view, 2> names{"error", "skip"};
  return nth(names, e);
}
std::string_view name(AluOp e) {
  static constexpr std::array<std::string_view, 30> names{
      "none",        "add",        "subtract",    "multiply",    "maximum",    "minimum",
      "power",       "abs_max",    "abs_min",     "equal",       "not_equal",  "greater_equal",
      "greater",     "less_equal", "less",        "logical_and", "logical_or", "logical_xor",
      "abs",         "square",     "relu",        "rsqrt",       "reciprocal", "average",
      "bitwise_and", "bitwise_or", "bitwise_xor", "invert",      "left_shift", "right_shift"};
  return nth(names, e);
}
std::string_view name(ActFunction e) {
  static constexpr std::array<std::string_view, 24> names{"copy",
                                                          "square",
                                                          "sigmoid",
                                                          "relu",
                                                          "gelu",
                                                          "gelu_dx",
                                                          "gelu_apprx_tanh",
                                                          "gelu_apprx_sigmoid",
                                                          "silu",
                                                          "silu_dx",
                                                          "tanh",
                                                          "softplus",
                                                          "mish",
                                                          "erf",
                                                          "erf_dx",
                                                          "exp",
                                                          "log",
                                                          "sin",
                                                          "arctan",
                                                          "sqrt",
                                                          "rsqrt",
                                                          "reciprocal",
                                                          "sign",
                                                          "abs"};
  return nth(names, e);
}

bool is_bitvec(AluOp op) { return op >= AluOp::BitwiseAnd; }
bool is_unary(AluOp op) { return (op >= AluOp::Abs && op <= AluOp::Reciprocal) || op == AluOp::Invert; }

namespace {
using enum Engine;
constexpr OperandInfo out(std::string_view name) { return {name, Role::Write}; }
constexpr OperandInfo in(std::string_view name) { return {name, Role::Read}; }
constexpr OperandInfo maybe(std::string_view name, Role role = Role::Read) { return {name, role, true}; }

// In Opcode's order.
const std::array<OpcodeInfo, kOpcodes>& table() {
  static const std::array<OpcodeInfo, kOpcodes> infos{{
      {"dma_copy", {out("dst"), in("src"), maybe("index"), maybe("dst_offset"), maybe("src_offset")}, {Dma}},
      {"dma_transpose", {out("dst"), in("src")}, {Dma}},
      {"nc_matmul", {out("dst"), in("stationary"), in("moving")}, {Tensor}},
      {"nc_transpose", {out("dst"), in("data")}, {Tensor, Vector}},
      {"nc_matmul_mx",
       {out("dst"), in("stationary"), in("moving"), in("stationary_scale"), in("moving_scale")},
       {Tensor}},
      {"tensor_tensor", {out("dst"), in("data1"), in("data2")}, {Vector, GpSimd}},
      {"tensor_scalar", {out("dst"), in("data"), maybe("operand0"), maybe("operand1")}, {Vector, Scalar, GpSimd}},
      {"scalar_tensor_tensor", {out("dst"), in("data"), maybe("operand0"), in("operand1")}, {Vector}},
      {"tensor_reduce", {out("dst"), in("data")}, {Vector}},
      {"tensor_tensor_scan", {out("dst"), in("data0"), in("data1"), maybe("initial")}, {Vector}},
      {"tensor_copy", {out("dst"), in("src")}, {Vector, Scalar, GpSimd}},
      {"tensor_copy_predicated", {{"dst", Role::ReadWrite}, maybe("src"), in("predicate")}, {Vector}},
      {"activation",
       {out("dst"), in("data"), maybe("bias"), maybe("scale"), maybe("reduce_res", Role::Write)},
       {Scalar}},
      {"exponential",
       {out("dst"), in("src"), maybe("max_value"), maybe("reduce_res", Role::Write), maybe("reduce_init")},
       {Vector}},
      {"bn_stats", {out("dst"), in("data")}, {Vector}},
      {"bn_aggr", {out("dst"), in("data")}, {Vector}},
      {"quantize_mx", {out("dst"), in("src"), out("dst_scale")}, {Vector}},
      {"reciprocal", {out("dst"), in("data")}, {Vector}},
      {"memset", {out("dst")}, {Vector, GpSimd}},
      {"tensor_scalar_reduce",
       {out("dst"), in("data"), maybe("operand0"), maybe("reduce_res", Role::Write), maybe("reduce_init")},
       {Vector}},
      {"tensor_scalar_cumulative", {out("dst"), in("src"), maybe("imm0"), maybe("imm1")}, {Vector}},
      {"select_reduce",
       {out("dst"), in("predicate"), in("on_true"), maybe("on_false"), maybe("reduce_res", Role::Write)},
       {Vector}},
      {"range_select",
       {out("dst"), in("on_true_tile"), in("bound0"), in("bound1"), maybe("reduce_res", Role::Write)},
       {Vector}},
      {"max8", {out("dst"), in("src")}, {Vector}},
      {"nc_find_index8", {out("dst"), in("data"), in("vals")}, {Vector}},
      {"nc_match_replace8", {out("dst"), in("data"), in("vals"), maybe("dst_idx", Role::Write)}, {Vector}},
      {"iota", {out("dst")}, {GpSimd}},
      {"affine_select", {out("dst"), in("on_true_tile")}, {GpSimd}},
      {"local_gather", {out("dst"), in("src_buffer"), in("index")}, {GpSimd}},
      {"nonzero_with_count", {{"dst", Role::ReadWrite}, in("src")}, {GpSimd}},
      {"tensor_partition_reduce", {out("dst"), in("data")}, {GpSimd}},
      {"dma_compute",
       {out("dst"), in("src0"), maybe("src1"), maybe("src2"), maybe("src3"), maybe("src4"), maybe("src5"),
        maybe("src6"), maybe("src7"), maybe("src8"), maybe("src9"), maybe("src10"), maybe("src11"), maybe("src12"),
        maybe("src13"), maybe("src14"), maybe("src15"), maybe("index")},
       {Dma}},
      {"nc_n_gather", {out("dst"), in("data"), in("indices")}, {GpSimd}},
      {"nc_stream_shuffle", {out("dst"), in("src")}, {Vector}},
      {"register_move", {out("dst"), maybe("src")}, {Sync}},
      {"register_load", {out("dst"), in("src")}, {Sync}},
      {"register_store", {out("dst"), in("src")}, {Sync}},
  }};
  return infos;
}
}  // namespace

std::string_view name(Opcode e) {
  const auto i = static_cast<std::size_t>(e);
  return i < table().size() ? table()[i].name : std::string_view();
}

const OpcodeInfo& opcode_info(Opcode opcode) {
  const auto i = static_cast<std::size_t>(opcode);
  ensure(i < table().size(), "unknown opcode {}", i);
  return table()[i];
}

namespace {

template <std::size_t... i> constexpr bool in_order(std::index_sequence<i...>) {
  return ((std::variant_alternative_t<i, Attributes>::opcode == static_cast<Opcode>(i)) && ...);
}
static_assert(in_order(std::make_index_sequence<kOpcodes>()), "Attributes lists the instructions in Opcode's order");

template <std::size_t... i> Attributes fresh(std::size_t index, std::index_sequence<i...>) {
  static const std::array<Attributes, kOpcodes> all{std::variant_alternative_t<i, Attributes>{}...};
  return all[index];
}

template <class Route, class I> Route* route_of(I& instruction) {
  return std::visit(
      [](auto& a) -> Route* {
        if constexpr (requires { a.route; })
          return &a.route;
        else
          return nullptr;
      },
      instruction.attributes);
}

}  // namespace

Attributes default_attributes(Opcode opcode) {
  const auto i = static_cast<std::size_t>(opcode);
  ensure(i < kOpcodes, "unknown opcode {}", i);
  return fresh(i, std::make_index_sequence<kOpcodes>());
}

bool Instruction::operator==(const Instruction& other) const {
  FieldWords mine, theirs;
  mine.add(*this);
  theirs.add(other);
  return mine.words == theirs.words;
}

const isa::DmaRoute* dma_route(const Instruction& instruction) { return route_of<const isa::DmaRoute>(instruction); }
isa::DmaRoute* dma_route(Instruction& instruction) { return route_of<isa::DmaRoute>(instruction); }

namespace {

// The role of `slot` when the attributes decide it and not the table alone.
template <isa::OneOf<isa::NcMatmul, isa::NcMatmulMx> I> Role role_of(const I& a, std::size_t slot, Role role) {
  return slot == I::dst && a.accumulate != Affine(0) ? Role::ReadWrite : role;
}
template <isa::OneOf<isa::Exponential, isa::BnStats, isa::BnAggr, isa::QuantizeMx, isa::DmaCopy, isa::DmaTranspose,
                     isa::NcTranspose, isa::TensorTensor, isa::TensorScalar, isa::ScalarTensorTensor, isa::TensorReduce,
                     isa::TensorTensorScan, isa::TensorCopy, isa::TensorCopyPredicated, isa::Activation,
                     isa::Reciprocal, isa::Memset, isa::TensorScalarReduce, isa::TensorScalarCumulative,
                     isa::SelectReduce, isa::RangeSelect, isa::Max8, isa::NcFindIndex8, isa::NcMatchReplace8, isa::Iota,
                     isa::AffineSelect, isa::LocalGather, isa::NonzeroWithCount, isa::TensorPartitionReduce>
              I>
Role role_of(const I&, std::size_t, Role role) {
  return role;
}

// A partition that the mask leaves out keeps its values.
Role role_of(const isa::NcStreamShuffle& a, std::size_t slot, Role role) {
  const bool keeps = std::find(a.mask.begin(), a.mask.end(), isa::NcStreamShuffle::kKeep) != a.mask.end();
  return slot == isa::NcStreamShuffle::dst && keeps ? Role::ReadWrite : role;
}
template <isa::OneOf<isa::DmaCompute, isa::NcNGather, isa::RegisterMove, isa::RegisterLoad, isa::RegisterStore> I>
Role role_of(const I&, std::size_t, Role role) {
  return role;
}

// Whether only data say which part of an HBM operand is touched.
bool reaches_by_index(const Instruction& i, const isa::DmaCompute&) {
  return i.operands[isa::DmaCompute::index].present();
}
template <isa::OneOf<isa::NcNGather, isa::NcStreamShuffle, isa::RegisterMove, isa::RegisterLoad, isa::RegisterStore> I>
bool reaches_by_index(const Instruction&, const I&) {
  return false;
}
bool reaches_by_index(const Instruction& i, const isa::DmaCopy&) { return i.operands[isa::DmaCopy::index].present(); }
template <
    isa::OneOf<isa::NcMatmulMx, isa::Exponential, isa::BnStats, isa::BnAggr, isa::QuantizeMx, isa::DmaTranspose,
               isa::NcMatmul, isa::NcTranspose, isa::TensorTensor, isa::TensorScalar, isa::ScalarTensorTensor,
               isa::TensorReduce, isa::TensorTensorScan, isa::TensorCopy, isa::TensorCopyPredicated, isa::Activation,
               isa::Reciprocal, isa::Memset, isa::TensorScalarReduce, isa::TensorScalarCumulative, isa::SelectReduce,
               isa::RangeSelect, isa::Max8, isa::NcFindIndex8, isa::NcMatchReplace8, isa::Iota, isa::AffineSelect,
               isa::LocalGather, isa::NonzeroWithCount, isa::TensorPartitionReduce>
        I>
bool reaches_by_index(const Instruction&, const I&) {
  return false;
}

// A Scalar Engine instruction that is idle leaves the registers alone. On the Vector Engine even an idle one may change
// them, says the documentation of select_reduce.
RegisterUse chain(Engine engine, std::size_t slot, ReduceCmd cmd, bool reads_out) {
  RegisterUse use{.engine = engine, .slot = slot, .cmd = cmd};
  use.undefines = cmd == ReduceCmd::Idle && engine == Engine::Vector;
  use.begins = cmd == ReduceCmd::Reset || cmd == ReduceCmd::ResetReduce || cmd == ReduceCmd::LoadReduce;
  use.takes_up = cmd == ReduceCmd::Reduce || (cmd == ReduceCmd::Idle && reads_out && !use.undefines);
  return use;
}
RegisterUse use_of(const Instruction& i, const isa::Activation& a) {
  using I = isa::Activation;
  return chain(Engine::Scalar, I::data, a.reduce_cmd, i.operands[I::reduce_res].present());
}
RegisterUse use_of(const Instruction& i, const isa::TensorScalarReduce& a) {
  using I = isa::TensorScalarReduce;
  return chain(Engine::Vector, I::data, a.reduce_cmd, i.operands[I::reduce_res].present());
}
RegisterUse use_of(const Instruction&, const isa::TensorScalarCumulative& a) {
  return chain(Engine::Vector, isa::TensorScalarCumulative::src, a.reduce_cmd, false);
}
RegisterUse use_of(const Instruction& i, const isa::SelectReduce& a) {
  using I = isa::SelectReduce;
  return chain(Engine::Vector, I::on_true, a.reduce_cmd, i.operands[I::reduce_res].present());
}
RegisterUse use_of(const Instruction& i, const isa::RangeSelect& a) {
  using I = isa::RangeSelect;
  return chain(Engine::Vector, I::on_true_tile, a.reduce_cmd, i.operands[I::reduce_res].present());
}
RegisterUse use_of(const Instruction& i, const isa::Exponential& a) {
  using I = isa::Exponential;
  return chain(Engine::Vector, I::src, a.reduce_cmd, i.operands[I::reduce_res].present());
}
template <isa::OneOf<isa::NcMatmulMx, isa::BnStats, isa::BnAggr, isa::QuantizeMx, isa::DmaCopy, isa::DmaTranspose,
                     isa::NcMatmul, isa::NcTranspose, isa::TensorTensor, isa::TensorScalar, isa::ScalarTensorTensor,
                     isa::TensorReduce, isa::TensorTensorScan, isa::TensorCopy, isa::TensorCopyPredicated,
                     isa::Reciprocal, isa::Memset, isa::Max8, isa::NcFindIndex8, isa::NcMatchReplace8, isa::Iota,
                     isa::AffineSelect, isa::LocalGather, isa::NonzeroWithCount, isa::TensorPartitionReduce>
              I>
RegisterUse use_of(const Instruction&, const I&) {
  return {};
}
template <isa::OneOf<isa::DmaCompute, isa::NcNGather, isa::NcStreamShuffle, isa::RegisterMove, isa::RegisterLoad,
                     isa::RegisterStore>
              I>
RegisterUse use_of(const Instruction&, const I&) {
  return {};
}

}  // namespace

Role operand_role(const Instruction& instruction, std::size_t slot) {
  const Role role = opcode_info(instruction.opcode()).operands[slot].role;
  return instruction.visit([&](const auto& a) { return role_of(a, slot, role); });
}

RegisterUse register_use(const Instruction& instruction) {
  return instruction.visit([&](const auto& a) { return use_of(instruction, a); });
}

std::optional<DynamicStart> dynamic_start(const Instruction& instruction, std::size_t slot) {
  using I = isa::DmaCopy;
  const I* a = slot <= I::src ? instruction.as<I>() : nullptr;
  const std::size_t from = slot == I::dst ? I::dst_offset : I::src_offset;
  if (!a || !instruction.operands[from].present()) return std::nullopt;
  if (slot == I::dst) return DynamicStart{from, a->dst_offset_step, a->dst_offset_max};
  return DynamicStart{from, a->src_offset_step, a->src_offset_max};
}

Access reach(const Access& access, const DynamicStart& start) {
  Access every = access;
  every.dims.insert(every.dims.begin(), Dim{start.step, start.max + 1});
  return every;
}

bool is_indirect(const Instruction& instruction) {
  return instruction.visit([&](const auto& a) { return reaches_by_index(instruction, a); });
}

}  // namespace trn::tile
