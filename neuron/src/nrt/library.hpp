// The runtime library: found, opened and its functions taken by name.
#pragma once

#include <string>
#include <vector>

#include "declarations.hpp"

namespace trn::neuron::nrt {

struct Library {
  std::string path;  // as it was opened
  Functions functions;
};

// The places that are tried, in this order: the one that TRN_NRT_LIBRARY names, alone; or the runtime's own folder and
// then the loader's.
[[nodiscard]] std::vector<std::string> library_paths();

// Throws DeviceError "no-runtime" that names what was tried, or the function that is missing.
[[nodiscard]] Library open_library();

// Which processes have the machine's cores, "process 4711 (python3 train.py)"; empty where neuron-ls, AWS's program, is
// not installed or names none.
[[nodiscard]] std::string core_owners();

}  // namespace trn::neuron::nrt
