#include "numpy_arrays.hpp"

#include <array>

#include <trn/core/error.hpp>

namespace trn::python {
namespace {

// The stable beginnings of NumPy's two structures.
struct DescriptionFields {
  PyObject_HEAD PyObject* scalar_type;
  char kind, type, byte_order, flags;
  int number;
};
struct ArrayObjectFields {
  PyObject_HEAD char* data;
  int rank;
  Py_ssize_t *extents, *strides;
  PyObject* base;
  DescriptionFields* description;
  int flags;
};
constexpr int kAligned = 0x100, kWriteable = 0x400;

// Places in NumPy's table of functions.
constexpr int kArrayType = 2, kNew = 93, kSetBaseObject = 282;
using New = PyObject* (*)(PyTypeObject*, int, const Py_ssize_t*, int, const Py_ssize_t*, void*, int, int, PyObject*);
using SetBaseObject = int (*)(PyObject*, PyObject*);

struct Api {
  PyTypeObject* array_type = nullptr;
  New make = nullptr;
  SetBaseObject set_base = nullptr;
};
Api api;

// NumPy's type numbers on Linux, where long has 64 bits; long long is a second name of the same.
constexpr std::array<std::optional<DType>, 24> kTypes = [] {
  std::array<std::optional<DType>, 24> types{};
  types[1] = DType::Int8;
  types[2] = DType::UInt8;
  types[3] = DType::Int16;
  types[4] = DType::UInt16;
  types[5] = DType::Int32;
  types[6] = DType::UInt32;
  types[7] = types[9] = DType::Int64;
  types[8] = types[10] = DType::UInt64;
  types[11] = DType::Float32;
  types[12] = DType::Float64;
  types[14] = DType::Complex64;
  types[15] = DType::Complex128;
  types[23] = DType::Float16;
  return types;
}();

int number(DType dtype) {
  for (std::size_t i = 0; i < kTypes.size(); ++i) {
    if (kTypes[i] == dtype) return static_cast<int>(i);
  }
  fail<NotImplemented>("NumPy has no type for {}; convert it first", name(dtype));
}

}  // namespace

void load_numpy() {
  nb::object module;
  try {
    module = nb::module_::import_("numpy._core._multiarray_umath");
  } catch (const nb::python_error&) {  // NumPy 1
    module = nb::module_::import_("numpy.core._multiarray_umath");
  }
  const nb::object capsule = module.attr("_ARRAY_API");
  auto* const table = static_cast<void**>(PyCapsule_GetPointer(capsule.ptr(), nullptr));
  if (!table) throw nb::python_error();
  api.array_type = static_cast<PyTypeObject*>(table[kArrayType]);
  api.make = reinterpret_cast<New>(table[kNew]);
  api.set_base = reinterpret_cast<SetBaseObject>(table[kSetBaseObject]);
}

bool is_array(nb::handle object) { return PyObject_TypeCheck(object.ptr(), api.array_type) != 0; }

ArrayFields fields(nb::handle array) {
  const auto& a = *reinterpret_cast<const ArrayObjectFields*>(array.ptr());
  const DescriptionFields& d = *a.description;
  std::optional<DType> dtype;
  if (d.number >= 0 && d.number < static_cast<int>(kTypes.size()) && d.byte_order != '>') {
    dtype = kTypes[static_cast<std::size_t>(d.number)];
  }
  return {a.data, a.rank, a.extents, a.strides, dtype, (a.flags & kAligned) != 0, (a.flags & kWriteable) != 0};
}

nb::object new_array(DType dtype, const Shape& shape) { return array_over(dtype, shape, nullptr, nb::object()); }

nb::object array_over(DType dtype, const Shape& shape, void* data, nb::object owner) {
  PyObject* array = api.make(api.array_type, static_cast<int>(shape.size()), shape.data(), number(dtype), nullptr, data,
                             0, data ? kAligned | kWriteable | 1 : 0, nullptr);
  if (!array) throw nb::python_error();
  nb::object result = nb::steal(array);
  if (data && api.set_base(array, owner.release().ptr()) < 0) throw nb::python_error();
  return result;
}

void* data_of(nb::handle array) { return reinterpret_cast<const ArrayObjectFields*>(array.ptr())->data; }

}  // namespace trn::python
