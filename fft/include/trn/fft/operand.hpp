// Operand: what the functions in the NumPy manner take: a View or an Array of float, double or their complex types.
#pragma once

#include <complex>
#include <type_traits>

#include <trn/core/array.hpp>
#include <trn/fft/types.hpp>

namespace trn::fft {

namespace detail {
template <class X> struct OperandElement { using type = void; };
template <class T> struct OperandElement<View<T>> { using type = std::remove_const_t<T>; };
template <class T> struct OperandElement<Array<T>> { using type = T; };
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

template <class T> [[nodiscard]] View<const std::remove_const_t<T>> view_of(const View<T>& x) { return x; }
template <class T> [[nodiscard]] View<const T> view_of(const Array<T>& x) { return x.view(); }

}  // namespace trn::fft
