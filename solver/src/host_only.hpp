// For operations that are made of others: the event of dispatch(), and the refusal where they exist on the host only.
#pragma once

#include <trn/core/dispatch.hpp>

namespace trn::solver {

inline void announce(const char* operation, const Executor& executor) {
  EventHub& events = executor.backend().events();
  if (events.has_listeners()) events.emit({EventKind::Dispatch, operation, name(executor.family())});
}

inline void on_host_only(const char* operation, const Executor& executor) {
  if (executor.family() != Family::Host) {
    fail<NotImplemented>("{}: no device kernel; executor '{}' is a device, use the host", operation, executor.name());
  }
  announce(operation, executor);
}

}  // namespace trn::solver
