// NumPy arrays without NumPy's headers: the extension compiles without NumPy, and one binary serves NumPy 1 and 2.
//
// Both keep the beginning of an array object (address, rank, extents, strides, flags) and of its description (kind,
// byte order, type number) at the same places, and number their API functions alike: that is their binary promise to
// extensions. Reading the fields takes a few nanoseconds, the buffer protocol and DLPack a hundred or more.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>

#include <trn/core/dtype.hpp>
#include <trn/core/shape.hpp>

namespace trn::python {

namespace nb = nanobind;

struct ArrayFields {
  void* data;
  int rank;
  const Py_ssize_t *extents, *byte_strides;
  std::optional<DType> dtype;  // none: a type that no library of ours takes, or bytes in the other order
  bool aligned, writable;
};

// Finds NumPy; called once, when the extension is imported.
void load_numpy();
[[nodiscard]] bool is_array(nb::handle object);
[[nodiscard]] ArrayFields fields(nb::handle array);
// New memory of NumPy's own, row-major, not initialised.
[[nodiscard]] nb::object new_array(DType dtype, const Shape& shape);
// An array over memory that `owner` keeps alive.
[[nodiscard]] nb::object array_over(DType dtype, const Shape& shape, void* data, nb::object owner);
[[nodiscard]] void* data_of(nb::handle array);

}  // namespace trn::python
