// What the operations of `trnsci scale` share: programs' times with a shared HBM stack, and grids of ranks.
#include <algorithm>
#include <cmath>
#include <limits>

#include "scale_model.hpp"

namespace trn::tools::scale {

void Kernels::add(neuron::RunReport& sum, const neuron::RunReport& r) {
  sum.seconds += r.seconds;
  sum.launch_seconds += r.launch_seconds + r.finish_seconds;
  sum.hbm_read_bytes += r.hbm_read_bytes;
  sum.hbm_write_bytes += r.hbm_write_bytes;
  sum.dma_active_seconds += r.dma_active_seconds;
  for (const neuron::Lane& lane : r.lanes) {
    if (lane.name != "tensor" && lane.name != "vector" && lane.name != "scalar" && lane.name != "gpsimd") continue;
    const auto same = std::ranges::find(sum.lanes, lane.name, &neuron::Lane::name);
    if (same == sum.lanes.end()) {
      sum.lanes.push_back(lane);
    } else {
      same->busy_s += lane.busy_s;
    }
  }
}

LaunchTime Kernels::launch_time(const neuron::RunReport& r, const Setting& s, double times) {
  // A rank of two cores runs a program on one of them: there are no programs for pairs.
  const double launch = r.launch_seconds;
  LaunchTime p{launch + times * (r.seconds - launch), "launch"};
  const double bytes = times * static_cast<double>(r.hbm_read_bytes + r.hbm_write_bytes);
  double most = launch;
  const auto busy = [&](const std::string& name, double seconds) {
    if (seconds > most) most = seconds, p.binding = name;
  };
  busy("DMA", bytes / s.machine.dma_bytes_per_s());
  for (const neuron::Lane& lane : r.lanes) busy(lane.name + " engine", times * lane.busy_s);
  // Runs of the cores of one stack are alike: together they draw so many times the bytes.
  const std::int64_t sharers = std::min<std::int64_t>(
      std::max<std::int64_t>(1, s.machine.cores_per_stack() / s.placement.lnc), s.placement.ranks);
  const double stack = launch + bytes * static_cast<double>(sharers) / s.fabric.stack_bytes_per_s;
  if (stack > p.seconds) p = {stack, "HBM stack"};
  return p;
}

tile::Traffic summa_traffic(const LevelGrid& g, double left, double right) {
  // A unit that has 1/r of the rows and 1/c of the columns needs left / r and right / c, and has 1/c and 1/r of those.
  const auto into = [&](double r, double c) { return left / r * (1 - 1 / c) + right / c * (1 - 1 / r); };
  double r = g.node.rows, c = g.node.columns;
  tile::Traffic t;
  t.node = into(r, c);
  r *= g.instance.rows, c *= g.instance.columns;
  t.instance = into(r, c);
  r *= g.chip.rows, c *= g.chip.columns;
  t.chip = into(r, c);
  r *= g.core.rows, c *= g.core.columns;
  t.core = into(r, c);
  return t;
}

LevelGrid best_grid(const Setting& s, double left, double right) {
  const tile::ChipBox box = tile::chip_box(s.fabric, s.placement.chips);
  const int instances = s.fabric.switched() ? 1 : box.ring;
  const int chips = s.placement.chips / instances;
  const auto factors = [](int n) {
    std::vector<LevelGrid::Level> all;
    for (int r = 1; r <= n; ++r) {
      if (n % r == 0) all.push_back({r, n / r});
    }
    return all;
  };
  LevelGrid best;
  double least = std::numeric_limits<double>::infinity();
  for (const auto& node : factors(s.placement.nodes)) {
    for (const auto& instance : factors(instances)) {
      for (const auto& chip : factors(chips)) {
        for (const auto& core : factors(s.placement.ranks)) {
          const LevelGrid g{core, chip, instance, node};
          const tile::Traffic t = summa_traffic(g, left, right);
          // The slowest level first; among equals the least into a rank.
          const double cost = tile::traffic_cost(s.fabric, t, s.placement, s.eta).seconds + t.core * 1e-15;
          if (cost < least) least = cost, best = g;
        }
      }
    }
  }
  return best;
}

std::vector<std::unique_ptr<Operation>> operations() {
  std::vector<std::unique_ptr<Operation>> all;
  all.push_back(gemm());
  all.push_back(syrk());
  all.push_back(trsm());
  all.push_back(cholesky());
  all.push_back(lu());
  all.push_back(qr());
  all.push_back(fft());
  all.push_back(conjugate_gradients());
  all.push_back(mp2());
  all.push_back(rand());
  all.push_back(redistribute());
  return all;
}

}  // namespace trn::tools::scale
