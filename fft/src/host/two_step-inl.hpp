// A line of n = n1 n2 points with a codelet for each factor: short lines without passes.
//
// The mathematics is that of four steps (line-inl.hpp): columns of n1 in the lanes, turned and left in a buffer in the first cache; columns of n2,
// loaded from there by transposition, stored as they lie. Lanes beyond the last column carry what comes next in the line, and what they store is
// overwritten by the rows that follow; at the line's end loads and stores are masked.
#if defined(TRN_FFT_TWO_STEP_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TRN_FFT_TWO_STEP_INL
#undef TRN_FFT_TWO_STEP_INL
#else
#define TRN_FFT_TWO_STEP_INL
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>

#include "host/tiles-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trn::fft::host::HWY_NAMESPACE {

inline constexpr std::int64_t kPitch = 16;  // of the buffer's rows and the twiddles

template <class T>
struct TwoStepArgs {
  const T *in_re, *in_im;
  T *out_re, *out_im;
  bool in_pairs, out_pairs;  // interleaved (im next to re, on either side), or planar
  std::int64_t n, n1, n2;
  const T* twiddles;
  T* buffer;  // [16][2][kPitch]
  T factor;
};

template <class D, class T>
HWY_INLINE C<D> load_some(D d, const T* re, const T* im, bool pairs, std::int64_t at, std::int64_t count) {
  constexpr std::int64_t lanes = static_cast<std::int64_t>(hn::MaxLanes(D()));
  const auto some = [&](const T* p, std::int64_t k) HWY_ATTR { return hn::MaskedLoad(hn::FirstN(d, static_cast<std::size_t>(std::max<std::int64_t>(k, 0))), d, p); };
  C<D> x;
  if (!pairs) {
    x = count >= lanes ? C<D>{hn::LoadU(d, re + at), hn::LoadU(d, im + at)} : C<D>{some(re + at, count), some(im + at, count)};
    return x;
  }
  const T* p = (re < im ? re : im) + 2 * at;
  const auto a = count >= lanes ? hn::LoadU(d, p) : some(p, 2 * count), b = count >= lanes ? hn::LoadU(d, p + lanes) : some(p + lanes, 2 * count - lanes);
#if HWY_TARGET != HWY_SCALAR
  x = {hn::ConcatEven(d, b, a), hn::ConcatOdd(d, b, a)};
#else
  x = {a, b};
#endif
  if (HWY_UNLIKELY(im < re)) x = {x.i, x.r};
  return x;
}
template <class D, class T>
HWY_INLINE void store_some(D d, T* re, T* im, bool pairs, std::int64_t at, std::int64_t count, C<D> x) {
  constexpr std::int64_t lanes = static_cast<std::int64_t>(hn::MaxLanes(D()));
  const auto some = [&](T* p, std::int64_t k, hn::Vec<D> v) HWY_ATTR { hn::BlendedStore(v, hn::FirstN(d, static_cast<std::size_t>(std::max<std::int64_t>(k, 0))), d, p); };
  hn::Vec<D> a = x.r, b = x.i;
  T *p = re + at, *q = im + at;
  std::int64_t first = count, second = count;
  if (pairs) {
    if (HWY_UNLIKELY(im < re)) join_pairs(d, x.i, x.r, a, b);
    else join_pairs(d, x.r, x.i, a, b);
    p = (re < im ? re : im) + 2 * at;
    q = p + lanes;
    first = 2 * count;
    second = 2 * count - lanes;
  }
  if (HWY_LIKELY(count >= lanes)) {
    hn::StoreU(a, d, p);
    hn::StoreU(b, d, q);
  } else {
    some(p, first, a);
    some(q, second, b);
  }
}

template <int R, class D, class T>
HWY_NOINLINE void first_step(D d, const TwoStepArgs<T>& args) {
  constexpr std::int64_t lanes = static_cast<std::int64_t>(hn::MaxLanes(D()));
  const TwoStepArgs<T> a = args;
  for (std::int64_t c = 0; c < a.n2; c += lanes) {
    C<D> x[R];
    std::int64_t at = c;
    HWY_UNROLL(16)
    for (int j = 0; j < R; ++j, at += a.n2) x[j] = load_some(d, a.in_re, a.in_im, a.in_pairs, at, a.n - at);
    dft<R>(d, x);
    HWY_UNROLL(16)
    for (int k = 0; k < R; ++k) {
      if (k > 0) x[k] = times(d, x[k], C<D>{hn::LoadU(d, a.twiddles + 2 * k * kPitch + c), hn::LoadU(d, a.twiddles + (2 * k + 1) * kPitch + c)});
      hn::StoreU(x[k].r, d, a.buffer + 2 * k * kPitch + c);
      hn::StoreU(x[k].i, d, a.buffer + (2 * k + 1) * kPitch + c);
    }
  }
}

template <int R, class D, class T>
HWY_NOINLINE void second_step(D d, const TwoStepArgs<T>& args) {
  constexpr std::int64_t lanes = static_cast<std::int64_t>(hn::MaxLanes(D()));
  constexpr std::int64_t piece = HWY_MIN(kPiece<T>, std::int64_t{4});
  const TwoStepArgs<T> a = args;
  const bool one_block = a.n1 <= lanes, scaled = a.factor != T(1);
  const auto factor = hn::Set(d, a.factor);
  for (std::int64_t b = 0; b < a.n1; b += lanes) {
    [[maybe_unused]] const EvenLines<T> re{a.buffer + 2 * b * kPitch, 2 * kPitch}, im{a.buffer + (2 * b + 1) * kPitch, 2 * kPitch};
    C<D> x[(R + piece - 1) / piece * piece];
#if HWY_TARGET == HWY_SCALAR
    for (C<D>& z : x) z = {hn::Zero(d), hn::Zero(d)};
#else
    if constexpr (kSquares<D> && R > lanes / 2) {
      HWY_UNROLL(2)
      for (std::int64_t at = 0; at < R; at += lanes) {
        hn::Vec<D> r[lanes], i[lanes];
        load_square(d, re, at, r);
        load_square(d, im, at, i);
        HWY_UNROLL(16)
        for (std::int64_t e = 0; e < HWY_MIN(lanes, R - at); ++e) x[at + e] = {r[e], i[e]};
      }
    } else {
      HWY_UNROLL(8)
      for (std::int64_t at = 0; at < R; at += piece) {
        hn::Vec<D> r[piece], i[piece];
        load_tile(d, re, at, r);
        load_tile(d, im, at, i);
        HWY_UNROLL(4)
        for (std::int64_t e = 0; e < piece; ++e) x[at + e] = {r[e], i[e]};
      }
    }
#endif
    dft<R>(d, x);
    std::int64_t at = b;
    HWY_UNROLL(16)
    for (int k = 0; k < R; ++k, at += a.n1) {
      if (scaled) x[k] = {hn::Mul(x[k].r, factor), hn::Mul(x[k].i, factor)};
      store_some(d, a.out_re, a.out_im, a.out_pairs, at, one_block ? a.n - at : a.n1 - b, x[k]);
    }
  }
}

template <class T>
using TwoStepFunction = void (*)(const TwoStepArgs<T>&);

// The function of a step for a radix and a vector.
template <bool kFirst, class T>
struct TwoStepTable {
  template <int R, class D>
  static void run(const TwoStepArgs<T>& a) {
    if constexpr (kFirst) first_step<R>(D(), a);
    else second_step<R>(D(), a);
  }
  template <class D>
  static TwoStepFunction<T> of(std::int64_t radix) {
    switch (radix) {
      case 2: return run<2, D>;
      case 3: return run<3, D>;
      case 4: return run<4, D>;
      case 5: return run<5, D>;
      case 6: return run<6, D>;
      case 7: return run<7, D>;
      case 8: return run<8, D>;
      case 9: return run<9, D>;
      case 10: return run<10, D>;
      case 11: return run<11, D>;
      case 12: return run<12, D>;
      case 13: return run<13, D>;
      case 15: return run<15, D>;
      default: return run<16, D>;
    }
  }
  static TwoStepFunction<T> of(std::int64_t radix, int lanes) {
    constexpr int widest = static_cast<int>(hn::MaxLanes(hn::CappedTag<T, 64 / sizeof(T)>()));
    if constexpr (widest * sizeof(T) >= 32)
      if (lanes == widest / 2) return of<hn::CappedTag<T, widest / 2>>(radix);
    if constexpr (widest * sizeof(T) >= 64)
      if (lanes == widest / 4) return of<hn::CappedTag<T, widest / 4>>(radix);
    return of<hn::CappedTag<T, widest>>(radix);
  }
};

}  // namespace trn::fft::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
