// The instruction set: one Opcode per nki.isa call we use, its operands and attributes in one plain struct.
// opcode_info() is the table that the verifier, printer, emitter and simulator share: operand names are NKI's keywords.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include <trn/tile/access.hpp>

namespace trn::tile {

// Any: the schedule pass chooses among the opcode's legal engines.
enum class Engine : std::uint8_t { Any, Tensor, Vector, Scalar, GpSimd, Dma };
enum class Space : std::uint8_t { Sbuf, Psum };

enum class Opcode : std::uint8_t {
  DmaCopy, DmaTranspose,
  NcMatmul, NcTranspose,
  TensorTensor, TensorScalar, ScalarTensorTensor, TensorReduce, TensorTensorScan,
  TensorCopy, TensorCopyPredicated, Activation, Reciprocal, Memset,
  Iota, AffineSelect, LocalGather, TensorPartitionReduce,
};

// nl.* operators. None: the slot is unused. Bitvec ones act on raw integer bits, the others in fp32.
enum class AluOp : std::uint8_t {
  None,
  Add, Subtract, Multiply, Maximum, Minimum, Power, AbsMax, AbsMin,
  Equal, NotEqual, GreaterEqual, Greater, LessEqual, Less,
  LogicalAnd, LogicalOr, LogicalXor,
  Abs, Square, Relu, Rsqrt, Reciprocal,  // unary: the second operand is ignored
  Average,                               // tensor_partition_reduce only
  BitwiseAnd, BitwiseOr, BitwiseXor, Invert, LeftShift, RightShift,
};

enum class ActFunction : std::uint8_t {
  Copy, Square, Sigmoid, Relu, Gelu, GeluDx, GeluApprxTanh, GeluApprxSigmoid, Silu, SiluDx, Tanh, Softplus, Mish,
  Erf, ErfDx, Exp, Log, Sin, Arctan, Sqrt, Rsqrt, Reciprocal, Sign, Abs,
};

enum class MatmulMode : std::uint8_t { Normal, DoubleRow };
// Who builds the DMA descriptors: the runtime beforehand (Static), the hardware generator, or Pool (needed for gathers).
enum class DgeMode : std::uint8_t { Default, Static, Hardware, Software };
enum class OobMode : std::uint8_t { Error, Skip };

[[nodiscard]] std::string_view name(Engine);
[[nodiscard]] std::string_view name(Space);
[[nodiscard]] std::string_view name(Opcode);
[[nodiscard]] std::string_view name(AluOp);        // as in nl: "add", "bitwise_and"
[[nodiscard]] std::string_view name(ActFunction);  // as in nl: "gelu_apprx_tanh"
[[nodiscard]] std::string_view name(MatmulMode);
[[nodiscard]] std::string_view name(DgeMode);
[[nodiscard]] std::string_view name(OobMode);
[[nodiscard]] std::string_view name(Target);

[[nodiscard]] bool is_bitvec(AluOp op);
[[nodiscard]] bool is_unary(AluOp op);

// Everything an instruction says beside its operands. Fields an opcode does not use keep their defaults.
struct Attributes {
  AluOp op0 = AluOp::None;          // tensor_tensor, tensor_reduce, tensor_partition_reduce: `op`; affine_select: `cmp_op`
  AluOp op1 = AluOp::None;
  bool reverse0 = false;            // operand op data instead of data op operand; tensor_copy_predicated: reverse_pred
  bool reverse1 = false;
  double imm0 = 0;                  // operand0 when the slot is empty; memset value; scan initial; affine_select false value
  double imm1 = 0;                  // operand1 when the slot is empty; activation bias
  ActFunction function = ActFunction::Copy;
  double scale = 1;                 // activation
  AluOp reduce_op = AluOp::None;    // activation: Add when reduce_res is present
  bool negate = false;              // tensor_reduce
  std::int64_t reduce_dims = 0;     // tensor_reduce: how many innermost dimensions
  Affine accumulate = 0;            // nc_matmul: value 0 overwrites PSUM, any other value adds to it
  MatmulMode perf_mode = MatmulMode::Normal;
  bool is_transpose = false;        // nc_matmul: pass-through transpose (trn2+)
  std::vector<Dim> pattern = {};    // iota, affine_select: (step, count) dims of the affine value
  std::int64_t base = 0;            // iota, affine_select: `offset`
  std::int64_t channel_multiplier = 0;
  std::int64_t elements_per_index = 1;  // local_gather
  bool scatter = false;             // indirect dma_copy: the index selects rows of dst instead of src
  OobMode oob = OobMode::Error;     // indirect dma_copy
  DgeMode dge = DgeMode::Default;   // DMA
  std::int32_t ring = -1;           // DMA: which descriptor ring; -1 until scheduled

  // Field by field, numbers by their bits: a NaN equals itself, 0 and -0 differ.
  bool operator==(const Attributes& other) const;
  template <class Self, class V> static void visit(Self& self, V&& v) {
    v("op0", self.op0);
    v("op1", self.op1);
    v("reverse0", self.reverse0);
    v("reverse1", self.reverse1);
    v("imm0", self.imm0);
    v("imm1", self.imm1);
    v("function", self.function);
    v("scale", self.scale);
    v("reduce_op", self.reduce_op);
    v("negate", self.negate);
    v("reduce_dims", self.reduce_dims);
    v("accumulate", self.accumulate);
    v("perf_mode", self.perf_mode);
    v("is_transpose", self.is_transpose);
    v("pattern", self.pattern);
    v("base", self.base);
    v("channel_multiplier", self.channel_multiplier);
    v("elements_per_index", self.elements_per_index);
    v("scatter", self.scatter);
    v("oob", self.oob);
    v("dge", self.dge);
    v("ring", self.ring);
  }
};

struct Instruction {
  Opcode opcode = Opcode::Memset;
  Engine engine = Engine::Any;
  std::vector<Access> operands;  // one per slot of opcode_info(opcode).operands; slot 0 is dst
  Attributes attributes;

  [[nodiscard]] const Access& dst() const { return operands.front(); }
  bool operator==(const Instruction&) const = default;
  template <class Self, class V> static void visit(Self& self, V&& v) {
    v("opcode", self.opcode);
    v("engine", self.engine);
    v("operands", self.operands);
    v("attributes", self.attributes);
  }
};

enum class Role : std::uint8_t { Write, Read, ReadWrite };
struct OperandInfo {
  std::string_view name;  // NKI's keyword
  Role role = Role::Read;
  bool optional = false;
};
struct OpcodeInfo {
  std::string_view name;              // NKI's call
  std::vector<OperandInfo> operands;
  std::vector<Engine> engines;        // legal ones, the default first
};
[[nodiscard]] const OpcodeInfo& opcode_info(Opcode opcode);

// How this instruction uses operand `slot`: nc_matmul's dst is ReadWrite unless `accumulate` is the constant 0.
[[nodiscard]] Role operand_role(const Instruction& instruction, std::size_t slot);

}  // namespace trn::tile
