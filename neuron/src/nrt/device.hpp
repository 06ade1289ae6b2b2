// The device behind `neuron`, with the source of its compiled programs chosen by whoever opens it: tests make them in
// their own process.
#pragma once

#include "model.hpp"

namespace trn::neuron::nrt {

// `name` of the executor; empty: "neuron" for core 0 and "neuron:N" for others.
[[nodiscard]] Executor open_device(const NeuronOptions& options, NeffSource source, std::string name = "");

// The core behind an executor `neuron`. Throws InvalidArgument for others.
[[nodiscard]] Core& core_of(const Executor& executor);

}  // namespace trn::neuron::nrt
