// The element type that a user named, as a type: the one place where the four scalars are told apart.
#pragma once

#include <complex>
#include <string>

#include <trn/core/dtype.hpp>
#include <trn/core/error.hpp>

namespace trn::tools {

// The place of a type in tables that have functions for float, double, complex<float> and complex<double>.
[[nodiscard]] inline std::size_t scalar_place(const std::string& operation, DType dtype) {
  constexpr DType kScalars[] = {DType::Float32, DType::Float64, DType::Complex64, DType::Complex128};
  for (std::size_t i = 0; i < std::size(kScalars); ++i) {
    if (kScalars[i] == dtype) return i;
  }
  fail<InvalidArgument>("{}: not offered for {}; choose fp32, fp64, complex64 or complex128", operation, name(dtype));
}

// f(T{}) for that type T.
template <class F> auto with_scalar(const std::string& operation, DType dtype, F&& f) {
  switch (scalar_place(operation, dtype)) {
    case 0:
      return f(float{});
    case 1:
      return f(double{});
    case 2:
      return f(std::complex<float>{});
    default:
      return f(std::complex<double>{});
  }
}

}  // namespace trn::tools
