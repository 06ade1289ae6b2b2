// _mp2: the second extension module, with libint2 as a shared library beside it. trnsci/mp2.py is its typed face.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <nlohmann/json.hpp>

#include <trn/mp2/mp2.hpp>

#include "../errors.hpp"

namespace trn::python {
namespace {

namespace nb = nanobind;

template <class T> void take(const nb::dict& given, const char* name, T& value) {
  if (given.contains(name)) value = nb::cast<T>(given[name]);
}

// The text of to_json(). `options` has members of Mp2Options by their names; `progress` is None or a function of
// (iteration, energy, change, commutator). Ctrl-C is seen in every iteration of the SCF.
std::string run(const std::string& xyz, const std::string& source, int charge, const nb::dict& options,
                const std::string& precision, bool exact_jk, bool fit_same, bool scf_on_executor, nb::handle progress) {
  mp2::Mp2Options o;
  take(options, "basis", o.basis);
  take(options, "ri", o.ri);
  take(options, "jk", o.jk);
  take(options, "frozen_core", o.frozen_core);
  take(options, "multiplicity", o.multiplicity);
  take(options, "unrestricted", o.unrestricted);
  take(options, "executor", o.executor);
  take(options, "memory_bytes", o.memory_bytes);
  take(options, "scratch", o.scratch);
  take(options, "samples", o.stochastic_samples);
  take(options, "seed", o.seed);
  take(options, "iterations", o.scf.iterations);
  o.precision = precision.empty() ? Precision{} : Precision::parse(precision);
  o.jk_kind = exact_jk ? mp2::JkKind::Exact : mp2::JkKind::Fitted;
  o.fit = fit_same ? mp2::FitPrecision::Same : mp2::FitPrecision::Exact;
  o.scf_place = scf_on_executor ? mp2::ScfPlace::Executor : mp2::ScfPlace::Host;
  o.scf.progress = [&](const mp2::ScfIteration& at) {
    const nb::gil_scoped_acquire locked;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    if (!progress.is_none()) progress(at.number, at.energy, at.change, at.commutator);
  };
  const nb::gil_scoped_release released;
  return mp2::to_json(mp2::run(mp2::parse_xyz(xyz, source, {.charge = charge}), o)).dump();
}

}  // namespace
}  // namespace trn::python

NB_MODULE(_mp2, m) {
  nanobind::set_leak_warnings(false);
  trn::python::translate_errors(nanobind::module_::import_("trnsci._trnsci").attr("DeviceError"));
  m.def("run", &trn::python::run, nanobind::arg(), nanobind::arg(), nanobind::arg(), nanobind::arg(), nanobind::arg(),
        nanobind::arg(), nanobind::arg(), nanobind::arg(), nanobind::arg().none());
}
