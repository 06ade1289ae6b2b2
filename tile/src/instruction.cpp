// Names of the instruction set and the table of opcodes. A name is NKI's own spelling; an enumerator past the last one
// has the empty name, which is how code that maps names back to enumerators knows where to stop.
#include <trn/tile/instruction.hpp>

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
  static constexpr std::array<std::string_view, 6> names{"any", "tensor", "vector", "scalar", "gpsimd", "dma"};
  return nth(names, e);
}
std::string_view name(Space e) {
  static constexpr std::array<std::string_view, 2> names{"sbuf", "psum"};
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
std::string_view name(DgeMode e) {
  static constexpr std::array<std::string_view, 4> names{"unknown", "none", "hwdge", "swdge"};
  return nth(names, e);
}
std::string_view name(OobMode e) {
  static constexpr std::array<std::string_view, 2> names{"error", "skip"};
  return nth(names, e);
}
std::string_view name(AluOp e) {
  static constexpr std::array<std::string_view, 30> names{
      "none", "add", "subtract", "multiply", "maximum", "minimum", "power", "abs_max", "abs_min", "equal", "not_equal",
      "greater_equal", "greater", "less_equal", "less", "logical_and", "logical_or", "logical_xor", "abs", "square", "relu",
      "rsqrt", "reciprocal", "average", "bitwise_and", "bitwise_or", "bitwise_xor", "invert", "left_shift", "right_shift"};
  return nth(names, e);
}
std::string_view name(ActFunction e) {
  static constexpr std::array<std::string_view, 24> names{
      "copy", "square", "sigmoid", "relu", "gelu", "gelu_dx", "gelu_apprx_tanh", "gelu_apprx_sigmoid", "silu", "silu_dx",
      "tanh", "softplus", "mish", "erf", "erf_dx", "exp", "log", "sin", "arctan", "sqrt", "rsqrt", "reciprocal", "sign", "abs"};
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
const std::array<OpcodeInfo, 18>& table() {
  static const std::array<OpcodeInfo, 18> infos{{
      {"dma_copy", {out("dst"), in("src"), maybe("index")}, {Dma}},
      {"dma_transpose", {out("dst"), in("src")}, {Dma}},
      {"nc_matmul", {out("dst"), in("stationary"), in("moving")}, {Tensor}},
      {"nc_transpose", {out("dst"), in("data")}, {Tensor, Vector}},
      {"tensor_tensor", {out("dst"), in("data1"), in("data2")}, {Vector, GpSimd}},
      {"tensor_scalar", {out("dst"), in("data"), maybe("operand0"), maybe("operand1")}, {Vector, Scalar, GpSimd}},
      {"scalar_tensor_tensor", {out("dst"), in("data"), maybe("operand0"), in("operand1")}, {Vector}},
      {"tensor_reduce", {out("dst"), in("data")}, {Vector}},
      {"tensor_tensor_scan", {out("dst"), in("data0"), in("data1"), maybe("initial")}, {Vector}},
      {"tensor_copy", {out("dst"), in("src")}, {Vector, Scalar, GpSimd}},
      {"tensor_copy_predicated", {{"dst", Role::ReadWrite}, in("src"), in("predicate")}, {Vector}},
      {"activation",
       {out("dst"), in("data"), maybe("bias"), maybe("scale"), maybe("reduce_res", Role::Write)},
       {Scalar}},
      {"reciprocal", {out("dst"), in("data")}, {Vector}},
      {"memset", {out("dst")}, {Vector, GpSimd}},
      {"iota", {out("dst")}, {GpSimd}},
      {"affine_select", {out("dst"), in("on_true_tile")}, {GpSimd}},
      {"local_gather", {out("dst"), in("src_buffer"), in("index")}, {GpSimd}},
      {"tensor_partition_reduce", {out("dst"), in("data")}, {GpSimd}},
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

bool Attributes::operator==(const Attributes& other) const {
  FieldWords mine, theirs;
  mine.add(*this);
  theirs.add(other);
  return mine.words == theirs.words;
}

Role operand_role(const Instruction& instruction, std::size_t slot) {
  const Role role = opcode_info(instruction.opcode).operands[slot].role;
  if (slot != 0) return role;
  if (instruction.opcode == Opcode::NcMatmul && instruction.attributes.accumulate != Affine(0)) return Role::ReadWrite;
  return role;
}

}  // namespace trn::tile
