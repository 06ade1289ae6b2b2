// What the Python layer hands to the extension when it is imported: the variable that holds the current executor, and
// the functions that prepare operands and open executors by name.
#pragma once

#include <nanobind/nanobind.h>

#include <trn/core/executor.hpp>

namespace trn::python {

namespace nb = nanobind;

// set_context(variable, {"prepare": ..., "executor_named": ...})
void set_context(nb::object variable, nb::dict functions);
[[nodiscard]] nb::object python_function(const char* name);
// The value of the context variable; where it is None, the one that TRN_EXECUTOR names, opened once.
[[nodiscard]] Executor current_executor();

// Each library's functions.
void bind_core(nb::module_& m);
void bind_record(nb::module_& m);
void bind_fft(nb::module_& m);
void bind_cosine(nb::module_& m);
void bind_plan(nb::module_& m);
void bind_rand(nb::module_& m);
void bind_bit_stream(nb::module_& m);
void bind_level1(nb::module_& m);
void bind_level2(nb::module_& m);
void bind_level3(nb::module_& m);
void bind_tensor(nb::module_& m);

}  // namespace trn::python
