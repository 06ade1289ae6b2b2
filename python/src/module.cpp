// _trnsci: the private extension module. The public, typed functions are Python's, in the folder trnsci.
#include <nanobind/nanobind.h>

#include "bindings.hpp"
#include "context.hpp"
#include "errors.hpp"
#include "numpy_arrays.hpp"

NB_MODULE(_trnsci, m) {
  using namespace trn::python;
  nb::set_leak_warnings(false);  // executors and plans live as long as the process
  load_numpy();
  const nb::object device_error = nb::steal(PyErr_NewExceptionWithDoc(
      "trnsci.DeviceError", "The device or its simulator refused or failed; see .check and .recovery.",
      PyExc_RuntimeError, nullptr));
  m.attr("DeviceError") = device_error;
  translate_errors(device_error);
  m.def("set_context", &set_context);
  bind_core(m);
  bind_record(m);
  bind_watch(m);
  bind_fft(m);
  bind_cosine(m);
  bind_plan(m);
  bind_rand(m);
  bind_bit_stream(m);
  bind_level1(m);
  bind_level2(m);
  bind_level3(m);
  bind_scaled(m);
  bind_tensor(m);
  bind_stft(m);
  bind_convolve(m);
  bind_operators(m);
  bind_sparse_matrix(m);
  bind_sparse_products(m);
  bind_sparse_factors(m);
  bind_sparse_more(m);
  bind_rank_structured(m);
  bind_solver_dense(m);
  bind_solver_spectra(m);
  bind_solver_batched(m);
  bind_solver_iterative(m);
  bind_contractions(m);
  bind_block_sparse(m);
  bind_decompositions(m);
}
