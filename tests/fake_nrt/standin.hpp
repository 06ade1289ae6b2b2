// Runs of the fake in the NumPy stand-in for nki (rule `text`): the emitted text of the NEFF is what computes. One
// Python process serves all runs of this process.
#pragma once

#include <string>

#include "state.hpp"

namespace fake {

// Returns "" or what went wrong. Not under the state's mutex.
[[nodiscard]] std::string run_text(FakeModel& model, const FakeSet& in, const FakeSet& out);

}  // namespace fake
