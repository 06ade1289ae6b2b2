// The four kinds of trouble. A message says which operation, what is wrong, the values, the limit and what to do.
// Numerical outcomes (not converged, singular) are results, never exceptions.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

#include <fmt/core.h>

namespace trn {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The caller's mistake: shapes, strides, names, operands on another executor.
class InvalidArgument : public Error {
  using Error::Error;
};
// A legal request that this executor, dtype or machine has no kernel for.
class NotImplemented : public Error {
  using Error::Error;
};
// What helps after a DeviceError: the executor is usable and the next call may succeed; a new executor has to be
// opened; or nothing in this process will run there again.
enum class Recovery : std::uint8_t { Retry, Reopen, RestartProcess };
// The device or its simulator refused or failed. `check` is the id of the simulator check that fired, or "".
class DeviceError : public Error {
 public:
  explicit DeviceError(const std::string& message, std::string check = "", Recovery recovery = Recovery::Retry)
      : Error(message), check_(std::move(check)), recovery_(recovery) {}
  [[nodiscard]] const std::string& check() const { return check_; }
  [[nodiscard]] Recovery recovery() const { return recovery_; }

 private:
  std::string check_;
  Recovery recovery_;
};
// A broken invariant of this code: please report it.
class InternalError : public Error {
  using Error::Error;
};

template <class E, class... Args> [[noreturn]] void fail(fmt::format_string<Args...> text, Args&&... args) {
  throw E(fmt::format(text, std::forward<Args>(args)...));
}

// Throws InvalidArgument with the formatted message unless `condition` holds.
template <class... Args> void require(bool condition, fmt::format_string<Args...> text, Args&&... args) {
  if (!condition) fail<InvalidArgument>(text, std::forward<Args>(args)...);
}

// Throws InternalError unless `condition` holds.
template <class... Args> void ensure(bool condition, fmt::format_string<Args...> text, Args&&... args) {
  if (!condition) fail<InternalError>(text, std::forward<Args>(args)...);
}

}  // namespace trn
