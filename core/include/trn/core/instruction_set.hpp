// The instruction set of the host's vector loops. Highway compiles them for several and takes the best one that the
// processor has. TRN_SIMD in the environment names a lesser one, as AVX2 on a processor with AVX-512: for measurements,
// and where the best is not wanted. Results do not depend on it where a library promises bits.
#pragma once

#include <string>

namespace trn {

// The name of the one in use: AVX3_DL, AVX3 (both AVX-512), AVX2, SSE4 and so on.
[[nodiscard]] std::string instruction_set();

// Heeds TRN_SIMD, once. Executor::host() and the simulators call it before anything runs. Throws InvalidArgument with
// the names that this processor has for any other name.
void heed_instruction_set();

// What heed_instruction_set() does with a name; an empty one changes nothing.
void limit_instruction_set(const std::string& name);

}  // namespace trn
