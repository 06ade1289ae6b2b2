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
// N >= kPiece reals of every line, a vector each.
template <int N, class D, class T> HWY_INLINE void load_lines(D d, const EvenLines<T>& line, hn::Vec<D>* v) {
  constexpr std::int64_t side = static_cast<std::int64_t>(hn::MaxLanes(D())), piece = kPiece<T>,
                         wide = kSquares<D> ? N / side * side : 0;
  HWY_UNROLL(4)
  for (std::int64_t j = 0; j < wide; j += side) load_square(d, line, j, v + j);
  HWY_UNROLL(16)
  for (std::int64_t j = wide; j < N; j += piece) load_tile(d, line, HWY_MIN(j, N - piece), v + HWY_MIN(j, N - piece));
}
template <int N, class D, class T> HWY_INLINE void store_lines(D d, const EvenLines<T>& line, const hn::Vec<D>* v) {
  constexpr std::int64_t side = static_cast<std::int64_t>(hn::MaxLanes(D())), piece = kPiece<T>,
                         wide = kSquares<D> ? N / side * side : 0;
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

#endif

// A single codelet on `blocks` blocks of equally distant dense lines: loaded, transformed and stored without leaving
// the registers.
template <int R, class D, class T>
HWY_NOINLINE void codelet_blocks([[maybe_unused]] D d, [[maybe_unused]] const EngineCall<T>& call,
                                 [[maybe_unused]] std::int64_t from, [[maybe_unused]] std::int64_t to,
                                 [[maybe_unused]] std::int64_t blocks) {
#if HWY_TARGET != HWY_SCALAR
  constexpr std::int64_t lanes = static_cast<std::int64_t>(hn::MaxLanes(D()));
  const LineBatch& batch = call.batch->back();
  const bool in_swapped = call.in_im < call.in_re, out_swapped = call.out_im < call.out_re,
             scaled = call.factor != T(1);
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
template <class D, class T> void any_codelet_blocks(D d, const EngineCall<T>& call, int radix, std::int64_t from,
                                                    std::int64_t to, std::int64_t blocks) {
  const auto run = [&](auto r) HWY_ATTR { codelet_blocks<decltype(r)::value>(d, call, from, to, blocks); };
  switch (radix) {
    case 2:
      return run(std::integral_constant<int, 2>());
    case 3:
      return run(std::integral_constant<int, 3>());
    case 4:
      return run(std::integral_constant<int, 4>());
    case 5:
      return run(std::integral_constant<int, 5>());
    case 6:
      return run(std::integral_constant<int, 6>());
    case 7:
      return run(std::integral_constant<int, 7>());
    case 8:
      return run(std::integral_constant<int, 8>());
    case 9:
      return run(std::integral_constant<int, 9>());
    case 10:
      return run(std::integral_constant<int, 10>());
    case 11:
      return run(std::integral_constant<int, 11>());
    case 12:
      return run(std::integral_constant<int, 12>());
    case 13:
      return run(std::integral_constant<int, 13>());
    case 15:
      return run(std::integral_constant<int, 15>());
    default:
      return run(std::integral_constant<int, 16>());
  }
}

}  // namespace trn::fft::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
