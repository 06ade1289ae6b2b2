// Convolution and correlation of arrays, in the manner of scipy.signal.
//
//   convolve(a, b)_k = sum_j a_j b_{k-j}          correlate(a, b)_k = sum_j a_{j+k} conj(b_j), k from -(extent of b -
//     1) on
//
// over the axes given (default: all); other axes are broadcast. Mode Full keeps every sum with a term, Valid those
// whose terms all exist (one array must be at least as long as the other along every axis), Same the middle of Full
// with the extents of a.
//
//   fftconvolve   transforms of the padded arrays, their product, and back
//   oaconvolve    the same in blocks along the axis where the lengths differ most: less work and memory when one array
//     is much the
//                 longer one
//   convolve      sums themselves where that is cheaper (Method::Auto), or as `method` says
//
// By transforms the error is relative to norms: || y - exact ||_2 <= (3 B + 6 u) || a ||_2 || b ||_1 along the axes, B
// being the bound of the padded transforms (to first order: ((1 + B)^3 (1 + 6 u) - 1)); small values beside large ones
// are not accurate. Direct sums of m terms err by at most (m + 1) u times the sum of moduli each (complex: sqrt(2) (m +
// 3) u). On a device everything runs there: the plans' kernels, products and sums on the Vector Engine, padding and
// cutting by DMA. Direct sums along one axis with up to 120 values, the same for every line, are a matrix with these
// values in a band, on the Tensor Engine; an infinity or NaN of the longer array then reaches the results of its block,
// up to 127. Method::Auto takes direct sums of up to 8 terms on the host, on a device of 64 in a band, otherwise of 3.
//
// `precision` is that of the transforms, or of the products in a band, where P products with error E make a sum
// (product_error): (m + P) u + E, complex sqrt(2) ((m + P + 2) u + E). Other direct sums are float32 in every float
// mode. Float on a device has Native, Tf32, Bf16, Tf32x3 and Bf16x6; double Exact, by transforms (fftconvolve,
// oaconvolve), with the products of spectra and the sums of blocks on the host, which splits and joins doubles there
// anyway. The host has Native. A target is held against the bounds above, after the method is chosen.
#pragma once

#include <trn/fft/transforms.hpp>

namespace trn::fft {

enum class ConvolveMode : std::uint8_t { Full, Same, Valid };
enum class ConvolveMethod : std::uint8_t { Auto, Direct, Fft };

struct ConvolveOptions {
  ConvolveMode mode = ConvolveMode::Full;
  std::optional<std::vector<std::int64_t>> axes{};
  ConvolveMethod method = ConvolveMethod::Auto;  // of convolve and correlate
  Precision precision = {};
  PlanCache* cache = nullptr;
};

namespace detail {
enum class Convolution : std::uint8_t { Transform, OverlapAdd, Choose };
// E: float, double or a complex type.
template <class E> [[nodiscard]] Array<E> convolve(const char* operation, Convolution how, const Executor&,
                                                   const View<const E>& a, const View<const E>& b,
                                                   const ConvolveOptions&);
template <class E> [[nodiscard]] Array<E> correlate(const Executor&, const View<const E>& a, const View<const E>& b,
                                                    const ConvolveOptions&);
}  // namespace detail

template <class A, class B>
concept ConvolveOperands = Operand<A> && Operand<B> && std::same_as<ElementOf<A>, ElementOf<B>>;

template <class A, class B>
requires ConvolveOperands<A, B>
[[nodiscard]] Array<ElementOf<A>> fftconvolve(const Executor& e, const A& a, const B& b,
                                              const ConvolveOptions& o = {}) {
  return detail::convolve("fft.fftconvolve", detail::Convolution::Transform, e, view_of(a), view_of(b), o);
}
template <class A, class B>
requires ConvolveOperands<A, B>
[[nodiscard]] Array<ElementOf<A>> oaconvolve(const Executor& e, const A& a, const B& b, const ConvolveOptions& o = {}) {
  return detail::convolve("fft.oaconvolve", detail::Convolution::OverlapAdd, e, view_of(a), view_of(b), o);
}
template <class A, class B>
requires ConvolveOperands<A, B>
[[nodiscard]] Array<ElementOf<A>> convolve(const Executor& e, const A& a, const B& b, const ConvolveOptions& o = {}) {
  return detail::convolve("fft.convolve", detail::Convolution::Choose, e, view_of(a), view_of(b), o);
}
template <class A, class B>
requires ConvolveOperands<A, B>
[[nodiscard]] Array<ElementOf<A>> correlate(const Executor& e, const A& a, const B& b, const ConvolveOptions& o = {}) {
  return detail::correlate(e, view_of(a), view_of(b), o);
}

}  // namespace trn::fft
