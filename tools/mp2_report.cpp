// The page of an MP2 run.
#include "mp2_report.hpp"

#include <fmt/format.h>

#include <trn/blas/pair_energy_program.hpp>
#include <trn/neuron/sim.hpp>

#include "output.hpp"

namespace trn::tools {

neuron::RunReport pair_energy_run(const mp2::DfMp2& m, const tile::Machine& machine, std::int64_t keep_intervals) {
  const tile::Program program =
      m.accuracy.mode == Mode::Exact
          ? blas::sliced_pair_energy_program({m.correlated, m.fitting, m.virtuals}, machine)
          : blas::pair_energy_program({m.accuracy.mode, m.correlated, m.fitting, m.virtuals}, machine);
  return neuron::estimate(program, machine, {.keep_intervals = keep_intervals});
}

void write_report(const mp2::Mp2& r, const std::string& path) {
  constexpr std::int64_t kIntervals = 200000;
  const mp2::DfMp2& m = *r.mp2;
  const tile::Machine& machine = tile::machine(r.executor.substr(r.executor.find(':') + 1));
  const auto energy = [](double e) { return fmt::format("{:.10f}", e); };
  neuron::PageTable energies{fmt::format("{} {} in {}", r.molecule, r.formula, r.basis),
                             fmt::format("{} functions, {} occupied orbitals ({} correlated), {} virtual, {} fitting "
                                         "functions; hartree. The bound covers what ran on {}.",
                                         r.functions, r.scf.occupied, m.correlated, m.virtuals, m.fitting, r.executor),
                             {{"energy", "hartree"},
                              {"SCF", energy(r.scf.energy)},
                              {"same spin", energy(m.same_spin)},
                              {"opposite spin", energy(m.opposite_spin)},
                              {"correlation", energy(m.energy())},
                              {"total", energy(r.total_energy())},
                              {"bound of the correlation energy's error", fmt::format("{:.1e}", m.bound)}}};
  neuron::PageTable stages{"Stages",
                           "Measured on this machine (on a simulator: the time to simulate); modelled: on the device.",
                           {{"stage", "executor", "arithmetic", "measured", "modelled"}}};
  for (const mp2::Stage& s : r.stages) {
    stages.rows.push_back({s.name, s.executor, s.precision, duration(s.seconds),
                           s.modelled_seconds > 0 ? duration(s.modelled_seconds) : "-"});
  }
  neuron::write_html(pair_energy_run(m, machine, kIntervals), machine, path, {energies, stages});
}

}  // namespace trn::tools
