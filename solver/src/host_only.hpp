// For operations that are made of others and exist on the host only: the refusal and the event of dispatch().
#pragma once

#include <trn/core/dispatch.hpp>

namespace trn::solver {

inline void on_host_only(const char* operation, const Executor& executor) {
  if (executor.family() != Family::Host) {
    fail<NotImplemented>("{}: no device kernel; executor '{}' is a device, use the host", operation, executor.name());
  }
  EventHub& events = executor.backend().events();
  if (events.has_listeners()) events.emit({EventKind::Dispatch, operation, name(Family::Host)});
}

}  // namespace trn::solver
