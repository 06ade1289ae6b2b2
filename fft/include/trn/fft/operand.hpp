// Operand: what the functions in the NumPy manner take: a view or an array of float, double or their complex types;
// vectors have one axis, matrices two.
#pragma once

#include <complex>
#include <type_traits>

#include <trn/core/array.hpp>
#include <trn/fft/types.hpp>

namespace trn::fft {

namespace detail {
template <class X> struct OperandElement { using type = void; };
template <class T> struct OperandElement<View<T>> { using type = std::remove_const_t<T>; };
template <class T> struct OperandElement<VectorView<T>> { using type = std::remove_const_t<T>; };
template <class T> struct OperandElement<MatrixView<T>> { using type = std::remove_const_t<T>; };
template <class T> struct OperandElement<Array<T>> { using type = T; };
template <class T> struct OperandElement<Matrix<T>> { using type = T; };
template <class T> struct RealPart { using type = T; };
template <class T> struct RealPart<std::complex<T>> { using type = T; };
}  // namespace detail

template <class X> using ElementOf = typename detail::OperandElement<X>::type;
template <class X> using RealOf = typename detail::RealPart<ElementOf<X>>::type;

template <class X>
concept RealOperand = Real<ElementOf<X>>;
template <class X>
concept ComplexOperand = !RealOperand<X> && Real<RealOf<X>>;
template <class X>
concept Operand = RealOperand<X> || ComplexOperand<X>;

template <Operand X> [[nodiscard]] View<const ElementOf<X>> view_of(const X& x) { return x; }

}  // namespace trn::fft
