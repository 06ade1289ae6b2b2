// Rules about element types: illegal-dtype.
#include <cmath>

#include "verify_cases.hpp"

namespace trn::tile::test {
namespace {

Access sbuf(Builder& b, const char* name, DType dtype, std::int64_t free = 32) {
  return b.sbuf(name, 32, {free}, dtype);
}

void matmul(Builder& b, DType stationary, DType moving, DType dst = F32, MatmulOptions options = {}) {
  b.nc_matmul(b.psum("d", 32, {32}, dst), sbuf(b, "s", stationary), sbuf(b, "m", moving), std::move(options));
}

void double_row(Builder& b, DType dtype) {
  b.nc_matmul(b.psum("d", 32, {32}), b.sbuf("s", 32, {2, 32}, dtype), b.sbuf("m", 32, {2, 32}, dtype),
              {.perf_mode = MatmulMode::DoubleRow});
}

const std::vector<Case> kMatmul{
    {"IntegerOperand", "illegal-dtype", "stationary: int16; matmul operands are floating point",
     [](Builder& b, bool bad) { matmul(b, bad ? DType::Int16 : FP16, BF16); }},
    {"Float32WithBfloat16", "illegal-dtype", "float32 and bfloat16; a 4-byte operand needs a 4-byte partner",
     [](Builder& b, bool bad) { matmul(b, F32, bad ? BF16 : TF32); }},
    {"TFloat32WithFloat16", "illegal-dtype", "float16 and tfloat32",
     [](Builder& b, bool bad) { matmul(b, bad ? FP16 : F32, TF32); }},
    {"Fp8WithBfloat16IsLegal", "illegal-dtype", "float8_e5m2 and float32",
     [](Builder& b, bool bad) { matmul(b, DType::Float8E5M2, bad ? F32 : BF16); }},
    {"MixedE4M3", "illegal-dtype", "float8_e4m3 and float8_e4m3fn cannot be mixed",
     [](Builder& b, bool bad) { matmul(b, bad ? E4M3 : E4M3FN, E4M3FN); }, "trn3"},
    {"E4M3FNNotOnTrn2", "illegal-dtype", "trn2 does not have",
     [](Builder& b, bool bad) { matmul(b, bad ? E4M3FN : E4M3, E4M3); }},
    {"DoubleRowIsFp8", "illegal-dtype", "bfloat16; double_row takes 8-bit floats only",
     [](Builder& b, bool bad) { double_row(b, bad ? BF16 : E4M3); }},
    {"PsumIsFloat32", "illegal-dtype", "dst: bfloat16; a matmul of trn2 writes float32",
     [](Builder& b, bool bad) { matmul(b, BF16, BF16, bad ? BF16 : F32); }},
    {"PsumIsFloat32OrBfloat16OnTrn3", "illegal-dtype", "dst: float16; a matmul of trn3 writes float32 or bfloat16",
     [](Builder& b, bool bad) { matmul(b, BF16, BF16, bad ? FP16 : BF16); }, "trn3"},
    {"PassThroughTransposeKeepsTheDtype", "illegal-dtype", "dst: float32 but stationary is bfloat16",
     [](Builder& b, bool bad) { matmul(b, BF16, BF16, bad ? F32 : BF16, {.is_transpose = true}); }},
    {"PassThroughTransposeIdentity", "illegal-dtype", "stationary: bfloat16 but moving is float16",
     [](Builder& b, bool bad) { matmul(b, BF16, bad ? FP16 : BF16, BF16, {.is_transpose = true}); }},
    {"TransposeOnTensor", "illegal-dtype", "dst: float32 but data is bfloat16",
     [](Builder& b, bool bad) { b.nc_transpose(b.psum("d", 32, {32}, bad ? F32 : BF16), sbuf(b, "s", BF16)); }},
    {"TransposeOnVector", "illegal-dtype", "dst: float16 but data is bfloat16",
     [](Builder& b, bool bad) { b.nc_transpose(sbuf(b, "d", bad ? FP16 : BF16), sbuf(b, "s", BF16), Engine::Vector); }},
};
TRN_VERIFY_CASES(VerifyMatmulDtype, kMatmul);

void bits(Builder& b, DType dst, DType data1, DType data2) {
  b.tensor_tensor(sbuf(b, "d", dst), sbuf(b, "s", data1), sbuf(b, "u", data2), AluOp::BitwiseAnd, Engine::Vector);
}

void scalar_bits(Builder& b, AluOp op0, ScalarOrTile operand0, AluOp op1 = AluOp::None) {
  b.tensor_scalar(sbuf(b, "d", U16), sbuf(b, "s", U16), op0, std::move(operand0),
                  {.op1 = op1, .operand1 = op1 == AluOp::None ? 0.0 : 1.0, .engine = Engine::Vector});
}

const std::vector<Case> kAlu{
    {"BitsOfFloats", "illegal-dtype", "data1: float32 with dst uint32; bitwise_and needs integers of one width",
     [](Builder& b, bool bad) { bits(b, U32, bad ? F32 : I32, U32); }},
    {"BitsOfTwoWidths", "illegal-dtype", "data2: uint16 with dst uint32",
     [](Builder& b, bool bad) { bits(b, U32, U32, bad ? U16 : U32); }},
    {"BitsReduced", "illegal-dtype", "data: uint16 with dst uint32",
     [](Builder& b, bool bad) {
       b.tensor_reduce(sbuf(b, "d", U32, 1), AluOp::BitwiseOr, sbuf(b, "s", bad ? U16 : U32));
     }},
    {"BitsReducedAcrossPartitions", "illegal-dtype", "data: float32 with dst uint32",
     [](Builder& b, bool bad) {
       b.tensor_partition_reduce(b.sbuf("d", 1, {32}, U32), AluOp::BitwiseAnd, sbuf(b, "s", bad ? F32 : U32));
     }},
    {"ScalarBitsOfFloats", "illegal-dtype", "data: float32 with dst uint16",
     [](Builder& b, bool bad) {
       b.tensor_scalar(sbuf(b, "d", U16), sbuf(b, "s", bad ? F32 : U16), AluOp::LeftShift, 1.0);
     }},
    {"BitImmediateIsWhole", "illegal-dtype", "operand0: 0.5 is not a uint16 value",
     [](Builder& b, bool bad) { scalar_bits(b, AluOp::BitwiseAnd, bad ? 0.5 : 255.0); }},
    {"BitImmediateFits", "illegal-dtype", "operand0: 65536 is not a uint16 value",
     [](Builder& b, bool bad) { scalar_bits(b, AluOp::BitwiseAnd, bad ? 65536.0 : -1.0); }},
    {"BitOperandTile", "illegal-dtype", "operand0: float32; right_shift needs integers as wide",
     [](Builder& b, bool bad) { scalar_bits(b, AluOp::RightShift, sbuf(b, "o", bad ? F32 : U16, 1)); }},
    {"OneClassOfOperators", "illegal-dtype", "op1: bitwise_and and add; both operators act on bits or both on numbers",
     [](Builder& b, bool bad) { scalar_bits(b, AluOp::BitwiseAnd, 1.0, bad ? AluOp::Add : AluOp::LeftShift); }},
    {"Operand0IsFloat32", "illegal-dtype", "operand0: bfloat16; per-partition operands are float32",
     [](Builder& b, bool bad) {
       b.tensor_scalar(sbuf(b, "d", F32), sbuf(b, "s", F32), AluOp::Add, sbuf(b, "o", bad ? BF16 : F32, 1));
     }},
    {"Operand1IsFloat32", "illegal-dtype", "operand1: int32; per-partition operands are float32",
     [](Builder& b, bool bad) {
       b.tensor_scalar(sbuf(b, "d", F32), sbuf(b, "s", F32), AluOp::Add, 1.0,
                       {.op1 = AluOp::Multiply, .operand1 = sbuf(b, "o", bad ? I32 : F32, 1)});
     }},
    {"ScalarTensorTensorOperand0", "illegal-dtype", "operand0: float16; per-partition operands are float32",
     [](Builder& b, bool bad) {
       b.scalar_tensor_tensor(sbuf(b, "d", F32), sbuf(b, "s", F32), AluOp::Add, sbuf(b, "o", bad ? FP16 : F32, 1),
                              AluOp::Add, sbuf(b, "u", F32));
     }},
    {"ScanInitial", "illegal-dtype", "initial: float16; per-partition operands are float32",
     [](Builder& b, bool bad) {
       b.tensor_tensor_scan(sbuf(b, "d", F32), sbuf(b, "s", F32), sbuf(b, "u", F32), sbuf(b, "o", bad ? FP16 : F32, 1),
                            AluOp::Multiply, AluOp::Add);
     }},
};
TRN_VERIFY_CASES(VerifyAluDtype, kAlu);

const std::vector<Case> kOther{
    {"Float64Tile", "illegal-dtype", "is float64, which no engine has",
     [](Builder& b, bool bad) { b.sbuf("d", 32, {32}, bad ? DType::Float64 : F32); }},
    {"ComplexTile", "illegal-dtype", "is complex64, which no engine has",
     [](Builder& b, bool bad) { b.sbuf("d", 32, {32}, bad ? DType::Complex64 : F32); }},
    {"ComplexThroughDma", "illegal-dtype", "src: complex64, which neither the engines nor DMA have",
     [](Builder& b, bool bad) {
       const Access x = b.input("x", bad ? DType::Complex64 : F32, {32, 32});
       b.dma_copy(b.sbuf("d", 32, {32}, F32), x);
     }},
    {"Int64Tile", "illegal-dtype", "is int64, which no engine has",
     [](Builder& b, bool bad) { b.sbuf("d", 32, {32}, bad ? DType::Int64 : F32); }},
    {"UInt64ThroughDma", "illegal-dtype", "src: uint64, which neither the engines nor DMA have",
     [](Builder& b, bool bad) {
       const Access x = b.input("x", bad ? DType::UInt64 : F32, {32, 32});
       b.dma_copy(b.sbuf("d", 32, {32}, F32), x);
     }},
    {"Float64View", "illegal-dtype", "dst: float64",
     [](Builder& b, bool bad) { b.memset(sbuf(b, "d", F32).view(bad ? DType::Float64 : I32), 0); }},
    {"Float64ThroughDma", "illegal-dtype", "src: float64, which neither the engines nor DMA have",
     [](Builder& b, bool bad) {
       const Access x = b.input("x", DType::Float64, {32, 32});
       b.dma_copy(sbuf(b, "d", F32, bad ? 32 : 64), bad ? x : x.view(F32));
     }},
    {"PredicateIsUnsigned", "illegal-dtype", "predicate: int32; predicates are uint8, uint16 or uint32",
     [](Builder& b, bool bad) {
       b.tensor_copy_predicated(sbuf(b, "d", F32), sbuf(b, "s", F32), sbuf(b, "p", bad ? I32 : U16));
     }},
    {"PredicatedCopyKeepsTheDtype", "illegal-dtype", "src: bfloat16 but dst is float32",
     [](Builder& b, bool bad) {
       b.tensor_copy_predicated(sbuf(b, "d", F32), sbuf(b, "s", bad ? BF16 : F32), sbuf(b, "p", U8));
     }},
    {"HardwareDmaDoesNotCast", "illegal-dtype", "dst: bfloat16 but src is float32",
     [](Builder& b, bool bad) {
       const Access x = b.input("x", F32, {32, 32});
       b.dma_copy(sbuf(b, "d", bad ? BF16 : F32), x, {.dge = DgeMode::Hardware});
     }},
    {"OtherDmaCasts", "illegal-dtype", "dst: bfloat16 but src is float32",
     [](Builder& b, bool bad) {
       const Access x = b.input("x", F32, {32, 32});
       b.dma_copy(sbuf(b, "d", BF16), x, {.dge = bad ? DgeMode::Hardware : DgeMode::Software});
     }},
    {"DmaTransposeKeepsTheDtype", "illegal-dtype", "dst: float16 but src is bfloat16",
     [](Builder& b, bool bad) {
       b.dma_transpose(sbuf(b, "d", bad ? FP16 : BF16), b.input("x", BF16, {32, 32}));
     }},
    {"GatherIndex", "illegal-dtype", "index: uint16; row indices are uint32 or int32",
     [](Builder& b, bool bad) {
       const Access x = b.input("x", F32, {64, 32});
       b.dma_gather(sbuf(b, "d", F32), x, sbuf(b, "i", bad ? U16 : I32, 1));
     }},
    {"LocalGatherIndex", "illegal-dtype", "index: uint32; local_gather indices are uint16",
     [](Builder& b, bool bad) {
       b.local_gather(sbuf(b, "d", F32), sbuf(b, "s", F32), sbuf(b, "i", bad ? U32 : U16, 2));
     }},
    {"LocalGatherKeepsTheDtype", "illegal-dtype", "dst: bfloat16 but src_buffer is float32",
     [](Builder& b, bool bad) {
       b.local_gather(sbuf(b, "d", bad ? BF16 : F32), sbuf(b, "s", F32), sbuf(b, "i", U16, 2));
     }},
    {"Fp8TransposeFillsSixteenBits", "illegal-dtype", "trn2 transposes float8_e4m3 into 16-bit elements",
     [](Builder& b, bool bad) { b.nc_transpose(b.psum("d", 32, {32}, bad ? E4M3 : U16), sbuf(b, "s", E4M3)); }},
    {"Fp8PassThroughFillsSixteenBits", "illegal-dtype", "trn3 transposes float8_e4m3 into 16-bit elements",
     [](Builder& b, bool bad) {
       const Access d = b.psum("d", 32, {32}, bad ? E4M3 : U16);
       b.nc_matmul(d, sbuf(b, "s", E4M3), sbuf(b, "m", E4M3), {.is_transpose = true});
     },
     "trn3"},
    {"Fp8TransposeByVectorKeepsTheDtype", "illegal-dtype", "dst: uint16 but data is float8_e4m3",
     [](Builder& b, bool bad) { b.nc_transpose(sbuf(b, "d", bad ? U16 : E4M3), sbuf(b, "s", E4M3), Engine::Vector); }},
    {"PredicatedNumber", "illegal-dtype", "src: 0.5 is not a int32 value",
     [](Builder& b, bool bad) { b.tensor_copy_predicated(sbuf(b, "d", bad ? I32 : F32), 0.5, sbuf(b, "m", U8)); }},
    {"MemsetFraction", "illegal-dtype", "value: 0.5 is not a int32 value",
     [](Builder& b, bool bad) { b.memset(sbuf(b, "d", I32), bad ? 0.5 : -2147483648.0); }},
    {"MemsetRange", "illegal-dtype", "value: 256 is not a uint8 value",
     [](Builder& b, bool bad) { b.memset(sbuf(b, "d", U8), bad ? 256 : 255); }},
    {"MemsetSign", "illegal-dtype", "value: -1 is not a uint16 value",
     [](Builder& b, bool bad) { b.memset(sbuf(b, "d", U16), bad ? -1 : 0); }},
    {"MemsetNanIsAFloat", "illegal-dtype", "value: nan is not a int32 value",
     [](Builder& b, bool bad) { b.memset(sbuf(b, "d", bad ? I32 : F32), std::nan("")); }},
    {"BiasIsNotTFloat32", "illegal-dtype", "bias: tfloat32; a bias is any float but tfloat32",
     [](Builder& b, bool bad) {
       b.activation(sbuf(b, "d", F32), ActFunction::Exp, sbuf(b, "s", F32),
                    {.bias = sbuf(b, "o", bad ? TF32 : BF16, 1)});
     }},
    {"BiasIsNotAnInteger", "illegal-dtype", "bias: int32",
     [](Builder& b, bool bad) {
       b.activation(sbuf(b, "d", F32), ActFunction::Exp, sbuf(b, "s", F32), {.bias = sbuf(b, "o", bad ? I32 : F32, 1)});
     }},
    {"ScaleIsFloat32", "illegal-dtype", "scale: bfloat16; per-partition operands are float32",
     [](Builder& b, bool bad) {
       b.activation(sbuf(b, "d", F32), ActFunction::Exp, sbuf(b, "s", F32),
                    {.scale = sbuf(b, "o", bad ? BF16 : F32, 1)});
     }},
};
TRN_VERIFY_CASES(VerifyOtherDtype, kOther);

TEST(VerifyIota, WritesEveryDtype) {
  for (const DType d : {F32, BF16, FP16, TF32, E4M3, I32, U32, U16, U8}) {
    Builder b("iota", machine("trn2"));
    b.iota(sbuf(b, "d", d), {{1, 32}});
    EXPECT_EQ(all_messages(verify(b.finish_unverified(), machine("trn2"))), "") << name(d);
  }
}

TEST(VerifyActivation, ReducesByAddAndOnlyWithADestination) {
  const auto rule_for = [](AluOp op, bool destination) -> std::string {
    Builder b("activation", machine("trn2"));
    const Access sum = sbuf(b, "sum", F32, 1);
    b.activation(sbuf(b, "d", F32), ActFunction::Exp, sbuf(b, "s", F32), {.reduce_res = destination ? sum : Access{}});
    Program::Parts parts = b.finish_unverified().parts();
    parts.instructions.front().as<isa::Activation>()->reduce_op = op;
    const auto diagnostics = verify(Program(parts), machine("trn2"));
    return diagnostics.empty() ? "" : diagnostics.front().rule;
  };
  EXPECT_EQ(rule_for(AluOp::Add, true), "");
  EXPECT_EQ(rule_for(AluOp::None, false), "");
  EXPECT_EQ(rule_for(AluOp::Maximum, true), "illegal-engine");
  EXPECT_EQ(rule_for(AluOp::None, true), "illegal-engine");
  EXPECT_EQ(rule_for(AluOp::Add, false), "illegal-engine");
}

}  // namespace
}  // namespace trn::tile::test
