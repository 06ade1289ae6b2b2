// The instructions: one struct per nki.isa call. `enum Slot` names the operands, in the order of opcode_info()'s row;
// the fields are the attributes, everything the call says beside its operands, and visit() lists them once for hashing,
// equality, JSON and the listing. Where a slot may be empty, the number in its place is the field `<slot>_value`.
// docs/adding-an-instruction.md says what else a new instruction needs.
#pragma once

#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <trn/tile/enums.hpp>

namespace trn::tile::isa {

// ---- DMA

// What every DMA has: its first two operands, who makes its descriptors, and the queue that hands them out.
struct DmaRoute {
  enum Slot : std::size_t { dst, src };
  DgeMode dge = DgeMode::Default;
  std::int32_t ring = -1;  // -1 until scheduled
  template <class Self, class V> static void visit(Self& self, V&& v) {
    v("dge", self.dge);
    v("ring", self.ring);
  }
};

// dst = src. With an index: dst(i, ...) = src(index(i), ...), or dst(index(i), ...) = src(i, ...) when `scatter`.
// A side in HBM whose offset operand is there, a register or a (1, 1) tile of value v, starts v * step elements further
// on; v lies in 0 .. max, which is declared so that bounds are known before the program runs.
struct DmaCopy {
  static constexpr Opcode opcode = Opcode::DmaCopy;
  enum Slot : std::size_t { dst, src, index, dst_offset, src_offset };
  bool scatter = false;
  OobMode oob = OobMode::Error;  // indirect copies
  std::int64_t dst_offset_step = 0, dst_offset_max = 0;
  std::int64_t src_offset_step = 0, src_offset_max = 0;
  DmaIssuer issuer = DmaIssuer::Default;  // copies with hardware descriptors
  DmaRoute route = {};
  template <class Self, class V> static void visit(Self& self, V&& v) {
    v("scatter", self.scatter);
    v("oob", self.oob);
    v("dst_offset_step", self.dst_offset_step);
    v("dst_offset_max", self.dst_offset_max);
    v("src_offset_step", self.src_offset_step);
    v("src_offset_max", self.src_offset_max);
    v("issuer", self.issuer);
    DmaRoute::visit(self.route, v);
  }
};

// The first and the last dimension change places.
struct DmaTranspose {
  static constexpr Opcode opcode = Opcode::DmaTranspose;
  enum Slot : std::size_t { dst, src };
  DmaRoute route = {};
  template <class Self, class V> static void visit(Self& self, V&& v) { DmaRoute::visit(self.route, v); }
};

// ---- Tensor Engine

// The part of the Tensor Engine's array that a matmul uses: rows x columns of it from (row, column). Rows are fed by
// the SBUF partitions of the same numbers, columns write the PSUM partitions of the same numbers. 0 x 0: the whole
// array. Matmuls in parts that share no processing element run at the same time.
struct ArrayTile {
  Affine row = 0, column = 0;
  std::int64_t rows = 0, columns = 0;
  [[nodiscard]] bool whole() const { return rows == 0 && columns == 0; }
  template <class Self, class V> static void visit(Self& self, V&& v) {
    v("tile_row", self.row);
    v("tile_column", self.column);
    v("tile_rows", self.rows);
    v("tile_columns", self.columns);
  }
};

// dst(m, n) = sum_k stationary(k, m) * moving(k, n)
struct NcMatmul {
  static constexpr Opcode opcode = Opcode::NcMatmul;
  enum Slot : std::size_t { dst, stationary, moving };
  Affine accumulate = 0;  // value 0 overwrites PSUM, any other value adds to it
  MatmulMode perf_mode = MatmulMode::Normal;
  bool is_transpose = false;  // pass-through transpose (trn2+)
  ArrayTile tile = {};
  template <class Self, class V> static void visit(Self& self, V&& v) {
    v("accumulate", self.accumulate);
    v("perf_mode", self.perf_mode);
    v("is_transpose", self.is_transpose);
    ArrayTile::visit(self.tile, v);
  }
};

struct NcTranspose {
  static constexpr Opcode opcode = Opcode::NcTranspose;
  enum Slot : std::size_t { dst, data };
  template <class Self, class V> static void visit(Self&, V&&) {}
};

// dst(m, n) = sum over k and q of stationary(k, m)[q] * moving(k, n)[q], q = 0 .. 3 the values packed in one element,
// each times its scale 2^(s - 127). Eight partitions share a scale: s(k, m) stands in row 32 (k / 32) + k % 32 / 8 of
// its tile.
struct NcMatmulMx {
  static constexpr Opcode opcode = Opcode::NcMatmulMx;
  enum Slot : std::size_t { dst, stationary, moving, stationary_scale, moving_scale };
  MxFormat stationary_format = MxFormat::Float8E4M3FN;
  MxFormat moving_format = MxFormat::Float8E4M3FN;
  Affine accumulate = 0;       // as in NcMatmul
  Affine tile_row = 0;         // the part of the array: tile_rows of its rows from here, in all columns
  std::int64_t tile_rows = 0;  // 0: the whole array
  template <class Self, class V> static void visit(Self& self, V&& v) {
    v("stationary_format", self.stationary_format);
    v("moving_format", self.moving_format);
    v("accumulate", self.accumulate);
    v("tile_row", self.tile_row);
    v("tile_rows", self.tile_rows);
  }
};

// ---- Vector Engine (some also Scalar or GpSimd)

struct TensorTensor {
  static constexpr Opcode opcode = Opcode::TensorTensor;
  enum Slot : std::size_t { dst, data1, data2 };
  AluOp op = AluOp::None;
  template <class Self, class V> static void visit(Self& self, V&& v) { v("op", self.op); }
};

// (data op0 operand0) op1 operand1; a reversed operator takes its operand first.
struct TensorScalar {
  static constexpr Opcode opcode = Opcode::TensorScalar;
  enum Slot : std::size_t { dst, data, operand0, operand1 };
  AluOp op0 = AluOp::None;
  AluOp op1 = AluOp::None;
  bool reverse0 = false;
  bool reverse1 = false;
  double operand0_value = 0;
  double operand1_value = 0;
  template <class Self, class V> static void visit(Self& self, V&& v) {
    v("op0", self.op0);
    v("op1", self.op1);
    v("reverse0", self.reverse0);
    v("reverse1", self.reverse1);
    v("operand0_value", self.operand0_value);
    v("operand1_value", self.operand1_value);
  }
};

// (data op0 operand0) op1 operand1, operand1 a whole tile; a reversed operator takes its operand first.
struct ScalarTensorTensor {
  static constexpr Opcode opcode = Opcode::ScalarTensorTensor;
  enum Slot : std::size_t { dst, data, operand0, operand1 };
  AluOp op0 = AluOp::None;
  AluOp op1 = AluOp::None;
  bool reverse0 = false;
  bool reverse1 = false;
  double operand0_value = 0;
  template <class Self, class V> static void visit(Self& self, V&& v) {
    v("op0", self.op0);
    v("op1", self.op1);
    v("reverse0", self.reverse0);
    v("reverse1", self.reverse1);
    v("operand0_value", self.operand0_value);
  }
};

struct TensorReduce {
  static constexpr Opcode opcode = Opcode::TensorReduce;
  enum Slot : std::size_t { dst, data };
  AluOp op = AluOp::None;
  bool negate = false;
  std::int64_t reduce_dims = 0;  // how many innermost dimensions
  template <class Self, class V> static void visit(Self& self, V&& v) {
    v("op", self.op);
    v("negate", self.negate);
    v("reduce_dims", self.reduce_dims);
  }
};

// r[i] = op1(op0(data0[i], r[i-1]), data1[i]), r[-1] = initial; a reversed operator takes its arguments the other way.
struct TensorTensorScan {
  static constexpr Opcode opcode = Opcode::TensorTensorScan;
  enum Slot : std::size_t { dst, data0, data1, initial };
  AluOp op0 = AluOp::None;
  AluOp op1 = AluOp::None;
  bool reverse0 = false;
  bool reverse1 = false;
  double initial_value = 0;
  template <class Self, class V> static void visit(Self& self, V&& v) {
    v("op0", self.op0);
    v("op1", self.op1);
    v("reverse0", self.reverse0);
    v("reverse1", self.reverse1);
    v("initial_value", self.initial_value);
  }
};

struct TensorCopy {
  static constexpr Opcode opcode = Opcode::TensorCopy;
  enum Slot : std::size_t { dst, src };
  template <class Self, class V> static void visit(Self&, V&&) {}
};

// dst = src where the predicate is not zero (zero, when reversed); elsewhere dst stays.
struct TensorCopyPredicated {
  static constexpr Opcode opcode = Opcode::TensorCopyPredicated;
  enum Slot : std::size_t { dst, src, predicate };
  bool reverse_pred = false;
  double src_value = 0;
  template <class Self, class V> static void visit(Self& self, V&& v) {
    v("reverse_pred", self.reverse_pred);
    v("src_value", self.src_value);
  }
};

struct Reciprocal {
  static constexpr Opcode opcode = Opcode::Reciprocal;
  enum Slot : std::size_t { dst, data };
  template <class Self, class V> static void visit(Self&, V&&) {}
};

struct Memset {
  static constexpr Opcode opcode = Opcode::Memset;
  enum Slot : std::size_t { dst };
  double value = 0;
  template <class Self, class V> static void visit(Self& self, V&& v) { v("value", self.value); }
};

// The next four share the Vector Engine's registers: register = op(value, register) for the values of a partition in
// element order, from where reduce_cmd says. reduce_res, where it is present, takes the registers afterwards.

// dst = data op0 operand0, reduced by reduce_op. `reduce_init` is what LoadReduce loads; reduce_res may be negated, the
// registers never are.
struct TensorScalarReduce {
  static constexpr Opcode opcode = Opcode::TensorScalarReduce;
  enum Slot : std::size_t { dst, data, operand0, reduce_res, reduce_init };
  AluOp op0 = AluOp::None;
  double operand0_value = 0;
  AluOp reduce_op = AluOp::None;
  ReduceCmd reduce_cmd = ReduceCmd::ResetReduce;
  double reduce_init_value = 0;
  bool reduce_res_negate = false;
  template <class Self, class V> static void visit(Self& self, V&& v) {
    v("op0", self.op0);
    v("operand0_value", self.operand0_value);
    v("reduce_op", self.reduce_op);
    v("reduce_cmd", self.reduce_cmd);
    v("reduce_init_value", self.reduce_init_value);
    v("reduce_res_negate", self.reduce_res_negate);
  }
};

// dst[i] = register = op1(src[i] op0 imm0, register). `imm1` is what LoadReduce loads.
struct TensorScalarCumulative {
  static constexpr Opcode opcode = Opcode::TensorScalarCumulative;
  enum Slot : std::size_t { dst, src, imm0, imm1 };
  AluOp op0 = AluOp::None;
  AluOp op1 = AluOp::None;
  double imm0_value = 0;
  double imm1_value = 0;
  ReduceCmd reduce_cmd = ReduceCmd::ResetReduce;
  template <class Self, class V> static void visit(Self& self, V&& v) {
    v("op0", self.op0);
    v("op1", self.op1);
    v("imm0_value", self.imm0_value);
    v("imm1_value", self.imm1_value);
    v("reduce_cmd", self.reduce_cmd);
  }
};

// dst = on_true where the predicate is not zero (zero, when reversed), on_false elsewhere; the largest is reduced.
struct SelectReduce {
  static constexpr Opcode opcode = Opcode::SelectReduce;
  enum Slot : std::size_t { dst, predicate, on_true, on_false, reduce_res };
  double on_false_value = 0;
  ReduceCmd reduce_cmd = ReduceCmd::Idle;
  bool reverse_pred = false;
  template <class Self, class V> static void visit(Self& self, V&& v) {
    v("on_false_value", self.on_false_value);
    v("reduce_cmd", self.reduce_cmd);
    v("reverse_pred", self.reverse_pred);
  }
};

// With k = range_start + element number: dst = on_true_tile where comp_op0(k, bound0) and comp_op1(k, bound1), the
// lowest finite fp32 number elsewhere; the largest is reduced.
struct RangeSelect {
  static constexpr Opcode opcode = Opcode::RangeSelect;
  enum Slot : std::size_t { dst, on_true_tile, bound0, bound1, reduce_res };
  AluOp comp_op0 = AluOp::None;
  AluOp comp_op1 = AluOp::None;
  ReduceCmd reduce_cmd = ReduceCmd::ResetReduce;
  std::int64_t range_start = 0;
  template <class Self, class V> static void visit(Self& self, V&& v) {
    v("comp_op0", self.comp_op0);
    v("comp_op1", self.comp_op1);
    v("reduce_cmd", self.reduce_cmd);
    v("range_start", self.range_start);
  }
};

// The 8 largest values of each partition, largest first.
struct Max8 {
  static constexpr Opcode opcode = Opcode::Max8;
  enum Slot : std::size_t { dst, src };
  template <class Self, class V> static void visit(Self&, V&&) {}
};

// Where the 8 values stand in data: the k-th of equal values gets the k-th place; all bits are set where there is none.
struct NcFindIndex8 {
  static constexpr Opcode opcode = Opcode::NcFindIndex8;
  enum Slot : std::size_t { dst, data, vals };
  template <class Self, class V> static void visit(Self&, V&&) {}
};

// dst = data with one place of each of the 8 values replaced by imm, the last value first; dst_idx takes the places.
struct NcMatchReplace8 {
  static constexpr Opcode opcode = Opcode::NcMatchReplace8;
  enum Slot : std::size_t { dst, data, vals, dst_idx };
  double imm = 0;
  template <class Self, class V> static void visit(Self& self, V&& v) { v("imm", self.imm); }
};

// ---- Scalar Engine

// op(data * scale + bias). reduce_cmd says what happens to the sums along the free dimension, reduce_res takes the
// registers as they are afterwards.
struct Activation {
  static constexpr Opcode opcode = Opcode::Activation;
  enum Slot : std::size_t { dst, data, bias, scale, reduce_res };
  ActFunction op = ActFunction::Copy;
  double bias_value = 0;
  double scale_value = 1;
  AluOp reduce_op = AluOp::None;  // Add when reduce_cmd accumulates
  ReduceCmd reduce_cmd = ReduceCmd::Idle;
  template <class Self, class V> static void visit(Self& self, V&& v) {
    v("op", self.op);
    v("bias_value", self.bias_value);
    v("scale_value", self.scale_value);
    v("reduce_op", self.reduce_op);
    v("reduce_cmd", self.reduce_cmd);
  }
};

// ---- Vector Engine: exponentials, statistics, microscaling

// exp(src - max_value). reduce_cmd says what happens to the sums along the free dimension, which stay in the Vector
// Engine's registers; LoadReduce begins them with reduce_init. Idle leaves the registers undefined.
struct Exponential {
  static constexpr Opcode opcode = Opcode::Exponential;
  enum Slot : std::size_t { dst, src, max_value, reduce_res, reduce_init };
  double max_value_value = 0;
  ReduceCmd reduce_cmd = ReduceCmd::Idle;
  double reduce_init_value = 0;
  template <class Self, class V> static void visit(Self& self, V&& v) {
    v("max_value_value", self.max_value_value);
    v("reduce_cmd", self.reduce_cmd);
    v("reduce_init_value", self.reduce_init_value);
  }
};

// Six numbers per partition: count, mean and variance * count of the elements 0, 2, 4, ..., then of 1, 3, 5, ...
struct BnStats {
  static constexpr Opcode opcode = Opcode::BnStats;
  enum Slot : std::size_t { dst, data };
  template <class Self, class V> static void visit(Self&, V&&) {}
};

// Mean and variance of everything that a row of triples (count, mean, variance * count) stands for.
struct BnAggr {
  static constexpr Opcode opcode = Opcode::BnAggr;
  enum Slot : std::size_t { dst, data };
  template <class Self, class V> static void visit(Self&, V&&) {}
};

// Groups of 8 partitions x 4 neighbours get one scale 2^(s - 127) and are divided by it: s to dst_scale in the rows
// that NcMatmulMx reads, the quotients to dst, four in an element.
struct QuantizeMx {
  static constexpr Opcode opcode = Opcode::QuantizeMx;
  enum Slot : std::size_t { dst, src, dst_scale };
  MxFormat format = MxFormat::Float8E4M3FN;
  template <class Self, class V> static void visit(Self& self, V&& v) { v("format", self.format); }
};

// ---- GpSimd

// offset + partition * channel_multiplier + sum(step * index), the (step, count) of each dimension in `pattern`.
struct AffinePattern {
  std::vector<Dim> pattern = {};
  std::int64_t offset = 0;
  std::int64_t channel_multiplier = 0;
  template <class Self, class V> static void visit(Self& self, V&& v) {
    v("pattern", self.pattern);
    v("offset", self.offset);
    v("channel_multiplier", self.channel_multiplier);
  }
};

struct Iota {
  static constexpr Opcode opcode = Opcode::Iota;
  enum Slot : std::size_t { dst };
  AffinePattern value = {};
  template <class Self, class V> static void visit(Self& self, V&& v) { AffinePattern::visit(self.value, v); }
};

// cmp_op(value, 0) ? on_true_tile : on_false_value
struct AffineSelect {
  static constexpr Opcode opcode = Opcode::AffineSelect;
  enum Slot : std::size_t { dst, on_true_tile };
  AluOp cmp_op = AluOp::None;
  double on_false_value = 0;
  AffinePattern value = {};
  template <class Self, class V> static void visit(Self& self, V&& v) {
    v("cmp_op", self.cmp_op);
    v("on_false_value", self.on_false_value);
    AffinePattern::visit(self.value, v);
  }
};

struct LocalGather {
  static constexpr Opcode opcode = Opcode::LocalGather;
  enum Slot : std::size_t { dst, src_buffer, index };
  std::int64_t elements_per_index = 1;
  template <class Self, class V> static void visit(Self& self, V&& v) {
    v("elements_per_index", self.elements_per_index);
  }
};

// The first partition of each GpSimd core: the element numbers of src's nonzeros plus index_offset, then padding_val,
// and their count as the last element of dst, which has one element more than src. Other partitions stay.
struct NonzeroWithCount {
  static constexpr Opcode opcode = Opcode::NonzeroWithCount;
  enum Slot : std::size_t { dst, src };
  std::int64_t index_offset = 0;
  std::int64_t padding_val = -1;
  template <class Self, class V> static void visit(Self& self, V&& v) {
    v("index_offset", self.index_offset);
    v("padding_val", self.padding_val);
  }
};

struct TensorPartitionReduce {
  static constexpr Opcode opcode = Opcode::TensorPartitionReduce;
  enum Slot : std::size_t { dst, data };
  AluOp op = AluOp::None;
  template <class Self, class V> static void visit(Self& self, V&& v) { v("op", self.op); }
};

// ---- DMA that adds, gathers and shuffles

// dst = src0 + src1 + ..., in fp32 in that order. With an index, one side in HBM is reached by rows: src0 is dst, and
// dst(index(i), ...) += src1(i, ...) when `scatter`, else dst(i, ...) += src1(index(i), ...).
struct DmaCompute {
  static constexpr Opcode opcode = Opcode::DmaCompute;
  static constexpr std::size_t kSources = 16;  // at most
  enum Slot : std::size_t {
    dst,
    src0,
    src1,
    src2,
    src3,
    src4,
    src5,
    src6,
    src7,
    src8,
    src9,
    src10,
    src11,
    src12,
    src13,
    src14,
    src15,
    index
  };
  bool scatter = false;
  OobMode oob = OobMode::Error;  // with an index
  DmaRoute route = {};
  template <class Self, class V> static void visit(Self& self, V&& v) {
    v("scatter", self.scatter);
    v("oob", self.oob);
    DmaRoute::visit(self.route, v);
  }
};

// GpSimd: dst(p, i) = data(p, indices(p, i)).
struct NcNGather {
  static constexpr Opcode opcode = Opcode::NcNGather;
  enum Slot : std::size_t { dst, data, indices };
  template <class Self, class V> static void visit(Self&, V&&) {}
};

// Vector: in every quadrant of 32 partitions dst(i, ...) = src(mask[i], ...); where mask[i] is kKeep, dst stays.
struct NcStreamShuffle {
  static constexpr Opcode opcode = Opcode::NcStreamShuffle;
  static constexpr std::int64_t kKeep = 255;
  enum Slot : std::size_t { dst, src };
  std::vector<std::int64_t> mask = {};
  template <class Self, class V> static void visit(Self& self, V&& v) { v("mask", self.mask); }
};

// ---- Registers: Space::Register on one side, a number, a register, or one element of SBUF or HBM on the other

struct RegisterMove {
  static constexpr Opcode opcode = Opcode::RegisterMove;
  enum Slot : std::size_t { dst, src };
  std::int64_t src_value = 0;
  template <class Self, class V> static void visit(Self& self, V&& v) { v("src_value", self.src_value); }
};
struct RegisterLoad {
  static constexpr Opcode opcode = Opcode::RegisterLoad;
  enum Slot : std::size_t { dst, src };
  template <class Self, class V> static void visit(Self&, V&&) {}
};
struct RegisterStore {
  static constexpr Opcode opcode = Opcode::RegisterStore;
  enum Slot : std::size_t { dst, src };
  template <class Self, class V> static void visit(Self&, V&&) {}
};

// I is one of these instructions: for an overload that treats several alike and still names each.
template <class I, class... These>
concept OneOf = (std::same_as<I, These> || ...);

}  // namespace trn::tile::isa

namespace trn::tile {

// In Opcode's order. Code that depends on the instruction is a set of overloads, one for each of these types, called
// through Instruction::visit: an instruction without its overload does not compile.
using Attributes =
    std::variant<isa::DmaCopy, isa::DmaTranspose, isa::NcMatmul, isa::NcTranspose, isa::NcMatmulMx, isa::TensorTensor,
                 isa::TensorScalar, isa::ScalarTensorTensor, isa::TensorReduce, isa::TensorTensorScan, isa::TensorCopy,
                 isa::TensorCopyPredicated, isa::Activation, isa::Exponential, isa::BnStats, isa::BnAggr,
                 isa::QuantizeMx, isa::Reciprocal, isa::Memset, isa::TensorScalarReduce, isa::TensorScalarCumulative,
                 isa::SelectReduce, isa::RangeSelect, isa::Max8, isa::NcFindIndex8, isa::NcMatchReplace8, isa::Iota,
                 isa::AffineSelect, isa::LocalGather, isa::NonzeroWithCount, isa::TensorPartitionReduce,
                 isa::DmaCompute, isa::NcNGather, isa::NcStreamShuffle, isa::RegisterMove, isa::RegisterLoad,
                 isa::RegisterStore>;

inline constexpr std::size_t kOpcodes = std::variant_size_v<Attributes>;

}  // namespace trn::tile
