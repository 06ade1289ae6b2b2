// Runs a test body once per instruction set that both the build and this machine have: for code whose bits must not
// depend on the host. The machine's own choice is restored afterwards, also when a body fails.
#pragma once

#include <gtest/gtest.h>
#include <hwy/targets.h>

namespace trn::testing_support {

// Returns how many instruction sets there were.
template <class Body> int on_every_target(const Body& body) {
  struct Restore {
    ~Restore() {
      hwy::SetSupportedTargetsForTest(0);
      hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    }
  } restore;
  int targets = 0;
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    body();
    ++targets;
  }
  return targets;
}

}  // namespace trn::testing_support
