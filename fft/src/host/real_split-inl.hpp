// One real line of n = n1 n2 points by columns, complex passes on half of them.
//
// Columns, n1 and n2 smooth, j = j1 n2 + j2, k = k1 + n1 k2: neighbouring columns j2 lie beside each other and go
// through real_passes-inl.hpp; of the results k1 = 0 .. n1/2 are turned and transposed into blocks of as many rows k1
// as there are lanes, which go through complex passes of n2.
//
// Split, n1 smooth, n2 any. With j = j2 n1 + j1, k = k2 + n2 k1: real lines j1 of n2 points
// one after the other, their points k2 = 0 .. n2/2 turned, then complex passes of n1 with neighbouring k2 in the lanes.
// The last results are X_k, or conj X_(n-k) where k > n/2. From half line to real line everything runs backwards, on
// conjugates: complex passes know the forward transform only.
#if defined(TRN_FFT_REAL_SPLIT_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TRN_FFT_REAL_SPLIT_INL
#undef TRN_FFT_REAL_SPLIT_INL
#else
#define TRN_FFT_REAL_SPLIT_INL
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>

#include "host/real-inl.hpp"
#include "host/real_lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trn::fft::host::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR
template <class D> HWY_INLINE C<D> reversed(D d, C<D> x) { return {hn::Reverse(d, x.r), hn::Reverse(d, x.i)}; }
// Points k, k + 1, ... of the whole line, one in each lane: to the half line, each where it belongs; or conjugates from
// it.
template <class D, class T>
HWY_INLINE void put_points(D d, std::int64_t n, const Points<T>& half, std::int64_t k, std::int64_t count, C<D> x) {
  constexpr std::int64_t lanes = kWidth<D>;
  if (half.dense() && count == lanes && 2 * (k + lanes - 1) <= n) return store_points(d, half, k, x);
  x.i = 2 * k > n ? hn::Neg(x.i) : x.i;
  if (half.dense() && count == lanes && 2 * k > n) return store_points(d, half, n - k - lanes + 1, reversed(d, x));
  T re[lanes], im[lanes];
  hn::StoreU(x.r, d, re);
  hn::StoreU(x.i, d, im);
  for (std::int64_t i = 0; i < count; ++i) {
    const bool mirrored = 2 * (k + i) > n;
    const std::int64_t at = (mirrored ? n - k - i : k + i) * half.stride;
    half.re[at] = re[i];
    half.im[at] = mirrored && 2 * k <= n ? -im[i] : im[i];
  }
}
template <class D, class T>
HWY_INLINE C<D> take_points(D d, std::int64_t n, const Points<T>& half, std::int64_t k, std::int64_t count) {
  constexpr std::int64_t lanes = kWidth<D>;
  if (half.dense() && count == lanes && k > 0 && 2 * (k + lanes) <= n) return conjugate(d, load_points(d, half, k));
  if (half.dense() && count == lanes && 2 * k > n && k + lanes <= n)
    return reversed(d, load_points(d, half, n - k - lanes + 1));
  T re[lanes] = {}, im[lanes] = {};
  for (std::int64_t i = 0; i < count; ++i) {
    const bool mirrored = 2 * (k + i) > n;
    const std::int64_t at = (mirrored ? n - k - i : k + i) * half.stride;
    re[i] = half.re[at];
    im[i] = k + i == 0 || 2 * (k + i) == n ? T(0) : mirrored ? half.im[at] : -half.im[at];
  }
  return {hn::LoadU(d, re), hn::LoadU(d, im)};
}

// Scratch: the middle [block of rows][n2][2][lanes], blocks of rows, what real passes need, the copy of a real side
// that is not dense.
template <bool kThere, class T>
void columns_real_line(const RealLine<T>& line, const RealSides<T>& s, T factor, T* scratch, int) {
  const Widest<T> d;
  using D = Widest<T>;
  constexpr std::int64_t lanes = kWidth<D>, pair = 2 * lanes;
  const std::int64_t n = line.n, n1 = line.n1, n2 = line.n2, rows = n1 / 2 + 1, blocks = (rows + lanes - 1) / lanes,
                     columns = (n2 + lanes - 1) / lanes, longest = std::max(blocks * lanes, n2);
  T *middle = scratch, *t0 = middle + blocks * n2 * pair, *t1 = t0 + longest * pair, *own = t1 + longest * pair;
  T* real = s.real_stride == 1 ? s.real : own + line.columns_first.scratch_rows() * lanes;
  const T* none = nullptr;
  const Points<T> half{s.half_re, s.half_im, s.half_stride};
  const Rows<T> block{t1, t1 + lanes, pair};
  const auto turn = [&](std::int64_t c) HWY_ATTR {
    const T* w = line.twiddles.data() + c * rows * pair;
    for (std::int64_t k = 0; k < rows; ++k, w += pair)
      store_pair(d, t1 + k * pair, times(d, load_pair(d, t1 + k * pair), load_pair(d, w)));
  };
  // Squares of lanes by lanes of every block of rows, between t1 and the middle's columns j and on.
  const auto squares = [&](std::int64_t j, bool to_middle) HWY_ATTR {
    for (std::int64_t b = 0; b < blocks; ++b)
      for (const std::int64_t part : {std::int64_t{0}, lanes}) {
        T *near = t1 + b * lanes * pair + part, *far = middle + (b * n2 + j) * pair + part;
        transpose_lines<true>(d, EvenLines<T>{to_middle ? near : far, pair}, lanes,
                              RowPlace<T>{to_middle ? far : near, pair});
      }
  };
  if constexpr (kThere) {
    if (s.real_stride != 1)
      for (std::int64_t j = 0; j < n; ++j) real[j] = s.real[j * s.real_stride];
    std::fill(t1 + rows * pair, t1 + blocks * lanes * pair, T(0));
    for (std::int64_t c = 0; c < columns; ++c) {
      const std::int64_t j = std::min(c * lanes, n2 - lanes);
      run_real_passes<true>(d, line.columns_first, RealRows<T>{real + j, t1, n2, pair, T(1)}, own);
      turn(c);
      squares(j, true);
    }
    for (std::int64_t b = 0; b < blocks; ++b) {
      T* from = middle + b * n2 * pair;
      run_passes(d, line.first, Rows<T>{from, from + lanes, pair}, block, factor, none, t0, t1);
      for (std::int64_t k2 = 0; k2 < n2; ++k2)
        put_points(d, n, half, b * lanes + n1 * k2, std::min(lanes, rows - b * lanes), load_pair(d, t1 + k2 * pair));
    }
    s.half_im[0] = T(0);
  } else {
    for (std::int64_t b = 0; b < blocks; ++b) {
      T* to = middle + b * n2 * pair;
      for (std::int64_t k2 = 0; k2 < n2; ++k2)
        store_pair(d, to + k2 * pair, take_points(d, n, half, b * lanes + n1 * k2, std::min(lanes, rows - b * lanes)));
      const Rows<T> all{to, to + lanes, pair};
      run_passes(d, line.first, all, all, T(1), none, t0, t1);
    }
    for (std::int64_t c = 0; c < columns; ++c) {
      const std::int64_t j = std::min(c * lanes, n2 - lanes);
      squares(j, false);
      turn(c);
      for (std::int64_t k = 0; k < rows; ++k) {  // of the conjugate the half line itself
        T* im = t1 + k * pair + lanes;
        hn::StoreU(k == 0 ? hn::Zero(d) : hn::Neg(hn::LoadU(d, im)), d, im);
      }
      run_real_passes<false>(d, line.columns_first, RealRows<T>{real + j, t1, n2, pair, factor}, own);
    }
    if (s.real_stride != 1)
      for (std::int64_t j = 0; j < n; ++j) s.real[j * s.real_stride] = real[j];
  }
}

// Scratch: rows [n1][2][pitch], blocks, the inner line's.
template <bool kThere, class T>
void split_real_line(const RealLine<T>& line, const RealSides<T>& s, T factor, T* scratch, int threads) {
  const Widest<T> d;
  using D = Widest<T>;
  constexpr std::int64_t lanes = kWidth<D>;
  const std::int64_t n = line.n, n1 = line.n1, n2 = line.n2, count = n2 / 2 + 1, pitch = round_up(count);
  T *rows = scratch, *t0 = rows + 2 * n1 * pitch, *t1 = t0 + 2 * lanes * n1, *inner = t1 + 2 * lanes * n1;
  const T* none = nullptr;
  const Rows<T> block{t1, t1 + lanes, 2 * lanes};
  const Points<T> half{s.half_re, s.half_im, s.half_stride};
  const auto row = [&](std::int64_t j) HWY_ATTR {
    return RealSides<T>{s.real + j * s.real_stride, n1 * s.real_stride, rows + 2 * j * pitch,
                        rows + (2 * j + 1) * pitch, 1};
  };
  const auto turn = [&](std::int64_t j) HWY_ATTR {
    const Points<T> points{row(j).half_re, row(j).half_im, 1};
    if (j > 0)
      multiply(count, points, points, line.twiddles.data() + 2 * j * count, line.twiddles.data() + (2 * j + 1) * count);
  };
  if constexpr (kThere) {
    for (std::int64_t j = 0; j < n1; ++j) {
      line.inner->run(*line.inner, row(j), factor, inner, threads);
      turn(j);
    }
    for (std::int64_t k = 0; k < count; k += lanes) {
      const std::int64_t at = std::min(k, count - lanes);
      run_passes(d, line.first, Rows<T>{rows + at, rows + pitch + at, 2 * pitch}, block, T(1), none, t0, t1);
      for (std::int64_t k1 = 0; k1 < n1; ++k1)
        put_points(d, n, half, at + n2 * k1, lanes, load_pair(d, t1 + 2 * k1 * lanes));
    }
    s.half_im[0] = T(0);
    if (n % 2 == 0) s.half_im[n / 2 * s.half_stride] = T(0);
  } else {
    for (std::int64_t k = 0; k < count; k += lanes) {
      const std::int64_t at = std::min(k, count - lanes);
      for (std::int64_t k1 = 0; k1 < n1; ++k1)
        store_pair(d, t1 + 2 * k1 * lanes, take_points(d, n, half, at + n2 * k1, lanes));
      run_passes(d, line.first, block, block, T(1), none, t0, t1);
      for (std::int64_t j = 0; j < n1; ++j) {
        const C<D> x = load_pair(d, t1 + 2 * j * lanes);
        hn::StoreU(x.r, d, row(j).half_re + at);
        hn::StoreU(x.i, d, row(j).half_im + at);
      }
    }
    for (std::int64_t j = 0; j < n1; ++j) {
      turn(j);
      T* im = row(j).half_im;
      for (std::int64_t k = 0; k < count; ++k) im[k] = -im[k];
      line.inner->run(*line.inner, row(j), factor, inner, threads);
    }
  }
}

#endif

}  // namespace trn::fft::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
