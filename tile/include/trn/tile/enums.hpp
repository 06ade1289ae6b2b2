// The words of the instruction set: engines, opcodes, operators and modes, each with the name NKI gives it.
#pragma once

#include <cstdint>
#include <string_view>

#include <trn/tile/access.hpp>

namespace trn::tile {

// Any: the schedule pass chooses among the opcode's legal engines.
// Sync: the sequencers, which have no data path: registers and branches.
enum class Engine : std::uint8_t { Any, Tensor, Vector, Scalar, GpSimd, Dma, Sync };
// Register: 32-bit numbers that loops and addresses read; a tile of one element is one register.
enum class Space : std::uint8_t { Sbuf, Psum, Register };

enum class Opcode : std::uint8_t {
  DmaCopy,
  DmaTranspose,
  NcMatmul,
  NcTranspose,
  NcMatmulMx,
  TensorTensor,
  TensorScalar,
  ScalarTensorTensor,
  TensorReduce,
  TensorTensorScan,
  TensorCopy,
  TensorCopyPredicated,
  Activation,
  Exponential,
  BnStats,
  BnAggr,
  QuantizeMx,
  Reciprocal,
  Memset,
  TensorScalarReduce,
  TensorScalarCumulative,
  SelectReduce,
  RangeSelect,
  Max8,
  NcFindIndex8,
  NcMatchReplace8,
  Iota,
  AffineSelect,
  LocalGather,
  NonzeroWithCount,
  TensorPartitionReduce,
  DmaCompute,
  NcNGather,
  NcStreamShuffle,
  RegisterMove,
  RegisterLoad,
  RegisterStore,
};

// nl.* operators. None: the slot is unused. Bitvec ones act on raw integer bits, the others in fp32.
enum class AluOp : std::uint8_t {
  None,
  Add,
  Subtract,
  Multiply,
  Maximum,
  Minimum,
  Power,
  AbsMax,
  AbsMin,
  Equal,
  NotEqual,
  GreaterEqual,
  Greater,
  LessEqual,
  Less,
  LogicalAnd,
  LogicalOr,
  LogicalXor,
  Abs,
  Square,
  Relu,
  Rsqrt,
  Reciprocal,  // unary: the second operand is ignored
  Average,     // tensor_partition_reduce only
  BitwiseAnd,
  BitwiseOr,
  BitwiseXor,
  Invert,
  LeftShift,
  RightShift,
};

enum class ActFunction : std::uint8_t {
  Copy,
  Square,
  Sigmoid,
  Relu,
  Gelu,
  GeluDx,
  GeluApprxTanh,
  GeluApprxSigmoid,
  Silu,
  SiluDx,
  Tanh,
  Softplus,
  Mish,
  Erf,
  ErfDx,
  Exp,
  Log,
  Sin,
  Arctan,
  Sqrt,
  Rsqrt,
  Reciprocal,
  Sign,
  Abs,
};

enum class MatmulMode : std::uint8_t { Normal, DoubleRow };
// Four values of a microscaling format in one element: 8-bit ones in a uint32, 4-bit ones in a uint16, the first in the
// lowest bits. NKI has a dtype for each; here the memory is of unsigned integers and the instruction names the format.
enum class MxFormat : std::uint8_t { Float8E4M3FN, Float8E5M2, Float4E2M1FN };
// Who builds the DMA descriptors: the runtime beforehand (Static), the hardware generator, or Pool (needed for
// gathers).
enum class DgeMode : std::uint8_t { Default, Static, Hardware, Software };
// Whose sequencer triggers a hardware descriptor generator.
enum class DmaIssuer : std::uint8_t { Default, Sync, Scalar };
// What an instruction does with its engine's accumulator registers, one fp32 number per partition that later
// instructions find again. LoadReduce: for instructions that have a value to load.
enum class ReduceCmd : std::uint8_t { Idle, Reset, Reduce, ResetReduce, LoadReduce };
enum class OobMode : std::uint8_t { Error, Skip };

[[nodiscard]] std::string_view name(Engine);
[[nodiscard]] std::string_view name(Space);
[[nodiscard]] std::string_view name(Opcode);
[[nodiscard]] std::string_view name(AluOp);        // as in nl: "add", "bitwise_and"
[[nodiscard]] std::string_view name(ActFunction);  // as in nl: "gelu_apprx_tanh"
[[nodiscard]] std::string_view name(MatmulMode);
[[nodiscard]] std::string_view name(MxFormat);  // "float8_e4m3fn_x4"
[[nodiscard]] std::string_view name(DgeMode);
[[nodiscard]] std::string_view name(DmaIssuer);
[[nodiscard]] std::string_view name(ReduceCmd);
[[nodiscard]] std::string_view name(OobMode);
[[nodiscard]] std::string_view name(Target);

[[nodiscard]] bool is_bitvec(AluOp op);
[[nodiscard]] bool is_unary(AluOp op);
// Whether the instruction adds its results to the registers.
[[nodiscard]] inline bool accumulates(ReduceCmd cmd) { return cmd >= ReduceCmd::Reduce; }

}  // namespace trn::tile
