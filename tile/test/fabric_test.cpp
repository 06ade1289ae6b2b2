// Fabric: where ranks are, and what collectives cost, against arithmetic done by hand on the documented rates.
#include <gtest/gtest.h>

#include <numeric>
#include <trn/core/error.hpp>
#include <trn/tile/fabric.hpp>
#include <trn/tile/machine.hpp>

namespace trn::tile {
namespace {

using Kind = CollectiveKind;
using Algorithm = CollectiveAlgorithm;

double seconds(const char* name, Kind kind, double bytes, const Members& m, double eta = 0) {
  return collective_cost(fabric(name), kind, bytes, m, eta).seconds();
}

TEST(Fabric, TablesHaveASourceBesideEveryNumber) {
  for (const Fabric& f : fabrics()) {
    EXPECT_NO_THROW((void)machine(f.machine)) << f.name;
    EXPECT_EQ(machine(f.machine).cores_per_chip, f.cores_per_chip) << f.name;
    for (const Figure* x : {&f.link_bytes_per_s, &f.ring_bytes_per_s, &f.chip_bytes_per_s, &f.core_bytes_per_s,
                            &f.stack_bytes_per_s, &f.efa_bytes_per_s, &f.hop_s, &f.mesh_step_s, &f.efa_hop_s, &f.eta}) {
      if (x->value == 0) continue;
      const bool marked = x->source.starts_with("[doc]") || x->source.starts_with("[meas]") ||
                          x->source.starts_with("[derived]") || x->source.starts_with("[choice]");
      EXPECT_TRUE(marked) << f.name << ": " << x->source;
    }
  }
  EXPECT_EQ(fabric("trn2u").chips_per_node(), 64);
  EXPECT_EQ(fabric("trn3g2").chips_per_node(), 144);
  EXPECT_THROW((void)fabric("trn9"), InvalidArgument);
}

TEST(Placement, RanksFillChipsThenNodes) {
  const Placement p{.ranks = 4, .chips = 16, .nodes = 3, .lnc = 2};
  EXPECT_EQ(p.size(), 192);
  EXPECT_EQ(p.place(0), (Placement::Place{0, 0, 0}));
  EXPECT_EQ(p.place(3), (Placement::Place{0, 0, 6}));
  EXPECT_EQ(p.place(4), (Placement::Place{0, 1, 0}));
  EXPECT_EQ(p.place(191), (Placement::Place{2, 15, 6}));
  EXPECT_NO_THROW(p.validate(fabric("trn2")));
  EXPECT_THROW(p.validate(fabric("trn1")), InvalidArgument);  // logical cores of two
  EXPECT_THROW((Placement{.ranks = 9}.validate(fabric("trn2"))), InvalidArgument);
  EXPECT_THROW((Placement{.ranks = 8, .chips = 17}.validate(fabric("trn2"))), InvalidArgument);
  EXPECT_NO_THROW((Placement{.ranks = 8, .chips = 17}.validate(fabric("trn2u"))));
}

TEST(Members, OfPartsOfAPlacement) {
  const Placement p{.ranks = 8, .chips = 4, .nodes = 2};
  std::vector<int> all(64);
  std::iota(all.begin(), all.end(), 0);
  const Members whole = members(p, all);
  EXPECT_EQ(whole.size(), 64);
  EXPECT_EQ(whole.sharing, 1);
  const Members chip = members(p, std::vector<int>{8, 9, 10, 11, 12, 13, 14, 15});
  EXPECT_EQ(chip.per_chip, 8);
  EXPECT_EQ(chip.chips * chip.nodes, 1);
  const Members column = members(p, std::vector<int>{3, 11, 19, 27, 35, 43, 51, 59});  // one core of every chip
  EXPECT_EQ(column.per_chip, 1);
  EXPECT_EQ(column.chips, 4);
  EXPECT_EQ(column.nodes, 2);
  EXPECT_EQ(column.sharing, 8);
}

TEST(ChipBox, IsCompact) {
  const Fabric& f = fabric("trn2u");
  const auto volume = [&](int chips) {
    const ChipBox b = chip_box(f, chips);
    return b.rows * b.columns * b.ring;
  };
  for (const int chips : {1, 2, 3, 4, 8, 16, 32, 64}) EXPECT_EQ(volume(chips), chips);
  EXPECT_EQ(chip_box(f, 16).ring, 1);
  EXPECT_EQ(chip_box(f, 32).ring, 2);
}

// Two cores of a trn1 chip, all_reduce: each moves 1.5 B through engines of 272 GB/s, two hops of 2 us.
TEST(CollectiveCost, TwoCores) {
  const Members m{2, 1, 1};
  const CollectiveCost c = collective_cost(fabric("trn1"), Kind::AllReduce, 8e6, m, 1);
  EXPECT_EQ(c.algorithm, Algorithm::Recursive);
  EXPECT_NEAR(c.seconds(), 4e-6 + 1.5 * 8e6 / 272e9, 1e-12);
  EXPECT_EQ(c.wire_bytes, 8e6);
  EXPECT_STREQ(c.binding, "core");
}

// A ring of four chips, 256 GB/s into each: 1.5 B for an all_reduce; and the mesh of a trn1's 16 chips, whose bytes
// take two links each of four with 48 GB/s.
TEST(CollectiveCost, Chips) {
  const Members four{.per_chip = 4, .chips = 4, .lnc = 2};
  const CollectiveCost c = collective_cost(fabric("trn2"), Kind::AllReduce, 512 << 20, four, 1);
  EXPECT_EQ(c.algorithm, Algorithm::Ring);
  EXPECT_NEAR(c.wire_s, 1.5 * (512 << 20) / 256e9, 1e-9);
  EXPECT_NEAR(c.alpha_s, 2 * 8 * 2e-6, 1e-12);
  const CollectiveCost mesh = collective_cost(fabric("trn1"), Kind::AllGather, 524288, {2, 16, 1}, 1);
  EXPECT_EQ(mesh.algorithm, Algorithm::Mesh);
  EXPECT_NEAR(mesh.wire_s, 2 * 524288 / 192e9, 1e-9);
  // Eight groups that use one core of every chip share the links.
  const Members column{.per_chip = 1, .chips = 16, .sharing = 8};
  EXPECT_NEAR(collective_cost(fabric("trn2"), Kind::AllGather, 1e9, column, 1).wire_s, 8e9 * 15 / 16 / 512e9, 1e-9);
}

// A 4 x 4 torus cut in half: 8 links of 128 GB/s, a quarter of all bytes; an UltraServer: 32 links of 64 GB/s.
TEST(CollectiveCost, AllToAllByBisection) {
  const double total = 2048. * 2048 * 2048 * 8;
  EXPECT_NEAR(collective_cost(fabric("trn2"), Kind::AllToAll, total / 128, {8, 16, 1}, 1).wire_s, total / 4 / 1024e9,
              1e-9);
  EXPECT_NEAR(collective_cost(fabric("trn2u"), Kind::AllToAll, total / 512, {8, 64, 1}, 1).wire_s, total / 4 / 2048e9,
              1e-9);
  const CollectiveCost nodes = collective_cost(fabric("trn2"), Kind::AllToAll, total / 2048, {8, 16, 16}, 1);
  EXPECT_NEAR(nodes.wire_s, total / 16 * 15 / 16 / 400e9, 1e-9);
  EXPECT_STREQ(nodes.binding, "EFA");
}

TEST(CollectiveCost, GrowsWithBytesAndFallsWithEta) {
  for (const Fabric& f : fabrics()) {
    const int chips = std::min(16, f.chips_per_node());
    for (const Members& m : {Members{2, 1, 1}, Members{2, chips, 1}, Members{2, chips, 4}, Members{1, 1, 2}}) {
      for (const Kind kind : {Kind::Broadcast, Kind::AllGather, Kind::ReduceScatter, Kind::AllReduce, Kind::AllToAll,
                              Kind::SendReceive}) {
        CollectiveCost last;
        for (double bytes = 1; bytes < 1e12; bytes *= 4) {
          const CollectiveCost c = collective_cost(f, kind, bytes, m);
          if (c.algorithm == last.algorithm) {
            EXPECT_GT(c.seconds(), last.seconds()) << f.name << " " << name(kind);
          }
          EXPECT_GE(c.seconds(), collective_cost(f, kind, bytes, m, 1).seconds());
          last = c;
        }
      }
    }
  }
  EXPECT_EQ(seconds("trn2", Kind::AllReduce, 1e9, {1, 1, 1}), 0);
  EXPECT_THROW((void)seconds("trn2", Kind::AllReduce, 1e9, {2, 1, 1}, 1.5), InvalidArgument);
}

TEST(TrafficCost, SlowestLevel) {
  const Placement p{.ranks = 8, .chips = 16, .nodes = 4};
  const Fabric& f = fabric("trn2");
  const TrafficCost chip = traffic_cost(f, {.core = 1e9, .chip = 8e9, .node = 1e9}, p, 1);
  EXPECT_STREQ(chip.binding, "chip links");
  EXPECT_NEAR(chip.seconds, 8e9 / 512e9, 1e-9);
  EXPECT_NEAR(traffic_cost(f, {.node = 8e9}, p, 0.5).seconds, 8e9 / 400e9 / 0.5, 1e-9);
}

}  // namespace
}  // namespace trn::tile
