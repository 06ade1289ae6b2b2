// Exceptions become status codes: see call.hpp.
#include "call.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <new>

#include <trn/core/environment.hpp>

#include "memory.hpp"

namespace trn::capi {

namespace {

// A buffer of its own: a message must be kept even when memory is short.
thread_local char text[1024] = "";

void keep(const char* function, const char* message) noexcept {
  std::size_t at = 0;
  const auto put = [&](const char* s) {
    for (; *s && at + 1 < sizeof text; ++s) text[at++] = *s;
  };
  put(function), put(": "), put(message);
  text[at] = 0;
  static const bool log = flag_or_exit("TRN_LOG");
  if (log) std::fprintf(stderr, "trnsci: %s\n", text);
}

std::atomic<long> calls = 0, failures = 0;

}  // namespace

bool flag_or_exit(const char* name) {
  try {
    return environment_flag(name);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "trnsci: %s\n", e.what());
    std::exit(2);
  }
}

void count_call(bool failed) noexcept {
  forget_looked_up();
  static const bool report = [] {
    // A wrong value is said by the first call, also where nothing would ask for it.
    for (const char* name : {"TRN_LOG", "TRN_LAUNCH_BLOCKING", "TRN_STRICT_MEMORY"}) (void)flag_or_exit(name);
    (void)initial_precision();
    const bool wanted = flag_or_exit("TRN_REPORT");
    if (wanted)
      std::atexit([] {
        std::fprintf(stderr, "trnsci: served %ld calls, %ld of them with an error\n", calls.load(), failures.load());
      });
    return wanted;
  }();
  if (!report) return;
  calls.fetch_add(1, std::memory_order_relaxed);
  if (failed) failures.fetch_add(1, std::memory_order_relaxed);
}

const char* last_error_text() noexcept { return text; }

int status_of_current(const char* function, const StatusCodes& codes) noexcept {
  try {
    throw;
  } catch (const WithStatus& e) {
    return keep(function, e.what()), e.status();
  } catch (const BadHandle& e) {
    return keep(function, e.what()), codes.bad_handle;
  } catch (const InvalidArgument& e) {
    return keep(function, e.what()), codes.invalid_value;
  } catch (const NotImplemented& e) {
    return keep(function, e.what()), codes.not_supported;
  } catch (const DeviceError& e) {
    return keep(function, e.what()), e.check() == "over-capacity" ? codes.allocation_failed : codes.execution_failed;
  } catch (const OutOfMemory& e) {
    return keep(function, e.what()), codes.allocation_failed;
  } catch (const std::bad_alloc&) {
    return keep(function, "the host's memory is exhausted"), codes.allocation_failed;
  } catch (const std::exception& e) {
    return keep(function, e.what()), codes.internal_error;
  } catch (...) {
    return keep(function, "an exception of unknown type"), codes.internal_error;
  }
}

}  // namespace trn::capi
