// Rules about engines and memories: illegal-space and illegal-engine.
#include "verify_cases.hpp"

namespace trn::tile::test {
namespace {

Access tile(Builder& b, const char* name, bool in_psum, DType dtype = F32) {
  return in_psum ? b.psum(name, 32, {32}, dtype) : b.sbuf(name, 32, {32}, dtype);
}

const std::vector<Case> kSpaces{
    {"MatmulWritesPsum", "illegal-space", "dst: the tensor engine writes PSUM only",
     [](Builder& b, bool bad) {
       b.nc_matmul(tile(b, "d", !bad), tile(b, "s", false, BF16), tile(b, "m", false, BF16));
     }},
    {"MatmulReadsSbuf", "illegal-space", "moving: the tensor engine reads SBUF only",
     [](Builder& b, bool bad) { b.nc_matmul(tile(b, "d", true), tile(b, "s", false, BF16), tile(b, "m", bad, BF16)); }},
    {"StationaryInSbuf", "illegal-space", "stationary: the tensor engine reads SBUF only",
     [](Builder& b, bool bad) { b.nc_matmul(tile(b, "d", true), tile(b, "s", bad, BF16), tile(b, "m", false, BF16)); }},
    {"TransposeOnTensorWritesPsum", "illegal-space", "dst: the tensor engine writes PSUM only",
     [](Builder& b, bool bad) { b.nc_transpose(tile(b, "d", !bad), tile(b, "s", false)); }},
    {"DmaNeverWritesPsum", "illegal-space", "dst: DMA does not reach PSUM",
     [](Builder& b, bool bad) {
       b.dma_copy(tile(b, "d", bad), b.input("x", F32, {32, 32}));
     }},
    {"DmaNeverReadsPsum", "illegal-space", "src: DMA does not reach PSUM",
     [](Builder& b, bool bad) {
       b.dma_copy(b.output("y", F32, {32, 32}), tile(b, "s", bad));
     }},
    {"DmaTransposeWritesSbuf", "illegal-space", "dst: dma_transpose writes SBUF tiles only",
     [](Builder& b, bool bad) {
       const Access y = b.output("y", F32, {32, 32}), x = b.input("x", F32, {32, 32});
       b.dma_transpose(bad ? y : tile(b, "d", false), x);
     }},
    {"GatherIndexInSbuf", "illegal-space", "index: row indices must be in an SBUF tile",
     [](Builder& b, bool bad) {
       const Access x = b.input("x", F32, {64, 32}), h = b.input("h", U32, {32, 1});
       b.dma_gather(tile(b, "d", false), x, bad ? h : b.sbuf("i", 32, {1}, U32));
     }},
    {"GatherFromHbm", "illegal-space", "src: indices select rows of HBM tensors only",
     [](Builder& b, bool bad) {
       const Access x = b.input("x", F32, {32, 32});
       b.dma_gather(tile(b, "d", false), bad ? tile(b, "s", false) : x, b.sbuf("i", 32, {1}, U32));
     }},
    {"ScatterToHbm", "illegal-space", "dst: indices select rows of HBM tensors only",
     [](Builder& b, bool bad) {
       const Access y = b.output("y", F32, {32, 32});
       b.dma_scatter(bad ? tile(b, "d", false) : y, tile(b, "s", false), b.sbuf("i", 32, {1}, U32));
     }},
    {"OnlyDmaReadsHbm", "illegal-space", "src: only DMA reaches HBM, the vector engine does not",
     [](Builder& b, bool bad) {
       const Access x = b.input("x", F32, {32, 32});
       b.tensor_copy(tile(b, "d", false), bad ? x : tile(b, "s", false), Engine::Vector);
     }},
    {"OnlyDmaWritesHbm", "illegal-space", "no engine of trn2 can run it",
     [](Builder& b, bool bad) {
       const Access y = b.output("y", F32, {32, 32});
       b.memset(bad ? y : tile(b, "d", false), 0);
     }},
    {"TensorTensorBothPsum", "illegal-space", "data1 and data2: both inputs are in PSUM",
     [](Builder& b, bool bad) {
       b.tensor_tensor(tile(b, "d", true), tile(b, "s", true), tile(b, "u", bad), AluOp::Add);
     }},
    {"ScalarTensorTensorBothPsum", "illegal-space", "data and operand1: both inputs are in PSUM",
     [](Builder& b, bool bad) {
       b.scalar_tensor_tensor(tile(b, "d", true), tile(b, "s", true), AluOp::Add, 1.0, AluOp::Add, tile(b, "u", bad));
     }},
    {"ScanBothPsum", "illegal-space", "data0 and data1: both inputs are in PSUM",
     [](Builder& b, bool bad) {
       b.tensor_tensor_scan(tile(b, "d", true), tile(b, "s", true), tile(b, "u", bad), 0.0, AluOp::Add, AluOp::Add);
     }},
    {"PredicatedBothPsum", "illegal-space", "src and predicate: both inputs are in PSUM",
     [](Builder& b, bool bad) {
       b.tensor_copy_predicated(tile(b, "d", true), tile(b, "s", true), tile(b, "u", bad, U8));
     }},
    {"GpSimdTensorTensor", "illegal-space", "data1: the gpsimd engine does not reach PSUM",
     [](Builder& b, bool bad) {
       b.tensor_tensor(tile(b, "d", false), tile(b, "s", bad), tile(b, "u", false), AluOp::Add, Engine::GpSimd);
     }},
    {"GpSimdMemset", "illegal-space", "dst: the gpsimd engine does not reach PSUM",
     [](Builder& b, bool bad) { b.memset(tile(b, "d", bad), 0, Engine::GpSimd); }},
    {"GpSimdCopy", "illegal-space", "src: the gpsimd engine does not reach PSUM",
     [](Builder& b, bool bad) { b.tensor_copy(tile(b, "d", false), tile(b, "s", bad), Engine::GpSimd); }},
    {"Iota", "illegal-space", "dst: the gpsimd engine does not reach PSUM",
     [](Builder& b, bool bad) {
       b.iota(tile(b, "d", bad), {{1, 32}});
     }},
    {"AffineSelect", "illegal-space", "on_true_tile: the gpsimd engine does not reach PSUM",
     [](Builder& b, bool bad) {
       b.affine_select(tile(b, "d", false), {{1, 32}}, 0, 0, AluOp::Equal, tile(b, "s", bad), 0.0);
     }},
    {"LocalGather", "illegal-space", "src_buffer: the gpsimd engine does not reach PSUM",
     [](Builder& b, bool bad) { b.local_gather(tile(b, "d", false), tile(b, "s", bad), b.sbuf("i", 32, {2}, U16)); }},
    {"PartitionReduce", "illegal-space", "data: the gpsimd engine does not reach PSUM",
     [](Builder& b, bool bad) { b.tensor_partition_reduce(b.sbuf("d", 1, {32}, F32), AluOp::Add, tile(b, "s", bad)); }},
    {"PowerInPsumHasNoEngine", "illegal-engine", "no engine of trn2 can run it",
     [](Builder& b, bool bad) {
       b.tensor_tensor(tile(b, "d", false), tile(b, "s", bad), tile(b, "u", false), AluOp::Power);
     }},
};
TRN_VERIFY_CASES(VerifySpace, kSpaces);

// dst and data of 32 x 32 in SBUF.
void scalar_op(Builder& b, AluOp op0, AluOp op1, Engine engine, DType dtype = F32) {
  b.tensor_scalar(tile(b, "d", false, dtype), tile(b, "s", false, dtype), op0, 1.0,
                  {.op1 = op1, .operand1 = op1 == AluOp::None ? 0.0 : 1.0, .engine = engine});
}

void tile_op(Builder& b, AluOp op, Engine engine, DType dtype = F32) {
  b.tensor_tensor(tile(b, "d", false, dtype), tile(b, "s", false, dtype), tile(b, "u", false, dtype), op, engine);
}

const std::vector<Case> kEngines{
    {"NotAnEngineOfTheOpcode", "illegal-engine", "the scalar engine has no tensor_tensor",
     [](Builder& b, bool bad) { tile_op(b, AluOp::Add, bad ? Engine::Scalar : Engine::Any); }},
    {"ScalarCopyNotOnTrn1", "illegal-engine", "the scalar engine of trn1 has no tensor_copy",
     [](Builder& b, bool bad) {
       b.tensor_copy(tile(b, "d", false), tile(b, "s", false), bad ? Engine::Scalar : Engine::Vector);
     },
     "trn1"},
    {"ScalarCopyOnTrn2", "illegal-engine", "the tensor engine has no tensor_copy",
     [](Builder& b, bool bad) {
       b.tensor_copy(tile(b, "d", false), tile(b, "s", false), bad ? Engine::Tensor : Engine::Scalar);
     }},
    {"ScalarTensorScalarNotOnTrn1", "illegal-engine", "the scalar engine of trn1 has no tensor_scalar",
     [](Builder& b, bool bad) { scalar_op(b, AluOp::Multiply, AluOp::None, bad ? Engine::Scalar : Engine::Any); },
     "trn1"},
    {"ScalarMultiplyAdd", "illegal-engine", "not add+multiply",
     [](Builder& b, bool bad) {
       scalar_op(b, bad ? AluOp::Add : AluOp::Multiply, bad ? AluOp::Multiply : AluOp::Add, Engine::Scalar);
     }},
    {"ScalarAdd", "illegal-engine", "not maximum+none",
     [](Builder& b, bool bad) { scalar_op(b, bad ? AluOp::Maximum : AluOp::Add, AluOp::None, Engine::Scalar); }},
    {"GpSimdRsqrt", "illegal-engine", "the gpsimd engine has only rsqrt here, not multiply+none",
     [](Builder& b, bool bad) { scalar_op(b, bad ? AluOp::Multiply : AluOp::Rsqrt, AluOp::None, Engine::GpSimd); }},
    {"RsqrtNotOnVector", "illegal-engine", "op0: the vector engine has no rsqrt",
     [](Builder& b, bool bad) { scalar_op(b, AluOp::Rsqrt, AluOp::None, bad ? Engine::Vector : Engine::GpSimd); }},
    {"RsqrtNotAsSecondOperator", "illegal-engine", "op1: the vector engine has no rsqrt",
     [](Builder& b, bool bad) { scalar_op(b, AluOp::Add, bad ? AluOp::Rsqrt : AluOp::Abs, Engine::Vector); }},
    {"GathersNotOnTrn1", "illegal-engine", "index: trn1 has no gathers and scatters",
     [](Builder& b, bool bad) {
       const Access x = b.input("x", F32, {32, 32});
       if (bad)
         b.dma_gather(tile(b, "d", false), x, b.sbuf("i", 32, {1}, U32));
       else
         b.dma_copy(tile(b, "d", false), x);
     },
     "trn1"},
    {"ScattersNotOnTrn1", "illegal-engine", "index: trn1 has no gathers and scatters",
     [](Builder& b, bool bad) {
       const Access y = b.output("y", F32, {32, 32});
       if (bad)
         b.dma_scatter(y, tile(b, "s", false), b.sbuf("i", 32, {1}, U32));
       else
         b.dma_copy(y, tile(b, "s", false));
     },
     "trn1"},
    {"IssuerNeedsHardwareDescriptors", "illegal-engine", "issuer: 'sync' triggers hardware descriptors only",
     [](Builder& b, bool bad) {
       b.dma_copy(tile(b, "d", false), b.input("x", F32, {32, 32}),
                  {.dge = bad ? DgeMode::Default : DgeMode::Hardware, .issuer = DmaIssuer::Sync});
     }},
    {"ActivationHasNothingToLoad", "illegal-engine", "reduce_cmd: activation has no value to load",
     [](Builder& b, bool bad) {
       b.activation(tile(b, "d", false), ActFunction::Exp, tile(b, "s", false),
                    {.reduce_res = b.sbuf("r", 32, {1}, F32),
                     .reduce_cmd = bad ? ReduceCmd::LoadReduce : ReduceCmd::ResetReduce});
     }},
    {"NoReductionByAbsMax", "illegal-engine", "op: 'abs_max' is not available here",
     [](Builder& b, bool bad) {
       b.tensor_reduce(b.sbuf("d", 32, {1}, F32), bad ? AluOp::AbsMax : AluOp::Maximum, tile(b, "s", false));
     },
     "trn3"},
    {"PowerOnGpSimd", "illegal-engine", "power of two tiles runs on gpsimd only",
     [](Builder& b, bool bad) { tile_op(b, AluOp::Power, bad ? Engine::Vector : Engine::GpSimd); }},
    {"BitsOnVector", "illegal-engine", "bit operations run on vector only, not on gpsimd",
     [](Builder& b, bool bad) { tile_op(b, AluOp::BitwiseXor, bad ? Engine::GpSimd : Engine::Vector, U32); }},
    {"AbsMax", "illegal-engine", "trn2 has no abs_max",
     [](Builder& b, bool bad) { tile_op(b, bad ? AluOp::AbsMax : AluOp::Maximum, Engine::Vector); }},
    {"AbsMinInSecondSlot", "illegal-engine", "trn2 has no abs_min",
     [](Builder& b, bool bad) { scalar_op(b, AluOp::Add, bad ? AluOp::AbsMin : AluOp::Minimum, Engine::Vector); }},
    {"ReverseOfAUnaryOperator", "illegal-engine", "operand0: 'abs' takes no such option",
     [](Builder& b, bool bad) {
       b.tensor_scalar(tile(b, "d", false), tile(b, "s", false), AluOp::Abs, 0.0, {.reverse0 = bad});
     }},
    {"OperandWithoutOperator", "illegal-engine", "operand1: 'none' takes no such option",
     [](Builder& b, bool bad) {
       b.tensor_scalar(tile(b, "d", false), tile(b, "s", false), AluOp::Add, 1.0, {.operand1 = bad ? 5.0 : 0.0});
     }},
    {"RingThatDoesNotExist", "illegal-engine", "ring 1000 does not exist",
     [](Builder& b, bool bad) {
       const Access x = b.input("x", F32, {32, 32});
       b.dma_copy(tile(b, "d", false), x, {.ring = bad ? 1000 : 0});
     }},
    {"SquareInTensorScalarOnTrn3Only", "illegal-engine", "tensor_scalar of trn2 has no square",
     [](Builder& b, bool bad) { scalar_op(b, bad ? AluOp::Square : AluOp::Abs, AluOp::None, Engine::Vector); }},
    {"NumberAsBiasNotOnTrn1", "illegal-engine", "activation of trn1 takes its bias from a tile",
     [](Builder& b, bool bad) {
       b.activation(tile(b, "d", false), ActFunction::Exp, tile(b, "s", false), {.bias = bad ? 0.5 : 0.0});
     },
     "trn1"},
    {"DoubleRowNotOnTrn1", "illegal-engine", "trn1 has no double_row",
     [](Builder& b, bool bad) {
       const Access s = b.sbuf("s", 32, {2, 32}, E4M3), m = b.sbuf("m", 32, {2, 32}, E4M3), d = b.psum("d", 32, {32});
       if (bad) return b.nc_matmul(d, s, m, {.perf_mode = MatmulMode::DoubleRow});
       b.nc_matmul(d, s(all, ds(0, 1), all), m(all, ds(0, 1), all));
     },
     "trn1"},
    {"DoubleRowOnTrn2", "illegal-engine", "a transpose cannot use double_row",
     [](Builder& b, bool bad) {
       const Access s = b.sbuf("s", 32, {2, 32}, E4M3), m = b.sbuf("m", 32, {2, 32}, E4M3);
       b.nc_matmul(bad ? b.psum("d", 32, {32}, U16) : b.psum("d", 32, {32}), s, m,
                   {.perf_mode = MatmulMode::DoubleRow, .is_transpose = bad});
     }},
    {"PassThroughTransposeNotOnTrn1", "illegal-engine", "trn1 has no pass-through transpose",
     [](Builder& b, bool bad) {
       b.nc_matmul(tile(b, "d", true), tile(b, "s", false), tile(b, "m", false), {.is_transpose = bad});
     },
     "trn1"},
    {"PassThroughTransposeOnTrn2", "illegal-engine", "the dma engine has no nc_transpose",
     [](Builder& b, bool bad) {
       const Access d = tile(b, "d", true), s = tile(b, "s", false), m = tile(b, "m", false);
       if (bad) return b.nc_transpose(d, s, Engine::Dma);
       b.nc_matmul(d, s, m, {.is_transpose = true});
     }},
    {"VectorTransposeFree", "illegal-engine", "vector transposes at most 32 x 32, this is 32 x 33",
     [](Builder& b, bool bad) {
       const std::int64_t n = bad ? 33 : 32;
       b.nc_transpose(b.sbuf("d", n, {32}, F32), b.sbuf("s", 32, {n}, F32), Engine::Vector);
     }},
    {"VectorTransposePartitions", "illegal-engine", "vector transposes at most 32 x 32, this is 64 x 32",
     [](Builder& b, bool bad) {
       const std::int64_t n = bad ? 64 : 32;
       b.nc_transpose(b.sbuf("d", 32, {n}, F32), b.sbuf("s", n, {32}, F32), Engine::Vector);
     }},
    {"HardwareDescriptorsNotOnTrn1", "illegal-engine", "trn1 has no hardware descriptor generator",
     [](Builder& b, bool bad) {
       b.dma_copy(tile(b, "d", false), b.input("x", F32, {32, 32}), {.dge = bad ? DgeMode::Hardware : DgeMode::Static});
     },
     "trn1"},
    {"UnaryOfTwoTiles", "illegal-engine", "op: 'square' is not available here",
     [](Builder& b, bool bad) { tile_op(b, bad ? AluOp::Square : AluOp::Multiply, Engine::Vector); }},
    {"NoOperator", "illegal-engine", "op0: 'none' is not available here",
     [](Builder& b, bool bad) { scalar_op(b, bad ? AluOp::None : AluOp::Abs, AluOp::None, Engine::Vector); }},
    {"AverageOnlyAcrossPartitions", "illegal-engine", "op1: 'average' is not available here",
     [](Builder& b, bool bad) { scalar_op(b, AluOp::Add, bad ? AluOp::Average : AluOp::Add, Engine::Vector); }},
    {"ScalarTensorTensorIsArithmetic", "illegal-engine", "op1: 'bitwise_or' is not available here",
     [](Builder& b, bool bad) {
       b.scalar_tensor_tensor(tile(b, "d", false), tile(b, "s", false), AluOp::Add, 1.0,
                              bad ? AluOp::BitwiseOr : AluOp::Less, tile(b, "u", false));
     }},
    {"ScanIsArithmetic", "illegal-engine", "op0: 'left_shift' is not available here",
     [](Builder& b, bool bad) {
       b.tensor_tensor_scan(tile(b, "d", false), tile(b, "s", false), tile(b, "u", false), 0.0,
                            bad ? AluOp::LeftShift : AluOp::Multiply, AluOp::Add);
     }},
    {"ReductionOperator", "illegal-engine", "op: 'greater' is not available here",
     [](Builder& b, bool bad) {
       b.tensor_reduce(b.sbuf("d", 32, {1}, F32), bad ? AluOp::Greater : AluOp::Multiply, tile(b, "s", false));
     }},
    {"PartitionReductionOperator", "illegal-engine", "op: 'minimum' is not available here",
     [](Builder& b, bool bad) {
       b.tensor_partition_reduce(b.sbuf("d", 1, {32}, F32), bad ? AluOp::Minimum : AluOp::Average, tile(b, "s", false));
     }},
    {"AffineSelectComparison", "illegal-engine", "cmp_op: 'add' is not available here",
     [](Builder& b, bool bad) {
       b.affine_select(tile(b, "d", false), {{1, 32}}, 0, 0, bad ? AluOp::Add : AluOp::Less, tile(b, "s", false), 0.0);
     }},
};
TRN_VERIFY_CASES(VerifyEngine, kEngines);

TEST(VerifyEngineTrn3, AbsMaxExists) {
  const Machine& m = machine("trn3");
  Builder b("abs_max", m);
  tile_op(b, AluOp::AbsMax, Engine::Vector);
  EXPECT_EQ(all_messages(verify(b.finish_unverified(), m)), "");
}

TEST(VerifyEngine, IndirectCopiesTakeSoftwareDescriptors) {
  for (const DgeMode dge : {DgeMode::Default, DgeMode::Software, DgeMode::Static, DgeMode::Hardware}) {
    Builder b("gather", machine("trn2"));
    const Access x = b.input("x", F32, {64, 32});
    b.dma_gather(tile(b, "d", false), x, b.sbuf("i", 32, {1}, U32));
    Program::Parts parts = b.finish_unverified().parts();
    dma_route(parts.instructions.front())->dge = dge;
    const auto diagnostics = verify(Program(parts), machine("trn2"));
    const bool legal = dge == DgeMode::Default || dge == DgeMode::Software;
    ASSERT_EQ(diagnostics.empty(), legal) << name(dge);
    if (!legal) {
      EXPECT_EQ(diagnostics.front().rule, "illegal-engine");
    }
  }
}

}  // namespace
}  // namespace trn::tile::test
