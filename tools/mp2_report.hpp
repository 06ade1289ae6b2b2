// What `trnsci mp2` and the demonstration say about the device's part: the modelled run of the pair energies and its
// page.
#pragma once

#include <trn/mp2/mp2.hpp>
#include <trn/neuron/report.hpp>

namespace trn::tools {

// The pair energies of a result on one core of a machine, all pairs in one program. keep_intervals: for a page.
[[nodiscard]] neuron::RunReport pair_energy_run(const mp2::DfMp2& mp2, const tile::Machine& machine,
                                                std::int64_t keep_intervals = 0);

// Energies, stages and the engine timeline; for results of a simulator.
void write_report(const mp2::Mp2& result, const std::string& path);

}  // namespace trn::tools
