// Many short lines of one codelet each, complex or real: a block of lines is loaded, transformed and stored without leaving the registers.
//
// Real lines of n = 2 R points are R complex ones (real-inl.hpp); of odd n they are complex lines with zeros, of whose results the compiler drops what is
// not stored. The arithmetic is that of passes and half_rows, so a line has the same bits in an incomplete block, which goes through those.
#if defined(TRN_FFT_SHORT_LINES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TRN_FFT_SHORT_LINES_INL
#undef TRN_FFT_SHORT_LINES_INL
#else
#define TRN_FFT_SHORT_LINES_INL
#endif

#include <hwy/highway.h>

#include <cstdint>
#include <type_traits>

#include "host/real-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trn::fft::host::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR
// N >= kPiece reals of every line, a vector each.
template <int N, class D, class T>
HWY_INLINE void load_lines(D d, const EvenLines<T>& line, hn::Vec<D>* v) {
  constexpr std::int64_t side = static_cast<std::int64_t>(hn::MaxLanes(D())), piece = kPiece<T>, wide = kSquares<D> ? N / side * side : 0;
  HWY_UNROLL(4)
  for (std::int64_t j = 0; j < wide; j += side) load_square(d, line, j, v + j);
  HWY_UNROLL(16)
  for (std::int64_t j = wide; j < N; j += piece) load_tile(d, line, HWY_MIN(j, N - piece), v + HWY_MIN(j, N - piece));
}
template <int N, class D, class T>
HWY_INLINE void store_lines(D d, const EvenLines<T>& line, const hn::Vec<D>* v) {
  constexpr std::int64_t side = static_cast<std::int64_t>(hn::MaxLanes(D())), piece = kPiece<T>, wide = kSquares<D> ? N / side * side : 0;
  HWY_UNROLL(4)
  for (std::int64_t j = 0; j < wide; j += side) {
    hn::Vec<D> square[side];
    HWY_UNROLL(16)
    for (std::int64_t i = 0; i < side; ++i) square[i] = v[j + i];
    store_square(d, line, j, square);
  }
  HWY_UNROLL(16)
  for (std::int64_t j = wide; j < N; j += piece) {
    hn::Vec<D> tile[piece];
    HWY_UNROLL(4)
    for (std::int64_t i = 0; i < piece; ++i) tile[i] = v[HWY_MIN(j, N - piece) + i];
    store_tile(d, line, HWY_MIN(j, N - piece), tile);
  }
}

// A real line of n = 2 R points, or R if that is odd, both ways: to n/2 + 1 points and back.
template <int R, bool kHalved, class D, class T>
HWY_INLINE void real_codelet(D d, const EvenLines<T>& in, const EvenLines<T>& out, const T* w, T factor) {
  constexpr int n = kHalved ? 2 * R : R, half = n / 2;
  hn::Vec<D> v[2 * half + 2];
  C<D> x[R];
  load_lines<n>(d, in, v);
  HWY_UNROLL(16)
  for (int j = 0; j < R; ++j) {
    if constexpr (kHalved) x[j] = {v[2 * j], v[2 * j + 1]};
    else x[j] = {v[j], hn::Zero(d)};
  }
  dft<R>(d, x);
  if (factor != T(1)) scale<R>(d, x, factor);
  if constexpr (kHalved) {
    const C<D> z = x[0];
    v[0] = hn::Add(z.r, z.i);
    v[1] = v[2 * R + 1] = hn::Zero(d);
    v[2 * R] = hn::Sub(z.r, z.i);
    HWY_UNROLL(8)
    for (int k = 1; 2 * k <= R; ++k) {
      to_half(d, x[k], x[R - k], C<D>{hn::Set(d, w[k]), hn::Set(d, w[R / 2 + 1 + k])});
    }
  }
  HWY_UNROLL(16)
  for (int k = kHalved ? 1 : 0; k < (kHalved ? R : half + 1); ++k) {
    v[2 * k] = x[k].r;
    v[2 * k + 1] = x[k].i;
  }
  store_lines<2 * half + 2>(d, out, v);
}
template <int R, bool kHalved, class D, class T>
HWY_INLINE void half_codelet(D d, const EvenLines<T>& in, const EvenLines<T>& out, const T* w, T factor) {
  constexpr int n = kHalved ? 2 * R : R, half = n / 2;
  hn::Vec<D> v[2 * half + 2];
  C<D> x[R];
  load_lines<2 * half + 2>(d, in, v);
  if constexpr (kHalved) {
    x[0] = {hn::Add(v[0], v[2 * R]), hn::Sub(v[0], v[2 * R])};
    HWY_UNROLL(16)
    for (int k = 1; k < R; ++k) x[k] = {v[2 * k], v[2 * k + 1]};
    HWY_UNROLL(8)
    for (int k = 1; 2 * k <= R; ++k) from_half(d, x[k], x[R - k], C<D>{hn::Set(d, w[k]), hn::Set(d, w[R / 2 + 1 + k])});
  } else {
    x[0] = {v[0], hn::Zero(d)};
    HWY_UNROLL(8)
    for (int k = 1; k <= half; ++k) {
      x[k] = {v[2 * k], v[2 * k + 1]};
      x[R - k] = {v[2 * k], hn::Neg(v[2 * k + 1])};
    }
  }
  exchange<R>(d, x);
  dft<R>(d, x);
  if (factor != T(1)) scale<R>(d, x, factor);
  HWY_UNROLL(16)
  for (int j = 0; j < R; ++j) {
    v[kHalved ? 2 * j : j] = x[j].i;
    if constexpr (kHalved) v[2 * j + 1] = x[j].r;
  }
  store_lines<n>(d, out, v);
}
#endif

// A single codelet on `blocks` blocks of equally distant dense lines: loaded, transformed and stored without leaving the registers.
template <int R, class D, class T>
HWY_NOINLINE void codelet_blocks([[maybe_unused]] D d, [[maybe_unused]] const EngineCall<T>& call, [[maybe_unused]] std::int64_t from,
                                 [[maybe_unused]] std::int64_t to, [[maybe_unused]] std::int64_t blocks) {
#if HWY_TARGET != HWY_SCALAR
  constexpr std::int64_t lanes = static_cast<std::int64_t>(hn::MaxLanes(D()));
  const LineBatch& batch = call.batch->back();
  const bool in_swapped = call.in_im < call.in_re, out_swapped = call.out_im < call.out_re, scaled = call.factor != T(1);
  EvenLines<T> in{(in_swapped ? call.in_im : call.in_re) + from, batch.input_distance};
  EvenLines<T> out{(out_swapped ? call.out_im : call.out_re) + to, batch.output_distance};
  for (std::int64_t block = 0; block < blocks; ++block) {
    C<D> x[R];
    hn::Vec<D> v[2 * R];
    load_lines<2 * R>(d, in, v);
    HWY_UNROLL(16)
    for (int j = 0; j < R; ++j) x[j] = {v[2 * j], v[2 * j + 1]};
    if (HWY_UNLIKELY(in_swapped)) exchange<R>(d, x);
    dft<R>(d, x);
    if (scaled) scale<R>(d, x, call.factor);
    if (HWY_UNLIKELY(out_swapped)) exchange<R>(d, x);
    HWY_UNROLL(16)
    for (int k = 0; k < R; ++k) {
      v[2 * k] = x[k].r;
      v[2 * k + 1] = x[k].i;
    }
    store_lines<2 * R>(d, out, v);
    in.base += lanes * in.distance;
    out.base += lanes * out.distance;
  }
#endif
}
template <int R, class D, class T>
HWY_NOINLINE void real_codelet_blocks([[maybe_unused]] D d, [[maybe_unused]] const EnginePlan<T>& plan, [[maybe_unused]] const EngineCall<T>& call,
                                      [[maybe_unused]] std::int64_t from, [[maybe_unused]] std::int64_t to, [[maybe_unused]] std::int64_t blocks) {
#if HWY_TARGET != HWY_SCALAR
  constexpr std::int64_t lanes = static_cast<std::int64_t>(hn::MaxLanes(D()));
  const LineBatch& batch = call.batch->back();
  EvenLines<T> in{call.in_re + from, batch.input_distance}, out{call.out_re + to, batch.output_distance};
  const T* w = plan.real_twiddles.data();
  const bool halved = plan.n != R, there = plan.kind == EngineKind::RealToHalf;
  for (std::int64_t block = 0; block < blocks; ++block) {
    if (halved && there) real_codelet<R, true>(d, in, out, w, call.factor);
    else if (halved) half_codelet<R, true>(d, in, out, w, call.factor);
    else if constexpr (R % 2 == 1 && R >= 5) {
      if (there) real_codelet<R, false>(d, in, out, w, call.factor);
      else half_codelet<R, false>(d, in, out, w, call.factor);
    }
    in.base += lanes * in.distance;
    out.base += lanes * out.distance;
  }
#endif
}

template <class D, class T>
void any_codelet_blocks(D d, const EnginePlan<T>& plan, const EngineCall<T>& call, int radix, std::int64_t from, std::int64_t to,
                        std::int64_t blocks) {
  const auto run = [&]([[maybe_unused]] auto r) HWY_ATTR {
    if (plan.kind == EngineKind::Complex) codelet_blocks<decltype(r)::value>(d, call, from, to, blocks);
    else real_codelet_blocks<decltype(r)::value>(d, plan, call, from, to, blocks);
  };
  switch (radix) {
    case 2: return run(std::integral_constant<int, 2>());
    case 3: return run(std::integral_constant<int, 3>());
    case 4: return run(std::integral_constant<int, 4>());
    case 5: return run(std::integral_constant<int, 5>());
    case 6: return run(std::integral_constant<int, 6>());
    case 7: return run(std::integral_constant<int, 7>());
    case 8: return run(std::integral_constant<int, 8>());
    case 9: return run(std::integral_constant<int, 9>());
    case 10: return run(std::integral_constant<int, 10>());
    case 11: return run(std::integral_constant<int, 11>());
    case 12: return run(std::integral_constant<int, 12>());
    case 13: return run(std::integral_constant<int, 13>());
    case 15: return run(std::integral_constant<int, 15>());
    default: return run(std::integral_constant<int, 16>());
  }
}

}  // namespace trn::fft::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
