// Call: what every bound function does with its operands before and after it calls the library.
//
// NumPy in, NumPy out; device arrays in, device array out. Where the executor is a host, NumPy's memory is used as it
// is; otherwise operands are copied in and results out. Device arrays of two executors, or device arrays beside NumPy
// ones, are refused: nothing crosses unasked.
//
//   Call call("blas.asum", executor, {x});
//   const Operand v = call.in(x, "x", kFloats);
//   const Operand y = call.out(v.dtype, v.shape);
//   call.run([&] { ... v.view<const float>(), y.view<float>() ... });        // without Python's lock
//   return call.result(y);
#pragma once

#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include <trn/core/array.hpp>
#include <trn/core/precision.hpp>
#include <trn/core/scalars.hpp>

#include "numpy_arrays.hpp"
#include "watch.hpp"

namespace trn::python {

// An array in the memory of an executor.
struct Operand {
  DType dtype{};
  Shape shape;
  Strides strides;  // in elements
  void* data = nullptr;
  Executor executor = Executor::host();
  std::shared_ptr<const void> owner;  // of memory that is ours
  nb::object python;                  // the NumPy array whose memory this is

  template <class T> [[nodiscard]] T* pointer() const { return static_cast<T*>(data); }
  template <class T> [[nodiscard]] View<T> view() const { return {executor, pointer<T>(), shape, strides}; }
  // Rank 1 and rank 2; `in` has checked the rank.
  template <class T> [[nodiscard]] VectorView<T> vector() const {
    return {executor, pointer<T>(), shape[0], strides[0]};
  }
  template <class T> [[nodiscard]] MatrixView<T> matrix() const {
    return {executor, pointer<T>(), shape[0], shape[1], strides[0], strides[1]};
  }
};

// An array that stays on its executor: trnsci.Array. Row-major.
struct DeviceArray {
  Operand operand;
};

// Sets of element types.
using Types = std::uint32_t;
constexpr Types only(DType t) { return Types{1} << static_cast<int>(t); }
constexpr Types kReals = only(DType::Float32) | only(DType::Float64);
constexpr Types kComplexes = only(DType::Complex64) | only(DType::Complex128);
constexpr Types kFloats = kReals | kComplexes;

// `executor` of a Python call: None, a name, or an Executor.
[[nodiscard]] Executor executor_of(nb::handle given);
// None, "exact", "target=1e-9".
[[nodiscard]] Precision precision_of(nb::handle given);
// None stays none; an integer is a list of one. `what` is the message for anything else. With `none_is_minus_one` None
// within the list is -1.
[[nodiscard]] std::optional<std::vector<std::int64_t>> integers_of(nb::handle given, const char* what,
                                                                   bool none_is_minus_one = false);

// Whether two operands of the host touch a common byte range.
[[nodiscard]] bool overlap(const Operand& a, const Operand& b);

class Call {
 public:
  Call(const char* operation, nb::handle executor, std::initializer_list<nb::handle> operands)
      : Call(operation, executor, std::span(operands.begin(), operands.size())) {}
  Call(const char* operation, nb::handle executor, std::span<const nb::handle> operands);
  [[nodiscard]] const Executor& executor() const { return executor_; }
  [[nodiscard]] const char* operation() const { return operation_; }
  [[nodiscard]] bool on_host() const { return executor_.family() == Family::Host; }

  // An operand that is read. NumPy arrays of one of the types are used where they lie (strides included) or copied in;
  // everything else goes through trnsci._inputs.prepare, which converts or refuses with a sentence.
  [[nodiscard]] Operand in(nb::handle x, const char* name, Types types);
  // The same, which must have this rank and this very type (lists and integers convert).
  [[nodiscard]] Operand in(nb::handle x, const char* name, Types types, int rank);
  // The element type that all of them are brought to, as NumPy promotes; None counts for nothing.
  [[nodiscard]] DType common_type(std::initializer_list<nb::handle> operands) const;
  // A copy that may be written: the result of an operation that updates x.
  [[nodiscard]] Operand copy_of(nb::handle x, const char* name, Types types);
  // The elements of one operand into another of its type and shape.
  void copy(const Operand& from, const Operand& to) const;
  // New memory for a result; zeros.
  [[nodiscard]] Operand out(DType dtype, const Shape& shape) const;
  [[nodiscard]] Operand zeros(DType dtype, const Shape& shape) const;
  // The caller's NumPy array for a result on the host: of this type and shape, writable, and apart from `inputs` or
  // exactly one of them.
  [[nodiscard]] Operand out_given(nb::handle array, DType dtype, const Shape& shape,
                                  std::initializer_list<const Operand*> inputs) const;
  // The memory of a library's result.
  template <class T> [[nodiscard]] Operand adopt(Array<T>&& array) const {
    auto kept = std::make_shared<Array<T>>(std::move(array));
    return {dtype_of<T>, kept->shape(), row_major_strides(kept->shape()), kept->data(), executor_, kept, {}};
  }
  // What the caller gets: a NumPy array, or a device array where operands were.
  [[nodiscard]] nb::object result(const Operand& operand) const;

  template <class F> void run(F&& body) const {
    const nb::gil_scoped_release released;
    const RunScope watched;
    body();
  }

 private:
  const char* operation_;
  Executor executor_;
  bool device_operands_ = false;
};

// "blas.dot: x has rank 2, shape (3, 4); it must have rank 1"
void check_rank(const Call& call, const Operand& x, const char* name, std::size_t rank);

// Calls body with a value of the element type: float, double, complex<float>, complex<double>.
template <class F> decltype(auto) with_real(DType dtype, F&& body) {
  if (dtype == DType::Float32 || dtype == DType::Complex64) return body(float{});
  return body(double{});
}
template <class F> decltype(auto) with_scalar(DType dtype, F&& body) {
  switch (dtype) {
    case DType::Float32:
      return body(float{});
    case DType::Float64:
      return body(double{});
    case DType::Complex64:
      return body(std::complex<float>{});
    default:
      return body(std::complex<double>{});
  }
}

}  // namespace trn::python
