// The kernels of tiny.hpp: a codelet on every line of an axis.
#if defined(TRN_FFT_TINY_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TRN_FFT_TINY_INL
#undef TRN_FFT_TINY_INL
#else
#define TRN_FFT_TINY_INL
#endif

#include <hwy/highway.h>

#include <cstdint>

#include "host/real_codelets-inl.hpp"
#include "host/tiny.hpp"

HWY_BEFORE_NAMESPACE();
namespace trn::fft::host::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR
template <class T> typename TinyAxis<T>::Run tiny_kernel_here(TinyKind, std::int64_t) { return nullptr; }
#else

// As many neighbouring lines as there are numbers in a vector.
template <int N, class D, class T> HWY_INLINE void tiny_lines(D tag, const TinyAxis<T>& a, const T* in, T* out) {
  const auto plus = hn::Set(tag, a.turn);
  const Pairs<D> d{tag, hn::OddEven(hn::Neg(plus), plus)};
  PairVector<D> x[N];
  HWY_UNROLL(16)
  for (int j = 0; j < N; ++j) x[j].v = hn::LoadU(tag, in + j * a.in_stride);
  dft<N>(d, x);
  if (HWY_UNLIKELY(a.factor != T(1))) {
    const auto by = hn::Set(tag, a.factor);
    HWY_UNROLL(16)
    for (int k = 0; k < N; ++k) x[k].v = hn::Mul(x[k].v, by);
  }
  HWY_UNROLL(16)
  for (int k = 0; k < N; ++k) hn::StoreU(x[k].v, tag, out + k * a.out_stride);
}
template <int N, class T> HWY_NOINLINE void tiny_complex(const TinyAxis<T>& axis, const T* in, T* out) {
  const hn::CappedTag<T, 8> four;
  const hn::CappedTag<T, 4> two;
  const hn::CappedTag<T, 2> one;
  const TinyAxis<T> a = axis;
  for (std::int64_t o = a.outer; o > 0; --o, in += a.in_outer, out += a.out_outer) {
    const T* p = in;
    T* q = out;
    std::int64_t left = a.inner;
    if (a.together) {
      if constexpr (hn::MaxLanes(four) == 8)
        for (; left >= 4; left -= 4, p += 8, q += 8) tiny_lines<N>(four, a, p, q);
      for (; left >= 2; left -= 2, p += 4, q += 4) tiny_lines<N>(two, a, p, q);
    }
    for (; left > 0; --left, p += a.in_inner, q += a.out_inner) tiny_lines<N>(one, a, p, q);
  }
}

// Real lines one by one. Both parts of a number are stored at once: the next axis loads it so.
template <int N, bool kThere, class T> HWY_NOINLINE void tiny_real(const TinyAxis<T>& axis, const T* in, T* out) {
  using D = hn::CappedTag<T, 1>;
  const D d;
  const hn::CappedTag<T, 2> pair;
  const TinyAxis<T> a = axis;
  const auto by = hn::Set(d, a.factor);
  for (std::int64_t o = a.outer; o > 0; --o, in += a.in_outer, out += a.out_outer) {
    const T* p = in;
    T* q = out;
    for (std::int64_t i = a.inner; i > 0; --i, p += a.in_inner, q += a.out_inner) {
      if constexpr (kThere)
        real_codelet<N, true>(
            d, [&](int j) HWY_ATTR { return hn::LoadU(d, p + j * a.in_stride); },
            [&](int k, C<D> y) HWY_ATTR {
              hn::StoreU(hn::Mul(hn::Combine(pair, y.i, y.r), hn::Combine(pair, by, by)), pair, q + k * a.out_stride);
            });
      else
        real_codelet<N, false>(
            d,
            [&](int k) HWY_ATTR {
              return C<D>{hn::LoadU(d, p + k * a.in_stride), hn::LoadU(d, p + k * a.in_stride + 1)};
            },
            [&](int j, hn::Vec<D> x) HWY_ATTR { hn::StoreU(hn::Mul(x, by), d, q + j * a.out_stride); });
    }
  }
}

template <int N, class T> typename TinyAxis<T>::Run tiny_kernel_of(TinyKind kind) {
  switch (kind) {
    case TinyKind::Complex:
      return tiny_complex<N, T>;
    case TinyKind::RealToHalf:
      return tiny_real<N, true, T>;
    case TinyKind::HalfToReal:
      break;
  }
  return tiny_real<N, false, T>;
}
template <class T> typename TinyAxis<T>::Run tiny_kernel_here(TinyKind kind, std::int64_t n) {
  typename TinyAxis<T>::Run run = nullptr;
  with_length(Radices(), n, [&](auto length) { run = tiny_kernel_of<decltype(length)::value, T>(kind); });
  return run;
}
#endif

}  // namespace trn::fft::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
