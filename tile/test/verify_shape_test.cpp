// Rules about how operands fit one another: partition-rule by counts, and size-limit.
#include "verify_cases.hpp"

namespace trn::tile::test {
namespace {

Access sbuf(Builder& b, const char* name, std::int64_t partitions, Shape free, DType dtype = F32) {
  return b.sbuf(name, partitions, std::move(free), dtype);
}

// dst (d0, d1), stationary (s0, s1), moving (m0, m1)
void matmul(Builder& b, std::pair<int, int> d, std::pair<int, int> s, std::pair<int, int> m) {
  b.nc_matmul(b.psum("d", d.first, {d.second}), sbuf(b, "s", s.first, {s.second}, BF16),
              sbuf(b, "m", m.first, {m.second}, BF16));
}

void double_row(Builder& b, Shape stationary, Shape moving) {
  b.nc_matmul(b.psum("d", 32, {64}), sbuf(b, "s", 128, std::move(stationary), E4M3),
              sbuf(b, "m", 128, std::move(moving), E4M3), {.perf_mode = MatmulMode::DoubleRow});
}

const std::vector<Case> kMatmul{
    {"ContractionDiffers", "partition-rule", "moving: 64 partitions but stationary has 128; K must be equal",
     [](Builder& b, bool bad) {
       matmul(b, {32, 64}, {128, 32}, {bad ? 64 : 128, 64});
     }},
    {"DstPartitionsAreM", "partition-rule", "dst: 64 partitions but stationary has M = 32",
     [](Builder& b, bool bad) {
       matmul(b, {bad ? 64 : 32, 64}, {128, 32}, {128, 64});
     }},
    {"DstFreeIsN", "size-limit", "dst: 60 elements per partition but moving has N = 64",
     [](Builder& b, bool bad) {
       matmul(b, {32, bad ? 60 : 64}, {128, 32}, {128, 64});
     }},
    {"MovingFree", "size-limit", "moving: N = 513; at most 512",
     [](Builder& b, bool bad) {
       const Access d = b.psum("d", 32, {513}, F32, 1);
       const std::int64_t n = bad ? 513 : 512;
       Access dst = d(all, ds(0, n));
       if (bad) dst.dims = {{0, 513}};  // stays in one bank, so that only N is wrong
       b.nc_matmul(dst, sbuf(b, "s", 128, {32}, BF16), sbuf(b, "m", 128, {n}, BF16));
     }},
    {"MovingFreeOnTrn3", "size-limit", "moving: N = 4097; at most 4096",
     [](Builder& b, bool bad) {
       matmul(b, {32, bad ? 4097 : 4096}, {128, 32}, {128, bad ? 4097 : 4096});
     },
     "trn3"},
    {"DoubleRowStationary", "size-limit", "stationary: double_row takes [K, 2, free]",
     [](Builder& b, bool bad) {
       double_row(b, bad ? Shape{64} : Shape{2, 32}, {2, 64});
     }},
    {"DoubleRowMoving", "size-limit", "moving: double_row takes [K, 2, free]",
     [](Builder& b, bool bad) {
       double_row(b, {2, 32}, bad ? Shape{4, 32} : Shape{2, 64});
     }},
    {"DoubleRowFree", "size-limit", "dst: 64 elements per partition but moving has N = 32",
     [](Builder& b, bool bad) {
       double_row(b, {2, 32}, {2, bad ? 32 : 64});
     }},
    {"TransposePartitions", "partition-rule", "dst: 32 partitions but data has 64 elements",
     [](Builder& b, bool bad) { b.nc_transpose(b.psum("d", bad ? 32 : 64, {128}), sbuf(b, "s", 128, {64})); }},
    {"TransposeFree", "size-limit", "dst: 64 elements per partition but data has 128 partitions",
     [](Builder& b, bool bad) { b.nc_transpose(b.psum("d", 64, {bad ? 64 : 128}), sbuf(b, "s", 128, {64})); }},
};
TRN_VERIFY_CASES(VerifyMatmulShape, kMatmul);

// M > 128 always breaks the partition count of dst as well: 128 partitions cannot hold more rows.
TEST(VerifyMatmulShape, StationaryAndTransposeLimitsAreReported) {
  Builder b("limits", machine("trn2"));
  matmul(b, {128, 64}, {128, 129}, {128, 64});
  b.nc_transpose(b.psum("t", 128, {128}), sbuf(b, "data", 128, {129}));
  const std::string text = all_messages(verify(b.finish_unverified(), machine("trn2")));
  EXPECT_NE(text.find("size-limit: program 'limits': tensor nc_matmul"), std::string::npos) << text;
  EXPECT_NE(text.find("stationary: M = 129; at most 128"), std::string::npos) << text;
  EXPECT_NE(text.find("data: free size = 129; at most 128"), std::string::npos) << text;
}

const std::vector<Case> kElementwise{
    {"TensorTensorPartitions", "partition-rule", "data2: 32 partitions but dst has 64",
     [](Builder& b, bool bad) {
       b.tensor_tensor(sbuf(b, "d", 64, {8}), sbuf(b, "s", 64, {8}), sbuf(b, "u", bad ? 32 : 64, {8}), AluOp::Add);
     }},
    {"TensorTensorFree", "size-limit", "data1: 9 elements per partition but dst has 8",
     [](Builder& b, bool bad) {
       b.tensor_tensor(sbuf(b, "d", 64, {8}), sbuf(b, "s", 64, {bad ? 9 : 8}), sbuf(b, "u", 64, {8}), AluOp::Add);
     }},
    {"TensorScalarFree", "size-limit", "data: 9 elements",
     [](Builder& b, bool bad) {
       b.tensor_scalar(sbuf(b, "d", 64, {8}), sbuf(b, "s", 64, {bad ? 9 : 8}), AluOp::Add, 1.0);
     }},
    {"Operand0IsAColumn", "size-limit", "operand0: 2 elements per partition; this operand has one per partition",
     [](Builder& b, bool bad) {
       b.tensor_scalar(sbuf(b, "d", 64, {8}), sbuf(b, "s", 64, {8}), AluOp::Add, sbuf(b, "o", 64, {bad ? 2 : 1}));
     }},
    {"Operand0Partitions", "partition-rule", "operand0: 32 partitions but dst has 64",
     [](Builder& b, bool bad) {
       b.tensor_scalar(sbuf(b, "d", 64, {8}), sbuf(b, "s", 64, {8}), AluOp::Add, sbuf(b, "o", bad ? 32 : 64, {1}));
     }},
    {"ScalarTensorTensorOperand1", "size-limit", "operand1: 4 elements per partition but dst has 8",
     [](Builder& b, bool bad) {
       b.scalar_tensor_tensor(sbuf(b, "d", 64, {8}), sbuf(b, "s", 64, {8}), AluOp::Add, 1.0, AluOp::Add,
                              sbuf(b, "u", 64, {bad ? 4 : 8}));
     }},
    {"ScanData", "size-limit", "data1: 4 elements per partition but dst has 8",
     [](Builder& b, bool bad) {
       b.tensor_tensor_scan(sbuf(b, "d", 64, {8}), sbuf(b, "s", 64, {8}), sbuf(b, "u", 64, {bad ? 4 : 8}), 0.0,
                            AluOp::Add, AluOp::Add);
     }},
    {"ScanInitialIsAColumn", "size-limit", "initial: 8 elements per partition",
     [](Builder& b, bool bad) {
       b.tensor_tensor_scan(sbuf(b, "d", 64, {8}), sbuf(b, "s", 64, {8}), sbuf(b, "u", 64, {8}),
                            sbuf(b, "o", 64, {bad ? 8 : 1}), AluOp::Add, AluOp::Add);
     }},
    {"Copy", "size-limit", "src: 4 elements per partition but dst has 8",
     [](Builder& b, bool bad) { b.tensor_copy(sbuf(b, "d", 64, {8}), sbuf(b, "s", 64, {bad ? 4 : 8})); }},
    {"CopyMayReshape", "partition-rule", "src: 32 partitions but dst has 64",
     [](Builder& b, bool bad) {
       b.tensor_copy(sbuf(b, "d", 64, {8}), bad ? sbuf(b, "s", 32, {8}) : sbuf(b, "s", 64, {2, 4}));
     }},
    {"Predicate", "size-limit", "predicate: 4 elements per partition but dst has 8",
     [](Builder& b, bool bad) {
       b.tensor_copy_predicated(sbuf(b, "d", 64, {8}), sbuf(b, "s", 64, {8}), sbuf(b, "p", 64, {bad ? 4 : 8}, U8));
     }},
    {"Reciprocal", "size-limit", "data: 4 elements per partition but dst has 8",
     [](Builder& b, bool bad) { b.reciprocal(sbuf(b, "d", 64, {8}), sbuf(b, "s", 64, {bad ? 4 : 8})); }},
    {"Activation", "size-limit", "data: 4 elements per partition but dst has 8",
     [](Builder& b, bool bad) {
       b.activation(sbuf(b, "d", 64, {8}), ActFunction::Exp, sbuf(b, "s", 64, {bad ? 4 : 8}));
     }},
    {"ActivationSum", "size-limit", "reduce_res: 8 elements per partition",
     [](Builder& b, bool bad) {
       b.activation(sbuf(b, "d", 64, {8}), ActFunction::Exp, sbuf(b, "s", 64, {8}),
                    {.reduce_res = sbuf(b, "r", 64, {bad ? 8 : 1})});
     }},
    {"ReducedSize", "size-limit", "dst: 8 elements per partition; reducing 1 of 2 dimensions leaves 4",
     [](Builder& b, bool bad) {
       b.tensor_reduce(sbuf(b, "d", 64, {bad ? 8 : 4}), AluOp::Add, sbuf(b, "s", 64, {4, 8}));
     }},
    {"ReducedDimensions", "size-limit", "axis: 3 innermost dimensions of an access with 2",
     [](Builder& b, bool bad) {
       b.tensor_reduce(sbuf(b, "d", 64, {1}), AluOp::Add, sbuf(b, "s", 64, {4, 8}), bad ? 3 : 2);
     }},
    {"ReducedPartitions", "partition-rule", "data: 32 partitions but dst has 64",
     [](Builder& b, bool bad) {
       b.tensor_reduce(sbuf(b, "d", 64, {1}), AluOp::Add, sbuf(b, "s", bad ? 32 : 64, {8}));
     }},
};
TRN_VERIFY_CASES(VerifyElementwiseShape, kElementwise);

void gather(Builder& b, std::int64_t dst, std::int64_t index, std::int64_t each, std::int64_t partitions = 128) {
  b.local_gather(sbuf(b, "d", partitions, {dst}, BF16), sbuf(b, "s", partitions, {64}, BF16),
                 sbuf(b, "i", partitions, {index}, U16), each);
}

const std::vector<Case> kGpSimd{
    {"IotaPattern", "size-limit", "pattern: 16 values for 32 elements per partition",
     [](Builder& b, bool bad) {
       b.iota(sbuf(b, "d", 64, {32}), {{1, bad ? 4 : 8}, {1, 4}});
     }},
    {"IotaPatternDimensions", "size-limit", "pattern: 5 dimensions; between 1 and 4",
     [](Builder& b, bool bad) {
       std::vector<Dim> pattern{{1, 2}, {1, 2}, {1, 2}, {1, 4}};
       if (bad) pattern.push_back({1, 1});
       b.iota(sbuf(b, "d", 64, {32}), pattern);
     }},
    {"AffineSelectPattern", "size-limit", "pattern: 16 values for 32 elements per partition",
     [](Builder& b, bool bad) {
       b.affine_select(sbuf(b, "d", 64, {32}), {{1, bad ? 16 : 32}}, 0, 0, AluOp::Less, sbuf(b, "s", 64, {32}), 0.0);
     }},
    {"AffineSelectShape", "size-limit", "on_true_tile: 16 elements per partition but dst has 32",
     [](Builder& b, bool bad) {
       b.affine_select(sbuf(b, "d", 64, {32}), {{1, 32}}, 0, 0, AluOp::Less, sbuf(b, "s", 64, {bad ? 16 : 32}), 0.0);
     }},
    {"GatherMoreThanIndexed", "size-limit", "index holds 32 per core",
     [](Builder& b, bool bad) { gather(b, bad ? 48 : 32, 2, 1); }},
    {"GatherWholeGroups", "size-limit", "dst: 33 elements per partition",
     [](Builder& b, bool bad) { gather(b, bad ? 33 : 32, 2, 2); }},
    {"GatherElementsPerIndex", "size-limit", "num_elem_per_idx: 3; a power of two up to 32",
     [](Builder& b, bool bad) { gather(b, 48, 2, bad ? 3 : 2); }},
    {"GatherElementsPerIndexMax", "size-limit", "num_elem_per_idx: 64; a power of two up to 32",
     [](Builder& b, bool bad) { gather(b, 64, 2, bad ? 64 : 32); }},
    {"GatherIndices", "size-limit", "index: 4097 indices per core; at most 4096",
     [](Builder& b, bool bad) { gather(b, bad ? 4097 : 4096, 257, 1); }},
    {"GatherPartitions", "partition-rule", "dst: 24 partitions; a gpsimd core serves 16",
     [](Builder& b, bool bad) { gather(b, 32, 2, 1, bad ? 24 : 32); }},
    {"PartitionReduceLeavesOne", "partition-rule", "dst: 2 partitions; a reduction across partitions leaves 1",
     [](Builder& b, bool bad) {
       b.tensor_partition_reduce(sbuf(b, "d", bad ? 2 : 1, {32}), AluOp::Add, sbuf(b, "s", 64, {32}));
     }},
    {"PartitionReduceFree", "size-limit", "data: 16 elements per partition but dst has 32",
     [](Builder& b, bool bad) {
       b.tensor_partition_reduce(sbuf(b, "d", 1, {32}), AluOp::Add, sbuf(b, "s", 64, {bad ? 16 : 32}));
     }},
};
TRN_VERIFY_CASES(VerifyGpSimdShape, kGpSimd);

const std::vector<Case> kDma{
    {"CopySizes", "size-limit", "dst: 512 elements but src has 256",
     [](Builder& b, bool bad) {
       b.dma_copy(sbuf(b, "d", 64, {8}), b.input("x", F32, {bad ? 32 : 64, 8}));
     }},
    {"CopyMayReshape", "size-limit", "dst: 512 elements but src has 504",
     [](Builder& b, bool bad) { b.dma_copy(sbuf(b, "d", 64, {8}), b.input("x", F32, {bad ? 504 : 512})); }},
    {"TransposeShape", "size-limit", "dst: (64, 8) for a source of (64, 8); the transpose is (8, 64)",
     [](Builder& b, bool bad) {
       b.dma_transpose(bad ? sbuf(b, "d", 64, {8}) : sbuf(b, "d", 8, {64}), b.input("x", F32, {64, 8}));
     }},
    {"TransposeOfATile", "size-limit", "dst: (8, 32) for a source of (64, 8)",
     [](Builder& b, bool bad) { b.dma_transpose(sbuf(b, "d", 8, {bad ? 32 : 64}), sbuf(b, "s", 64, {8})); }},
    {"TransposeRank", "size-limit", "src: 1 dimensions; dma_transpose takes 2 to 4",
     [](Builder& b, bool bad) {
       b.dma_transpose(sbuf(b, "d", 8, {64}), b.input("x", F32, bad ? Shape{512} : Shape{64, 8}));
     }},
    {"TransposeOfThreeDimensions", "size-limit", "the transpose is (8, 4, 16)",
     [](Builder& b, bool bad) {
       b.dma_transpose(sbuf(b, "d", 8, bad ? Shape{16, 4} : Shape{4, 16}), b.input("x", F32, {16, 4, 8}));
     }},
    {"GatherIndexIsAColumn", "size-limit", "index: 2 indices per partition",
     [](Builder& b, bool bad) {
       const Access x = b.input("x", F32, {100, 8});
       b.dma_gather(sbuf(b, "d", 64, {8}), x, sbuf(b, "i", 64, {bad ? 2 : 1}, U32));
     }},
    {"GatherRows", "partition-rule", "dst: 32 rows but index has 64 partitions",
     [](Builder& b, bool bad) {
       const Access x = b.input("x", F32, {100, 8});
       b.dma_gather(sbuf(b, "d", bad ? 32 : 64, {8}), x, sbuf(b, "i", 64, {1}, U32));
     }},
    {"GatherRowSize", "size-limit", "dst: rows of 4 elements but src has rows of 8",
     [](Builder& b, bool bad) {
       const Access x = b.input("x", F32, {100, 8});
       b.dma_gather(sbuf(b, "d", 64, {bad ? 4 : 8}), x, sbuf(b, "i", 64, {1}, U32));
     }},
    {"ScatterRows", "partition-rule", "src: 32 rows but index has 64 partitions",
     [](Builder& b, bool bad) {
       const Access y = b.output("y", F32, {100, 8});
       b.dma_scatter(y, sbuf(b, "s", bad ? 32 : 64, {8}), sbuf(b, "i", 64, {1}, I32));
     }},
};
TRN_VERIFY_CASES(VerifyDmaShape, kDma);

// A pattern of four dimensions, or three, of which none merge.
Access pattern(Builder& b, const char* name, bool four, DType dtype = F32) {
  return sbuf(b, name, 32, {3, 3, 3, 8}, dtype)(all, ds(0, four ? 2 : 1), ds(0, 2), ds(0, 2), ds(0, 4));
}

const std::vector<Case> kTwoInputs{
    {"TensorTensor", "size-limit", "dst: 4 free dimensions; tensor_tensor takes at most 3",
     [](Builder& b, bool bad) {
       b.tensor_tensor(pattern(b, "d", bad), pattern(b, "s", bad), pattern(b, "u", bad), AluOp::Add, Engine::Vector);
     }},
    {"OneOperandIsEnough", "size-limit", "data2: 4 free dimensions; tensor_tensor takes at most 3",
     [](Builder& b, bool bad) {
       const std::int64_t n = bad ? 32 : 16;
       b.tensor_tensor(sbuf(b, "d", 32, {n}), sbuf(b, "s", 32, {n}), pattern(b, "u", bad), AluOp::Add, Engine::Vector);
     }},
    {"ScalarTensorTensor", "size-limit", "scalar_tensor_tensor takes at most 3",
     [](Builder& b, bool bad) {
       b.scalar_tensor_tensor(pattern(b, "d", bad), pattern(b, "s", bad), AluOp::Add, 1.0, AluOp::Add,
                              pattern(b, "u", bad));
     }},
    {"Scan", "size-limit", "tensor_tensor_scan takes at most 3",
     [](Builder& b, bool bad) {
       b.tensor_tensor_scan(pattern(b, "d", bad), pattern(b, "s", bad), pattern(b, "u", bad), 0.0, AluOp::Add,
                            AluOp::Add);
     }},
    {"Predicated", "size-limit", "tensor_copy_predicated takes at most 3",
     [](Builder& b, bool bad) {
       b.tensor_copy_predicated(pattern(b, "d", bad), pattern(b, "s", bad), pattern(b, "u", bad, U8));
     }},
};
TRN_VERIFY_CASES(VerifyTwoInputs, kTwoInputs);

TEST(VerifyTwoInputs, OneInputKeepsFourDimensions) {
  Builder b("one", machine("trn2"));
  b.tensor_copy(pattern(b, "d", true), pattern(b, "s", true));
  b.tensor_scalar(pattern(b, "e", true), pattern(b, "t", true), AluOp::Add, 1.0);
  EXPECT_EQ(all_messages(verify(b.finish_unverified(), machine("trn2"))), "");
}

}  // namespace
}  // namespace trn::tile::test
