// The key of a compiled program out of its parts: see key.cpp.
#pragma once

#include <map>
#include <string>

#include <trn/neuron/nki_kernel.hpp>

#include "neff/neff.hpp"

namespace trn::neuron::neff {

[[nodiscard]] std::string content_key(const std::string& serialized, const std::string& kernel_text,
                                      const std::string& machine, int lnc,
                                      const std::map<std::string, std::string>& versions);

}  // namespace trn::neuron::neff
