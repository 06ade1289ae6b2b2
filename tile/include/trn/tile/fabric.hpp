// Fabric: what connects the cores of a chip, the chips of a node and the nodes, as data, and what a collective
// operation costs on it. fabric.cpp holds the tables, with a source and a mark beside every number:
//
//   [doc]      AWS's documentation            [meas]    a published measurement
//   [derived]  arithmetic on those            [choice]  nobody says; ours
//
// Nothing here was measured by us on Trainium. A node is what NeuronLink connects: an instance, or an UltraServer of
// four. Rates hold in one direction; every one of them is multiplied by eta, the share that published collectives
// reach.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace trn::tile {

struct Figure {
  double value = 0;
  std::string_view source;                   // "[doc] ..."
  operator double() const { return value; }  // NOLINT: a figure is used as its number
};

struct Fabric {
  std::string_view name;     // "trn2u"
  std::string_view machine;  // the core's table in machine.hpp: "trn2"
  std::string_view summary;  // "UltraServer of four trn2 instances"
  int rows, columns, ring;   // chips of a node: a torus of rows x columns in each of `ring` instances; rows 0: switched
  int switched_chips;        // where there is no torus
  int cores_per_chip;
  Figure link_bytes_per_s;    // one link of the torus
  Figure ring_bytes_per_s;    // one link between instances
  Figure chip_bytes_per_s;    // into a switched chip
  Figure core_bytes_per_s;    // the DMA engines of one core
  Figure stack_bytes_per_s;   // one HBM stack
  Figure efa_bytes_per_s;     // into one chip's share of the node's network
  Figure hop_s, mesh_step_s;  // of a ring or a recursive step; of one of a mesh's two steps
  Figure efa_hop_s;           // HBM to HBM between nodes
  Figure eta;

  [[nodiscard]] bool switched() const { return rows == 0; }
  [[nodiscard]] int chips_per_node() const { return switched() ? switched_chips : rows * columns * ring; }
};

[[nodiscard]] std::span<const Fabric> fabrics();
// "trn1", "trn2", "trn2u", "trn3", "trn3g2"; throws InvalidArgument that lists them.
[[nodiscard]] const Fabric& fabric(std::string_view name);

// Where ranks are: `ranks` on each of `chips` chips of each of `nodes` nodes, in this order. A rank is one core, or two
// (lnc 2).
struct Placement {
  int ranks = 1, chips = 1, nodes = 1;
  int lnc = 1;
  [[nodiscard]] std::int64_t size() const { return std::int64_t{ranks} * chips * nodes; }
  [[nodiscard]] std::int64_t all_chips() const { return std::int64_t{chips} * nodes; }
  struct Place {
    int node, chip, core;  // core: the first of the rank's
    friend bool operator==(const Place&, const Place&) = default;
  };
  [[nodiscard]] Place place(std::int64_t rank) const;
  // Throws InvalidArgument unless the fabric has these ranks.
  void validate(const Fabric& fabric) const;
};

// A group of ranks of a placement. Groups that lie beside it on the same chips are taken to do the same at the same
// time ([choice]: what the colours of a split do), so that they share links.
struct Members {
  int per_chip = 1, chips = 1, nodes = 1;  // chips: of a node
  int sharing = 1;                         // groups on one chip
  int lnc = 1;
  [[nodiscard]] std::int64_t size() const { return std::int64_t{per_chip} * chips * nodes; }
};
[[nodiscard]] Members members(const Placement& placement);  // all of it
[[nodiscard]] Members members(const Placement& placement, std::span<const int> ranks);

enum class CollectiveKind : std::uint8_t {
  Broadcast,
  AllGather,
  ReduceScatter,
  AllReduce,
  AllToAll,
  SendReceive,
  Barrier
};
[[nodiscard]] const char* name(CollectiveKind kind);  // "all_gather"

// The runtime chooses by the message: mesh below 1 MB, recursive doubling and halving to 56 MB, rings above.
enum class CollectiveAlgorithm : std::uint8_t { None, Mesh, Recursive, Ring };
[[nodiscard]] const char* name(CollectiveAlgorithm algorithm);

struct CollectiveCost {
  CollectiveAlgorithm algorithm = CollectiveAlgorithm::None;
  double alpha_s = 0;               // steps
  double wire_s = 0;                // bytes over rate times eta, of the slowest level
  double wire_bytes = 0;            // into one rank
  const char* binding = "latency";  // "core", "chip links", "instance links", "EFA", or "latency"
  [[nodiscard]] double seconds() const { return alpha_s + wire_s; }
};

// Bytes: what every rank has at the end (broadcast, all_gather, all_reduce), has at the beginning (reduce_scatter),
// sends in all (all_to_all), or sends to its partner (send_receive). eta 0: the table's.
[[nodiscard]] CollectiveCost collective_cost(const Fabric& fabric, CollectiveKind kind, double bytes,
                                             const Members& members, double eta = 0);

// What flows into one unit of each level from outside of it, for algorithms that are priced by volume: seconds of the
// slowest level. Levels overlap ([choice]: they work on pieces).
struct Traffic {
  double core = 0, chip = 0, instance = 0, node = 0;  // bytes
};
struct TrafficCost {
  double seconds = 0;
  const char* binding = "nothing";
};
[[nodiscard]] TrafficCost traffic_cost(const Fabric& fabric, const Traffic& traffic, const Placement& placement,
                                       double eta = 0);

// How `chips` chips of a node lie: a box of the torus, the smallest that holds them with the widest bisection.
struct ChipBox {
  int rows = 1, columns = 1, ring = 1;
};
[[nodiscard]] ChipBox chip_box(const Fabric& fabric, int chips);

}  // namespace trn::tile
