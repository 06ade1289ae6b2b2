// Executor, Array (a device array) and Accuracy.
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <functional>

#include "call.hpp"
#include "context.hpp"

namespace trn::python {
namespace {

nb::tuple tuple_of(const Shape& shape) {
  nb::list list;
  for (const std::int64_t n : shape) list.append(n);
  return nb::tuple(list);
}

std::string name_of(DType dtype) { return std::string(name(dtype)); }

nb::object to_numpy(const DeviceArray& a) {
  const Operand& o = a.operand;
  nb::object array = new_array(o.dtype, o.shape);
  void* const data = data_of(array);
  const nb::gil_scoped_release released;
  copy_bytes(o.executor, o.data, Executor::host(), data, byte_count(o.shape, size_bytes(o.dtype)));
  return array;
}

// A copy of x (a NumPy array of any type the libraries have, or a device array) in the executor's memory.
nb::object to_device(nb::handle x, const Executor& executor) {
  Operand from;
  if (is_array(x)) {
    from = Call("asarray", nb::cast(Executor::host()), {x}).in(x, "x", ~Types{0});
  } else {
    from = nb::cast<const DeviceArray&>(x).operand;
  }
  const auto buffer = std::make_shared<Buffer>(executor, byte_count(from.shape, size_bytes(from.dtype)));
  const Operand to{from.dtype, from.shape, row_major_strides(from.shape), buffer->data(), executor, buffer, {}};
  {
    const nb::gil_scoped_release released;
    detail::copy_elements({&from.executor, from.data, &from.shape, &from.strides},
                          {&executor, to.data, &to.shape, &to.strides}, size_bytes(from.dtype));
  }
  return nb::cast(DeviceArray{to});
}

nb::dlpack::dtype dlpack_type(DType dtype) {
  using Code = nb::dlpack::dtype_code;
  const auto code = is_complex(dtype)              ? Code::Complex
                    : is_float(dtype)              ? Code::Float
                    : name(dtype).starts_with("u") ? Code::UInt
                                                   : Code::Int;
  return {static_cast<std::uint8_t>(code), static_cast<std::uint8_t>(8 * size_bytes(dtype)), 1};
}

// The memory itself: host and simulated devices have theirs in this process.
nb::ndarray<> to_dlpack(nb::handle self) {
  const Operand& o = nb::cast<const DeviceArray&>(self).operand;
  {
    const nb::gil_scoped_release released;
    o.executor.synchronize();
  }
  const std::vector<std::size_t> shape(o.shape.begin(), o.shape.end());
  return nb::ndarray<>(o.data, shape.size(), shape.data(), self, nullptr, dlpack_type(o.dtype), nb::device::cpu::value,
                       0);
}

}  // namespace

void bind_core(nb::module_& m) {
  nb::class_<Executor>(m, "Executor")
      .def(
          "__init__",
          [](Executor* self, const std::string& name) {
            const nb::gil_scoped_release released;
            new (self) Executor(Executor::open(name));
            watch(*self);
          },
          nb::arg("name") = "")
      .def_prop_ro("name", [](const Executor& e) { return e.name(); })
      .def_prop_ro("family", [](const Executor& e) { return std::string(name(e.family())); })
      .def_prop_ro("clock", [](const Executor& e) { return e.backend().clock(); })
      .def(
          "synchronize", [](const Executor& e) { e.synchronize(); }, nb::call_guard<nb::gil_scoped_release>())
      .def_static("known", &Executor::known)
      .def("__eq__",
           [](const Executor& a, nb::handle b) {
             Executor* other = nullptr;
             return nb::try_cast<Executor*>(b, other, false) && a == *other;
           })
      .def("__hash__", [](const Executor& e) { return std::hash<const void*>()(&e.backend()); })
      .def("__repr__", [](const Executor& e) { return "trnsci.Executor('" + e.name() + "')"; });

  nb::class_<DeviceArray>(m, "Array")
      .def_prop_ro("shape", [](const DeviceArray& a) { return tuple_of(a.operand.shape); })
      .def_prop_ro("ndim", [](const DeviceArray& a) { return a.operand.shape.size(); })
      .def_prop_ro("size", [](const DeviceArray& a) { return element_count(a.operand.shape); })
      .def_prop_ro("nbytes",
                   [](const DeviceArray& a) { return byte_count(a.operand.shape, size_bytes(a.operand.dtype)); })
      .def_prop_ro("_type_name", [](const DeviceArray& a) { return name_of(a.operand.dtype); })
      .def_prop_ro("executor", [](const DeviceArray& a) { return a.operand.executor; })
      .def("numpy", &to_numpy)
      .def("_dlpack", [](nb::handle self) { return to_dlpack(self); });
  m.def("to_device", &to_device);
  m.def("current_executor", &current_executor);

  nb::class_<Accuracy>(m, "Accuracy")
      .def_prop_ro("mode", [](const Accuracy& a) { return std::string(name(a.mode)); })
      .def_ro("passes", &Accuracy::passes)
      .def_ro("bound", &Accuracy::bound)
      .def("__repr__", [](const Accuracy& a) {
        return fmt::format("Accuracy(mode='{}', passes={}, bound={:.3g})", name(a.mode), a.passes, a.bound);
      });
}

}  // namespace trn::python
