// DMA: copies between layouts and dtypes, transposes, gathers and scatters.
#include <limits>

#include "interpreter_harness.hpp"

namespace trn::neuron::sim {
namespace {

Values counting(std::int64_t n) {
  Values v(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = static_cast<double>(i);
  return v;
}

TEST(DmaCopy, EqualDTypesMoveBitsOthersGoThroughFloat) {
  std::vector<DType> dtypes = kDeviceFloats;
  dtypes.insert(dtypes.end(), kIntegers.begin(), kIntegers.end());
  const Values x{0, -1.5, 3, 100.25, -7, 16777217, 300, 1e10, std::numeric_limits<double>::infinity(), std::nan("")};
  for (const DType from : dtypes) {
    for (const DType to : dtypes) {
      Rig rig;
      const Access source = rig.input("x", from, {2, 5}, x);
      const Access t = rig.b.sbuf("t", 2, {5}, to);
      rig.b.dma_copy(t, source);
      rig.emit("out", t);
      rig.run();
      if (from == to) {
        EXPECT_EQ(rig.bytes("out"), rig.bytes("x")) << name(from);
        continue;
      }
      const Values held = rounded(x, from);
      for (std::size_t i = 0; i < x.size(); ++i) {
        EXPECT_TRUE(same(rig.values("out")[i], rounded(static_cast<float>(held[i]), to)))
            << name(from) << " to " << name(to) << " of " << x[i];
      }
    }
  }
}

TEST(DmaCopy, PairsElementsInRowMajorOrder) {
  Rig rig;
  const Access x = rig.input("x", DType::Float32, {4, 6}, counting(24));
  const Access t = rig.b.sbuf("t", 8, {3}, DType::Float32), u = rig.b.sbuf("u", 3, {8}, DType::Float32);
  const Access h = rig.b.scratch("h", DType::Float32, {24});
  rig.b.dma_copy(t, x);
  rig.b.dma_copy(h, t);
  rig.b.dma_copy(u, h);
  rig.b.dma_copy(rig.output("direct", DType::Float32, {6, 4}), u);
  rig.b.dma_copy(rig.output("turned", DType::Float32, {6, 4}), x.permute({1, 0}));
  rig.run();
  EXPECT_EQ(rig.values("direct"), counting(24));
  for (std::size_t i = 0; i < 24; ++i) EXPECT_EQ(rig.values("turned")[i], static_cast<double>(i % 4 * 6 + i / 4));
}

TEST(DmaCopy, TensorsWithStrides) {
  Rig rig;
  rig.input("x", DType::Float32, {12}, counting(12));                      // memory of 3 x 4
  Access x{Target::Tensor, 0, DType::Float32, 0, 0, 0, {{1, 4}, {4, 3}}};  // its transpose
  const Access t = rig.b.sbuf("t", 2, {3}, DType::Float32);
  rig.b.dma_copy(t, x(ds(1, 2), all));
  rig.emit("out", t);
  rig.run();
  EXPECT_EQ(rig.values("out"), (Values{1, 5, 9, 2, 6, 10}));
}

TEST(DmaCopy, LargeCopyIsComplete) {
  Rig rig;
  const Access x = rig.input("x", DType::BFloat16, {128, 1031}, rounded(normals(128 * 1031, 1), DType::BFloat16));
  const Access t = rig.b.sbuf("t", 128, {1031}, DType::BFloat16);
  rig.b.dma_copy(t, x);
  rig.emit("out", t);
  rig.b.dma_copy(rig.output("hbm", DType::BFloat16, {128, 1031}), x);
  rig.run();
  EXPECT_EQ(rig.bytes("out"), rig.bytes("x"));
  EXPECT_EQ(rig.bytes("hbm"), rig.bytes("x"));
}

TEST(DmaTranspose, MatricesAndTheDocumentedPermutations) {
  for (const Storage storage : {Storage::Exact, Storage::Wide}) {
    Rig rig;
    rig.options.storage = storage;
    const Access matrix = rig.input("m", DType::BFloat16, {5, 7}, counting(35));
    const Access cube = rig.input("c", DType::Float32, {3, 4, 5}, counting(60));
    const Access four = rig.input("f", DType::Float32, {2, 3, 4, 5}, counting(120));
    const Access m = rig.b.sbuf("mt", 7, {5}, DType::BFloat16), c = rig.b.sbuf("ct", 5, {4, 3}, DType::Float32);
    const Access f = rig.b.sbuf("ft", 5, {3, 4, 2}, DType::Float32);
    rig.b.dma_transpose(m, matrix);
    rig.b.dma_transpose(c, cube);
    rig.b.dma_transpose(f, four);
    rig.emit("m_out", m);
    rig.emit("c_out", c);
    rig.emit("f_out", f);
    rig.run();
    std::size_t at = 0;
    for (int i = 0; i < 7; ++i) {
      for (int j = 0; j < 5; ++j) EXPECT_EQ(rig.values("m_out")[at++], j * 7 + i);
    }
    at = 0;
    for (int l = 0; l < 5; ++l) {
      for (int i = 0; i < 4; ++i) {
        for (int j = 0; j < 3; ++j) EXPECT_EQ(rig.values("c_out")[at++], (j * 4 + i) * 5 + l);
      }
    }
    at = 0;
    for (int l = 0; l < 5; ++l) {
      for (int a = 0; a < 12; ++a) {
        for (int j = 0; j < 2; ++j) EXPECT_EQ(rig.values("f_out")[at++], (j * 12 + a) * 5 + l);
      }
    }
  }
}

TEST(DmaGather, RowsByIndex) {
  for (const DType index_type : {DType::Int32, DType::UInt32}) {
    Rig rig;
    const Access x = rig.input("x", DType::Float32, {10, 6}, counting(60));
    const Access index = rig.tile("i", index_type, 4, 1, {9, 0, 3, 3});
    const Access t = rig.b.sbuf("t", 4, {3}, DType::Float16);
    rig.b.dma_gather(t, x(all, ds(2, 3)), index);
    rig.emit("out", t);
    rig.run();
    EXPECT_EQ(rig.values("out"), (Values{56, 57, 58, 2, 3, 4, 20, 21, 22, 20, 21, 22}));
  }
}

TEST(DmaGather, OutOfRangeIsAnErrorOrSkipped) {
  const auto run = [](Rig& rig, double index, OobMode oob) {
    const Access x = rig.input("x", DType::Float32, {10, 2}, counting(20));
    const Access t = rig.b.sbuf("t", 2, {2}, DType::Float32);
    rig.b.memset(t, -1, Engine::Vector);
    rig.b.dma_gather(t, x, rig.tile("i", DType::Int32, 2, 1, {4, index}), {oob});
    rig.emit("out", t);
    rig.run();
  };
  for (const double index : {10.0, -1.0, 2e9}) {
    EXPECT_EQ(check_of([&] {
                Rig rig;
                run(rig, index, OobMode::Error);
              }),
              "index-out-of-range");
    Rig rig;
    run(rig, index, OobMode::Skip);
    EXPECT_EQ(rig.values("out"), (Values{8, 9, -1, -1}));
  }
  Rig rig;
  run(rig, 9, OobMode::Error);
  EXPECT_EQ(rig.values("out"), (Values{8, 9, 18, 19}));
}

TEST(DmaScatter, LastOfEqualIndicesStays) {
  Rig rig;
  const Access t = rig.tile("x", DType::Float32, 3, 2, {1, 2, 3, 4, 5, 6});
  const Access y = rig.output("y", DType::Float32, {4, 2});
  const Access zero = rig.b.sbuf("zero", 4, {2}, DType::Float32);
  rig.b.memset(zero, 0, Engine::Vector);
  rig.b.dma_copy(y, zero);
  rig.b.dma_scatter(y, t, rig.tile("i", DType::UInt32, 3, 1, {3, 1, 3}));
  rig.b.dma_scatter(y, t, rig.tile("j", DType::UInt32, 3, 1, {9, 9, 0}), {OobMode::Skip});
  rig.run();
  EXPECT_EQ(rig.values("y"), (Values{5, 6, 3, 4, 0, 0, 5, 6}));
  Rig bad;
  const Access out = bad.output("y", DType::Float32, {4, 2});
  bad.b.dma_scatter(out, bad.tile("x", DType::Float32, 1, 2, {1, 2}), bad.tile("i", DType::UInt32, 1, 1, {4}));
  EXPECT_EQ(check_of([&] { bad.run(); }), "index-out-of-range");
}

}  // namespace
}  // namespace trn::neuron::sim
