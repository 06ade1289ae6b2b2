// Rules about where accesses lie: out-of-bounds, partition-rule by start, size-limit of patterns, psum-bank-crossed.
#include "verify_cases.hpp"

namespace trn::tile::test {
namespace {

Access with_offset(Access a, const Affine& offset) {
  a.offset = offset;
  return a;
}

Access with_dims(Access a, std::vector<Dim> dims) {
  a.dims = std::move(dims);
  return a;
}

Access at_partition(Access a, const Affine& partition, std::int64_t partitions) {
  a.partition = partition;
  a.partitions = partitions;
  return a;
}

const std::vector<Case> kBounds{
    {"TilePartitionsBeyondTheTile", "out-of-bounds", "partitions 32..95 of a tile with 64",
     [](Builder& b, bool bad) {
       const Access t = b.sbuf("t", 64, {8}, F32);
       b.memset(at_partition(t, bad ? 32 : 0, 64), 0);
     }},
    {"PartitionsOfTheMachine", "out-of-bounds", "has 129 partitions",
     [](Builder& b, bool bad) { b.sbuf("t", bad ? 129 : 128, {8}, F32); }},
    {"PartitionStartOfALoop", "out-of-bounds", "partitions 0..159",
     [](Builder& b, bool bad) {
       const Access t = b.sbuf("t", 128, {8}, F32);
       b.parallel("i", bad ? 5 : 4, [&](const Affine& i) { b.memset(at_partition(t, i * 32, 32), 0); });
     }},
    {"NegativePartition", "out-of-bounds", "partitions -32..31",
     [](Builder& b, bool bad) {
       const Access t = b.sbuf("t", 128, {8}, F32);
       b.parallel("i", 2, [&](const Affine& i) { b.memset(at_partition(t, i * 32 - (bad ? 32 : 0), 32), 0); });
     }},
    {"FreeSpan", "out-of-bounds", "bytes 0..35 of a tile with 32 bytes",
     [](Builder& b, bool bad) {
       const Access t = b.sbuf("t", 128, {8}, F32);
       b.memset(with_dims(t, {{1, bad ? 9 : 8}}), 0);
     }},
    {"FreeOffsetOfALoop", "out-of-bounds", "bytes 0..35",
     [](Builder& b, bool bad) {
       const Access t = b.sbuf("t", 128, {8}, F32);
       b.parallel("i", bad ? 9 : 8, [&](const Affine& i) { b.memset(with_dims(with_offset(t, i), {{1, 1}}), 0); });
     }},
    {"NegativeStride", "out-of-bounds", "bytes -4..27",
     [](Builder& b, bool bad) {
       const Access t = b.sbuf("t", 128, {8}, F32);
       b.memset(with_dims(with_offset(t, bad ? 6 : 7), {{-1, 8}}), 0);
     }},
    {"ViewIsMeasuredInBytes", "out-of-bounds", "bytes 0..33",
     [](Builder& b, bool bad) {
       const Access t = b.sbuf("t", 128, {8}, F32).view(U16);
       b.memset(with_dims(t, {{1, bad ? 17 : 16}}), 0);
     }},
    {"EmptyAccess", "out-of-bounds", "the access is empty",
     [](Builder& b, bool bad) {
       const Access t = b.sbuf("t", 128, {8}, F32);
       b.memset(with_dims(t, {{1, bad ? 0 : 8}}), 0);
     }},
    {"HbmOffsetOfALoop", "out-of-bounds", "tensor 'x', which has bytes 0..4095",
     [](Builder& b, bool bad) {
       const Access x = b.input("x", F32, {128, 8});
       const Access t = b.sbuf("t", 1, {8}, F32, 2);
       b.parallel("i", bad ? 129 : 128, [&](const Affine& i) {
         b.dma_copy(t, with_dims(with_offset(x, i * 8), {{1, 8}}));
       });
     }},
    {"HbmViewIsMeasuredInBytes", "out-of-bounds", "bytes 0..4097",
     [](Builder& b, bool bad) {
       const Access x = b.input("x", F32, {1024}).view(BF16);
       const Access t = b.sbuf("t", 1, {2049}, BF16);
       const std::int64_t n = bad ? 2049 : 2048;
       b.dma_copy(t(all, ds(0, n)), with_dims(x, {{1, n}}));
     }},
    {"HbmNegativeStrides", "out-of-bounds", "tensor 'x', which has bytes -28..3",
     [](Builder& b, bool bad) {
       const Access x = b.input("x", F32, {8}, {-1});
       const Access t = b.sbuf("t", 1, {8}, F32);
       b.dma_copy(t, with_offset(x, bad ? -1 : 0));
     }},
    {"OffsetsBeyond64Bits", "out-of-bounds", "of a tile with 32 bytes",
     [](Builder& b, bool bad) {
       const Access t = b.sbuf("t", 128, {8}, F32);
       b.memset(with_offset(t, bad ? std::int64_t(1) << 62 : 0), 0);
     }},
};
TRN_VERIFY_CASES(VerifyBounds, kBounds);

Case start_case(const char* name, const char* expect, std::int64_t partitions, std::int64_t good,
                std::int64_t bad_start) {
  return {name, "partition-rule", expect, [=](Builder& b, bool bad) {
            const Access t = b.sbuf("t", 128, {8}, F32);
            b.memset(at_partition(t, bad ? bad_start : good, partitions), 0);
          }};
}

const std::vector<Case> kPartitions{
    start_case("MoreThanHalf", "65 partitions start at partition 32; that many must start at a multiple of 128", 65, 0,
               32),
    start_case("HalfAtAQuadrant", "64 partitions start at partition 32", 64, 64, 32),
    start_case("JustOverAQuadrant", "33 partitions start at partition 32", 33, 64, 32),
    start_case("QuadrantAt16", "32 partitions start at partition 16", 32, 96, 16),
    start_case("OnePartitionAt1", "1 partitions start at partition 1", 1, 32, 1),
    {"EveryValueOfALoop", "partition-rule", "start at partition 16",
     [](Builder& b, bool bad) {
       const Access t = b.sbuf("t", 128, {8}, F32);
       b.parallel("i", 4, [&](const Affine& i) { b.memset(at_partition(t, i * (bad ? 16 : 32), 16), 0); });
     }},
    {"SourcesToo", "partition-rule", "src: 16 partitions start at partition 8",
     [](Builder& b, bool bad) {
       const Access t = b.sbuf("t", 128, {8}, F32), u = b.sbuf("u", 128, {8}, F32);
       b.tensor_copy(t(ds(32, 16), all), u(ds(bad ? 8 : 64, 16), all));
     }},
    {"DmaIsExempt", "partition-rule", "start at partition 5",
     [](Builder& b, bool bad) {
       const Access x = b.input("x", F32, {7, 8});
       const Access t = b.sbuf("t", 128, {8}, F32);
       if (bad) return b.memset(t(ds(5, 7), all), 0);
       b.dma_copy(t(ds(5, 7), all), x);
     }},
};
TRN_VERIFY_CASES(VerifyPartitionStart, kPartitions);

const std::vector<Case> kPatterns{
    {"FreeDimensions", "size-limit", "5 free dimensions; an engine access has at most 4",
     [](Builder& b, bool bad) {
       const Access t = b.sbuf("t", 128, {3, 3, 3, 3, bad ? 3 : 1}, F32);
       b.memset(t(all, ds(0, 2), ds(0, 2), ds(0, 2), ds(0, 2), ds(0, bad ? 2 : 1)), 0);
     }},
    {"MergedDimensionsCountOnce", "size-limit", "5 free dimensions",
     [](Builder& b, bool bad) {
       const Access t = b.sbuf("t", 128, {2, 2, 2, 2, 2}, F32);
       b.memset(bad ? t.permute({4, 3, 2, 1, 0}) : t, 0);
     }},
    {"Stride", "size-limit", "stride 32768; strides lie in -32768..32767",
     [](Builder& b, bool bad) {
       const Access t = b.sbuf("t", 128, {2, bad ? 32768 : 32767}, U16);
       b.memset(t(all, all, ds(0, 1)), 0);
     }},
    {"SizeField", "size-limit", "dimension of 65536 elements; at most 65535",
     [](Builder& b, bool bad) { b.memset(b.sbuf("t", 128, {bad ? 65536 : 65535}, U8), 0); }},
    {"SbufElements", "size-limit", "65538 elements per partition; at most 65536 in sbuf",
     [](Builder& b, bool bad) {
       const Access t = b.sbuf("t", 128, {2, 32770}, U8);
       b.memset(with_dims(t, {{32767, 2}, {1, bad ? 32769 : 32768}})(all, all, all), 0);
     },
     "trn2"},
    {"PsumElements", "size-limit", "4098 elements per partition; at most 4096 in psum",
     [](Builder& b, bool bad) { b.memset(b.psum("t", 128, {bad ? 4098 : 4096}, BF16), 0); }},
};
TRN_VERIFY_CASES(VerifyPattern, kPatterns);

// stationary (K=128, M=128) and moving (K=128, N) in SBUF.
void matmul_into(Builder& b, const Access& dst, Affine accumulate = 0) {
  const Access stationary = b.sbuf("stationary", 128, {128}, BF16);
  const Access moving = b.sbuf("moving", 128, {dst.free_size()}, BF16);
  b.nc_matmul(dst, stationary, moving, {.accumulate = std::move(accumulate)});
}

const std::vector<Case> kBanks{
    {"ConstantOffset", "psum-bank-crossed", "1024 bytes per partition from byte 1536 of a PSUM bank of 2048",
     [](Builder& b, bool bad) {
       const Access acc = b.psum("acc", 128, {1024});
       matmul_into(b, acc(all, ds(bad ? 384 : 256, 256)));
     }},
    {"SomeValueOfALoop", "psum-bank-crossed", "of a PSUM bank of 2048",
     [](Builder& b, bool bad) {
       const Access acc = b.psum("acc", 128, {2048});
       b.parallel("i", 4, [&](const Affine& i) { matmul_into(b, acc(all, ds(i * (bad ? 384 : 512), 256))); });
     }},
    {"TwoLoops", "psum-bank-crossed", "from byte 1536",
     [](Builder& b, bool bad) {
       const Access acc = b.psum("acc", 128, {2048});
       b.parallel("i", 2, [&](const Affine& i) {
         b.parallel("j", bad ? 4 : 3, [&](const Affine& j) { matmul_into(b, acc(all, ds(i * 512 + j * 128, 256))); });
       });
     }},
    {"StridedDestination", "psum-bank-crossed", "bytes per partition from byte 0",
     [](Builder& b, bool bad) {
       const Access acc = b.psum("acc", 128, {1024});
       matmul_into(b, with_dims(acc, {{bad ? 2 : 1, 512}}));
     }},
    {"Transpose", "psum-bank-crossed", "256 bytes per partition from byte 1920",
     [](Builder& b, bool bad) {
       const Access data = b.sbuf("data", 128, {128}, BF16), acc = b.psum("acc", 128, {2048}, BF16);
       b.nc_transpose(acc(all, ds(bad ? 960 : 896, 128)), data);
     }},
    {"TransposeOnAnOpenEngine", "psum-bank-crossed", "256 bytes per partition from byte 1920",
     [](Builder& b, bool bad) {
       const Access data = b.sbuf("data", 128, {128}, BF16), acc = b.psum("acc", 128, {2048}, BF16);
       b.nc_transpose(acc(all, ds(bad ? 960 : 896, 128)), data, Engine::Any);
     }},
};
TRN_VERIFY_CASES(VerifyBank, kBanks);

TEST(VerifyBankTrn3, MatmulMaySpanBanks) {
  const Machine& m = machine("trn3");
  Builder b("wide", m);
  matmul_into(b, b.psum("acc", 128, {1024}));
  EXPECT_EQ(all_messages(verify(b.finish_unverified(), m)), "");
}

}  // namespace
}  // namespace trn::tile::test
