// Rules about the instructions that reduce into the Vector Engine's registers: operators, commands, dtypes and shapes.
#include "verify_cases.hpp"

namespace trn::tile::test {
namespace {

using enum ReduceCmd;

Access sbuf(Builder& b, const char* name, Shape free = {32}, DType dtype = F32) {
  return b.sbuf(name, 32, std::move(free), dtype);
}
Access column(Builder& b, const char* name, DType dtype = F32) { return sbuf(b, name, {1}, dtype); }
// Something that a chain may go on from.
void begin(Builder& b) { b.tensor_scalar_reduce(sbuf(b, "o"), sbuf(b, "i"), AluOp::Add, 1.0, AluOp::Add); }

void reduce(Builder& b, AluOp op0, AluOp op, ScalarOrTile operand0 = 0.0, ReduceOptions options = {}) {
  b.tensor_scalar_reduce(sbuf(b, "d"), sbuf(b, "s"), op0, std::move(operand0), op, std::move(options));
}
const std::vector<Case> kReduce{
    {"BitOperator", "illegal-engine", "op0: 'bitwise_and' is not available here",
     [](Builder& b, bool bad) { reduce(b, bad ? AluOp::BitwiseAnd : AluOp::Power, AluOp::Add); }},
    {"RsqrtIsNotVectors", "illegal-engine", "op0: 'rsqrt' is not available here",
     [](Builder& b, bool bad) { reduce(b, bad ? AluOp::Rsqrt : AluOp::Reciprocal, AluOp::Add); }},
    {"NoOperator", "illegal-engine", "op0: 'none' is not available here",
     [](Builder& b, bool bad) { reduce(b, bad ? AluOp::None : AluOp::Less, AluOp::Add); }},
    {"SquareNotOnTrn2", "illegal-engine", "op0: trn2 has no square here",
     [](Builder& b, bool bad) { reduce(b, bad ? AluOp::Square : AluOp::Abs, AluOp::Add); }},
    {"SquareOnTrn3", "illegal-engine", "operand0: 'square' takes no such option",
     [](Builder& b, bool bad) { reduce(b, AluOp::Square, AluOp::Add, bad ? 1.0 : 0.0); }, "trn3"},
    {"UnaryTakesNoTile", "illegal-engine", "operand0: 'abs' takes no such option",
     [](Builder& b, bool bad) {
       const Access c = column(b, "c");
       reduce(b, bad ? AluOp::Abs : AluOp::Add, AluOp::Add, c);
     }},
    {"AbsMaxNotOnTrn2", "illegal-engine", "trn2 has no abs_max",
     [](Builder& b, bool bad) { reduce(b, bad ? AluOp::AbsMax : AluOp::Maximum, AluOp::Add); }},
    {"SubtractDoesNotReduce", "illegal-engine", "reduce_op: 'subtract' is not available here",
     [](Builder& b, bool bad) { reduce(b, AluOp::Add, bad ? AluOp::Subtract : AluOp::Minimum); }},
    {"NoIdle", "illegal-engine", "reduce_cmd: 'idle' is not available here",
     [](Builder& b, bool bad) { reduce(b, AluOp::Add, AluOp::Add, 0.0, {.reduce_cmd = bad ? Idle : ResetReduce}); }},
    {"NoReset", "illegal-engine", "reduce_cmd: 'reset' is not available here",
     [](Builder& b, bool bad) { reduce(b, AluOp::Add, AluOp::Add, 0.0, {.reduce_cmd = bad ? Reset : LoadReduce}); }},
    {"InitNumberIsForLoad", "illegal-engine", "reduce_init: 'reset_reduce' does not read it",
     [](Builder& b, bool bad) {
       reduce(b, AluOp::Add, AluOp::Add, 0.0, {.reduce_cmd = bad ? ResetReduce : LoadReduce, .reduce_init = 1.0});
     }},
    {"InitTileIsForLoad", "illegal-engine", "reduce_init: 'reduce' does not read it",
     [](Builder& b, bool bad) {
       begin(b);
       const Access c = column(b, "c");
       reduce(b, AluOp::Add, AluOp::Add, 0.0, {.reduce_cmd = bad ? Reduce : LoadReduce, .reduce_init = c});
     }},
    {"NothingToNegate", "illegal-engine", "reduce_res_negate: there is no reduce_res",
     [](Builder& b, bool bad) {
       const Access c = column(b, "c");
       reduce(b, AluOp::Add, AluOp::Add, 0.0, {.reduce_res = bad ? Access{} : c, .negate = true});
     }},
    {"Operand0IsFloat32", "illegal-dtype", "operand0: bfloat16; per-partition operands are float32",
     [](Builder& b, bool bad) {
       const Access c = column(b, "c", bad ? BF16 : F32);
       reduce(b, AluOp::Add, AluOp::Add, c);
     }},
    {"InitIsFloat32", "illegal-dtype", "reduce_init: bfloat16; per-partition operands are float32",
     [](Builder& b, bool bad) {
       const Access c = column(b, "c", bad ? BF16 : F32);
       reduce(b, AluOp::Add, AluOp::Add, 0.0, {.reduce_cmd = LoadReduce, .reduce_init = c});
     }},
    {"ResultIsAColumn", "size-limit", "reduce_res: 2 elements per partition",
     [](Builder& b, bool bad) {
       const Access c = sbuf(b, "c", {bad ? 2 : 1}, BF16);
       reduce(b, AluOp::Add, AluOp::Add, 0.0, {.reduce_res = c});
     }},
    {"DstAsLargeAsData", "size-limit", "data: 32 elements per partition but dst has 31",
     [](Builder& b, bool bad) {
       const Access d = sbuf(b, "d", {bad ? 31 : 32}), s = sbuf(b, "s");
       b.tensor_scalar_reduce(d, s, AluOp::Add, 1.0, AluOp::Add);
     }},
    {"ThreeFreeDimensions", "size-limit", "data: 4 free dimensions; tensor_scalar_reduce takes at most 3",
     [](Builder& b, bool bad) {
       Access s = sbuf(b, "s", {256});
       s.dims = bad ? std::vector<Dim>{{128, 2}, {32, 2}, {6, 2}, {1, 4}} : std::vector<Dim>{{128, 2}, {32, 2}, {1, 8}};
       b.tensor_scalar_reduce(sbuf(b, "d"), s, AluOp::Add, 1.0, AluOp::Add);
     }},
};
TRN_VERIFY_CASES(VerifyScalarReduce, kReduce);

void cumulative(Builder& b, AluOp op0, AluOp op1, DType dst = F32, DType src = F32, CumulativeOptions options = {}) {
  b.tensor_scalar_cumulative(sbuf(b, "d", {32}, dst), sbuf(b, "s", {32}, src), op0, 0.0, op1, std::move(options));
}
const std::vector<Case> kCumulative{
    {"BitOperator", "illegal-engine", "op0: 'left_shift' is not available here",
     [](Builder& b, bool bad) { cumulative(b, bad ? AluOp::LeftShift : AluOp::Less, AluOp::Add); }},
    {"Op1IsOneOfFive", "illegal-engine", "op1: 'power' is not available here",
     [](Builder& b, bool bad) { cumulative(b, AluOp::Add, bad ? AluOp::Power : AluOp::Subtract); }},
    {"NoIdle", "illegal-engine", "reduce_cmd: 'idle' is not available here",
     [](Builder& b, bool bad) {
       cumulative(b, AluOp::Add, AluOp::Add, F32, F32, {.reduce_cmd = bad ? Idle : LoadReduce});
     }},
    {"Imm1IsForLoad", "illegal-engine", "imm1: 'reset_reduce' does not read it",
     [](Builder& b, bool bad) {
       cumulative(b, AluOp::Add, AluOp::Add, F32, F32, {.reduce_cmd = bad ? ResetReduce : LoadReduce, .imm1 = 2.0});
     }},
    {"NoInt32", "illegal-dtype", "src: int32, which tensor_scalar_cumulative does not have",
     [](Builder& b, bool bad) { cumulative(b, AluOp::Add, AluOp::Add, F32, bad ? I32 : DType::Int16); }},
    {"NoUInt32Result", "illegal-dtype", "dst: uint32, which tensor_scalar_cumulative does not have",
     [](Builder& b, bool bad) { cumulative(b, AluOp::Add, AluOp::Add, bad ? U32 : U16, BF16); }},
    {"NoTFloat32", "illegal-dtype", "dst: tfloat32, which tensor_scalar_cumulative does not have",
     [](Builder& b, bool bad) { cumulative(b, AluOp::Add, AluOp::Add, bad ? TF32 : E4M3); }},
    {"Imm0IsFloat32", "illegal-dtype", "imm0: float16; per-partition operands are float32",
     [](Builder& b, bool bad) {
       const Access c = column(b, "c", bad ? FP16 : F32);
       b.tensor_scalar_cumulative(sbuf(b, "d"), sbuf(b, "s"), AluOp::Add, c, AluOp::Add);
     }},
    {"Imm1IsAColumn", "size-limit", "imm1: 4 elements per partition",
     [](Builder& b, bool bad) {
       const Access c = sbuf(b, "c", {bad ? 4 : 1});
       cumulative(b, AluOp::Add, AluOp::Add, F32, F32, {.reduce_cmd = LoadReduce, .imm1 = c});
     }},
    {"AsLargeAsSrc", "size-limit", "src: 32 elements per partition but dst has 8",
     [](Builder& b, bool bad) {
       b.tensor_scalar_cumulative(sbuf(b, "d", {bad ? 8 : 32}), sbuf(b, "s"), AluOp::Add, 0.0, AluOp::Add);
     }},
};
TRN_VERIFY_CASES(VerifyCumulative, kCumulative);

void select(Builder& b, DType predicate, DType on_true, SelectOptions options = {}, ScalarOrTile on_false = 0.0) {
  b.select_reduce(sbuf(b, "d"), sbuf(b, "p", {32}, predicate), sbuf(b, "s", {32}, on_true), std::move(on_false),
                  std::move(options));
}
const std::vector<Case> kSelect{
    {"BothInPsum", "illegal-space", "on_true and predicate: both inputs are in PSUM",
     [](Builder& b, bool bad) {
       const Access p = bad ? b.psum("p", 32, {32}, U8) : sbuf(b, "p", {32}, U8);
       b.select_reduce(b.psum("d", 32, {32}), p, b.psum("s", 32, {32}), 0.0);
     }},
    {"PredicateOf32Bits", "illegal-dtype", "predicate: uint32; predicates are int8, uint8, int16 or uint16",
     [](Builder& b, bool bad) { select(b, bad ? U32 : DType::Int16, F32); }},
    {"PredicateOfFloats", "illegal-dtype", "predicate: bfloat16; predicates are",
     [](Builder& b, bool bad) { select(b, bad ? BF16 : DType::Int8, F32); }},
    {"OnTrueIsNoInt32", "illegal-dtype", "on_true: int32, which select_reduce does not have",
     [](Builder& b, bool bad) { select(b, U8, bad ? I32 : DType::Int16); }},
    {"OnTrueIsNoTFloat32", "illegal-dtype", "on_true: tfloat32, which select_reduce does not have",
     [](Builder& b, bool bad) { select(b, U8, bad ? TF32 : F32); }},
    {"ResultIsFloat", "illegal-dtype", "reduce_res: int16; use a floating-point tile",
     [](Builder& b, bool bad) {
       const Access c = column(b, "c", bad ? DType::Int16 : BF16);
       select(b, U8, F32, {.reduce_res = c});
     }},
    {"NoLoad", "illegal-engine", "reduce_cmd: 'load_reduce' is not available here",
     [](Builder& b, bool bad) { select(b, U8, F32, {.reduce_cmd = bad ? LoadReduce : ResetReduce}); }},
    {"NoReset", "illegal-engine", "reduce_cmd: 'reset' is not available here",
     [](Builder& b, bool bad) { select(b, U8, F32, {.reduce_cmd = bad ? Reset : Idle}); }},
    {"IdleHasNoResult", "illegal-engine", "reduce_res: undefined after 'idle'",
     [](Builder& b, bool bad) {
       begin(b);
       const Access c = column(b, "c");
       select(b, U8, F32, {.reduce_res = c, .reduce_cmd = bad ? Idle : Reduce});
     }},
    {"OnFalseIsAColumn", "size-limit", "on_false: 32 elements per partition",
     [](Builder& b, bool bad) {
       const Access c = sbuf(b, "c", {bad ? 32 : 1}, BF16);
       select(b, U8, F32, {}, c);
     }},
    {"PredicateAsLargeAsDst", "size-limit", "predicate: 16 elements per partition but dst has 32",
     [](Builder& b, bool bad) {
       const Access p = sbuf(b, "p", {bad ? 16 : 32}, U8);
       b.select_reduce(sbuf(b, "d"), p, sbuf(b, "s"), 0.0);
     }},
};
TRN_VERIFY_CASES(VerifySelect, kSelect);

void range(Builder& b, AluOp op0, AluOp op1, RangeOptions options = {}, DType on_true = F32, DType bound = F32) {
  const Access low = column(b, "l", bound), high = column(b, "h");
  b.range_select(sbuf(b, "d"), sbuf(b, "s", {32}, on_true), op0, low, op1, high, std::move(options));
}
const std::vector<Case> kRange{
    {"NoNotEqual", "illegal-engine", "comp_op0: 'not_equal' is not available here; use equal, less",
     [](Builder& b, bool bad) { range(b, bad ? AluOp::NotEqual : AluOp::Equal, AluOp::Less); }},
    {"NoArithmetic", "illegal-engine", "comp_op1: 'add' is not available here",
     [](Builder& b, bool bad) { range(b, AluOp::GreaterEqual, bad ? AluOp::Add : AluOp::Greater); }},
    {"NoLoad", "illegal-engine", "reduce_cmd: 'load_reduce' is not available here",
     [](Builder& b, bool bad) { range(b, AluOp::Less, AluOp::Less, {.reduce_cmd = bad ? LoadReduce : Reset}); }},
    {"IdleHasNoResult", "illegal-engine", "reduce_res: undefined after 'idle'",
     [](Builder& b, bool bad) {
       const Access c = column(b, "c");
       range(b, AluOp::Less, AluOp::Less, {.reduce_res = bad ? c : Access{}, .reduce_cmd = Idle});
     }},
    {"OnTrueIsFloat", "illegal-dtype", "on_true_tile: int16; use a floating-point tile",
     [](Builder& b, bool bad) { range(b, AluOp::Less, AluOp::Less, {}, bad ? DType::Int16 : E4M3); }},
    {"BoundsAreFloat32", "illegal-dtype", "bound0: int32; per-partition operands are float32",
     [](Builder& b, bool bad) { range(b, AluOp::Less, AluOp::Less, {}, F32, bad ? I32 : F32); }},
    {"WithinExactNumbers", "size-limit", "range_start: 16777186 with 32 elements; element numbers are compared in fp32",
     [](Builder& b, bool bad) { range(b, AluOp::Less, AluOp::Less, {.range_start = (1 << 24) - (bad ? 30 : 31)}); }},
    {"NegativeStarts", "size-limit", "range_start: -16777217 with 32 elements",
     [](Builder& b, bool bad) { range(b, AluOp::Less, AluOp::Less, {.range_start = -(1 << 24) - (bad ? 1 : 0)}); }},
    {"BoundIsAColumn", "size-limit", "bound1: 2 elements per partition",
     [](Builder& b, bool bad) {
       const Access low = column(b, "l"), high = sbuf(b, "h", {bad ? 2 : 1});
       b.range_select(sbuf(b, "d"), sbuf(b, "s"), AluOp::Less, low, AluOp::Less, high);
     }},
};
TRN_VERIFY_CASES(VerifyRange, kRange);

TEST(VerifyRange, NotOnTrn1) {
  const auto messages = [](const char* name) {
    Builder b("range", machine(name));
    range(b, AluOp::Less, AluOp::Less);
    return all_messages(verify(b.finish_unverified(), machine(name)));
  };
  EXPECT_NE(messages("trn1").find("illegal-engine"), std::string::npos);
  EXPECT_NE(messages("trn1").find("trn1 has no range_select"), std::string::npos);
  EXPECT_EQ(messages("trn2"), "");
}

}  // namespace
}  // namespace trn::tile::test
