// Real transforms of even length n = 2 m through one complex transform of m points.
//
// z_j = x_(2j) + i x_(2j+1) has the DFT Z, and with w = exp(-2 pi i/n)
//   X_k = E + P,  X_(m-k) = conj(E - P),  E = (Z_k + conj Z_(m-k))/2,  P = w^k (Z_k - conj Z_(m-k))/(2i),   X_0, X_m =
//     re Z_0 +- im Z_0;
//   back:  Z_k = E' + Q,  Z_(m-k) = conj(E' - Q),  E' = X_k + conj X_(m-k),  Q = i conj(w^k) (X_k - conj X_(m-k)).
// The tables hold w^k/2, so that the halves cost nothing.
#if defined(TRN_FFT_REAL_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TRN_FFT_REAL_INL
#undef TRN_FFT_REAL_INL
#else
#define TRN_FFT_REAL_INL
#endif

#include <hwy/highway.h>

#include <cstdint>

#include "host/line-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trn::fft::host::HWY_NAMESPACE {

// (Z_k, Z_(m-k)) to (X_k, X_(m-k)), w = w^k/2.
template <class D> HWY_INLINE void to_half(D d, C<D>& a, C<D>& b, C<D> w) {
  const auto half = hn::Set(d, hn::TFromD<D>(0.5));
  const C<D> e = {hn::Add(a.r, b.r), hn::Sub(a.i, b.i)}, p = times(d, C<D>{hn::Add(a.i, b.i), hn::Sub(b.r, a.r)}, w);
  a = {hn::MulAdd(half, e.r, p.r), hn::MulAdd(half, e.i, p.i)};
  b = {hn::MulSub(half, e.r, p.r), hn::NegMulAdd(half, e.i, p.i)};
}
// (X_k, X_(m-k)) to (Z_k, Z_(m-k)).
template <class D> HWY_INLINE void from_half(D d, C<D>& a, C<D>& b, C<D> w) {
  const auto two = hn::Set(d, hn::TFromD<D>(2));
  const C<D> e = {hn::Add(a.r, b.r), hn::Sub(a.i, b.i)}, o = {hn::Sub(a.r, b.r), hn::Add(a.i, b.i)};
  const C<D> q = {hn::NegMulAdd(w.r, o.i, hn::Mul(w.i, o.r)), hn::MulAdd(w.i, o.i, hn::Mul(w.r, o.r))};
  a = {hn::MulAdd(two, q.r, e.r), hn::MulAdd(two, q.i, e.i)};
  b = {hn::NegMulAdd(two, q.r, e.r), hn::MulSub(two, q.i, e.i)};
}

// V pairs of neighbours in a line; the second of each pair comes in reverse order.
template <class D> HWY_INLINE C<D> reversed(D d, C<D> x) {
  if constexpr (hn::MaxLanes(D()) == 1)
    return x;
  else
    return {hn::Reverse(d, x.r), hn::Reverse(d, x.i)};
}

template <bool kForward, class D, class T>
HWY_INLINE void half_pairs(D d, std::int64_t m, std::int64_t k, const Points<T>& in, const Points<T>& out, const T* w) {
  constexpr std::int64_t lanes = kWidth<D>;
  C<D> a = load_points(d, in, k), b = reversed(d, load_points(d, in, m - k - lanes + 1));
  const C<D> turn = {hn::LoadU(d, w + k), hn::LoadU(d, w + m / 2 + 1 + k)};
  if constexpr (kForward)
    to_half(d, a, b, turn);
  else
    from_half(d, a, b, turn);
  store_points(d, out, k, a);
  store_points(d, out, m - k - lanes + 1, reversed(d, b));
}

// As many pairs from k on as fill vectors of D; returns the next k.
template <bool kForward, class D, class T> HWY_INLINE std::int64_t half_vectors(std::int64_t m, std::int64_t k,
                                                                                const Points<T>& in,
                                                                                const Points<T>& out, const T* w) {
  constexpr std::int64_t lanes = kWidth<D>;
  for (; 2 * (k + lanes) <= m + 1; k += lanes) half_pairs<kForward>(D(), m, k, in, out, w);
  return k;
}

// Forward: m points Z to m + 1 points X, in place or not. Back: m + 1 points X to m points Z. Vectors where both sides
// are contiguous.
template <bool kForward, class T>
HWY_NOINLINE void half_line(std::int64_t m, const Points<T>& in, const Points<T>& out, const T* w) {
  if constexpr (kForward) {
    const T r = in.re[0], i = in.im[0];
    out.re[0] = r + i;
    out.im[0] = T(0);
    out.re[m * out.stride] = r - i;
    out.im[m * out.stride] = T(0);
  } else {
    const T a = in.re[0], b = in.re[m * in.stride];
    out.re[0] = a + b;
    out.im[0] = a - b;
  }
  std::int64_t k = 1;
  if (in.dense() && out.dense()) {
    k = half_vectors<kForward, Widest<T>>(m, k, in, out, w);
    if constexpr (hn::MaxLanes(Widest<T>()) * sizeof(T) >= 32)
      k = half_vectors<kForward, hn::Half<Widest<T>>>(m, k, in, out, w);
    if constexpr (hn::MaxLanes(Widest<T>()) * sizeof(T) >= 64)
      k = half_vectors<kForward, hn::Half<hn::Half<Widest<T>>>>(m, k, in, out, w);
  }
  for (; 2 * k <= m; ++k) half_pairs<kForward>(hn::CappedTag<T, 1>(), m, k, in, out, w);
}

}  // namespace trn::fft::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
