#include "call.hpp"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <cstring>

#include <trn/core/environment.hpp>

#include "context.hpp"

namespace trn::python {
namespace {

const DeviceArray* device_array(nb::handle x) {
  const DeviceArray* array = nullptr;
  return nb::try_cast<const DeviceArray*>(x, array, false) ? array : nullptr;
}

std::string letters(Types types) {
  static constexpr std::pair<DType, char> kLetters[] = {
      {DType::Float32, 'f'},    {DType::Float64, 'd'}, {DType::Complex64, 'F'},
      {DType::Complex128, 'D'}, {DType::Int32, 'i'},   {DType::Int64, 'l'},
      {DType::UInt32, 'I'},     {DType::UInt64, 'L'},  {DType::Float16, 'e'}};
  std::string text;
  for (const auto& [dtype, letter] : kLetters) {
    if (types & only(dtype)) text += letter;
  }
  return text;
}

// The array as an operand where it lies, when that is possible.
std::optional<Operand> in_place(nb::handle x, Types types) {
  const ArrayFields f = fields(x);
  if (!f.dtype || !(types & only(*f.dtype)) || !f.aligned) return {};
  const std::int64_t bytes = size_bytes(*f.dtype);
  Operand o{*f.dtype, Shape(f.extents, f.extents + f.rank), Strides(static_cast<std::size_t>(f.rank)), f.data};
  for (int i = 0; i < f.rank; ++i) {
    if (f.byte_strides[i] % bytes != 0) return {};  // a field of a record
    o.strides[static_cast<std::size_t>(i)] = f.byte_strides[i] / bytes;
  }
  o.python = nb::borrow(x);
  return o;
}

}  // namespace

bool overlap(const Operand& a, const Operand& b) {
  const auto range = [](const Operand& o) {
    const OffsetRange r = offset_range(o.shape, o.strides);
    const auto base = reinterpret_cast<std::intptr_t>(o.data);
    const std::int64_t bytes = size_bytes(o.dtype);
    return std::pair{base + r.lowest * bytes, base + (r.highest + 1) * bytes};
  };
  const auto [a0, a1] = range(a);
  const auto [b0, b1] = range(b);
  return a0 < b1 && b0 < a1;
}

Executor executor_of(nb::handle given) {
  if (given.is_none()) return current_executor();
  Executor* executor = nullptr;
  if (nb::try_cast<Executor*>(given, executor, false)) return *executor;
  return nb::cast<Executor>(python_function("executor_named")(given));
}

Precision precision_of(nb::handle given) {
  if (given.is_none()) return {};
  if (!PyUnicode_Check(given.ptr()))
    throw nb::type_error("precision must be a string such as \"exact\" or \"target=1e-9\", or None");
  Py_ssize_t size = 0;
  const char* text = PyUnicode_AsUTF8AndSize(given.ptr(), &size);
  if (!text) throw nb::python_error();
  return Precision::parse({text, static_cast<std::size_t>(size)});
}

std::optional<std::vector<std::int64_t>> integers_of(nb::handle given, const char* what, bool none_is_minus_one) {
  if (given.is_none()) return {};
  std::vector<std::int64_t> values;
  const auto take = [&](PyObject* o) {
    if (none_is_minus_one && o == Py_None) {
      values.push_back(-1);
      return;
    }
    const nb::object index = nb::steal(PyNumber_Index(o));
    if (!index.is_valid()) throw nb::python_error();
    const long long value = PyLong_AsLongLong(index.ptr());
    if (value == -1 && PyErr_Occurred()) throw nb::python_error();
    values.push_back(value);
  };
  if (PyIndex_Check(given.ptr()) && !is_array(given)) {
    take(given.ptr());
    return values;
  }
  const nb::object sequence = nb::steal(PySequence_Fast(given.ptr(), what));
  if (!sequence.is_valid()) throw nb::python_error();
  const Py_ssize_t size = PySequence_Fast_GET_SIZE(sequence.ptr());
  for (Py_ssize_t i = 0; i < size; ++i) take(PySequence_Fast_GET_ITEM(sequence.ptr(), i));
  return values;
}

Call::Call(const char* operation, nb::handle executor, std::span<const nb::handle> operands)
    : operation_(operation), executor_(Executor::host()) {
  const DeviceArray* first = nullptr;
  bool numpy = false;
  for (const nb::handle x : operands) {
    if (x.is_none()) continue;
    const DeviceArray* array = is_array(x) ? nullptr : device_array(x);
    if (!array) {
      numpy = true;
    } else if (!first) {
      first = array;
    } else {
      require(first->operand.executor == array->operand.executor,
              "{}: operands lie on two executors, '{}' and '{}'; copy one with trnsci.asarray(x, executor)", operation,
              first->operand.executor.name(), array->operand.executor.name());
    }
  }
  if (!first) {
    executor_ = executor_of(executor);
    return;
  }
  device_operands_ = true;
  executor_ = first->operand.executor;
  require(!numpy, "{}: a device array of '{}' beside an array of NumPy; copy one with trnsci.asarray or .numpy()",
          operation, executor_.name());
  require(executor.is_none() || executor_of(executor) == executor_,
          "{}: the operands lie on '{}', but another executor is asked for; copy them with trnsci.asarray", operation,
          executor_.name());
}

Operand Call::in(nb::handle x, const char* name, Types types) {
  if (device_operands_) {
    const DeviceArray& array = nb::cast<const DeviceArray&>(x);
    require((types & only(array.operand.dtype)) != 0, "{}: {} is a device array of {}; copy it with another type",
            operation_, name, trn::name(array.operand.dtype));
    return array.operand;
  }
  std::optional<Operand> o;
  if (is_array(x)) o = in_place(x, types);
  if (!o) {
    const nb::object array = python_function("prepare")(x, operation_, name, letters(types));
    o = in_place(array, types);
    ensure(o.has_value(), "{}: {} was not prepared", operation_, name);
  }
  if (on_host()) return *o;
  Operand device = out(o->dtype, o->shape);
  run([&] {
    detail::copy_elements({&o->executor, o->data, &o->shape, &o->strides},
                          {&executor_, device.data, &device.shape, &device.strides}, size_bytes(o->dtype));
  });
  return device;
}

Operand Call::in(nb::handle x, const char* name, Types types, int rank) {
  Operand o = in(x, name, types);
  check_rank(*this, o, name, static_cast<std::size_t>(rank));
  return o;
}

Operand Call::copy_of(nb::handle x, const char* name, Types types) {
  const Operand from = in(x, name, types);
  if (!on_host() && !device_operands_) return from;  // already a copy
  Operand to = out(from.dtype, from.shape);
  copy(from, to);
  return to;
}

void Call::copy(const Operand& from, const Operand& to) const {
  run([&] {
    detail::copy_elements({&from.executor, from.data, &from.shape, &from.strides},
                          {&to.executor, to.data, &to.shape, &to.strides}, size_bytes(from.dtype));
  });
}

Operand Call::out(DType dtype, const Shape& shape) const {
  Operand o{dtype, shape, row_major_strides(shape), nullptr, executor_};
  if (on_host() && !device_operands_) {
    (void)byte_count(shape, size_bytes(dtype));
    o.python = new_array(dtype, shape);
    o.data = data_of(o.python);
  } else {
    const auto buffer = std::make_shared<Buffer>(executor_, byte_count(shape, size_bytes(dtype)));
    o.data = buffer->data();
    o.owner = buffer;
  }
  return o;
}

Operand Call::zeros(DType dtype, const Shape& shape) const {
  Operand o = out(dtype, shape);
  const std::int64_t bytes = byte_count(shape, size_bytes(dtype));
  if (o.python.is_valid()) {
    std::memset(o.data, 0, static_cast<std::size_t>(bytes));
  } else {
    const std::vector<char> zero(static_cast<std::size_t>(bytes));
    run([&] { copy_bytes(Executor::host(), zero.data(), executor_, o.data, bytes); });
  }
  return o;
}

DType Call::common_type(std::initializer_list<nb::handle> operands) const {
  bool complex = false, wide = false, any = false;
  for (const nb::handle x : operands) {
    if (x.is_none()) continue;
    DType dtype{};
    if (const DeviceArray* device = is_array(x) ? nullptr : device_array(x)) {
      dtype = device->operand.dtype;
    } else if (is_array(x) && fields(x).dtype && (kFloats & only(*fields(x).dtype))) {
      dtype = *fields(x).dtype;
    } else {
      dtype = *fields(python_function("prepare")(x, operation_, "an operand", letters(kFloats))).dtype;
    }
    any = true;
    complex = complex || is_complex(dtype);
    wide = wide || real_of(dtype) != DType::Float32;
  }
  wide = wide || !any;
  return complex ? (wide ? DType::Complex128 : DType::Complex64) : wide ? DType::Float64 : DType::Float32;
}

Operand Call::out_given(nb::handle array, DType dtype, const Shape& shape,
                        std::initializer_list<const Operand*> inputs) const {
  require(!device_operands_ && on_host(), "{}: out= takes NumPy arrays, on the host; this call runs on '{}'",
          operation_, executor_.name());
  if (!is_array(array)) throw nb::type_error("out must be a NumPy array");
  require(fields(array).writable, "{}: out is read-only; give an array that may be written", operation_);
  const std::optional<Operand> o = in_place(array, only(dtype));
  require(o.has_value(), "{}: out must be an aligned array of {} in this machine's byte order", operation_,
          trn::name(dtype));
  require(o->shape == shape, "{}: out has shape {}; the result has shape {}", operation_, to_string(o->shape),
          to_string(shape));
  for (const Operand* input : inputs) {
    const bool same =
        o->data == input->data && o->dtype == input->dtype && o->shape == input->shape && o->strides == input->strides;
    require(same || !overlap(*o, *input), "{}: out overlaps an operand; give memory of its own", operation_);
  }
  return *o;
}

nb::object Call::result(const Operand& o) const {
  if (device_operands_) return nb::cast(DeviceArray{o});
  if (o.python.is_valid()) return o.python;
  if (on_host()) {
    auto* const keep = new std::shared_ptr<const void>(o.owner);
    nb::capsule capsule(keep, [](void* p) noexcept { delete static_cast<std::shared_ptr<const void>*>(p); });
    return array_over(o.dtype, o.shape, o.data, std::move(capsule));
  }
  nb::object array = new_array(o.dtype, o.shape);
  void* const data = data_of(array);
  run([&] { copy_bytes(executor_, o.data, Executor::host(), data, byte_count(o.shape, size_bytes(o.dtype))); });
  return array;
}

void check_rank(const Call& call, const Operand& x, const char* name, std::size_t rank) {
  require(x.shape.size() == rank, "{}: {} has rank {}, shape {}; it must have rank {}", call.operation(), name,
          x.shape.size(), to_string(x.shape), rank);
}

}  // namespace trn::python
