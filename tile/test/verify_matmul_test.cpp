// Rules of the matmuls beyond nc_matmul's sizes: parts of the array, double rows, microscaling; and of exponential,
// bn_stats, bn_aggr and quantize_mx.
#include "verify_cases.hpp"

namespace trn::tile::test {
namespace {

// A product of k x m by k x 64 in a part of the array; operands begin where the part does.
struct Product {
  std::int64_t row = 0, column = 0, rows = 64, columns = 64, k = 32, m = 32;
  std::int64_t operand_row = -1, dst_column = -1;  // -1: where the part begins
  MatmulMode mode = MatmulMode::Normal;
  DType dtype = BF16;
};
void product(Builder& b, const Product& p) {
  const bool pairs = p.mode == MatmulMode::DoubleRow;
  const std::int64_t first = p.operand_row < 0 ? p.row : p.operand_row,
                     out = p.dst_column < 0 ? p.column : p.dst_column;
  const auto tile = [&](const char* name, std::int64_t free) {
    return pairs ? b.sbuf(name, 128, {2, free}, p.dtype) : b.sbuf(name, 128, {free}, p.dtype);
  };
  const Access dst = b.psum("d", 128, {64});
  b.nc_matmul(dst(ds(out, p.m), all), tile("s", p.m)(ds(first, p.k)), tile("m", 64)(ds(first, p.k)),
              {.perf_mode = p.mode, .tile = {.row = p.row, .column = p.column, .rows = p.rows, .columns = p.columns}});
}

const std::vector<Case> kParts{
    {"PartOf32RowsNotOnTrn1", "illegal-engine", "tile_size: 32 rows of the array; trn1 has parts of 64 or 128",
     [](Builder& b, bool bad) { product(b, {.rows = bad ? 32 : 64}); }, "trn1"},
    {"PartOf32ColumnsNotOnTrn1", "illegal-engine", "tile_size: 32 columns of the array; trn1 has parts of 64 or 128",
     [](Builder& b, bool bad) { product(b, {.columns = bad ? 32 : 64}); }, "trn1"},
    {"PartOf32OnTrn2", "illegal-engine", "tile_size: 16 rows of the array; trn2 has parts of 32, 64 or 128",
     [](Builder& b, bool bad) { product(b, {.row = 0, .rows = bad ? 16 : 32, .k = 16}); }},
    {"PartOfAnOddSize", "illegal-engine", "tile_size: 96 columns of the array",
     [](Builder& b, bool bad) { product(b, {.columns = bad ? 96 : 128}); }},
    {"RowsAtAMultiple", "illegal-engine", "tile_position: 64 rows that start at 32..32",
     [](Builder& b, bool bad) { product(b, {.row = bad ? 32 : 64}); }},
    {"ColumnsAtAMultiple", "illegal-engine", "tile_position: 64 columns that start at 32..32",
     [](Builder& b, bool bad) { product(b, {.column = bad ? 32 : 64}); }},
    {"PositionNeedsASize", "illegal-engine", "tile_position: a position without a size",
     [](Builder& b, bool bad) { product(b, {.row = 64, .rows = bad ? 0 : 64, .columns = bad ? 0 : 64}); }},
    {"EveryPositionOfALoop", "illegal-engine", "tile_position: 64 rows that start at 0..64",
     [](Builder& b, bool bad) {
       const Access s = b.sbuf("s", 128, {32}, BF16), m = b.sbuf("m", 128, {64}, BF16), d = b.psum("d", 32, {64});
       b.sequential("i", 3, [&](const Affine& i) {
         b.nc_matmul(d, s(ds(i * 32, 32), all), m(ds(i * 32, 32), all),
                     {.tile = {.row = i * 32, .column = 0, .rows = bad ? 64 : 32, .columns = 128}});
       });
     }},
    {"DoubleRowTakesAllColumns", "illegal-engine", "tile_size: 64 columns; double_row cannot be combined",
     [](Builder& b, bool bad) {
       product(b, {.columns = bad ? 64 : 128, .mode = MatmulMode::DoubleRow, .dtype = E4M3});
     }},
    {"KFitsThePart", "size-limit", "stationary: K = 64; at most 32",
     [](Builder& b, bool bad) { product(b, {.rows = bad ? 32 : 64, .k = 64}); }},
    {"MFitsThePart", "size-limit", "stationary: M = 64; at most 32",
     [](Builder& b, bool bad) { product(b, {.columns = bad ? 32 : 64, .m = 64}); }},
    {"OperandsFeedTheRowsOfThePart", "partition-rule", "stationary: starts at another partition than the part",
     [](Builder& b, bool bad) { product(b, {.row = 64, .operand_row = bad ? 0 : 64}); }},
    {"ColumnsWriteTheirOwnPartitions", "partition-rule", "dst: starts at another partition than the part",
     [](Builder& b, bool bad) { product(b, {.column = 64, .dst_column = bad ? 0 : 64}); }},
};
TRN_VERIFY_CASES(VerifyArrayTile, kParts);

// fp8 pairs, on both generations that have them.
const std::vector<Case> kDoubleRows{
    {"NotOnTrn1", "illegal-engine", "trn1 has no double_row",
     [](Builder& b, bool bad) {
       product(b, {.rows = 0, .columns = 0, .mode = bad ? MatmulMode::DoubleRow : MatmulMode::Normal, .dtype = E4M3});
     },
     "trn1"},
    {"OcpFloatsOnTrn3", "illegal-dtype", "float8_e4m3 and float8_e4m3fn cannot be mixed",
     [](Builder& b, bool bad) {
       const Access s = b.sbuf("s", 128, {2, 128}, bad ? E4M3 : E4M3FN), m = b.sbuf("m", 128, {2, 512}, E4M3FN);
       b.nc_matmul(b.psum("d", 128, {512}), s, m, {.perf_mode = MatmulMode::DoubleRow});
     },
     "trn3"},
    {"PairsOfBytesOnTrn3", "illegal-dtype", "stationary: bfloat16; double_row takes 8-bit floats only",
     [](Builder& b, bool bad) {
       const Access s = b.sbuf("s", 128, {2, 128}, bad ? BF16 : E4M3), m = b.sbuf("m", 128, {2, 512}, E4M3);
       b.nc_matmul(b.psum("d", 128, {512}), s, m, {.perf_mode = MatmulMode::DoubleRow});
     },
     "trn3"},
    {"PairsFirstOnTrn3", "size-limit", "moving: double_row takes [K, 2, free]",
     [](Builder& b, bool bad) {
       const Access s = b.sbuf("s", 128, {2, 128}, E4M3), m = b.sbuf("m", 128, {1024}, E4M3);
       b.nc_matmul(b.psum("d", 128, {512}), s, bad ? m : m.split(0, 512), {.perf_mode = MatmulMode::DoubleRow});
     },
     "trn3"},
    {"NCountsPairsOnce", "size-limit", "moving: N = 4100; at most 4096",
     [](Builder& b, bool bad) {
       const std::int64_t n = bad ? 4100 : 4096;
       const Access s = b.sbuf("s", 128, {2, 128}, E4M3), m = b.sbuf("m", 128, {2, n}, E4M3);
       b.nc_matmul(b.psum("d", 128, {n}), s, m, {.perf_mode = MatmulMode::DoubleRow});
     },
     "trn3"},
    {"TwiceAsManyInBfloat16OnTrn3", "size-limit", "moving: N = 8192; at most 4096",
     [](Builder& b, bool bad) {
       const Access s = b.sbuf("s", 128, {128}, BF16), m = b.sbuf("m", 128, {8192}, BF16);
       b.nc_matmul(b.psum("d", 128, {8192}, bad ? F32 : BF16), s, m);
     },
     "trn3"},
};
TRN_VERIFY_CASES(VerifyDoubleRow, kDoubleRows);

constexpr auto E4 = MxFormat::Float8E4M3FN;
constexpr auto FP4 = MxFormat::Float4E2M1FN;

struct Mx {
  std::int64_t k = 64, m = 32, n = 64, scale_rows = 64, scale_start = 0, scale_free = 32;
  DType stationary = U32, scale = U8, dst = F32;
  MxFormat format = E4;
  std::int64_t row = 0, rows = 0;
};
void mx(Builder& b, const Mx& x) {
  const Access s = b.sbuf("s", 128, {x.m}, x.stationary)(ds(x.row, x.k), all), m = b.sbuf("m", 128, {x.n}, U32);
  const Access ss = b.sbuf("ss", 128, {x.scale_free}, x.scale), ms = b.sbuf("ms", 128, {x.n}, U8);
  b.nc_matmul_mx(b.psum("d", x.m, {x.n}, x.dst), s, m(ds(x.row, x.k), all),
                 ss(ds(x.row + x.scale_start, x.scale_rows), all), ms(ds(x.row, x.k), all),
                 {.stationary = x.format, .tile_row = x.rows == 0 ? 0 : x.row, .tile_rows = x.rows});
}
struct Quantized {
  DType src = BF16, dst = U32, scale = U8;
  std::int64_t partitions = 64, n = 32, dst_n = 8, scale_n = 8, scale_rows = 64, scale_start = 0, dst_start = 0;
  MxFormat format = E4;
};
void quantized(Builder& b, const Quantized& q) {
  const Access src = b.sbuf("src", 128, {q.n}, q.src)(ds(0, q.partitions), all);
  b.quantize_mx(b.sbuf("dst", 128, {q.dst_n}, q.dst)(ds(q.dst_start, q.partitions), all), src,
                b.sbuf("scale", 128, {q.scale_n}, q.scale)(ds(q.scale_start, q.scale_rows), all), q.format);
}

const std::vector<Case> kMicroscaling{
    {"MatmulNotOnTrn2", "illegal-engine", "trn2 has no nc_matmul_mx",
     [](Builder& b, bool bad) {
       if (bad) mx(b, {});
     }},
    {"MatmulNotOnTrn1", "illegal-engine", "trn1 has no nc_matmul_mx",
     [](Builder& b, bool bad) {
       if (bad) mx(b, {});
     },
     "trn1"},
    {"QuantizeNotOnTrn2", "illegal-engine", "trn2 has no quantize_mx",
     [](Builder& b, bool bad) {
       if (bad) quantized(b, {});
     }},
    {"WholeQuadrants", "partition-rule", "stationary: 48 partitions; scales belong to whole quadrants",
     [](Builder& b, bool bad) { bad ? mx(b, {.k = 48, .scale_rows = 48}) : mx(b, {}); }, "trn3"},
    {"EvenM", "size-limit", "stationary: M = 31; it must be even",
     [](Builder& b, bool bad) { mx(b, {.m = bad ? 31 : 32, .scale_free = bad ? 31 : 32}); }, "trn3"},
    {"PackedBytes", "illegal-dtype", "stationary: uint16; four values of float8_e4m3fn_x4 are one uint32",
     [](Builder& b, bool bad) { mx(b, {.stationary = bad ? U16 : U32}); }, "trn3"},
    {"PackedHalfBytes", "illegal-dtype", "stationary: uint32; four values of float4_e2m1fn_x4 are one uint16",
     [](Builder& b, bool bad) { mx(b, {.stationary = bad ? U32 : U16, .format = FP4}); }, "trn3"},
    {"ScalesAreBytes", "illegal-dtype", "stationary_scale: uint16; scales are uint8",
     [](Builder& b, bool bad) { mx(b, {.scale = bad ? U16 : U8}); }, "trn3"},
    {"SumsAreFloats", "illegal-dtype", "dst: float16; nc_matmul_mx writes float32 or bfloat16",
     [](Builder& b, bool bad) { mx(b, {.dst = bad ? FP16 : BF16}); }, "trn3"},
    {"ScalesInTheirQuadrant", "partition-rule", "stationary_scale: does not start in the quadrant of stationary",
     [](Builder& b, bool bad) { mx(b, {.scale_rows = 40, .scale_start = bad ? 16 : 12}); }, "trn3"},
    {"ScalesAtFours", "partition-rule", "stationary_scale: does not start in the quadrant of stationary",
     [](Builder& b, bool bad) { mx(b, {.scale_rows = 60, .scale_start = bad ? 2 : 4}); }, "trn3"},
    {"EnoughScales", "partition-rule", "stationary_scale: 35 partitions for 64 of stationary",
     [](Builder& b, bool bad) { mx(b, {.scale_rows = bad ? 35 : 36}); }, "trn3"},
    {"AScaleForEachElement", "size-limit", "stationary_scale: 16 elements per partition but stationary has 32 groups",
     [](Builder& b, bool bad) { mx(b, {.scale_free = bad ? 16 : 32}); }, "trn3"},
    {"RowsOfThePart", "size-limit", "stationary: K = 64; at most 32",
     [](Builder& b, bool bad) { mx(b, {.row = 64, .rows = bad ? 32 : 64}); }, "trn3"},
    {"QuantizeInSbuf", "illegal-space", "src: quantize_mx works in SBUF only",
     [](Builder& b, bool bad) {
       const Access src = bad ? b.psum("p", 32, {32}, BF16) : b.sbuf("p", 32, {32}, BF16);
       b.quantize_mx(b.sbuf("d", 32, {8}, U32), src, b.sbuf("s", 4, {8}, U8));
     },
     "trn3"},
    {"QuantizeHalves", "illegal-dtype", "src: float32; quantize_mx takes float16 or bfloat16",
     [](Builder& b, bool bad) { quantized(b, {.src = bad ? F32 : FP16}); }, "trn3"},
    {"QuantizeHasNo4BitFloats", "illegal-engine", "format: quantize_mx has no float4_e2m1fn_x4",
     [](Builder& b, bool bad) { quantized(b, {.dst = bad ? U16 : U32, .format = bad ? FP4 : E4}); }, "trn3"},
    {"QuantizePacksFour", "size-limit", "dst: 16 elements per partition for 32 of src",
     [](Builder& b, bool bad) { quantized(b, {.dst_n = bad ? 16 : 8}); }, "trn3"},
    {"QuantizeKeepsThePartition", "partition-rule", "dst: other partitions than src",
     [](Builder& b, bool bad) { quantized(b, {.dst_start = bad ? 64 : 0}); }, "trn3"},
    {"QuantizeWritesEveryScale", "size-limit", "dst_scale: 4 elements per partition but src has 8 groups",
     [](Builder& b, bool bad) { quantized(b, {.scale_n = bad ? 4 : 8}); }, "trn3"},
    {"SumsOverAParallelLoop", "loop-kind", "accumulate: sums into 'd' over the iterations of parallel loop 'i'",
     [](Builder& b, bool bad) {
       const Access x = b.sbuf("x", 32, {32}, U32), s = b.sbuf("s", 4, {32}, U8), d = b.psum("d", 32, {32});
       const auto body = [&](const Affine& i) { b.nc_matmul_mx(d, x, x, s, s, {.accumulate = i}); };
       bad ? b.parallel("i", 2, body) : b.sequential("i", 2, body);
     },
     "trn3"},
};
TRN_VERIFY_CASES(VerifyMicroscaling, kMicroscaling);

void exponential(Builder& b, ExponentialOptions options, DType dst = F32, DType src = F32) {
  b.exponential(b.sbuf("d", 32, {32}, dst), b.sbuf("s", 32, {32}, src), std::move(options));
}
using enum ReduceCmd;

const std::vector<Case> kVector{
    {"ExponentialNotOnTrn2", "illegal-engine", "trn2 has no exponential; use activation",
     [](Builder& b, bool bad) {
       if (bad) exponential(b, {});
     }},
    {"ExponentialHasNoReset", "illegal-engine", "reduce_cmd: 'reset' is not available here",
     [](Builder& b, bool bad) { exponential(b, {.reduce_cmd = bad ? Reset : ResetReduce}); }, "trn3"},
    {"IdleHasNoSum", "illegal-engine", "reduce_res: undefined after 'idle'",
     [](Builder& b, bool bad) {
       exponential(b, {.reduce_res = b.sbuf("r", 32, {1}, F32), .reduce_cmd = bad ? Idle : ResetReduce});
     },
     "trn3"},
    {"OnlyLoadReduceLoads", "illegal-engine", "reduce_init: 'reset_reduce' does not read it",
     [](Builder& b, bool bad) { exponential(b, {.reduce_cmd = bad ? ResetReduce : LoadReduce, .reduce_init = 1.0}); },
     "trn3"},
    {"SumsBegin", "loop-kind", "reduce_cmd: 'reduce' takes up sums that nothing began before it",
     [](Builder& b, bool bad) {
       if (!bad) exponential(b, {.reduce_cmd = LoadReduce});
       exponential(b, {.reduce_cmd = Reduce});
     },
     "trn3"},
    {"IdleLosesTheSums", "loop-kind", "reduce_cmd: 'reduce' takes up sums that nothing began before it",
     [](Builder& b, bool bad) {
       exponential(b, {.reduce_cmd = ResetReduce});
       if (bad) exponential(b, {});
       exponential(b, {.reduce_cmd = Reduce});
     },
     "trn3"},
    {"TheScalarEnginesSumsAreOthers", "loop-kind", "reduce_cmd: 'reduce' takes up sums that nothing began before it",
     [](Builder& b, bool bad) {
       const Access t = b.sbuf("t", 32, {32}, F32);
       b.activation(t, ActFunction::Exp, t, {.reduce_cmd = ResetReduce});
       if (!bad) exponential(b, {.reduce_cmd = ResetReduce});
       exponential(b, {.reduce_cmd = Reduce});
     },
     "trn3"},
    {"ExponentialWritesNoUInt32", "illegal-dtype", "dst: uint32; exponential does not take it",
     [](Builder& b, bool bad) { exponential(b, {}, bad ? U32 : I32); }, "trn3"},
    {"ExponentialReadsNoTFloat32", "illegal-dtype", "src: tfloat32; exponential does not take it",
     [](Builder& b, bool bad) { exponential(b, {}, F32, bad ? TF32 : U32); }, "trn3"},
    {"MaxValueIsFloat32", "illegal-dtype", "max_value: bfloat16; per-partition operands are float32",
     [](Builder& b, bool bad) { exponential(b, {.max_value = b.sbuf("c", 32, {1}, bad ? BF16 : F32)}); }, "trn3"},
    {"SumsAreFloats", "illegal-dtype", "reduce_res: int32; exponential does not take it",
     [](Builder& b, bool bad) { exponential(b, {.reduce_res = b.sbuf("r", 32, {1}, bad ? I32 : BF16)}); }, "trn3"},
    {"MaxValueIsAColumn", "size-limit", "max_value: 2 elements per partition",
     [](Builder& b, bool bad) { exponential(b, {.max_value = b.sbuf("c", 32, {bad ? 2 : 1}, F32)}); }, "trn3"},
    {"ExponentialHasThreeFreeDimensions", "size-limit", "src: 4 free dimensions; exponential takes at most 3",
     [](Builder& b, bool bad) {
       const Access s = b.sbuf("s", 32, {2, 3, 2, 3, 2, 3, 2}, F32);
       const Access four = s(all, all, ds(0, 1), all, ds(0, 1), all, ds(0, 1), all), dst = b.sbuf("d", 32, {16}, F32);
       b.exponential(bad ? dst : dst(all, ds(0, 8)), bad ? four : four(all, ds(0, 1)));
     },
     "trn3"},
    {"StatsAreTwoTriples", "size-limit", "dst: 5 elements per partition; bn_stats writes 6",
     [](Builder& b, bool bad) { b.bn_stats(b.sbuf("d", 32, {bad ? 5 : 6}, F32), b.sbuf("s", 32, {32}, F32)); }},
    {"StatsOf512", "size-limit", "data: 513 elements per partition; at most 512",
     [](Builder& b, bool bad) { b.bn_stats(b.sbuf("d", 32, {6}, F32), b.sbuf("s", 32, {bad ? 513 : 512}, F32)); }},
    {"StatsKeepThePartition", "partition-rule", "data: 16 partitions but dst has 32",
     [](Builder& b, bool bad) { b.bn_stats(b.sbuf("d", 32, {6}, F32), b.sbuf("s", bad ? 16 : 32, {8}, F32)); }},
    {"AggrReadsTriples", "size-limit", "data: 8 elements per partition; bn_aggr reads triples",
     [](Builder& b, bool bad) { b.bn_aggr(b.sbuf("d", 32, {2}, F32), b.sbuf("s", 32, {bad ? 8 : 9}, F32)); }},
    {"AggrWritesTwo", "size-limit", "dst: 3 elements per partition; bn_aggr writes 2",
     [](Builder& b, bool bad) { b.bn_aggr(b.sbuf("d", 32, {bad ? 3 : 2}, F32), b.sbuf("s", 32, {9}, F32)); }},
};
TRN_VERIFY_CASES(VerifyStatistics, kVector);

}  // namespace
}  // namespace trn::tile::test
