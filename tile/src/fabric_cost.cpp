// What a collective costs: alpha(algorithm, message) + bytes / (rate x eta), at every level, the slowest of which
// counts. docs/scale.md gives the formulas with their reasons.
#include <trn/tile/fabric.hpp>

#include <algorithm>
#include <bit>
#include <cmath>

#include <trn/core/error.hpp>

namespace trn::tile {

namespace {

using Kind = CollectiveKind;
using Algorithm = CollectiveAlgorithm;

constexpr double kMeshBelow = 1 << 20, kRingFrom = 56e6;  // [doc] COLL: sweet ranges below 1 MB, 1 to 56 MB, above
// Recursive doubling uses links twice in places. [derived] from the border at 56 MB, where both take the same on the 64
// ranks of a trn2 instance: 0.62 ms of bytes, 108 us of steps less than the ring.
constexpr double kRecursiveCrowding = 1.18;
constexpr double kMeshSteps = 2;  // [doc] COLL: to the other chips, then within the chip

// Links in one direction that a chip has along an extent: 4 close a ring, fewer are a part of it.
int links_along(int extent) { return extent == 1 ? 0 : extent >= 4 ? 2 : 1; }

// Mean distance to another chip along one extent, from uniformly random to uniformly random.
double mean_distance(int extent) {
  double sum = 0;
  for (int a = 0; a < extent; ++a) {
    for (int b = 0; b < extent; ++b)
      sum += extent >= 4 ? std::min((a - b + extent) % extent, (b - a + extent) % extent) : std::abs(a - b);
  }
  return sum / (extent * extent);
}

// Into a chip from the others of its instance.
double chip_rate(const Fabric& f, const ChipBox& box) {
  if (f.switched()) return f.chip_bytes_per_s;
  return (links_along(box.rows) + links_along(box.columns)) * f.link_bytes_per_s;
}
double ring_rate(const Fabric& f, const ChipBox& box) { return links_along(box.ring) * f.ring_bytes_per_s; }

// Seconds of an all-to-all within a node where every chip gives `bytes` to the box, itself included: the worst cut.
double bisection_seconds(const Fabric& f, int chips, double bytes) {
  if (chips == 1) return 0;
  if (f.switched()) return bytes * (chips - 1) / chips / f.chip_bytes_per_s;
  const ChipBox box = chip_box(f, chips);
  const double volume = box.rows * box.columns * box.ring;
  double worst = 0;
  const auto cut = [&](int extent, double rate) {
    if (extent == 1) return;
    const double low = std::floor(extent / 2.0) / extent;  // share of the chips on one side
    const double crossing = bytes * chips * low * (1 - low);
    worst = std::max(worst, crossing / (links_along(extent) * (volume / extent) * rate));
  };
  cut(box.rows, f.link_bytes_per_s);
  cut(box.columns, f.link_bytes_per_s);
  cut(box.ring, f.ring_bytes_per_s);
  return worst;
}

int ceil_log2(std::int64_t n) { return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(n - 1))); }

class Pricing {
 public:
  Pricing(const Fabric& f, const Members& m) : f_(f), m_(m), in_node_(std::int64_t{m.per_chip} * m.chips) {}

  CollectiveCost price(Kind kind, double bytes) {
    const auto p = static_cast<double>(m_.size());
    if (m_.size() == 1) return cost_;
    passes_ = kind == Kind::AllReduce ? 2 : 1;
    if (kind == Kind::Barrier) bytes = 0;
    cost_.algorithm = bytes < kMeshBelow   ? Algorithm::Mesh
                      : bytes <= kRingFrom ? Algorithm::Recursive
                                           : Algorithm::Ring;
    if (kind == Kind::AllToAll) cost_.algorithm = Algorithm::Mesh;
    if (kind == Kind::SendReceive) return message(bytes);
    latency();
    cost_.wire_bytes = passes_ * bytes * (p - 1) / p;
    // A reduction's engines read two operands for each that arrives.
    const double touches = kind == Kind::ReduceScatter ? 2 : kind == Kind::AllReduce ? 1.5 : 1;
    level("core", cost_.wire_bytes * touches / (f_.core_bytes_per_s * m_.lnc));
    kind == Kind::AllToAll ? all_to_all(bytes) : gather(passes_ * bytes);
    return cost_;
  }

 private:
  void level(const char* name, double seconds) {
    if (seconds <= cost_.wire_s) return;
    cost_.wire_s = seconds;
    cost_.binding = name;
  }

  void latency() {
    double steps = 0;
    switch (cost_.algorithm) {
      case Algorithm::Mesh:
        steps = kMeshSteps * f_.mesh_step_s;
        break;
      case Algorithm::Recursive:
        steps = (ceil_log2(m_.chips) + (m_.per_chip > 1 ? 1 : 0)) * f_.hop_s;
        break;
      case Algorithm::Ring:  // pairs of ranks of a chip take part as one
        steps = (m_.per_chip > 1 ? static_cast<double>(in_node_) / 2 : static_cast<double>(in_node_ - 1)) * f_.hop_s;
        break;
      case Algorithm::None:
        break;
    }
    if (in_node_ == 1) steps = 0;
    if (m_.nodes > 1) steps += ceil_log2(m_.nodes) * f_.efa_hop_s;  // [choice] recursive between nodes
    cost_.alpha_s = passes_ * steps;
  }

  // `bytes` go into every chip and every node once, but for what is there already.
  void gather(double bytes) {
    const ChipBox box = chip_box(f_, m_.chips);
    const double share = bytes * m_.sharing;
    double crowding = cost_.algorithm == Algorithm::Recursive ? kRecursiveCrowding : 1;
    if (cost_.algorithm == Algorithm::Mesh && !f_.switched()) {  // every byte takes all links of its way
      const double others = m_.chips > 1 ? static_cast<double>(m_.chips) / (m_.chips - 1) : 1;
      crowding = std::max(1.0, (mean_distance(box.rows) + mean_distance(box.columns)) * others);
    }
    const double chips = f_.switched() ? m_.chips : box.rows * box.columns;
    if (chips > 1) level("chip links", share * (chips - 1) / chips * crowding / chip_rate(f_, box));
    if (box.ring > 1) level("instance links", share * (box.ring - 1) / box.ring / (chips * ring_rate(f_, box)));
    if (m_.nodes > 1) level("EFA", share * (m_.nodes - 1) / m_.nodes / (m_.chips * f_.efa_bytes_per_s));
  }

  void all_to_all(double bytes) {
    const double chip = bytes * m_.per_chip * m_.sharing;
    level("chip links", bisection_seconds(f_, m_.chips, chip / m_.nodes));
    level("EFA", chip * (m_.nodes - 1) / m_.nodes / f_.efa_bytes_per_s);
  }

  CollectiveCost message(double bytes) {
    cost_.algorithm = Algorithm::None;
    cost_.wire_bytes = bytes;
    cost_.alpha_s = m_.nodes > 1 ? f_.efa_hop_s : f_.hop_s;
    const double sharers = std::max(1, m_.sharing);
    level("core", bytes / (f_.core_bytes_per_s * m_.lnc));
    if (m_.chips > 1)
      level("chip links", bytes * sharers / (f_.switched() ? f_.chip_bytes_per_s : f_.link_bytes_per_s));
    if (m_.nodes > 1) level("EFA", bytes * sharers / f_.efa_bytes_per_s);
    return cost_;
  }

  const Fabric& f_;
  const Members& m_;
  std::int64_t in_node_;
  double passes_ = 1;
  CollectiveCost cost_;
};

double eta_of(const Fabric& f, double eta) {
  require(eta >= 0 && eta <= 1, "fabric: eta is {}, not a share of the rate", eta);
  return eta > 0 ? eta : f.eta.value;
}

}  // namespace

const char* name(CollectiveKind kind) {
  constexpr const char* kNames[] = {"broadcast",  "all_gather",   "reduce_scatter", "all_reduce",
                                    "all_to_all", "send_receive", "barrier"};
  return kNames[static_cast<std::size_t>(kind)];
}
const char* name(CollectiveAlgorithm algorithm) {
  constexpr const char* kNames[] = {"direct", "mesh", "recursive", "ring"};
  return kNames[static_cast<std::size_t>(algorithm)];
}

ChipBox chip_box(const Fabric& f, int chips) {
  if (f.switched()) return {};
  ChipBox best{f.rows, f.columns, f.ring};
  const auto better = [&](const ChipBox& a, const ChipBox& b) {
    const int va = a.rows * a.columns * a.ring, vb = b.rows * b.columns * b.ring;
    if (va != vb) return va < vb;
    if (a.ring != b.ring) return a.ring < b.ring;  // links between instances are the slower ones
    return links_along(a.rows) + links_along(a.columns) > links_along(b.rows) + links_along(b.columns);
  };
  for (int r = 1; r <= f.rows; ++r) {
    for (int c = 1; c <= f.columns; ++c) {
      for (int z = 1; z <= f.ring; ++z) {
        if (r * c * z >= chips && better({r, c, z}, best)) best = {r, c, z};
      }
    }
  }
  return best;
}

CollectiveCost collective_cost(const Fabric& f, CollectiveKind kind, double bytes, const Members& m, double eta) {
  require(bytes >= 0, "fabric: a collective of {} bytes", bytes);
  CollectiveCost cost = Pricing(f, m).price(kind, bytes);
  cost.wire_s /= eta_of(f, eta);
  if (cost.wire_s < cost.alpha_s) cost.binding = "latency";
  return cost;
}

TrafficCost traffic_cost(const Fabric& f, const Traffic& t, const Placement& p, double eta) {
  TrafficCost cost;
  const auto level = [&](const char* name, double bytes, double rate) {
    if (bytes <= 0 || rate <= 0) return;  // no links: another level carries it
    const double seconds = bytes / (rate * eta_of(f, eta));
    if (seconds > cost.seconds) cost = {seconds, name};
  };
  const ChipBox box = chip_box(f, p.chips);
  const double in_instance = f.switched() ? p.chips : box.rows * box.columns;
  level("core", t.core, f.core_bytes_per_s * p.lnc);
  level("chip links", t.chip, chip_rate(f, box));
  level("instance links", t.instance, in_instance * ring_rate(f, box));
  level("EFA", t.node, p.chips * f.efa_bytes_per_s);
  return cost;
}

}  // namespace trn::tile
