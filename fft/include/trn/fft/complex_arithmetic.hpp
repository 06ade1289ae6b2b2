// Arithmetic on planar complex arrays: real and imaginary parts in two arrays, the form that the Tensor Engine likes.
//
// The functions take PlanarArrays or PlanarViews and return new dense arrays; shapes are broadcast as NumPy does.
// Errors, u being the unit roundoff of the type:
//   add, subtract            each part within u of exact
//   multiply (conjugate)     |y - exact| <= sqrt(8) u |exact|, to first order
//   divide                   |y - exact| <= 7 u |exact| wherever exact is a normal number: numerator and denominator
//                            are scaled by powers of two first, so nothing overflows or underflows on the way;
//                            infinities and zero divisors as in C's Annex G
//   abs, angle, from_polar   the C library's hypot, atan2, cos and sin: within a few u
//   matmul                   with four products, each part of Y is two real gemms, the second on top of the first. With
//                            b = blas::gemm_error_bound of the family, the type, the inner extent and the mode,
//                              |Y - exact|(i,j) <= 2 sqrt(2) b (|A||B|)(i,j) in Native,
//                              |Y - exact|(i,j) <= 2 sqrt(2) b ||a_i|| ||b_j|| in the other modes, of which Exact has
//                              the b that gemm returns,
//                            to first order. fp32 passes of a device, low words before high ones, are in b.
//                            With three products the bound is normwise only: a part that is small beside the other
//                            may be lost
// A device computes in float, elementwise on the Vector Engine (NotImplemented for double), and matmul in every mode of
// trnblas, in double its exact mode (four products). Elementwise functions have no products for the Tensor Engine and
// so no modes. The bounds above hold there, and: abs 2 u, angle 8 u, from_polar 4 u of the modulus for angles up to
// 2^14 and NaN beyond; a zero divisor gives infinities without its sign. They assume the simulator's square root and
// reciprocal, right to u; the accuracy of silicon's is not published.
#pragma once

#include <trn/fft/operand.hpp>

namespace trn::fft {

template <Real T> struct PlanarArray {
  Array<T> re, im;
  [[nodiscard]] const Shape& shape() const { return re.shape(); }
  [[nodiscard]] PlanarView<T> view() const { return {re.view(), im.view()}; }
};

namespace detail {
template <class X> struct PlanarElement { using type = void; };
template <class T> struct PlanarElement<PlanarArray<T>> { using type = T; };
template <class T> struct PlanarElement<PlanarView<T>> { using type = std::remove_const_t<T>; };
}  // namespace detail

template <class X> using PlanarOf = typename detail::PlanarElement<X>::type;
template <class X>
concept PlanarOperand = Real<PlanarOf<X>>;

template <class T> [[nodiscard]] PlanarView<const std::remove_const_t<T>> planar_view_of(const PlanarView<T>& x) {
  return {x.re, x.im};
}
template <class T> [[nodiscard]] PlanarView<const T> planar_view_of(const PlanarArray<T>& x) {
  return {x.re.view(), x.im.view()};
}

// With three real products (Gauss) instead of four: a quarter less work, errors relative to norms only.
enum class Products : std::uint8_t { Four, Three };
struct MatmulOptions {
  Products products = Products::Four;
  Precision precision = {};  // of the real products; a target is held against their bound
};

enum class ComplexOp : std::uint8_t {
  Add,
  Subtract,
  Multiply,
  MultiplyConjugate,
  Divide,
  Conjugate,
  Abs,
  Angle,
  FromPolar
};

namespace detail {
template <Real T> [[nodiscard]] PlanarArray<T> planar(ComplexOp, const Executor&, const PlanarView<const T>& a,
                                                      const PlanarView<const T>& b);
template <Real T> [[nodiscard]] Array<T> planar_part(ComplexOp, const Executor&, const PlanarView<const T>& a);
template <Real T>
[[nodiscard]] PlanarArray<T> from_polar(const Executor&, const View<const T>& modulus, const View<const T>& angle);
template <Real T> [[nodiscard]] PlanarArray<T> matmul(const Executor&, const PlanarView<const T>& a,
                                                      const PlanarView<const T>& b, const MatmulOptions&);
template <Real T> [[nodiscard]] PlanarArray<T> to_planar(const Executor&, const View<const std::complex<T>>& x);
template <Real T> [[nodiscard]] Array<std::complex<T>> to_interleaved(const Executor&, const PlanarView<const T>& x);
}  // namespace detail

#define TRN_FFT_BINARY(function, op)                                                           \
  template <PlanarOperand A, PlanarOperand B>                                                  \
  requires std::same_as<PlanarOf<A>, PlanarOf<B>>                                              \
  [[nodiscard]] PlanarArray<PlanarOf<A>> function(const Executor& e, const A& a, const B& b) { \
    return detail::planar(ComplexOp::op, e, planar_view_of(a), planar_view_of(b));             \
  }
TRN_FFT_BINARY(add, Add)
TRN_FFT_BINARY(subtract, Subtract)
TRN_FFT_BINARY(multiply, Multiply)
TRN_FFT_BINARY(multiply_conjugate, MultiplyConjugate)  // a conj(b)
TRN_FFT_BINARY(divide, Divide)
#undef TRN_FFT_BINARY

template <PlanarOperand A> [[nodiscard]] PlanarArray<PlanarOf<A>> conj(const Executor& e, const A& a) {
  return detail::planar(ComplexOp::Conjugate, e, planar_view_of(a), planar_view_of(a));
}
template <PlanarOperand A> [[nodiscard]] Array<PlanarOf<A>> abs(const Executor& e, const A& a) {
  return detail::planar_part(ComplexOp::Abs, e, planar_view_of(a));
}
template <PlanarOperand A> [[nodiscard]] Array<PlanarOf<A>> angle(const Executor& e, const A& a) {
  return detail::planar_part(ComplexOp::Angle, e, planar_view_of(a));
}
// modulus * exp(i angle).
template <RealOperand M, RealOperand A>
requires std::same_as<ElementOf<M>, ElementOf<A>>
[[nodiscard]] PlanarArray<ElementOf<M>> from_polar(const Executor& e, const M& modulus, const A& angle) {
  return detail::from_polar(e, view_of(modulus), view_of(angle));
}
// The matrix product of (m, k) and (k, n).
template <PlanarOperand A, PlanarOperand B>
requires std::same_as<PlanarOf<A>, PlanarOf<B>>
[[nodiscard]] PlanarArray<PlanarOf<A>> matmul(const Executor& e, const A& a, const B& b, const MatmulOptions& o = {}) {
  return detail::matmul(e, planar_view_of(a), planar_view_of(b), o);
}

// Between the two forms: copies, on every executor.
template <ComplexOperand X> [[nodiscard]] PlanarArray<RealOf<X>> to_planar(const Executor& e, const X& x) {
  return detail::to_planar(e, view_of(x));
}
template <PlanarOperand X>
[[nodiscard]] Array<std::complex<PlanarOf<X>>> to_interleaved(const Executor& e, const X& x) {
  return detail::to_interleaved(e, planar_view_of(x));
}

}  // namespace trn::fft
