#include "context.hpp"

#include <trn/core/environment.hpp>
#include <trn/core/error.hpp>

namespace trn::python {
namespace {
// Never freed: Python may be gone before the extension is unloaded.
nb::object* variable_ = nullptr;
nb::dict* functions_ = nullptr;
}  // namespace

void set_context(nb::object variable, nb::dict functions) {
  variable_ = new nb::object(std::move(variable));
  functions_ = new nb::dict(std::move(functions));
}

nb::object python_function(const char* name) { return (*functions_)[name]; }

Executor current_executor() {
  PyObject* value = nullptr;
  if (PyContextVar_Get(variable_->ptr(), nullptr, &value) < 0) throw nb::python_error();
  const nb::object held = nb::steal(value);
  if (held.is_valid() && !held.is_none()) return nb::cast<const Executor&>(held);
  static const Executor chosen = Executor::open(environment("TRN_EXECUTOR", ""));
  return chosen;
}

}  // namespace trn::python
