// Environment variables. This is the one place of the suite that reads them (tests aside). The whole table:
//
//   TRN_SIM_QUEUED       1: simulators that are opened without saying otherwise run behind their caller (SimOptions::
//     queued). TRN_SIMD: instruction_set.hpp. TRN_COMM_TIMEOUT, TRN_COMM_CHECK: of groups of ranks (comm/README.md)
//   TRN_NRT_LIBRARY, TRN_NKI_PYTHON, TRN_NEFF_CACHE, TRN_NEFF_CACHE_LIMIT, TRN_NEFF_BUNDLE, TRN_NEURON_MACHINE
//     of the executor for hardware: library, compiler, compiled programs, kind of instance. Programs that run with the
//     rights of somebody else (set-user-id) do not heed any variable
//   TRN_EXECUTOR, TRN_PRECISION, TRN_REPORT, TRN_FALLBACK, TRN_LOG, TRN_LAUNCH_BLOCKING, TRN_STRICT_MEMORY
//     of the C API (capi/README.md) and the drop-ins (dropin/environment.hpp)
#pragma once

#include <string>

namespace trn {

// The variable's value, or `otherwise` where it is not set or empty.
[[nodiscard]] std::string environment(const char* name, const char* otherwise);

// "1" is true, "0", empty and unset are false; throws InvalidArgument for anything else.
[[nodiscard]] bool environment_flag(const char* name);

}  // namespace trn
