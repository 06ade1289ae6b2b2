// The vocabulary of BLAS: what may be asked of an operand, and the element types that every routine takes.
//
// Views are logical: MatrixView says where element (i, j) lies, so row-major and column-major are the same call, and
// `uplo` names a triangle of the logical matrix. T is deduced from the operand that is written; everything else
// converts.
#pragma once

#include <type_traits>

#include <trn/core/precision.hpp>
#include <trn/core/scalars.hpp>
#include <trn/core/view.hpp>

namespace trn::blas {

using trn::Op, trn::RealScalar, trn::ComplexScalar, trn::Scalar, trn::RealOf, trn::Real;

enum class Uplo : std::uint8_t { Lower, Upper };
enum class Diag : std::uint8_t { NonUnit, Unit };  // Unit: the diagonal is 1 and never read
enum class Side : std::uint8_t { Left, Right };

// Operands that are only read, and factors: not deduced, so that writable views and other arithmetic types convert.
template <class T> using ConstVector = std::type_identity_t<VectorView<const T>>;
template <class T> using ConstMatrix = std::type_identity_t<MatrixView<const T>>;
template <class T> using Number = std::type_identity_t<T>;

// A reduction and what is known of its error.
template <class T> struct Measured {
  T value;
  Accuracy accuracy;
};

// Options of every operation that multiplies matrices.
struct ProductOptions {
  Precision precision = {};
};

}  // namespace trn::blas
