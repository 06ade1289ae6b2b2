#include "errors.hpp"

#include <trn/core/error.hpp>

namespace trn::python {
namespace {

namespace nb = nanobind;

nb::object* device_error = nullptr;  // trnsci.DeviceError

const char* name_of(Recovery recovery) {
  switch (recovery) {
    case Recovery::Retry:
      return "retry";
    case Recovery::Reopen:
      return "reopen";
    case Recovery::RestartProcess:
      break;
  }
  return "restart-process";
}

void translate(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const InvalidArgument& e) {
    PyErr_SetString(PyExc_ValueError, e.what());
  } catch (const NotImplemented& e) {
    PyErr_SetString(PyExc_NotImplementedError, e.what());
  } catch (const DeviceError& e) {
    if (e.check() == "over-capacity") {
      PyErr_SetString(PyExc_MemoryError, e.what());
      return;
    }
    const nb::object error = (*device_error)(e.what());
    error.attr("check") = e.check();
    error.attr("recovery") = name_of(e.recovery());
    PyErr_SetObject(device_error->ptr(), error.ptr());
  } catch (const InternalError& e) {
    PyErr_Format(PyExc_RuntimeError, "%s (an error of trnsci itself: please report it)", e.what());
  }
}

}  // namespace

void translate_errors(nb::object error) {
  device_error = new nb::object(std::move(error));
  nb::register_exception_translator(translate);
}

}  // namespace trn::python
