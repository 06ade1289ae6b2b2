// Exceptions become status codes: see call.hpp.
#include "call.hpp"

#include <new>

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
}

}  // namespace

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
