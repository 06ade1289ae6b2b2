// The tables of Fabric. Sources: ARCH = AWS's pages on Trainium instances and UltraServers; COLL = the Neuron runtime's
// pages on collectives, within and between nodes; DMAG = the NKI DMA bandwidth guide; NCCOM = the page of nccom-test;
// PANTH = pantheongpu/pantheonneuron, nccom-test on a trn1 chip; PROF = profiler dumps (machine.cpp). All of 2026-08.
#include <trn/tile/fabric.hpp>

#include <algorithm>
#include <array>
#include <set>

#include <trn/core/error.hpp>
#include <trn/tile/host_link.hpp>
#include <trn/tile/machine.hpp>

namespace trn::tile {

namespace {

constexpr double kGiga = 1e9, kMicro = 1e-6;

constexpr Figure kHop{
    2 * kMicro,
    "[doc] COLL: 1 to 2 us a hop of a ring, the upper end; [meas] PANTH: 4.1 us for the two steps of two ranks"};
constexpr Figure kEfaHop{15 * kMicro, "[doc] COLL: about 15 us a hop between nodes, HBM to HBM"};
constexpr Figure kEta{
    1.0 / 3,
    "[derived] NCCOM: 16 ranks, all_reduce of 512 MiB in 9.69 ms is 0.32 of a ring of four chips, both directions"};
constexpr Figure kNone{0, ""};

constexpr Fabric trn1() {
  Fabric f{};
  f.name = "trn1";
  f.machine = "trn1";
  f.summary = "trn1.32xlarge";
  f.rows = 4, f.columns = 4, f.ring = 1;  // [doc] ARCH: 16 chips, 2-D torus
  f.cores_per_chip = 2;                   // [doc] ARCH
  f.link_bytes_per_s = {48 * kGiga, "[derived] ARCH: 384 GB/s per chip are four links and two directions"};
  f.ring_bytes_per_s = kNone;
  f.chip_bytes_per_s = kNone;
  f.core_bytes_per_s = {272 * kGiga, "[doc] DMAG: 16 engines of 17 B/ns"};
  f.stack_bytes_per_s = {410 * kGiga, "[doc] ARCH: 820 GB/s per chip, two stacks"};
  f.efa_bytes_per_s = {6.25 * kGiga, "[derived] ARCH: 800 Gb/s for 16 chips"};
  f.hop_s = kHop;
  f.mesh_step_s = {
      3.05 * kMicro,
      "[derived] NCCOM: 32 ranks, all_gather of 1 KB in 6.16 us, two steps; that it is a trn1 is a [choice]"};
  f.efa_hop_s = kEfaHop;
  f.eta = kEta;
  return f;
}

constexpr Fabric trn2() {
  Fabric f = trn1();
  f.name = "trn2";
  f.machine = "trn2";
  f.summary = "trn2.48xlarge";
  f.cores_per_chip = 8;  // [doc] ARCH
  f.link_bytes_per_s = {128 * kGiga, "[derived] ARCH: 1024 GB/s per chip are four links and two directions"};
  f.core_bytes_per_s = {368 * kGiga, "[doc] DMAG: 16 engines of 23 B/ns"};
  f.stack_bytes_per_s = {716 * kGiga, "[derived] PROF: the denominator of a profile's bandwidth use"};
  f.efa_bytes_per_s = {25 * kGiga, "[doc] ARCH: one NIC of 200 Gb/s per chip, 3200 Gb/s an instance"};
  f.mesh_step_s = {
      5 * kMicro,
      "[derived] NCCOM: 8 ranks, all_gather of 1 KB in 10.0 us, two steps; that it is a trn2 is a [choice]"};
  return f;
}

constexpr Fabric trn2u() {
  Fabric f = trn2();
  f.name = "trn2u";
  f.summary = "UltraServer: four trn2 instances";
  f.ring = 4;  // [doc] ARCH: 64 chips; chips of the same place in four instances form a ring
  f.ring_bytes_per_s = {64 * kGiga,
                        "[derived] ARCH: 256 GB/s per chip between instances are two links and two directions"};
  return f;
}

constexpr Fabric trn3() {
  Fabric f = trn2();
  f.name = "trn3";
  f.machine = "trn3";
  f.summary = "trn3 UltraServer, first generation";
  f.rows = 0, f.columns = 0, f.ring = 1;
  f.switched_chips = 64;  // [doc] ARCH
  f.link_bytes_per_s = kNone;
  f.chip_bytes_per_s = {
      352 * kGiga,
      "[derived] ARCH: 256 + 320 + 128 GB/s of links per chip, half of it inwards; another page has 2048 GiB/s"};
  f.core_bytes_per_s = {528 * kGiga, "[doc] DMAG: 16 engines of 33 B/ns"};
  f.stack_bytes_per_s = {1225 * kGiga, "[doc] ARCH: 4.9 TB/s per chip, four stacks"};
  f.efa_bytes_per_s = {25 * kGiga, "[doc] ARCH: 12800 Gb/s for 64 chips"};
  f.mesh_step_s = {5 * kMicro, "[choice] as trn2; no measurement exists"};
  return f;
}

constexpr Fabric trn3g2() {
  Fabric f = trn3();
  f.name = "trn3g2";
  f.summary = "trn3 UltraServer, second generation";
  f.switched_chips = 144;  // [doc] ARCH
  f.efa_bytes_per_s = {25 * kGiga, "[doc] ARCH: 28800 Gb/s for 144 chips"};
  return f;
}

constexpr std::array<Fabric, 5> kFabrics{trn1(), trn2(), trn2u(), trn3(), trn3g2()};

}  // namespace

std::span<const Fabric> fabrics() { return kFabrics; }

const Fabric& fabric(std::string_view name) {
  std::string list;
  for (const Fabric& f : kFabrics) {
    if (f.name == name) return f;
    list += (list.empty() ? "" : ", ") + std::string(f.name);
  }
  fail<InvalidArgument>("fabric: '{}' is not known; choose one of {}", name, list);
}

Figure host_bytes_per_s(const Fabric&) {
  return {16 * kGiga, "[doc] ARCH: about 16 GB/s in the figure of the memory hierarchy, for every generation"};
}

Placement::Place Placement::place(std::int64_t rank) const {
  const auto r = static_cast<int>(rank % ranks), chip = static_cast<int>(rank / ranks);
  return {chip / chips, chip % chips, r * lnc};
}

void Placement::validate(const Fabric& f) const {
  require(ranks > 0 && chips > 0 && nodes > 0, "placement: {} ranks on {} chips of {} nodes; all must be at least 1",
          ranks, chips, nodes);
  require(lnc == 1 || (lnc == 2 && f.machine != "trn1"), "placement: a rank of {} has {}, not {} cores", f.name,
          f.machine == "trn1" ? "1" : "1 or 2", lnc);
  require(ranks * lnc <= f.cores_per_chip, "placement: {} ranks of {} cores on a chip of {}, which has {} cores", ranks,
          lnc, f.name, f.cores_per_chip);
  require(chips <= f.chips_per_node(), "placement: {} chips in a node of {}, which has {}", chips, f.name,
          f.chips_per_node());
}

Members members(const Placement& p) { return {p.ranks, p.chips, p.nodes, 1, p.lnc}; }

Members members(const Placement& p, std::span<const int> ranks) {
  std::set<std::pair<int, int>> chips;
  std::set<int> nodes;
  for (const int rank : ranks) {
    const Placement::Place at = p.place(rank);
    chips.insert({at.node, at.chip});
    nodes.insert(at.node);
  }
  const auto up = [](std::size_t a, std::size_t b) { return static_cast<int>((a + b - 1) / b); };
  Members m;
  m.nodes = static_cast<int>(std::max<std::size_t>(1, nodes.size()));
  m.chips = up(std::max<std::size_t>(1, chips.size()), static_cast<std::size_t>(m.nodes));
  m.per_chip = up(std::max<std::size_t>(1, ranks.size()), std::max<std::size_t>(1, chips.size()));
  m.sharing = std::max(1, p.ranks / m.per_chip);
  m.lnc = p.lnc;
  return m;
}

}  // namespace trn::tile
