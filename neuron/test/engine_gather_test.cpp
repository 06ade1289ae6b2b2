// nc_n_gather, nc_stream_shuffle, dma_compute and several indices per partition against plain loops.
#include <limits>

#include "interpreter_harness.hpp"

namespace trn::neuron::sim {
namespace {

constexpr auto F32 = DType::Float32, BF16 = DType::BFloat16, I32 = DType::Int32, U32 = DType::UInt32;
const double kInf = std::numeric_limits<double>::infinity();

Values indices(std::int64_t n, std::int64_t below, unsigned seed) {
  std::mt19937 generator(seed);
  Values v(static_cast<std::size_t>(n));
  for (double& x : v) x = static_cast<double>(generator() % static_cast<unsigned>(below));
  return v;
}

TEST(NcNGather, EveryPartitionByItsOwnList) {
  for (const DType dtype : {F32, BF16, I32, DType::UInt8}) {
    for (const std::int64_t p : {1, 5, 128}) {
      const std::int64_t n = 12, m = 20;
      Values data = rounded(normals(p * n, 3), dtype);
      if (dtype == F32) data[0] = std::nan("");
      if (dtype == I32) data[0] = 16777217;
      const Values list = indices(p * m, n, 4);
      Rig rig;
      const Access d = rig.tile("d", dtype, p, n, data).split(0, 4), i = rig.tile("i", U32, p, m, list);
      const Access out = rig.b.sbuf("out", p, {m}, dtype);
      rig.b.nc_n_gather(out, d, i);
      rig.emit("y", out);
      rig.run();
      for (std::int64_t k = 0; k < p * m; ++k) {
        const auto at =
            static_cast<std::size_t>(k / m * n) + static_cast<std::size_t>(list[static_cast<std::size_t>(k)]);
        EXPECT_TRUE(same(rig.values("y")[static_cast<std::size_t>(k)], data[at])) << name(dtype) << " " << k;
      }
    }
  }
}

TEST(NcNGather, AnIndexBeyondTheDataIsReported) {
  const auto run = [](double index) {
    Rig rig;
    const Access d = rig.tile("d", F32, 2, 3, {1, 2, 3, 4, 5, 6}), i = rig.tile("i", U32, 2, 1, {0, index});
    const Access out = rig.b.sbuf("out", 2, {1}, F32);
    rig.b.nc_n_gather(out, d, i);
    rig.emit("y", out);
    rig.run();
    return rig.values("y");
  };
  EXPECT_EQ(run(2), (Values{1, 6}));
  EXPECT_EQ(check_of([&] { run(3); }), "index-out-of-range");
}

TEST(NcNGather, MayWriteOverItsData) {
  Rig rig;
  const Access d = rig.tile("d", F32, 1, 4, {1, 2, 3, 4}), i = rig.tile("i", U32, 1, 4, {3, 2, 1, 0});
  rig.b.nc_n_gather(d, d, i);
  rig.emit("y", d);
  rig.run();
  EXPECT_EQ(rig.values("y"), (Values{4, 3, 2, 1}));
}

std::vector<std::int64_t> random_mask(unsigned seed) {
  std::mt19937 generator(seed);
  std::vector<std::int64_t> mask(32);
  for (std::int64_t& m : mask) m = generator() % 5 == 0 ? 255 : static_cast<std::int64_t>(generator() % 32);
  return mask;
}

TEST(NcStreamShuffle, PartitionsOfEachQuadrant) {
  for (const std::int64_t p : {32, 64, 96, 128}) {
    for (const bool in_place : {false, true}) {
      const Values x = normals(p * 3, 5), old = in_place ? rounded(x, F32) : normals(p * 3, 6);
      const std::vector<std::int64_t> mask = random_mask(static_cast<unsigned>(p));
      Rig rig;
      const Access s = rig.tile("s", F32, p, 3, x), d = in_place ? s : rig.tile("d", F32, p, 3, old);
      rig.b.nc_stream_shuffle(d, s, mask);
      rig.emit("y", d);
      rig.run();
      const Values y = rig.values("y"), from = rounded(x, F32), kept = rounded(old, F32);
      for (std::int64_t i = 0; i < p * 3; ++i) {
        const std::int64_t m = mask[static_cast<std::size_t>(i / 3 % 32)];
        const std::int64_t at = (i / 96 * 32 + m) * 3 + i % 3;
        EXPECT_EQ(y[static_cast<std::size_t>(i)],
                  m == 255 ? kept[static_cast<std::size_t>(i)] : from[static_cast<std::size_t>(at)])
            << p << " " << i;
      }
    }
  }
}

// A partition that the mask keeps is not written; one it names must be there.
TEST(NcStreamShuffle, KeptPartitionsHaveNoValueOfTheirOwn) {
  const auto run = [](std::int64_t entry) {
    Rig rig;
    const Access s = rig.tile("s", F32, 32, 1, normals(32, 1)), d = rig.b.sbuf("d", 32, {1}, F32);
    std::vector<std::int64_t> mask(32, 7);
    mask[9] = entry;
    rig.b.nc_stream_shuffle(d, s, mask);
    rig.emit("y", d);
    rig.run();
  };
  EXPECT_NO_THROW(run(3));
  EXPECT_EQ(check_of([&] { run(255); }), "uninitialised-read");
}

TEST(DmaCompute, AddsInFp32FromTheFirstToTheLast) {
  for (const DType dtype : {F32, BF16, I32}) {
    const std::int64_t n = 24;
    std::vector<Values> x;
    for (unsigned s = 0; s < 5; ++s) {
      Values v = normals(n, s);
      for (double& a : v) a *= s == 2 ? 1e6 : 3;
      x.push_back(rounded(v, dtype));
    }
    if (dtype == F32) x[0][0] = kInf, x[1][0] = -kInf, x[0][1] = 16777216, x[1][1] = 1, x[2][1] = 1;
    Rig rig;
    std::vector<Access> sources;
    for (std::size_t s = 0; s < x.size(); ++s) {
      sources.push_back(s % 2 == 0 ? rig.tile("t" + std::to_string(s), dtype, 4, 6, x[s])
                                   : rig.input("h" + std::to_string(s), dtype, {4, 6}, x[s]));
    }
    rig.b.dma_compute(rig.output("y", dtype, {4, 6}), sources);
    rig.run();
    for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
      float sum = static_cast<float>(x[0][i]);
      for (std::size_t s = 1; s < x.size(); ++s) sum += static_cast<float>(x[s][i]);
      EXPECT_TRUE(same(rig.values("y")[i], rounded(sum, dtype))) << name(dtype) << " " << i;
    }
  }
}

TEST(DmaCompute, AddsToItsDestination) {
  Rig rig;
  const Access t = rig.tile("t", F32, 2, 2, {1, 2, 3, 4});
  rig.b.dma_compute(t, {t, rig.input("x", F32, {2, 2}, {10, 20, 30, 40})});
  rig.emit("y", t);
  rig.run();
  EXPECT_EQ(rig.values("y"), (Values{11, 22, 33, 44}));
}

// rows(i) of a table of four, added to or from.
Values add_rows(bool scatter, const Values& rows, OobMode oob) {
  Rig rig;
  const Values table{1, 2, 3, 4, 5, 6, 7, 8};
  const Access index = rig.tile("i", U32, 3, 1, rows), t = rig.tile("t", F32, 3, 2, {10, 20, 30, 40, 50, 60});
  const Access x = rig.input("x", F32, {4, 2}, table);
  const Access y = rig.output("y", F32, scatter ? Shape{4, 2} : Shape{3, 2});
  if (scatter) {
    rig.b.dma_copy(y, x);
    rig.b.dma_scatter_add(y, t, index, {.oob = oob});
  } else {
    rig.b.dma_gather_add(t, x, index, {.oob = oob});
    rig.b.dma_copy(y, t);
  }
  rig.run();
  return rig.values("y");
}

TEST(DmaCompute, AddsRowsByIndex) {
  EXPECT_EQ(add_rows(true, {3, 0, 1}, OobMode::Error), (Values{31, 42, 53, 64, 5, 6, 17, 28}));
  EXPECT_EQ(add_rows(false, {3, 3, 1}, OobMode::Error), (Values{17, 28, 37, 48, 53, 64}));
  EXPECT_EQ(add_rows(true, {3, 9, 1}, OobMode::Skip), (Values{1, 2, 53, 64, 5, 6, 17, 28}));
  EXPECT_EQ(add_rows(false, {9, 0, 1}, OobMode::Skip), (Values{10, 20, 31, 42, 53, 64}));
  for (const bool scatter : {false, true}) {
    EXPECT_EQ(check_of([&] { add_rows(scatter, {3, 4, 1}, OobMode::Error); }), "index-out-of-range");
  }
  EXPECT_EQ(check_of([&] { add_rows(true, {3, 1, 3}, OobMode::Error); }), "repeated-index");
}

TEST(DmaGather, SeveralIndicesPerPartition) {
  const std::int64_t p = 6, k = 3;
  const Values table = normals(40, 8), list = indices(p * k, 10, 9);
  Rig rig;
  const Access x = rig.input("x", F32, {10, 4}, table), i = rig.tile("i", U32, p, k, list);
  const Access t = rig.b.sbuf("t", p, {k, 4}, F32);
  rig.b.dma_gather(t, x, i);
  rig.emit("y", t);
  rig.run();
  for (std::size_t e = 0; e < static_cast<std::size_t>(p * k * 4); ++e) {
    const auto row = static_cast<std::size_t>(list[e / 4]);
    EXPECT_EQ(rig.values("y")[e], rounded(table, F32)[row * 4 + e % 4]) << e;
  }
}

TEST(DmaScatter, SeveralIndicesPerPartition) {
  Rig rig;
  const Access y = rig.output("y", F32, {4, 2});
  const Access t = rig.tile("t", F32, 2, 4, {1, 2, 3, 4, 5, 6, 7, 8}).split(0, 2),
               i = rig.tile("i", U32, 2, 2, {3, 1, 0, 2});
  rig.b.dma_scatter(y, t, i);
  rig.run();
  EXPECT_EQ(rig.values("y"), (Values{5, 6, 3, 4, 7, 8, 1, 2}));
}

}  // namespace
}  // namespace trn::neuron::sim
