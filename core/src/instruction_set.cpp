// The instruction set of vector loops: see instruction_set.hpp.
#include <hwy/targets.h>

#include <trn/core/environment.hpp>
#include <trn/core/error.hpp>
#include <trn/core/instruction_set.hpp>

namespace trn {

std::string instruction_set() {
  const std::int64_t targets = hwy::SupportedTargets();
  return hwy::TargetName(targets & -targets);  // the better a target, the lower its bit
}

void limit_instruction_set(const std::string& name) {
  if (name.empty()) return;
  std::string known;
  for (std::int64_t rest = hwy::SupportedTargets(); rest != 0; rest &= rest - 1) {
    const std::int64_t target = rest & -rest;
    if (name == hwy::TargetName(target)) {
      hwy::DisableTargets(target - 1);  // everything better
      return;
    }
    known += (known.empty() ? "" : ", ") + std::string(hwy::TargetName(target));
  }
  fail<InvalidArgument>("TRN_SIMD is '{}'; this processor has {}", name, known);
}

void heed_instruction_set() {
  static const bool heeded = [] {
    limit_instruction_set(environment("TRN_SIMD", ""));
    return true;
  }();
  (void)heeded;
}

}  // namespace trn
