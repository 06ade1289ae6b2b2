// A program made ready to run, and the run itself: shared by simulate(), estimate() and the simulated device.
#pragma once

#include <span>
#include <trn/neuron/sim.hpp>
#include <trn/tile/allocate.hpp>

#include "interpreter.hpp"

namespace trn::neuron::sim {

struct Prepared {
  tile::Program program;  // scheduled
  tile::Allocation allocation;
};

// Verifies, schedules and allocates. Throws InvalidArgument when the program is for another machine.
[[nodiscard]] Prepared prepare(const tile::Program& program, const tile::Machine& machine);

// `shadow` may be null: then all HBM counts as initialised.
RunReport run(const Prepared& prepared, const tile::Machine& machine, std::span<const tile::Binding> bindings,
              const SimOptions& options, const ReportOptions& report_options, HbmShadow* shadow);

}  // namespace trn::neuron::sim
