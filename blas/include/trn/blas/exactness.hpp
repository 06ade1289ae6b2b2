// probe_exactness: does this executor multiply and accumulate small integers exactly? Precision Exact rests on it.
//
// Random integer matrices |a| <= 256 with k = 256 and |a| <= 64 with k = 4096, as bfloat16, against integer arithmetic, bit for
// bit; and the evictions that Exact uses. It fails at once where products or evictions are rounded. Exact runs it once per
// executor and refuses (DeviceError) when it fails.
#pragma once

#include <string>

#include <trn/core/executor.hpp>

namespace trn::blas {

struct Exactness {
  bool exact = false;
  std::string reason;  // the first disagreement; empty when there is none
};
[[nodiscard]] Exactness probe_exactness(const Executor& executor);

}  // namespace trn::blas
