// What `./run` shows: the DF-MP2 energy of water on the host and on a simulated trn2, against a published program's;
// the modelled pair energies of a larger molecule, which keep the machine busy; and the page of both.
#include <cmath>
#include <cstdio>
#include <filesystem>

#include <trn/blas/pair_energy_program.hpp>
#include <trn/core/error.hpp>
#include <trn/neuron/sim.hpp>

#include "commands.hpp"
#include "mp2_report.hpp"
#include "output.hpp"
#include "report/format.hpp"

namespace trn::tools {

namespace {

constexpr const char* kWater = R"(3
water
O   0.000000000000   0.000000000000  -0.068516219320
H   0.000000000000  -0.790689573744   0.543701060715
H   0.000000000000   0.790689573744   0.543701060715
)";
// Psi4 1.3.2, cc-pVDZ, density-fitted J and K, all electrons correlated; 1 bohr = 0.52917721067 angstrom.
constexpr double kPsi4Scf = -76.0213974646572, kPsi4Correlation = -0.2069166882791046, kPsi4Bohr = 0.52917721067;

}  // namespace

void demonstration() {
  std::error_code unknown;  // of a folder that is gone
  const std::string path = std::filesystem::absolute("trnsci-report.html", unknown).string();
  if (path.empty() || unknown) fail<InvalidArgument>("the current folder is gone; go to another one");
  { const OutputFile claim("the demonstration's page", path); }  // a bad folder costs nothing
  const mp2::Molecule water = mp2::parse_xyz(kWater, "water", {.bohr_in_angstrom = kPsi4Bohr});
  const tile::Machine& trn2 = tile::machine("trn2");
  say("DF-MP2 energy of water in cc-pVDZ, its difference to Psi4 1.3.2 in nanohartree\n(0.0000026 kJ/mol each), and "
      "the "
      "bound of the arithmetic's error in hartree\n");
  Table table({"executor", "arithmetic", "correlation", "from Psi4", "bound", "measured", "modelled"});
  mp2::Mp2 last;
  mp2::ScfOptions scf;
  std::vector<mp2::ScfIteration> iterations;
  const std::pair<const char*, Precision> cases[] = {
      {"host", Mode::Native}, {"sim:trn2", Mode::Tf32x3}, {"sim:trn2", Precision::target(1e-9)}};
  for (const auto& [executor, precision] : cases) {
    const Stage stage(fmt::format("water on {}", executor));
    mp2::Mp2Options options;
    options.executor = executor;
    options.precision = precision;
    if (precision.has_target()) options.scf_place = mp2::ScfPlace::Executor;
    iterations.clear();
    options.scf.progress = [&](const mp2::ScfIteration& s) { iterations.push_back(s); };
    mp2::Mp2 r = mp2::run(water, options);
    ensure(r.mp2.has_value(), "the demonstration's SCF is {}", r.scf.reason);
    const mp2::DfMp2& m = *r.mp2;
    double measured = 0, modelled = 0;
    for (const mp2::Stage& s : m.stages) {
      measured += s.seconds;
      modelled += s.modelled_seconds;
    }
    table.add({executor, m.stages.back().precision, fmt::format("{:.10f}", m.energy()),
               fmt::format("{:+.3f}", (m.energy() - kPsi4Correlation) * 1e9), fmt::format("{:.1e}", m.bound),
               duration(measured), modelled > 0 ? duration(modelled) : "-"});
    scf = options.scf;
    last = std::move(r);
  }
  table.print();
  const mp2::Stage& field = last.stages.front();
  say("SCF energy {:.10f} hartree, {:+.3f} nanohartree from Psi4's; in the last row its eigenproblems, Cholesky "
      "factors "
      "and products ran on {}, too: {} modelled\n",
      last.scf.energy, (last.scf.energy - kPsi4Scf) * 1e9, field.executor, duration(field.modelled_seconds));
  say("measured: the MP2 part on this machine, for simulators the time to simulate; modelled: on one core of a trn2, "
      "by "
      "the simulator, never measured on silicon\n");

  // Water keeps no device busy; a molecule of this size does.
  const Stage stage("the pair energies of a larger molecule, modelled");
  const blas::PairEnergyShape medium{.mode = Mode::Tf32x3, .nocc = 64, .naux = 1536, .nvir = 448};
  const neuron::RunReport large =
      neuron::estimate(blas::pair_energy_program(medium, trn2), trn2, {.keep_intervals = kPageIntervals});
  const neuron::RunReport small = pair_energy_run(*last.mp2, trn2);
  say("The pair energies on one core of a trn2, modelled: water in float64 exact, and a\nmolecule of 64 orbitals in "
      "tf32x3; engines: busy share\n");
  Table engines({"molecule", "time", "rate", "of peak", "Tensor", "Vector", "Scalar", "DMA"});
  for (const auto& [name, run] :
       {std::pair<std::string, const neuron::RunReport*>{"water", &small}, {"64 orbitals", &large}}) {
    engines.add({name, duration(run->seconds), neuron::report::flop_rate_text(run->matmul_flops / run->seconds),
                 percent(run->tensor_roof_fraction()), percent(run->utilisation("tensor")),
                 percent(run->utilisation("vector")), percent(run->utilisation("scalar")),
                 percent(run->dma_active_seconds / run->seconds)});
  }
  engines.print();
  neuron::report::Page page = mp2_page({water, last, iterations, scf});
  page.run_title = "The machine at work: a larger molecule";
  page.sections.push_back(
      "<p class=\"part\">Water is too small to keep a device busy. Below: the pair energies of a molecule with 64 "
      "correlated orbitals, 448 virtual ones and 1536 fitting functions in tf32x3, modelled without its numbers. The "
      "times above are those of water.</p>\n");
  neuron::report::write_page(large, trn2, path, page);
  say("\nmolecule, engine timeline and roofline: {}", path);
  say("more: trnsci mp2 --help, trnsci --help");
}

}  // namespace trn::tools
