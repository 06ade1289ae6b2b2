// The boundary between C and C++: `guarded` runs a body and turns whatever it throws into a status code. It is the one
// place of the C API that catches. The message stays with the thread (trnGetLastErrorText).
#pragma once

#include <complex>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include <trn/core/error.hpp>

#include <trn_types.h>

namespace trn::capi {

// What the kinds of trouble are called in one library.
struct StatusCodes {
  int bad_handle, invalid_value, not_supported, allocation_failed, execution_failed, internal_error;
};

// A handle that is null, destroyed or of another kind.
class BadHandle : public InvalidArgument {
  using InvalidArgument::InvalidArgument;
};
// Memory that the device does not have.
class OutOfMemory : public Error {
  using Error::Error;
};
// A status that only one library has.
class WithStatus : public Error {
 public:
  WithStatus(int status, const std::string& message) : Error(message), status_(status) {}
  [[nodiscard]] int status() const { return status_; }

 private:
  int status_;
};

// The status of the exception being handled; keeps its message for this thread.
[[nodiscard]] int status_of_current(const char* function, const StatusCodes& codes) noexcept;
// "" when nothing failed on this thread yet.
[[nodiscard]] const char* last_error_text() noexcept;

// An environment variable that is "0" or "1"; another value ends the program with a message.
[[nodiscard]] bool flag_or_exit(const char* name);
// TRN_REPORT: counts a call; the counts are printed when the program ends.
void count_call(bool failed) noexcept;

template <class F> int guarded(const char* function, const StatusCodes& codes, const F& body) noexcept {
  try {
    body();
    count_call(false);
    return 0;
  } catch (...) {
    count_call(true);
    return status_of_current(function, codes);
  }
}

// C's complex numbers as C++'s: the same bytes.
template <class T> T native(T value) { return value; }
inline std::complex<float> native(trnComplex v) { return {v.x, v.y}; }
inline std::complex<double> native(trnDoubleComplex v) { return {v.x, v.y}; }
inline auto native(trnComplex* p) { return reinterpret_cast<std::complex<float>*>(p); }
inline auto native(const trnComplex* p) { return reinterpret_cast<const std::complex<float>*>(p); }
inline auto native(trnDoubleComplex* p) { return reinterpret_cast<std::complex<double>*>(p); }
inline auto native(const trnDoubleComplex* p) { return reinterpret_cast<const std::complex<double>*>(p); }
inline auto native(trnComplex** p) { return reinterpret_cast<std::complex<float>**>(p); }
inline auto native(trnDoubleComplex** p) { return reinterpret_cast<std::complex<double>**>(p); }
inline auto native(trnComplex* const* p) { return reinterpret_cast<std::complex<float>* const*>(p); }
inline auto native(const trnComplex* const* p) { return reinterpret_cast<const std::complex<float>* const*>(p); }
inline auto native(trnDoubleComplex* const* p) { return reinterpret_cast<std::complex<double>* const*>(p); }
inline auto native(const trnDoubleComplex* const* p) { return reinterpret_cast<const std::complex<double>* const*>(p); }

// The handles of one kind that are alive. A C program may hand in anything: an address counts only if it is here.
template <class T> class Handles {
 public:
  T* add(std::shared_ptr<T> made) {
    const std::lock_guard lock(mutex_);
    T* const address = made.get();
    alive_[address] = std::move(made);
    return address;
  }
  // Null for one that is not alive.
  [[nodiscard]] std::shared_ptr<T> get(const void* address) const {
    const std::lock_guard lock(mutex_);
    const auto found = alive_.find(address);
    return found == alive_.end() ? nullptr : found->second;
  }
  [[nodiscard]] std::shared_ptr<T> find(const void* address, const char* kind) const {
    auto found = get(address);
    if (!found)
      throw BadHandle(
          fmt::format("the {} is {}", kind, address ? "not alive: it was destroyed, or is something else" : "null"));
    return found;
  }
  void remove(const void* address) {
    std::shared_ptr<T> gone;  // ends outside the lock
    const std::lock_guard lock(mutex_);
    if (const auto found = alive_.find(address); found != alive_.end()) {
      gone = std::move(found->second);
      alive_.erase(found);
    }
  }

 private:
  mutable std::mutex mutex_;
  std::map<const void*, std::shared_ptr<T>> alive_;
};
template <class T> Handles<T>& alive() {
  static auto& made = *new Handles<T>;  // never destroyed: as the devices
  return made;
}

}  // namespace trn::capi
