// _trnsci: the private extension module. The public, typed functions are Python's, in the folder trnsci.
#include <nanobind/nanobind.h>

#include <trn/core/error.hpp>

#include "bindings.hpp"
#include "context.hpp"
#include "numpy_arrays.hpp"

namespace trn::python {
namespace {

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
}  // namespace trn::python

NB_MODULE(_trnsci, m) {
  using namespace trn::python;
  nb::set_leak_warnings(false);  // executors and plans live as long as the process
  load_numpy();
  device_error = new nb::object(nb::steal(PyErr_NewExceptionWithDoc(
      "trnsci.DeviceError", "The device or its simulator refused or failed; see .check and .recovery.",
      PyExc_RuntimeError, nullptr)));
  m.attr("DeviceError") = *device_error;
  nb::register_exception_translator(translate);
  m.def("set_context", &set_context);
  bind_core(m);
  bind_record(m);
  bind_fft(m);
  bind_cosine(m);
  bind_plan(m);
  bind_rand(m);
  bind_bit_stream(m);
  bind_level1(m);
  bind_level2(m);
  bind_level3(m);
  bind_tensor(m);
  bind_stft(m);
  bind_operators(m);
  bind_sparse_matrix(m);
  bind_sparse_products(m);
  bind_sparse_factors(m);
  bind_sparse_more(m);
  bind_solver_dense(m);
  bind_solver_spectra(m);
  bind_solver_batched(m);
  bind_solver_iterative(m);
  bind_contractions(m);
  bind_decompositions(m);
}
