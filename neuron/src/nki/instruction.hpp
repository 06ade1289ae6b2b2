// One instruction as one nisa call.
#pragma once

#include <string>

#include "nki/operand.hpp"
#include "nki/text.hpp"

namespace trn::neuron::nki {

// Throws NotImplemented, naming construct, instruction and remedy, when NKI documents no call that does the same.
[[nodiscard]] Call call(const Module& module, std::int32_t instruction);

}  // namespace trn::neuron::nki
