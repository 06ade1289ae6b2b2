// Marks the time in which a thread runs a library's code for a Python call: within it the executor's events may stop
// the call (Ctrl-C) and report its progress.
#pragma once

#include <trn/core/executor.hpp>

namespace trn::python {

class RunScope {
 public:
  RunScope();
  ~RunScope();
  RunScope(const RunScope&) = delete;
  RunScope& operator=(const RunScope&) = delete;
};

// Within a RunScope: stops the call by Python's exception if Ctrl-C was pressed. Iterations on the host, which have no
// events, ask before every step.
void look_for_interrupt();

// From now on calls on this executor look for Ctrl-C at its events. Not on the host, where a call is mostly one event.
void watch(const Executor& executor);

}  // namespace trn::python
