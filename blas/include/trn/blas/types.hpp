// The vocabulary of BLAS: what may be asked of an operand, and the element types that every routine takes.
//
// Views are logical: MatrixView says where element (i, j) lies, so row-major and column-major are the same call, and
// `uplo` names a triangle of the logical matrix. T is deduced from the operand that is written; everything else
// converts.
#pragma once

#include <complex>
#include <concepts>
#include <type_traits>

#include <trn/core/precision.hpp>
#include <trn/core/view.hpp>

namespace trn::blas {

enum class Op : std::uint8_t { N, T, C };  // as it is, transposed, conjugate transposed (the same as T for real types)
enum class Uplo : std::uint8_t { Lower, Upper };
enum class Diag : std::uint8_t { NonUnit, Unit };  // Unit: the diagonal is 1 and never read
enum class Side : std::uint8_t { Left, Right };

template <class T>
concept RealScalar = std::same_as<T, float> || std::same_as<T, double>;
template <class T>
concept ComplexScalar = std::same_as<T, std::complex<float>> || std::same_as<T, std::complex<double>>;
template <class T>
concept Scalar = RealScalar<T> || ComplexScalar<T>;

template <class T> struct RealOf { using type = T; };
template <class T> struct RealOf<std::complex<T>> { using type = T; };
template <class T> using Real = typename RealOf<T>::type;

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
