// The libraries' exceptions as Python's: ValueError, NotImplementedError, trnsci.DeviceError, MemoryError.
#pragma once

#include <nanobind/nanobind.h>

namespace trn::python {

// `device_error` is the class trnsci.DeviceError. Called once by each extension module.
void translate_errors(nanobind::object device_error);

}  // namespace trn::python
