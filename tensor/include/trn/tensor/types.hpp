// What all operations of trntensor share: operators on elements, and views whose element type is known at run time.
#pragma once

#include <complex>
#include <cstdint>
#include <span>
#include <string_view>

#include <trn/core/float_types.hpp>
#include <trn/core/view.hpp>

namespace trn::tensor {

// cuTENSOR's unary operators. Real numbers have all of them but mind their domains (log of -1 is NaN); complex ones
// have those with a meaning there: not Relu, Sigmoid, Ceil, Floor, Mish, Swish, Softplus, Softsign.
enum class Unary : std::uint8_t {
  Identity,
  Sqrt,
  Relu,     // max(x, 0), NaN stays NaN
  Conj,     // Identity for real numbers
  Rcp,      // 1 / x
  Sigmoid,  // 1 / (1 + exp(-x))
  Tanh,
  Exp,
  Log,
  Abs,  // of a complex number: its modulus
  Neg,
  Sin,
  Cos,
  Tan,
  Sinh,
  Cosh,
  Asin,
  Acos,
  Atan,
  Asinh,
  Acosh,
  Atanh,
  Ceil,
  Floor,
  Mish,      // x tanh(softplus(x))
  Swish,     // x sigmoid(x)
  Softplus,  // log(1 + exp(x))
  Softsign   // x / (1 + |x|)
};
[[nodiscard]] std::span<const Unary> all_unary();
[[nodiscard]] std::string_view name(Unary op);
[[nodiscard]] bool has_complex(Unary op);

enum class Binary : std::uint8_t { Add, Mul, Max, Min };  // Max and Min: real numbers; NaN wins
[[nodiscard]] std::string_view name(Binary op);

// A view whose element type is a value. `data` of operands that are only read is never written.
struct TypedView {
  Executor executor;
  DType dtype;
  void* data;
  Shape shape;
  Strides strides;

  template <Element T> TypedView(const View<T>& view)  // implicit: every view is a typed view
      : executor(view.executor()),
        dtype(dtype_of<T>),
        data(const_cast<std::remove_const_t<T>*>(view.data())),
        shape(view.shape()),
        strides(view.strides()) {}
  TypedView(Executor e, DType type, void* address, Shape extents, Strides steps);
  TypedView(Executor e, DType type, void* address, Shape extents);  // row-major
};

// alpha and beta of D = alpha ... + beta C, rounded to the type that computes.
struct Scalars {
  std::complex<double> alpha = 1, beta = 0;
};

// The element types that tensors may have: Float32, Float64, Complex64, Complex128, BFloat16, Float16.
[[nodiscard]] bool is_tensor_type(DType dtype);
// What computes with these operands: Float32 for 16-bit types; the wider of two; complex if one is complex.
[[nodiscard]] DType compute_type(std::span<const DType> operands);

}  // namespace trn::tensor
