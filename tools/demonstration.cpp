// What `./run` shows: the DF-MP2 energy of water on the host and on a simulated trn2, against a published program's,
// and the report page of the device's part.
#include <cmath>
#include <cstdio>
#include <filesystem>

#include <trn/core/error.hpp>

#include "commands.hpp"
#include "mp2_report.hpp"
#include "output.hpp"

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
  const mp2::Molecule water = mp2::parse_xyz(kWater, "water", {.bohr_in_angstrom = kPsi4Bohr});
  fmt::print(
      "DF-MP2 energy of water in cc-pVDZ, difference to Psi4 1.3.2 in nanohartree (a nanohartree is 0.0000026 "
      "kJ/mol)\n\n");
  Table table({"executor", "arithmetic", "correlation energy", "nanohartree", "bound", "measured", "modelled",
               "Tensor Engine", "Vector", "Scalar", "DMA"});
  mp2::Mp2 last;
  double scf = 0;
  const std::pair<const char*, Precision> cases[] = {
      {"host", Mode::Native}, {"sim:trn2", Mode::Tf32x3}, {"sim:trn2", Precision::target(1e-9)}};
  for (const auto& [executor, precision] : cases) {
    mp2::Mp2Options options;
    options.executor = executor;
    options.precision = precision;
    mp2::Mp2 r = mp2::run(water, options);
    ensure(r.mp2.has_value(), "the demonstration's SCF is {}", r.scf.reason);
    const mp2::DfMp2& m = *r.mp2;
    double measured = 0, modelled = 0;
    for (const mp2::Stage& s : m.stages) {
      measured += s.seconds;
      modelled += s.modelled_seconds;
    }
    const std::string arithmetic = m.stages.back().precision;
    std::vector<std::string> cells{executor,
                                   arithmetic,
                                   fmt::format("{:.10f}", m.energy()),
                                   fmt::format("{:+.3f}", (m.energy() - kPsi4Correlation) * 1e9),
                                   fmt::format("{:.1e}", m.bound),
                                   duration(measured)};
    if (modelled > 0) {
      const auto run = pair_energy_run(m, tile::machine("trn2"));
      cells.insert(cells.end(),
                   {duration(modelled), percent(run.utilisation("tensor")), percent(run.utilisation("vector")),
                    percent(run.utilisation("scalar")), percent(run.dma_active_seconds / run.seconds)});
    } else {
      cells.insert(cells.end(), {"-", "-", "-", "-", "-"});
    }
    table.add(std::move(cells));
    scf = r.scf.energy;
    last = std::move(r);
  }
  table.print();
  fmt::print("\nSCF energy {:.10f} hartree, {:+.3f} nanohartree from Psi4's\n", scf, (scf - kPsi4Scf) * 1e9);
  fmt::print(
      "bound: of the error of all that ran on the executor, in hartree; measured: the MP2 part on this machine "
      "(simulators: the time to simulate);\n"
      "modelled: the device's part by the simulator, launch overhead included, never measured on silicon; engines: "
      "busy share of the pair energies\n");
  const std::string path = (std::filesystem::current_path() / "trnsci-report.html").string();
  write_report(last, path);
  fmt::print("\nengine timeline and roofline of the last run: {}\nmore: trnsci mp2 --help, trnsci --help\n", path);
}

}  // namespace trn::tools
