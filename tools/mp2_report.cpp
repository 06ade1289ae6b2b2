// The page of an MP2 run.
#include "mp2_report.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <trn/blas/pair_energy_program.hpp>
#include <trn/mp2/element.hpp>
#include <trn/neuron/sim.hpp>

#include "molecule_drawing.hpp"
#include "output.hpp"

namespace trn::tools {

neuron::RunReport pair_energy_run(const mp2::DfMp2& m, const tile::Machine& machine, std::int64_t keep_intervals) {
  // Of an unrestricted reference the pairs of both spins, whose virtual orbitals lie side by side.
  const bool spins = m.correlated_beta > 0 && m.virtuals > 0;
  const std::int64_t left = spins ? m.correlated : 0, nocc = m.correlated + (spins ? m.correlated_beta : 0),
                     nvir = m.virtuals + (spins ? m.virtuals_beta : 0);
  const tile::Program program =
      m.accuracy.mode == Mode::Exact
          ? blas::sliced_pair_energy_program({nocc, m.fitting, nvir, left}, machine)
          : blas::pair_energy_program(
                {.mode = m.accuracy.mode, .nocc = nocc, .naux = m.fitting, .nvir = nvir, .left = left}, machine);
  return neuron::estimate(program, machine, {.keep_intervals = keep_intervals});
}

neuron::report::Page mp2_page(const Mp2Run& run) {
  const mp2::Mp2& r = run.result;
  const mp2::DfMp2& m = *r.mp2;
  const auto energy = [](double e) { return fmt::format("{:.10f}", e); };
  const auto ghosts = std::ranges::count_if(run.molecule.atoms, &mp2::Atom::ghost);
  neuron::report::Page page;
  page.title = fmt::format("{}, {}: DF-MP2 in {}", r.molecule, r.formula, r.basis);
  page.facts = {
      {"command", command_line()},
      {"molecule", fmt::format("{} atoms, {}{} electrons, charge {}", std::ssize(run.molecule.atoms) - ghosts,
                               ghosts > 0 ? fmt::format("{} ghosts, ", ghosts) : "", run.molecule.electrons(),
                               run.molecule.charge)},
      {"shape", fmt::format("{} functions, {} occupied orbitals ({} correlated), {} virtual, {} fitting "
                            "functions",
                            r.functions, r.scf.occupied, m.correlated, m.virtuals, m.fitting)},
      {"dtype", fmt::format("{}, {}", trn::name(m.dtype), name(m.accuracy.mode))},
      {"reference", r.scf.beta ? fmt::format("UHF, multiplicity {}, {} alpha and {} beta electrons, <S^2> {:.6f}",
                                             r.multiplicity, r.scf.occupied, r.scf.beta->occupied, r.scf.spin_squared)
                               : "RHF, closed shell"},
      {"machine", fmt::format("SCF on {}, MP2 on {}", r.stages.front().executor, r.executor)},
      {"version", fmt::format("trnsci {}", TRN_VERSION)}};

  neuron::PageTable atoms{"", "", {{"atom", "x", "y", "z"}}};
  for (const mp2::Atom& a : run.molecule.atoms) {
    const auto at = [&](std::size_t i) { return fmt::format("{:.4f}", a.position[i] * mp2::kBohrInAngstrom); };
    atoms.rows.push_back({mp2::label(a), at(0), at(1), at(2)});
  }
  atoms.title = "Geometry";
  atoms.note = ghosts > 0 ? "angstrom; @: a ghost, basis functions without a nucleus" : "angstrom";
  page.sections.push_back("<section class=\"card half\"><h2>The molecule</h2>\n" + molecule_svg(run.molecule) +
                          "</section>\n");
  neuron::PageTable energies{
      "Energies",
      fmt::format("hartree. The bound covers what ran on {}; the basis set is another matter.", r.executor),
      {{"energy", "hartree"},
       {"SCF", energy(r.scf.energy)},
       {"same spin", energy(m.same_spin)},
       {"opposite spin", energy(m.opposite_spin)},
       {"correlation", energy(m.energy())},
       {"total", energy(r.total_energy())},
       {"SCS-MP2 correlation (6/5 opposite + 1/3 same spin)", energy(m.scs().energy)},
       {"SOS-MP2 correlation (13/10 opposite spin)", energy(m.sos().energy)},
       {"bound of the correlation energy's error", fmt::format("{:.1e}", m.bound)},
       {"bound of SCS-MP2's, SOS-MP2's", fmt::format("{:.1e}, {:.1e}", m.scs().bound, m.sos().bound)}}};
  if (r.stochastic) {
    energies.rows.push_back({"stochastic estimate of the correlation, 95 % interval",
                             fmt::format("{:.8f} +- {:.2g}", r.stochastic->energy, r.stochastic->interval)});
  }
  page.sections.push_back(neuron::report::half_table_html(energies));
  const std::string curve = convergence_svg(run.iterations, run.scf);
  if (!curve.empty()) {
    page.sections.push_back(
        "<section class=\"card half\"><h2>Convergence of the SCF</h2>\n<p class=\"note\"><b "
        "style=\"color:#2a78d6\">change of the energy</b>, hartree, and <b style=\"color:#d97a1f\">largest element of "
        "FDS - SDF</b>; dashed: the limits below which the SCF has converged.</p>\n" +
        curve + "</section>\n");
  }
  page.sections.push_back(neuron::report::half_table_html(atoms));
  neuron::PageTable stages{
      "Stages",
      "Two times for a stage on a device: measured is this computer's clock while it simulates the "
      "device, modelled is what the device would take. Stages on the host have the first alone.",
      {{"stage", "executor", "arithmetic", "measured", "modelled"}}};
  for (const mp2::Stage& s : r.stages) {
    stages.rows.push_back({s.name, s.executor, s.precision, duration(s.seconds),
                           s.modelled_seconds > 0 ? duration(s.modelled_seconds) : "-"});
  }
  page.sections.push_back(neuron::report::table_html(stages));
  return page;
}

void write_report(const Mp2Run& run, const std::string& path) {
  const mp2::DfMp2& m = *run.result.mp2;
  std::string name = run.result.executor.substr(run.result.executor.find(':') + 1);
  name = name.substr(0, name.find('#'));  // one of several simulators of this kind
  const tile::Machine& machine = tile::machine(name);
  neuron::report::Page page = mp2_page(run);
  page.run_title = "The pair energies on the device";
  page.sections.push_back(
      "<p class=\"part\">Below: the pair energies of all orbitals as one program on one core. The stage in the table "
      "above "
      "may run as several launches, each with its own start, and so take longer than this one.</p>\n");
  neuron::report::write_page(pair_energy_run(m, machine, kPageIntervals), machine, path, page);
}

}  // namespace trn::tools
