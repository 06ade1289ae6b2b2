// A line of n = n1 n2 points with a codelet for each factor: short lines without passes.
//
// The mathematics is that of four steps (line-inl.hpp): columns of n1 in the lanes, turned and left in a buffer in the first cache; columns of n2,
// loaded from there by transposition, stored as they lie. Loads and stores are masked where a row does not fill the vector.
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

// R rows of a line, `step` points apart; of each the first `count` points if that is less than a vector.
template <int R, class D, class T>
HWY_INLINE void load_rows(D d, const T* re, const T* im, bool pairs, std::int64_t step, std::int64_t count, C<D>* x) {
  constexpr std::int64_t lanes = static_cast<std::int64_t>(hn::MaxLanes(D()));
  if (pairs) {
    const T* p = re < im ? re : im;
    if (count >= lanes) {
      HWY_UNROLL(16)
      for (int j = 0; j < R; ++j, p += 2 * step) load_pairs(d, p, x[j].r, x[j].i);
    } else {
#if HWY_TARGET != HWY_SCALAR
      const auto first = hn::FirstN(d, static_cast<std::size_t>(HWY_MIN(2 * count, lanes))), second = hn::FirstN(d, static_cast<std::size_t>(HWY_MAX(2 * count - lanes, std::int64_t{0})));
      HWY_UNROLL(16)
      for (int j = 0; j < R; ++j, p += 2 * step) {
        const auto a = hn::MaskedLoad(first, d, p), b = hn::MaskedLoad(second, d, p + lanes);
        x[j] = {hn::ConcatEven(d, b, a), hn::ConcatOdd(d, b, a)};
      }
#endif
    }
    if (HWY_UNLIKELY(im < re)) exchange<R>(d, x);
  } else {
    const auto mask = hn::FirstN(d, static_cast<std::size_t>(HWY_MIN(count, lanes)));
    HWY_UNROLL(16)
    for (int j = 0; j < R; ++j) x[j] = {hn::MaskedLoad(mask, d, re + j * step), hn::MaskedLoad(mask, d, im + j * step)};
  }
}
template <int R, class D, class T>
HWY_INLINE void store_rows(D d, T* re, T* im, bool pairs, std::int64_t step, std::int64_t count, C<D>* x) {
  constexpr std::int64_t lanes = static_cast<std::int64_t>(hn::MaxLanes(D()));
  if (pairs) {
    T* p = re < im ? re : im;
    if (HWY_UNLIKELY(im < re)) exchange<R>(d, x);
    if (count >= lanes) {
      HWY_UNROLL(16)
      for (int k = 0; k < R; ++k, p += 2 * step) store_pairs(d, p, x[k].r, x[k].i);
    } else {
      const auto first = hn::FirstN(d, static_cast<std::size_t>(HWY_MIN(2 * count, lanes))), second = hn::FirstN(d, static_cast<std::size_t>(HWY_MAX(2 * count - lanes, std::int64_t{0})));
      HWY_UNROLL(16)
      for (int k = 0; k < R; ++k, p += 2 * step) {
        hn::Vec<D> a, b;
        join_pairs(d, x[k].r, x[k].i, a, b);
        hn::BlendedStore(a, first, d, p);
        hn::BlendedStore(b, second, d, p + lanes);
      }
    }
  } else {
    const auto mask = hn::FirstN(d, static_cast<std::size_t>(HWY_MIN(count, lanes)));
    HWY_UNROLL(16)
    for (int k = 0; k < R; ++k) {
      hn::BlendedStore(x[k].r, mask, d, re + k * step);
      hn::BlendedStore(x[k].i, mask, d, im + k * step);
    }
  }
}

template <int R, class D, class T>
HWY_NOINLINE void first_step(D d, const TwoStepArgs<T>& args) {
  constexpr std::int64_t lanes = static_cast<std::int64_t>(hn::MaxLanes(D()));
  const TwoStepArgs<T> a = args;
  const std::int64_t unit = a.in_pairs ? 2 : 1;
  for (std::int64_t c = 0; c < a.n2; c += lanes) {
    C<D> x[R];
    load_rows<R>(d, a.in_re + c * unit, a.in_im + c * unit, a.in_pairs, a.n2, a.n2 - c, x);
    const auto put = [&](int k, C<D> z) HWY_ATTR {
      if (k > 0) z = times(d, z, C<D>{hn::LoadU(d, a.twiddles + 2 * k * kPitch + c), hn::LoadU(d, a.twiddles + (2 * k + 1) * kPitch + c)});
      hn::StoreU(z.r, d, a.buffer + 2 * k * kPitch + c);
      hn::StoreU(z.i, d, a.buffer + (2 * k + 1) * kPitch + c);
    };
    if constexpr (R == 16) {
      HWY_UNROLL(4)
      for (int q = 0; q < 4; ++q) dft4(d, x[q], x[q + 4], x[q + 8], x[q + 12]);
      dft16_turn(d, x);
      dft16_finish(d, x, [&](int t, int k, C<D> z) HWY_ATTR { put(t + 4 * k, z); });
    } else {
      dft<R>(d, x);
      HWY_UNROLL(16)
      for (int k = 0; k < R; ++k) put(k, x[k]);
    }
  }
}

template <int R, class D, class T>
HWY_NOINLINE void second_step(D d, const TwoStepArgs<T>& args) {
  constexpr std::int64_t lanes = static_cast<std::int64_t>(hn::MaxLanes(D()));
  constexpr std::int64_t piece = HWY_MIN(kPiece<T>, std::int64_t{4});
  const TwoStepArgs<T> a = args;
  const bool scaled = a.factor != T(1);
  const std::int64_t unit = a.out_pairs ? 2 : 1;
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
    if (scaled) scale<R>(d, x, a.factor);
    store_rows<R>(d, a.out_re + b * unit, a.out_im + b * unit, a.out_pairs, a.n1, a.n1 - b, x);
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
