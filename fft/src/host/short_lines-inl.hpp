// Many short complex lines of one codelet each: a block of lines is loaded, transformed and stored without leaving the
// registers. The arithmetic is that of passes, so a line has the same bits in an incomplete block, which goes through
// those.
#if defined(TRN_FFT_SHORT_LINES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TRN_FFT_SHORT_LINES_INL
#undef TRN_FFT_SHORT_LINES_INL
#else
#define TRN_FFT_SHORT_LINES_INL
#endif

#include <hwy/highway.h>

#include <cstdint>
#include <type_traits>

#include "host/line-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trn::fft::host::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR
// lanes/2 rows of vectors, to and from 32 bytes of every line: w[i] holds lines i (lower half) and i + lanes/2, or row
// i.
template <class D> HWY_INLINE void transpose_half_square([[maybe_unused]] D d, [[maybe_unused]] hn::Vec<D>* w) {
#if HWY_TARGET <= HWY_AVX3
  using V = hn::Vec<D>;
  constexpr int k = static_cast<int>(kPiece<hn::TFromD<D>>);
  transpose_parts(d, w);
  transpose_parts(d, w + k);
  const hn::Repartition<double, D> f;
  const __m512i lower = _mm512_set_epi64(13, 12, 5, 4, 9, 8, 1, 0),
                upper = _mm512_set_epi64(15, 14, 7, 6, 11, 10, 3, 2);
  using F = hn::Vec<decltype(f)>;
  HWY_UNROLL(4)
  for (int i = 0; i < k; ++i) {
    const __m512d a = hn::BitCast(f, w[i]).raw, b = hn::BitCast(f, w[k + i]).raw;
    w[i] = V{hn::BitCast(d, F{_mm512_permutex2var_pd(a, lower, b)})};
    w[k + i] = V{hn::BitCast(d, F{_mm512_permutex2var_pd(a, upper, b)})};
  }
#endif
}

// N reals of every line, a vector each.
template <int N, class D, class L> HWY_INLINE void load_short(D d, const L& line, hn::Vec<D>* v) {
  constexpr std::int64_t side = kWidth<D>, half = side / 2, piece = kPiece<hn::TFromD<D>>;
  constexpr std::int64_t wide = kSquares<D> ? N / side * side : 0,
                         halves = kSquares<D> && N - wide >= half ? wide + half : wide;
  HWY_UNROLL(2)
  for (std::int64_t j = 0; j < wide; j += side) load_square(d, line, j, v + j);
  if constexpr (halves > wide) {
    const hn::Half<D> h;
    HWY_UNROLL(8)
    for (std::int64_t i = 0; i < half; ++i)
      v[wide + i] = hn::Combine(d, hn::LoadU(h, line(i + half) + wide), hn::LoadU(h, line(i) + wide));
    transpose_half_square(d, v + wide);
  }
  HWY_UNROLL(16)
  for (std::int64_t j = halves; j < N; j += piece) {
    hn::Vec<D> tile[piece];
    load_tile(d, line, HWY_MIN(j, N - piece), tile);
    HWY_UNROLL(4)
    for (std::int64_t i = 0; i < piece; ++i) v[HWY_MIN(j, N - piece) + i] = tile[i];
  }
}
template <int N, class D, class L> HWY_INLINE void store_short(D d, const L& line, const hn::Vec<D>* v) {
  constexpr std::int64_t side = kWidth<D>, half = side / 2, piece = kPiece<hn::TFromD<D>>;
  constexpr std::int64_t wide = kSquares<D> ? N / side * side : 0,
                         halves = kSquares<D> && N - wide >= half ? wide + half : wide;
  HWY_UNROLL(2)
  for (std::int64_t j = 0; j < wide; j += side) {
    hn::Vec<D> square[side];
    HWY_UNROLL(16)
    for (std::int64_t i = 0; i < side; ++i) square[i] = v[j + i];
    store_square(d, line, j, square);
  }
  if constexpr (halves > wide) {
    const hn::Half<D> h;
    hn::Vec<D> w[half];
    HWY_UNROLL(8)
    for (std::int64_t i = 0; i < half; ++i) w[i] = v[wide + i];
    transpose_half_square(d, w);
    HWY_UNROLL(8)
    for (std::int64_t i = 0; i < half; ++i) {
      hn::StoreU(hn::LowerHalf(h, w[i]), h, line(i) + wide);
      hn::StoreU(hn::UpperHalf(h, w[i]), h, line(i + half) + wide);
    }
  }
  HWY_UNROLL(16)
  for (std::int64_t j = halves; j < N; j += piece) {
    hn::Vec<D> tile[piece];
    HWY_UNROLL(4)
    for (std::int64_t i = 0; i < piece; ++i) tile[i] = v[HWY_MIN(j, N - piece) + i];
    store_tile(d, line, HWY_MIN(j, N - piece), tile);
  }
}

// A single codelet on `blocks` blocks of equally distant dense lines: loaded, transformed and stored without leaving
// the registers.
template <int R, class D, class T> HWY_NOINLINE void codelet_blocks(D d, const EngineCall<T>& call, std::int64_t from,
                                                                    std::int64_t to, std::int64_t blocks) {
  constexpr std::int64_t lanes = kWidth<D>;
  const LineBatch& batch = call.batch->back();
  const bool in_swapped = call.in_im < call.in_re, out_swapped = call.out_im < call.out_re,
             scaled = call.factor != T(1);
  EvenLines<T> in{(in_swapped ? call.in_im : call.in_re) + from, batch.input_distance};
  EvenLines<T> out{(out_swapped ? call.out_im : call.out_re) + to, batch.output_distance};
  for (std::int64_t block = 0; block < blocks; ++block) {
    C<D> x[R];
    hn::Vec<D> v[2 * R];
    load_short<2 * R>(d, in, v);
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
    store_short<2 * R>(d, out, v);
    in.base += lanes * in.distance;
    out.base += lanes * out.distance;
  }
}
#endif

}  // namespace trn::fft::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
