// Recorder and Event: what an executor did.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <trn/core/error.hpp>
#include <trn/core/event.hpp>
#include <trn/core/executor.hpp>

#include "context.hpp"

namespace trn::python {

void bind_record(nb::module_& m) {
  nb::class_<Event>(m, "Event")
      .def_prop_ro("kind", [](const Event& e) { return std::string(name(e.kind)); })
      .def_ro("subject", &Event::subject)
      .def_ro("family", &Event::family)
      .def_ro("bytes", &Event::bytes)
      .def_ro("modelled_seconds", &Event::modelled_seconds)
      .def_ro("measured_seconds", &Event::measured_seconds)
      .def_ro("begin", &Event::begin)
      .def_ro("end", &Event::end)
      .def_prop_ro("purpose", [](const Event& e) { return std::string(name(e.purpose)); })
      .def("__repr__", [](const Event& e) { return fmt::format("Event({}, '{}')", name(e.kind), e.subject); });
  nb::class_<Recorder>(m, "Recorder")
      .def(nb::init<const Executor&>())
      .def("events", &Recorder::events, nb::call_guard<nb::gil_scoped_release>())
      .def(
          "modelled_seconds", [](const Recorder& r) { return r.modelled_seconds(); },
          nb::call_guard<nb::gil_scoped_release>());
}

}  // namespace trn::python
