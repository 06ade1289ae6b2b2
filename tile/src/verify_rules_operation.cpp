// Rules about operators and modes: what each instruction can compute, and what only some generations have
// (illegal-engine).
#include <algorithm>
#include <array>
#include <initializer_list>
#include <limits>

#include "fields.hpp"
#include "verify_rules.hpp"

namespace trn::tile::rules {

namespace {

constexpr std::string_view kEngine = "illegal-engine";

bool is_comparison(AluOp op) { return op >= AluOp::Equal && op <= AluOp::Less; }

bool is_reduction(AluOp op) {
  using enum AluOp;
  constexpr std::array kReductions{Add,       Subtract,   Multiply,   Maximum,   Minimum,   LogicalAnd,
                                   LogicalOr, LogicalXor, BitwiseAnd, BitwiseOr, BitwiseXor};
  return std::find(kReductions.begin(), kReductions.end(), op) != kReductions.end();
}

bool is_partition_reduction(AluOp op) {
  return op == AluOp::Add || op == AluOp::Average || op == AluOp::Maximum || op == AluOp::BitwiseOr ||
         op == AluOp::BitwiseAnd;
}

// Two tiles in, one out: what the second slot needs.
bool is_binary(AluOp op) { return op != AluOp::None && op != AluOp::Average && !is_unary(op); }
bool is_element(AluOp op) { return op != AluOp::None && op != AluOp::Average; }

void expect(const Context& c, bool good, std::string_view subject, AluOp op, std::string_view accepted) {
  if (!good) c.report(kEngine, subject, "'{}' is not available here; use {}", name(op), accepted);
}
constexpr std::string_view kTwo = "an operator of two values", kAny = "an element operator",
                           kArithmetic = "an arithmetic operator";

// The part of the array that a matmul asks for: 32, 64 or 128 rows and columns (64 or 128 on trn1), at multiples of
// that for every value of the loop variables.
void check_array_tile(const Context& c, const isa::ArrayTile& tile) {
  const auto side = [&](std::string_view what, const Affine& start, std::int64_t size, std::int64_t whole) {
    const std::int64_t least = c.machine.array_tile_min;
    if (size != whole && size != whole / 2 && (size != whole / 4 || size < least)) {
      c.report(kEngine, "tile_size", "{} {} of the array; {} has parts of {}{} or {}: choose one of them", size, what,
               c.machine.name, least < whole / 2 ? fmt::format("{}, ", least) : "", whole / 2, whole);
      return;
    }
    bool multiple = start.constant() % size == 0;
    for (const Affine::Term& t : start.terms()) multiple = multiple && (t.trip <= 1 || t.coefficient % size == 0);
    const Range range = range_of(start);
    if (multiple && range.low >= 0 && range.high + size <= whole) return;
    c.report(kEngine, "tile_position", "{} {} that start at {}..{}; a part of {} starts at a multiple of {} below {}",
             size, what, clamp(range.low), clamp(range.high), size, size, whole);
  };
  if (tile.whole()) {
    if (tile.row == Affine(0) && tile.column == Affine(0)) return;
    c.report(kEngine, "tile_position", "a position without a size; set both, or neither for the whole array");
    return;
  }
  side("rows", tile.row, tile.rows, c.machine.partitions);
  side("columns", tile.column, tile.columns, c.machine.stationary_free_max);
}

void check_operation(const Context& c, const isa::NcMatmulMx&) {
  check_array_tile(c, array_tile(c.instruction, c.machine));
}
void check_operation(const Context& c, const isa::NcMatmul& a) {
  check_array_tile(c, a.tile);
  if (a.perf_mode == MatmulMode::DoubleRow && !a.tile.whole() && a.tile.columns != c.machine.stationary_free_max) {
    c.report(kEngine, "tile_size", "{} columns; double_row cannot be combined with parts of the columns: use all {}",
             a.tile.columns, c.machine.stationary_free_max);
  }
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

void check_route(const Context& c, const isa::DmaRoute& route) {
  const auto rings = static_cast<std::int32_t>(2 * c.program.tensors().size() + 4);
  if (route.ring < -1 || route.ring >= rings) {
    c.report(kEngine, "ring", "ring {} does not exist; leave it open, or choose 0 to {}", route.ring, rings - 1);
  }
  if (route.dge == DgeMode::Hardware && !c.machine.hardware_dge) {
    c.report(kEngine, "dge", "{} has no hardware descriptor generator; leave it open or use '{}'", c.machine.name,
             name(DgeMode::Static));
  }
}
void check_operation(const Context& c, const isa::DmaCopy& a) {
  const DgeMode dge = a.route.dge;
  if (is_indirect(c.instruction) && !c.machine.indirect_dma) {
    c.report(kEngine, "index", "{} has no gathers and scatters; copy the rows one by one, or select them by a matmul",
             c.machine.name);
  }
  if (a.issuer != DmaIssuer::Default && dge != DgeMode::Hardware) {
    c.report(kEngine, "issuer", "'{}' triggers hardware descriptors only, this copy has '{}'; set dge to '{}'",
             name(a.issuer), name(dge), name(DgeMode::Hardware));
  }
  if (is_indirect(c.instruction) && (dge == DgeMode::Hardware || dge == DgeMode::Static)) {
    c.report(kEngine, "dge", "descriptors of an indirect copy cannot come from '{}'; leave it open or use '{}'",
             name(dge), name(DgeMode::Software));
  }
  if (dge == DgeMode::Static && follows_register(c.program, c.instruction)) {
    c.report(kEngine, "dge",
             "an address that a register decides cannot have descriptors made beforehand; leave it open");
  }
  if (is_indirect(c.instruction) && follows_register(c.program, c.instruction)) {
    c.report(kEngine, "index", "an address has an index or follows a register, not both; use two copies");
  }
  check_route(c, a.route);
}
void check_operation(const Context& c, const isa::DmaTranspose& a) { check_route(c, a.route); }

void check_operation(const Context& c, const isa::TensorTensor& a) { expect(c, is_binary(a.op), "op", a.op, kTwo); }

void check_operation(const Context& c, const isa::TensorScalar& a) {
  expect(c, is_element(a.op0), "op0", a.op0, kAny);
  expect(c, a.op1 != AluOp::Average, "op1", a.op1, kAny);
  // An option that nothing reads is a mistake, not a default.
  const auto refuse = [&](std::string_view subject, AluOp op) {
    c.report(kEngine, subject, "'{}' takes no such option; leave it out", name(op));
  };
  const bool tile0 = c.operand(isa::TensorScalar::operand0).present();
  const bool tile1 = c.operand(isa::TensorScalar::operand1).present();
  if (is_unary(a.op0) && (a.reverse0 || tile0)) refuse("operand0", a.op0);
  if (is_unary(a.op1) && (a.reverse1 || tile1)) refuse("operand1", a.op1);
  if (a.op1 == AluOp::None && (a.reverse1 || a.operand1_value != 0 || tile1)) refuse("operand1", a.op1);
}

void check_operation(const Context& c, const isa::ScalarTensorTensor& a) {
  expect(c, is_element(a.op0) && !is_bitvec(a.op0), "op0", a.op0, kArithmetic);
  expect(c, is_binary(a.op1) && !is_bitvec(a.op1), "op1", a.op1, kArithmetic);
}
void check_operation(const Context& c, const isa::TensorTensorScan& a) {
  expect(c, is_binary(a.op0) && !is_bitvec(a.op0), "op0", a.op0, kArithmetic);
  expect(c, is_binary(a.op1) && !is_bitvec(a.op1), "op1", a.op1, kArithmetic);
}
void check_operation(const Context& c, const isa::TensorReduce& a) {
  expect(c, is_reduction(a.op), "op", a.op, "a reduction such as add or maximum");
}
void check_operation(const Context& c, const isa::TensorPartitionReduce& a) {
  expect(c, is_partition_reduction(a.op), "op", a.op, "add, average, maximum, bitwise_or or bitwise_and");
}
void check_operation(const Context& c, const isa::AffineSelect& a) {
  expect(c, is_comparison(a.cmp_op), "cmp_op", a.cmp_op, "a comparison");
}
void check_operation(const Context& c, const isa::Activation& a) {
  if (a.reduce_cmd == ReduceCmd::LoadReduce) {
    c.report(kEngine, "reduce_cmd", "activation has no value to load; use '{}', and add the value afterwards",
             name(ReduceCmd::ResetReduce));
  }
  const AluOp expected = accumulates(a.reduce_cmd) ? AluOp::Add : AluOp::None;
  if (a.reduce_op != expected) {
    c.report(kEngine, "reduce_op", "{} with reduce_cmd '{}'; activation reduces by add alone: set {}",
             name(a.reduce_op), name(a.reduce_cmd), name(expected));
  }
}

// The operator of an instruction that has one beside its reduction, with its operand, a tile or `value`.
void check_scalar_operator(const Context& c, std::size_t slot, AluOp op, double value) {
  expect(c, is_element(op) && !is_bitvec(op) && op != AluOp::Rsqrt, "op0", op, "an arithmetic operator of vector");
  if ((op == AluOp::Square || op == AluOp::Relu) && !c.machine.square_relu_in_tensor_scalar) {
    c.report(kEngine, "op0", "{} has no {} here; use multiply, maximum, or activation", c.machine.name, name(op));
  }
  if (is_unary(op) && (c.operand(slot).present() || value != 0)) {
    c.report(kEngine, c.operand_name(slot), "'{}' takes no such option; leave it out", name(op));
  }
}

void expect_command(const Context& c, ReduceCmd cmd, std::initializer_list<ReduceCmd> known) {
  if (std::find(known.begin(), known.end(), cmd) != known.end()) return;
  c.report(kEngine, "reduce_cmd", "'{}' is not available here; use '{}'", name(cmd), name(ReduceCmd::ResetReduce));
}
// The value that load_reduce begins with.
void check_loaded(const Context& c, ReduceCmd cmd, std::size_t slot, double value) {
  if (cmd == ReduceCmd::LoadReduce || (!c.operand(slot).present() && value == 0)) return;
  c.report(kEngine, c.operand_name(slot), "'{}' does not read it; use '{}', or leave it out", name(cmd),
           name(ReduceCmd::LoadReduce));
}
// An idle instruction leaves nothing in the Vector Engine's registers that reduce_res could take.
void check_read_out(const Context& c, ReduceCmd cmd, std::size_t reduce_res) {
  if (cmd != ReduceCmd::Idle || !c.operand(reduce_res).present()) return;
  c.report(kEngine, "reduce_res", "undefined after '{}'; use '{}'", name(cmd), name(ReduceCmd::ResetReduce));
}

void check_operation(const Context& c, const isa::TensorScalarReduce& a) {
  using I = isa::TensorScalarReduce;
  using enum ReduceCmd;
  check_scalar_operator(c, I::operand0, a.op0, a.operand0_value);
  const bool known = a.reduce_op == AluOp::Add || a.reduce_op == AluOp::Multiply || a.reduce_op == AluOp::Maximum ||
                     a.reduce_op == AluOp::Minimum;
  expect(c, known, "reduce_op", a.reduce_op, "add, multiply, maximum or minimum");
  expect_command(c, a.reduce_cmd, {ResetReduce, Reduce, LoadReduce});
  check_loaded(c, a.reduce_cmd, I::reduce_init, a.reduce_init_value);
  if (a.reduce_res_negate && !c.operand(I::reduce_res).present()) {
    c.report(kEngine, "reduce_res_negate", "there is no reduce_res to negate; leave it out");
  }
}
void check_operation(const Context& c, const isa::TensorScalarCumulative& a) {
  using I = isa::TensorScalarCumulative;
  using enum ReduceCmd;
  check_scalar_operator(c, I::imm0, a.op0, a.imm0_value);
  expect(c, a.op1 >= AluOp::Add && a.op1 <= AluOp::Minimum, "op1", a.op1,
         "add, subtract, multiply, maximum or minimum");
  expect_command(c, a.reduce_cmd, {ResetReduce, Reduce, LoadReduce});
  check_loaded(c, a.reduce_cmd, I::imm1, a.imm1_value);
}
void check_operation(const Context& c, const isa::SelectReduce& a) {
  using enum ReduceCmd;
  expect_command(c, a.reduce_cmd, {Idle, ResetReduce, Reduce});
  check_read_out(c, a.reduce_cmd, isa::SelectReduce::reduce_res);
}
void check_operation(const Context& c, const isa::RangeSelect& a) {
  using enum ReduceCmd;
  constexpr std::string_view kBounds = "equal, less, less_equal, greater or greater_equal";
  expect(c, is_comparison(a.comp_op0) && a.comp_op0 != AluOp::NotEqual, "comp_op0", a.comp_op0, kBounds);
  expect(c, is_comparison(a.comp_op1) && a.comp_op1 != AluOp::NotEqual, "comp_op1", a.comp_op1, kBounds);
  expect_command(c, a.reduce_cmd, {Idle, Reset, ResetReduce, Reduce});
  check_read_out(c, a.reduce_cmd, isa::RangeSelect::reduce_res);
}
void check_operation(const Context& c, const isa::Exponential& a) {
  using I = isa::Exponential;
  using enum ReduceCmd;
  expect_command(c, a.reduce_cmd, {Idle, ResetReduce, Reduce, LoadReduce});
  check_read_out(c, a.reduce_cmd, I::reduce_res);
  check_loaded(c, a.reduce_cmd, I::reduce_init, a.reduce_init_value);
}
void check_operation(const Context& c, const isa::QuantizeMx& a) {
  if (a.format != MxFormat::Float4E2M1FN) return;
  c.report(kEngine, "format", "quantize_mx has no {}; quantize 4-bit values on the host", name(a.format));
}
void check_operation(const Context& c, const isa::DmaCompute& a) {
  const DgeMode dge = a.route.dge, only = is_indirect(c.instruction) ? DgeMode::Software : DgeMode::Static;
  if (is_indirect(c.instruction) && !c.machine.indirect_dma) {
    c.report(kEngine, "index", "{} has no gathers and scatters; add the rows one by one, or by a matmul",
             c.machine.name);
  }
  if (dge != DgeMode::Default && dge != only) {
    c.report(kEngine, "dge", "descriptors of this dma_compute cannot come from '{}'; leave it open or use '{}'",
             name(dge), name(only));
  }
  if (!is_indirect(c.instruction) && (a.scatter || a.oob != OobMode::Error)) {
    c.report(kEngine, "index", "scatter and oob say what an index does, and there is none; leave them out");
  }
  check_route(c, a.route);
}
void check_operation(const Context& c, const isa::NcStreamShuffle& a) {
  const std::int64_t side = quadrant(c.machine), keep = isa::NcStreamShuffle::kKeep;
  if (static_cast<std::int64_t>(a.mask.size()) != side) {
    c.report(kEngine, "mask", "{} entries; one for each of the {} partitions of a quadrant", a.mask.size(), side);
  }
  for (const std::int64_t from : a.mask) {
    if ((from >= 0 && from < side) || from == keep) continue;
    c.report(kEngine, "mask", "entry {}; a partition from 0 to {}, or {} to keep dst", from, side - 1, keep);
    return;
  }
}
void check_operation(const Context& c, const isa::RegisterMove& a) {
  using Word = std::numeric_limits<std::int32_t>;
  if (a.src_value >= Word::min() && a.src_value <= Word::max()) return;
  c.report(kEngine, "src", "{} does not fit the 32 bits of a register", a.src_value);
}
template <isa::OneOf<isa::NcNGather, isa::RegisterLoad, isa::RegisterStore> I>
void check_operation(const Context&, const I&) {}
// No operator to choose, or any of them.
template <isa::OneOf<isa::BnStats, isa::BnAggr, isa::NcTranspose, isa::TensorCopy, isa::TensorCopyPredicated,
                     isa::Reciprocal, isa::Memset, isa::Max8, isa::NcFindIndex8, isa::NcMatchReplace8, isa::Iota,
                     isa::LocalGather, isa::NonzeroWithCount>
              I>
void check_operation(const Context&, const I&) {}

}  // namespace

void check_operations(const Context& c) {
  c.instruction.visit([&](const auto& attributes) {
    for_each_field<AluOp>(attributes, [&](const char*, AluOp op) {
      if ((op == AluOp::AbsMax || op == AluOp::AbsMin) && !c.machine.abs_max_min) {
        c.report(kEngine, "op", "{} has no {}; square or take abs first", c.machine.name, name(op));
      }
    });
    check_operation(c, attributes);
  });
}

}  // namespace trn::tile::rules
