// Dependencies: the three hazards, edges carried by the rotation of buffers, no edge between disjoint regions, and the
// tracker against an oracle that keeps every touch.
#include <gtest/gtest.h>

#include <random>
#include <trn/tile/builder.hpp>
#include <trn/tile/depend.hpp>

namespace trn::tile {
namespace {

constexpr auto F32 = DType::Float32;
using enum Hazard;

std::vector<Dependency> edges(Builder& b) { return depend(b.finish(), b.machine()); }

bool has(const std::vector<Dependency>& all, const Dependency& wanted) {
  return std::ranges::find(all, wanted) != all.end();
}

TEST(Depend, FindsTheThreeHazards) {
  Builder b("p", machine("trn2"));
  const Access s = b.sbuf("s", 128, {64}, F32), t = b.sbuf("t", 128, {64}, F32);
  b.memset(s, 0, Engine::Vector);       // 0
  b.tensor_copy(t, s, Engine::Vector);  // 1
  b.memset(s, 1, Engine::Vector);       // 2
  b.memset(s, 2, Engine::Vector);       // 3: 0 and 1 are behind 2 already
  const std::vector<Dependency> expected{{0, 1, ReadAfterWrite, false},
                                         {0, 2, WriteAfterWrite, false},
                                         {1, 2, WriteAfterRead, false},
                                         {2, 3, WriteAfterWrite, false}};
  EXPECT_EQ(edges(b), expected);
}

TEST(Depend, OneSharedElementIsEnough) {
  Builder b("p", machine("trn2"));
  const Access t = b.sbuf("t", 128, {64}, F32), u = b.sbuf("u", 128, {64}, F32);
  b.memset(t(all, ds(0, 32)), 0, Engine::Vector);
  b.tensor_copy(u(all, ds(0, 1)), t(all, ds(31, 1)), Engine::Vector);
  b.tensor_copy(u(all, ds(1, 1)), t(all, ds(32, 1)), Engine::Vector);
  const std::vector<Dependency> expected{{0, 1, ReadAfterWrite, false}};
  EXPECT_EQ(edges(b), expected);
}

TEST(Depend, DisjointRegionsAreIndependent) {
  Builder b("p", machine("trn2"));
  const Access t = b.sbuf("t", 128, {2, 64}, F32);
  b.memset(t(all, ds(0, 1), all), 0, Engine::Vector);
  b.memset(t(all, ds(1, 1), all), 0, Engine::Vector);
  b.memset(t(ds(0, 64), ds(0, 1), ds(0, 32)), 0, Engine::Vector);
  b.memset(t(ds(64, 64), ds(0, 1), ds(0, 32)), 0, Engine::Vector);
  const std::vector<Dependency> expected{{0, 2, WriteAfterWrite, false}, {0, 3, WriteAfterWrite, false}};
  EXPECT_EQ(edges(b), expected);
}

// load t, read t, in a loop: with n buffers the load of iteration i waits for the reader of iteration i - n.
std::vector<Dependency> rotation(std::int64_t buffers) {
  Builder b("p", machine("trn2"));
  const Access x = b.input("x", F32, {8, 128, 64}), y = b.output("y", F32, {8, 128, 64});
  b.parallel("i", 8, [&](const Affine& i) {
    const Access t = b.sbuf("t", 128, {64}, F32, buffers);
    b.dma_copy(t, x(ds(i, 1), all, all));
    b.dma_copy(y(ds(i, 1), all, all), t);
  });
  return edges(b);
}

TEST(Depend, RotationCarriesEdgesAroundTheLoop) {
  for (const std::int64_t buffers : {1, 2, 5}) {
    const std::vector<Dependency> found = rotation(buffers);
    EXPECT_TRUE(has(found, {0, 1, ReadAfterWrite, false}));
    EXPECT_TRUE(has(found, {1, 0, WriteAfterRead, true})) << buffers << " buffers";
    EXPECT_FALSE(has(found, {1, 1, WriteAfterWrite, true})) << "stores of different rows";
  }
  // More buffers than iterations: nothing comes round.
  EXPECT_FALSE(has(rotation(8), {1, 0, WriteAfterRead, true}));
}

TEST(Depend, AccumulationReadsWhatItAddsTo) {
  Builder b("p", machine("trn2"));
  const Access s = b.sbuf("s", 128, {64}, DType::BFloat16), acc = b.psum("acc", 64, {64});
  b.memset(s, 0, Engine::Vector);
  b.nc_matmul(acc, s, s);
  b.nc_matmul(acc, s, s, {.accumulate = 1});
  const std::vector<Dependency> found = edges(b);
  EXPECT_TRUE(has(found, {1, 2, ReadAfterWrite, false}));
  EXPECT_FALSE(has(found, {1, 2, WriteAfterWrite, false}));
}

TEST(Depend, HbmIsTrackedByRowsAndColumns) {
  Builder b("p", machine("trn2"));
  const Access h = b.scratch("h", F32, {256, 64});
  const Access t = b.sbuf("t", 128, {32}, F32), u = b.sbuf("u", 128, {32}, F32), v = b.sbuf("v", 128, {32}, F32);
  b.memset(t, 0, Engine::Vector);             // 0
  b.dma_copy(h(ds(0, 128), ds(0, 32)), t);    // 1
  b.dma_copy(u, h(ds(128, 128), ds(0, 32)));  // 2: other rows
  b.dma_copy(v, h(ds(0, 128), ds(32, 32)));   // 3: other columns
  b.dma_copy(u, h(ds(64, 128), ds(16, 32)));  // 4: overlaps 1
  const std::vector<Dependency> expected{
      {0, 1, ReadAfterWrite, false}, {1, 4, ReadAfterWrite, false}, {2, 4, WriteAfterWrite, false}};
  EXPECT_EQ(edges(b), expected);
}

TEST(Depend, AScatterMeetsTheWholeTensor) {
  Builder b("p", machine("trn2"));
  const Access h = b.scratch("h", F32, {512, 64});
  const Access t = b.sbuf("t", 128, {64}, F32), row = b.sbuf("row", 128, {1}, DType::UInt32);
  b.memset(t, 0, Engine::Vector);
  b.iota(row, {{0, 1}}, 0, 1);
  b.dma_scatter(h, t, row);             // 2
  b.dma_copy(t, h(ds(384, 128), all));  // 3: rows the index might have named
  EXPECT_TRUE(has(edges(b), {2, 3, ReadAfterWrite, false}));
}

TEST(Depend, TilesThatShareBytesDependOnEachOther) {
  Builder b("p", machine("trn2"));
  const Access y = b.output("y", F32, {2, 128, 30000});
  b.parallel("i", 2, [&](const Affine& i) {
    const Access t = b.sbuf("t", 128, {30000}, F32);
    b.memset(t, 0, Engine::Vector);        // 0
    b.dma_copy(y(ds(i, 1), all, all), t);  // 1
  });
  b.parallel("j", 2,
             [&](const Affine&) { b.memset(b.sbuf("u", 128, {30000}, F32), 1, Engine::Vector); });  // 2, same bytes
  const std::vector<Dependency> found = edges(b);
  EXPECT_TRUE(has(found, {1, 2, WriteAfterRead, false}));
}

// Random rectangles. The tracker forgets what a later write covers, so its direct edges are fewer than the oracle's;
// their transitive closure must hold every true conflict, and no edge may join regions that do not overlap.
TEST(DependencyTracker, OrdersWhateverTheOracleOrders) {
  constexpr int kTouches = 120;
  for (const std::int64_t piece : {4, 64}) {  // cut into sixteen strips, and into one
    for (unsigned seed = 1; seed <= 40; ++seed) {
      Builder b("p", machine("trn2"));
      b.memset(b.sbuf("t", 128, {64}, DType::UInt8)(all, ds(0, piece)), 0, Engine::Vector);
      const Program p = b.finish_unverified();
      const Allocation a = allocate(p, machine("trn2"));
      const MemoryMap map(p, a);
      DependencyTracker tracker(map);
      std::mt19937 random(seed);
      const auto draw = [&](std::int64_t low, std::int64_t high) {
        return std::uniform_int_distribution<std::int64_t>(low, high)(random);
      };
      std::vector<Touch> touches;
      std::vector<std::vector<bool>> before;  // closure, by touch
      for (int n = 0; n < kTouches; ++n) {
        const std::int64_t row = draw(0, 120), column = draw(0, 60);
        Touch t{0, {row, draw(row + 1, 128), column, draw(column + 1, 64)}, draw(0, 2) == 0, false};
        t.read = !t.write || draw(0, 1) == 0;
        std::vector<bool> mine(kTouches, false);
        tracker.touch(t, n, n, [&](std::int64_t earlier, Hazard hazard) {
          const auto e = static_cast<std::size_t>(earlier);
          EXPECT_TRUE(touches[e].region.overlaps(t.region));
          EXPECT_TRUE(hazard == WriteAfterRead ? touches[e].read && t.write : touches[e].write);
          mine[e] = true;
          for (std::size_t i = 0; i < before[e].size(); ++i) mine[i] = mine[i] || before[e][i];
        });
        for (std::size_t e = 0; e < touches.size(); ++e) {
          const bool conflict = touches[e].region.overlaps(t.region) && (touches[e].write || t.write);
          ASSERT_TRUE(!conflict || mine[e]) << "seed " << seed << ": touch " << n << " is not after " << e;
        }
        touches.push_back(t);
        before.push_back(mine);
      }
    }
  }
}

TEST(MemoryMap, OverlappingRegionsShareAStrip) {
  Builder b("p", machine("trn2"));
  const Access y = b.output("y", F32, {4096, 4096}), t = b.sbuf("t", 128, {64, 16}, F32);
  b.memset(t, 0, Engine::Vector);
  b.parallel("i", 32, [&](const Affine& i) {
    b.parallel("j", 256,
               [&](const Affine& j) { b.dma_copy(y(ds(i * 128, 128), ds(j * 16, 16)), t(all, ds(j * 0, 1), all)); });
  });
  const Program p = b.finish();
  const Allocation a = allocate(p, machine("trn2"));
  const MemoryMap map(p, a);
  EXPECT_GT(map.strips(), 64);
  std::mt19937 random(3);
  std::uniform_int_distribution<std::int64_t> at(0, 4000), size(1, 200);
  for (int n = 0; n < 5000; ++n) {
    const auto rectangle = [&] {
      const std::int64_t row = at(random), column = at(random);
      return Region{row, row + size(random), column, column + size(random)};
    };
    const Region r = rectangle(), q = rectangle();
    const MemoryMap::Strips x = map.strips_of(1, r), z = map.strips_of(1, q);
    EXPECT_TRUE(!r.overlaps(q) || (x.first <= z.last && z.first <= x.last));
  }
}

// A view of another width counts bytes, not elements: the upper half of the rows, written as bytes, is read as floats.
TEST(Depend, ViewsOfAnotherWidth) {
  const Machine& m = machine("trn2");
  Builder b("views", m);
  const Access scratch = b.scratch("s", DType::Float32, {64, 16}), out = b.output("o", DType::Float32, {32, 16});
  const Access bytes = b.sbuf("bytes", 32, {64}, DType::UInt8), floats = b.sbuf("floats", 32, {16}, DType::Float32);
  b.memset(bytes, 1, Engine::Vector);
  b.dma_copy(scratch.view(DType::UInt8)(ds(32, 32), all), bytes);  // 1
  b.dma_copy(floats, scratch(ds(32, 32), all));                    // 2 reads what 1 wrote
  b.dma_copy(out, floats);
  const auto edges = depend(b.finish(), m);
  EXPECT_TRUE(std::any_of(edges.begin(), edges.end(), [](const Dependency& d) {
    return d.from == 1 && d.to == 2 && d.hazard == Hazard::ReadAfterWrite;
  }));
}

}  // namespace
}  // namespace trn::tile
