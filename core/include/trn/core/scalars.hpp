// The element types that linear algebra takes, and what may be asked of a matrix that is read.
#pragma once

#include <complex>
#include <concepts>
#include <cstdint>

namespace trn {

enum class Op : std::uint8_t { N, T, C };  // as it is, transposed, conjugate transposed (the same as T for real types)

template <class T>
concept RealScalar = std::same_as<T, float> || std::same_as<T, double>;
template <class T>
concept ComplexScalar = std::same_as<T, std::complex<float>> || std::same_as<T, std::complex<double>>;
template <class T>
concept Scalar = RealScalar<T> || ComplexScalar<T>;

template <class T> struct RealOf { using type = T; };
template <class T> struct RealOf<std::complex<T>> { using type = T; };
template <class T> using Real = typename RealOf<T>::type;

}  // namespace trn
