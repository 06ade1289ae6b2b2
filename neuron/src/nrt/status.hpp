// What the runtime's status numbers mean to a caller: one table.
#pragma once

#include <exception>
#include <string>
#include <trn/core/error.hpp>

#include "declarations.hpp"

namespace trn::neuron::nrt {

struct Meaning {
  std::string id;  // DeviceError::check(); empty: our own mistake, an InternalError
  std::string text;
  Recovery recovery = Recovery::Retry;
};
[[nodiscard]] Meaning meaning_of(Status status);

// The exception for a status that is not success. `what` says who did what, without a full stop.
[[nodiscard]] std::exception_ptr failure_of(Status status, const std::string& what);

// Throws failure_of() unless the status is success.
template <class... Args> void require_success(Status status, fmt::format_string<Args...> text, Args&&... args) {
  if (status != kSuccess) std::rethrow_exception(failure_of(status, fmt::format(text, std::forward<Args>(args)...)));
}

}  // namespace trn::neuron::nrt
