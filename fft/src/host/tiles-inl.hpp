// Tiles: blocks of rows from lines and back, by transposition in registers.
//
// With 64-byte vectors the unit is 64 bytes of each of `lanes` lines: parts of 16 bytes are transposed within, then
// among each other, four shuffles a vector. Otherwise, and for what is left over, the unit is 16 bytes of each of
// `lanes` lines. A vector is put together from the 16-byte pieces of lines that are 16/sizeof(T) apart; transposing
// within 16-byte parts then leaves the lines in order in the lanes: four shuffles for four float vectors of four lines
// each, and no shuffle crosses 16 bytes.
#if defined(TRN_FFT_TILES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TRN_FFT_TILES_INL
#undef TRN_FFT_TILES_INL
#else
#define TRN_FFT_TILES_INL
#endif

#include <hwy/highway.h>

#include <cstdint>

#include "host/passes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trn::fft::host::HWY_NAMESPACE {

// Where the line of a lane begins.
template <class T> struct EvenLines {
  T* base;
  std::int64_t distance;
  HWY_INLINE T* operator()(std::int64_t lane) const { return base + lane * distance; }
};
template <class T> struct ListedLines {
  T* const* line;
  HWY_INLINE T* operator()(std::int64_t lane) const { return line[lane]; }
};

#if HWY_TARGET == HWY_SCALAR
template <class T> inline constexpr std::int64_t kPiece = std::int64_t{1}
                                                          << 62;  // without vectors nothing is transposed
template <class D> constexpr bool kSquares = false;
template <bool kToRows, class D, class L, class Place> void transpose_lines(D, const L&, std::int64_t, const Place&) {}
#else
template <class D, class L> HWY_INLINE hn::Vec<D> load_pieces(D d, const L& line, std::int64_t lane, std::int64_t at) {
  if constexpr (sizeof(hn::Vec<D>) <= 16) {
    return hn::LoadU(d, line(lane) + at);
  } else {
    const hn::Half<D> half;
    return hn::Combine(d, load_pieces(half, line, lane + static_cast<std::int64_t>(hn::MaxLanes(half)), at),
                       load_pieces(half, line, lane, at));
  }
}
template <class D, class L>
HWY_INLINE void store_pieces(D d, const L& line, std::int64_t lane, std::int64_t at, hn::Vec<D> v) {
  if constexpr (sizeof(hn::Vec<D>) <= 16) {
    hn::StoreU(v, d, line(lane) + at);
  } else {
    const hn::Half<D> half;
    store_pieces(half, line, lane, at, hn::LowerHalf(half, v));
    store_pieces(half, line, lane + static_cast<std::int64_t>(hn::MaxLanes(half)), at, hn::UpperHalf(half, v));
  }
}

// Transposes every 16-byte part: v[i] element j <-> v[j] element i.
template <class D> HWY_INLINE void transpose_parts(D d, hn::Vec<D>* v) {
  if constexpr (sizeof(hn::TFromD<D>) == 8) {
    const auto a = hn::InterleaveLower(d, v[0], v[1]);
    v[1] = hn::InterleaveUpper(d, v[0], v[1]);
    v[0] = a;
  } else {
    const hn::Repartition<double, D> wide;
    const auto a = hn::BitCast(wide, hn::InterleaveLower(d, v[0], v[1])),
               b = hn::BitCast(wide, hn::InterleaveLower(d, v[2], v[3]));
    const auto c = hn::BitCast(wide, hn::InterleaveUpper(d, v[0], v[1])),
               e = hn::BitCast(wide, hn::InterleaveUpper(d, v[2], v[3]));
    v[0] = hn::BitCast(d, hn::InterleaveLower(wide, a, b));
    v[1] = hn::BitCast(d, hn::InterleaveUpper(wide, a, b));
    v[2] = hn::BitCast(d, hn::InterleaveLower(wide, c, e));
    v[3] = hn::BitCast(d, hn::InterleaveUpper(wide, c, e));
  }
}

template <class T> inline constexpr std::int64_t kPiece = 16 / sizeof(T);

// Vectors for which a square of as many rows is transposed at once.
#if HWY_TARGET <= HWY_AVX3
template <class D> constexpr bool kSquares = sizeof(hn::Vec<D>) == 64;
#else
template <class D> constexpr bool kSquares = false;
#endif

// The 16-byte parts of four vectors of four: part j of vector i <-> part i of vector j.
template <class D> HWY_INLINE void transpose_quarters([[maybe_unused]] D d, [[maybe_unused]] hn::Vec<D>& v0,
                                                      [[maybe_unused]] hn::Vec<D>& v1, [[maybe_unused]] hn::Vec<D>& v2,
                                                      [[maybe_unused]] hn::Vec<D>& v3) {
#if HWY_TARGET <= HWY_AVX3
  const hn::Repartition<float, D> f;
  using F = hn::Vec<decltype(f)>;
  const __m512 a = hn::BitCast(f, v0).raw, b = hn::BitCast(f, v1).raw, c = hn::BitCast(f, v2).raw,
               e = hn::BitCast(f, v3).raw;
  const __m512 ab02 = _mm512_shuffle_f32x4(a, b, 0x88), ab13 = _mm512_shuffle_f32x4(a, b, 0xdd);
  const __m512 ce02 = _mm512_shuffle_f32x4(c, e, 0x88), ce13 = _mm512_shuffle_f32x4(c, e, 0xdd);
  v0 = hn::BitCast(d, F{_mm512_shuffle_f32x4(ab02, ce02, 0x88)});
  v1 = hn::BitCast(d, F{_mm512_shuffle_f32x4(ab13, ce13, 0x88)});
  v2 = hn::BitCast(d, F{_mm512_shuffle_f32x4(ab02, ce02, 0xdd)});
  v3 = hn::BitCast(d, F{_mm512_shuffle_f32x4(ab13, ce13, 0xdd)});
#endif
}
// v[i] element j <-> v[j] element i, for all `lanes` rows.
template <class D> HWY_INLINE void transpose_square(D d, hn::Vec<D>* v) {
  constexpr int k = static_cast<int>(kPiece<hn::TFromD<D> >);
  HWY_UNROLL(4)
  for (int g = 0; g < 4; ++g) transpose_parts(d, v + g * k);
  HWY_UNROLL(4)
  for (int i = 0; i < k; ++i) transpose_quarters(d, v[i], v[k + i], v[2 * k + i], v[3 * k + i]);
}
template <class D, class L> HWY_INLINE void load_square(D d, const L& line, std::int64_t at, hn::Vec<D>* v) {
  HWY_UNROLL(16)
  for (std::int64_t i = 0; i < kWidth<D>; ++i) v[i] = hn::LoadU(d, line(i) + at);
  transpose_square(d, v);
}
template <class D, class L> HWY_INLINE void store_square(D d, const L& line, std::int64_t at, hn::Vec<D>* v) {
  transpose_square(d, v);
  HWY_UNROLL(16)
  for (std::int64_t i = 0; i < kWidth<D>; ++i) hn::StoreU(v[i], d, line(i) + at);
}

// Elements at .. at + kPiece of every line, as one vector each.
template <class D, class L> HWY_INLINE void load_tile(D d, const L& line, std::int64_t at, hn::Vec<D>* v) {
  HWY_UNROLL(4)
  for (std::int64_t i = 0; i < kPiece<hn::TFromD<D> >; ++i) v[i] = load_pieces(d, line, i, at);
  transpose_parts(d, v);
}
template <class D, class L> HWY_INLINE void store_tile(D d, const L& line, std::int64_t at, hn::Vec<D>* v) {
  transpose_parts(d, v);
  HWY_UNROLL(4)
  for (std::int64_t i = 0; i < kPiece<hn::TFromD<D> >; ++i) store_pieces(d, line, i, at, v[i]);
}

// `count` >= kPiece reals of every line in tiles: square(at) for as many squares as there are, then tile(at), of which
// the last may overlap the one before.
template <class D, class Square, class Tile>
HWY_INLINE void each_tile(D, std::int64_t count, const Square& square, const Tile& tile) {
  constexpr std::int64_t piece = kPiece<hn::TFromD<D> >, side = kWidth<D>;
  std::int64_t next = 0;
  if constexpr (kSquares<D>)
    for (; next + side <= count; next += side) square(next);
  for (; next < count; next += piece) tile(HWY_MIN(next, count - piece));
}
// Lines to rows, or back; the row of element j is at place(j).
template <bool kToRows, class D, class L, class Place>
HWY_INLINE void transpose_lines(D d, const L& line, std::int64_t count, const Place& place) {
  const auto rows = [&](std::int64_t at, hn::Vec<D>* v, std::int64_t number) HWY_ATTR {
    HWY_UNROLL(16)
    for (std::int64_t i = 0; i < number; ++i) {
      if constexpr (kToRows)
        hn::StoreU(v[i], d, place(at + i));
      else
        v[i] = hn::LoadU(d, place(at + i));
    }
  };
  each_tile(
      d, count,
      [&]([[maybe_unused]] std::int64_t at) HWY_ATTR {
        if constexpr (kSquares<D>) {
          hn::Vec<D> v[hn::MaxLanes(D())];
          if constexpr (kToRows) load_square(d, line, at, v);
          rows(at, v, kWidth<D>);
          if constexpr (!kToRows) store_square(d, line, at, v);
        }
      },
      [&](std::int64_t at) HWY_ATTR {
        hn::Vec<D> v[kPiece<hn::TFromD<D> >];
        if constexpr (kToRows) load_tile(d, line, at, v);
        rows(at, v, kPiece<hn::TFromD<D> >);
        if constexpr (!kToRows) store_tile(d, line, at, v);
      });
}

#endif

// Where element j of an interleaved line lies in a block of rows [re][im]: evens in the first half of row j/2, odds in
// the second; or the reverse.
template <class T> struct PairPlace {
  T* block;
  std::int64_t lanes;
  bool swapped;
  HWY_INLINE T* operator()(std::int64_t j) const {
    return block + ((j & ~std::int64_t{1}) + ((j & 1) ^ (swapped ? 1 : 0))) * lanes;
  }
};
// Rows `pitch` reals apart.
template <class T> struct RowPlace {
  T* first;
  std::int64_t pitch;
  HWY_INLINE T* operator()(std::int64_t j) const { return first + j * pitch; }
};

}  // namespace trn::fft::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
