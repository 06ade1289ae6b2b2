// The time of a program from the costs of its instructions alone.
#include <algorithm>
#include <map>

#include <trn/sparse/tile_programs.hpp>
#include <trn/tile/cost.hpp>
#include <trn/tile/schedule.hpp>

namespace trn::sparse {

using namespace trn::tile;

double roof_seconds(const Program& program, const Machine& machine) {
  const Program p = schedule(program, machine);
  std::map<Engine, double> engines;
  std::map<std::int32_t, double> rings;
  double transfers = 0;
  // (end of the loop, how often what is inside runs); a loop's body is the statements up to its end.
  std::vector<std::pair<std::size_t, double>> loops{{p.statements().size(), 1.0}};
  for (std::size_t s = 0; s < p.statements().size(); ++s) {
    while (s >= loops.back().first) loops.pop_back();
    const Statement& statement = p.statements()[s];
    const auto index = static_cast<std::size_t>(statement.index);
    const double times = loops.back().second;
    if (statement.kind == StatementKind::Loop) {
      const auto trip = static_cast<double>(p.loops()[index].trip);
      loops.emplace_back(static_cast<std::size_t>(statement.end), times * trip);
    } else if (statement.kind == StatementKind::Instruction) {
      const Instruction& i = p.instructions()[index];
      if (i.engine == Engine::Dma) {
        const DmaCost cost = dma_cost(i, machine);
        transfers += times * cost.transfer_s;
        const auto* copy = i.as<isa::DmaCopy>();
        rings[copy != nullptr ? copy->route.ring : -1] += times * cost.ring_s;
      } else if (i.engine != Engine::Sync) {
        engines[i.engine] += times * compute_seconds(p, i, i.engine, machine);
      }
    }
  }
  double busiest = transfers;
  for (const auto& [ring, seconds] : rings) busiest = std::max(busiest, seconds);
  for (const auto& [engine, seconds] : engines) busiest = std::max(busiest, seconds);
  const Timing& t = machine.timing;
  return t.launch_s + t.finish_s + busiest + 2 * (t.dma_start_s + t.dma_end_s);
}

}  // namespace trn::sparse
