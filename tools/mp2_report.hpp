// What `trnsci mp2` and the demonstration say about the device's part: the modelled run of the pair energies and its
// page, which is about the molecule.
#pragma once

#include <trn/mp2/mp2.hpp>
#include <trn/neuron/report.hpp>

#include "report/page.hpp"

namespace trn::tools {

// The pair energies of a result on one core of a machine, all pairs in one program. keep_intervals: for a page.
[[nodiscard]] neuron::RunReport pair_energy_run(const mp2::DfMp2& mp2, const tile::Machine& machine,
                                                std::int64_t keep_intervals = 0);

// As many intervals as a page draws whole, merged where there are too many to see: programs with more are cut, and the
// page says so.
inline constexpr std::int64_t kPageIntervals = 5'000'000;

// What a page shows beside the result.
struct Mp2Run {
  const mp2::Molecule& molecule;
  const mp2::Mp2& result;  // of a simulator, with an MP2 energy
  std::vector<mp2::ScfIteration> iterations;
  mp2::ScfOptions scf;
};

// The molecule, its energies, the convergence of its SCF and its stages, as sections of a page.
[[nodiscard]] neuron::report::Page mp2_page(const Mp2Run& run);
// That page with the engine timeline of the pair energies.
void write_report(const Mp2Run& run, const std::string& path);

}  // namespace trn::tools
