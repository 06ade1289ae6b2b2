// A program run once on hardware and recorded, beside its model: what `trnsci profile --recorded` adds.
#pragma once

#include <trn/neuron/report.hpp>
#include <trn/tile/program.hpp>

namespace trn::tools {

// Runs the program on the first core, with zeros as operands, records it and asks neuron-explorer for a summary. The
// table has what the model says too, model first, and then every other number of the summary. Throws DeviceError where
// the core, the recording or the explorer is missing.
[[nodiscard]] neuron::PageTable measured_beside(const tile::Program& program, const neuron::RunReport& model);

}  // namespace trn::tools
