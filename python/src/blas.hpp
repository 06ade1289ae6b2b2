// What the bindings of the three levels share: words for triangles and sides, factors, updated operands, answers.
#pragma once

#include <nanobind/stl/complex.h>

#include <trn/blas/types.hpp>

#include "call.hpp"

namespace trn::python {

using Factor = std::complex<double>;

// "N", "T", "C", True (the transpose) or False.
[[nodiscard]] Op op_of(const char* operation, nb::handle given);
[[nodiscard]] blas::Uplo uplo_of(const char* operation, nb::handle given);  // "upper", "lower" or their first letters
[[nodiscard]] blas::Side side_of(const char* operation, nb::handle given);
[[nodiscard]] blas::Diag diag_of(const char* operation, nb::handle given);

// The factor in the operands' type; refuses a complex one for real operands.
template <class T> T factor(const char* operation, Factor z) {
  if constexpr (RealScalar<T>) {
    require(z.imag() == 0, "{}: a complex factor for real operands; convert them", operation);
    return static_cast<T>(z.real());
  } else {
    return T(static_cast<Real<T>>(z.real()), static_cast<Real<T>>(z.imag()));
  }
}

// The operand that is updated: a copy of what the caller gave, or new memory where there is none. With `triangle` the
// part that is not computed is zero.
[[nodiscard]] Operand updated(Call& call, nb::handle given, const char* name, DType dtype, const Shape& shape,
                              bool triangle = false);
// (result, accuracy) where that is asked for.
[[nodiscard]] nb::object answer(const Call& call, const Operand& result, const Accuracy& accuracy, bool wanted);

// precision="sr" (narrow.cpp); bind_level1 calls it.
void bind_narrow(nb::module_& m);

}  // namespace trn::python
