// One real line of n = n1 n2 points by columns, complex passes on half of them.
//
// Columns, n1 and n2 smooth, j = j1 n2 + j2, k = k1 + n1 k2: neighbouring columns j2 lie beside each other and go
// through the levels of real_passes-inl.hpp; of the results k1 = 0 .. n1/2 are turned and transposed into blocks of as
// many rows k1 as there are lanes, which go through complex passes of n2. Split, n2 any, j = j2 n1 + j1, k = k2 + n2
// k1: real lines j1 of n2 points one after the other, their points k2 = 0 .. n2/2 turned, then complex passes of n1
// with neighbouring k2 in the lanes.
// Either way the last results are X_k, or conj X_(n-k) where k > n/2. From half line to real line everything runs
// backwards, on conjugates: complex passes know the forward transform only.
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
// All passes from planar rows to packed ones in t0 or t1, which are given back; in may be t1.
template <class D, class T> T* planar_passes(D d, const Passes<T>& passes, Rows<T> in, T* t0, T* t1) {
  T* to = t1;
  for (std::size_t i = 0; i < passes.passes.size(); ++i) {
    to = i % 2 == 0 ? t0 : t1;
    planar_pass(d, pass_args(passes, i, in, Rows<T>{to, to + kWidth<D>, 2 * kWidth<D>}));
    in = {to, to + kWidth<D>, 2 * kWidth<D>};
  }
  return to;
}

// Points k, k + 1, ... of the whole line, `count` of them, one in each lane: to the half line, each where it belongs;
// or conjugates from it.
template <class D, class T> HWY_INLINE void put_points(D d, std::int64_t n, const Points<T>& half, std::int64_t k,
                                                       std::int64_t count, C<D> x, T factor) {
  constexpr std::int64_t lanes = kWidth<D>;
  if (factor != T(1)) scale<1>(d, &x, factor);
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

// Scratch: the middle [block of rows][n2][2][lanes], blocks of rows, the copy of a real side that is not dense.
template <bool kThere, class T>
void columns_real_line(const RealLine<T>& line, const RealSides<T>& s, T factor, T* scratch, int) {
  const Widest<T> d;
  using D = Widest<T>;
  constexpr std::int64_t lanes = kWidth<D>;
  const std::int64_t n = line.n, n1 = line.n1, n2 = line.n2, rows = n1 / 2 + 1, blocks = (rows + lanes - 1) / lanes,
                     columns = (n2 + lanes - 1) / lanes;
  T* middle = scratch;
  T* t0 = middle + blocks * n2 * 2 * lanes;  // rows of n1, padded to whole blocks, or of n2
  T* t1 = t0 + 2 * lanes * std::max(blocks * lanes, n2);
  T* own = t1 + 2 * lanes * std::max(blocks * lanes, n2);
  T* real = s.real_stride == 1 ? s.real : own + line.first.scratch_rows() * lanes;
  const Points<T> half{s.half_re, s.half_im, s.half_stride};
  const auto turn = [&](std::int64_t c) HWY_ATTR {
    const T* w = line.twiddles.data() + c * rows * 2 * lanes;
    for (std::int64_t k = 0; k < rows; ++k, w += 2 * lanes)
      store_pair(d, t1 + 2 * k * lanes, times(d, load_pair(d, t1 + 2 * k * lanes), load_pair(d, w)));
  };
  const auto squares = [&](const T* from, std::int64_t from_row, T* to, std::int64_t to_row) HWY_ATTR {
    for (int part = 0; part < 2; ++part) {
      const EvenLines<const T> lines{from + part * lanes, from_row};
      lines_to_rows(d, lines, lanes, RealPlace<T>{to + part * lanes, to_row});
    }
  };
  if constexpr (kThere) {
    if (s.real_stride != 1)
      for (std::int64_t j = 0; j < n; ++j) real[j] = s.real[j * s.real_stride];
    std::fill(t1 + 2 * lanes * rows, t1 + 2 * lanes * blocks * lanes, T(0));
    for (std::int64_t c = 0; c < columns; ++c) {
      const std::int64_t j = std::min(c * lanes, n2 - lanes);
      run_levels<true>(d, line.first, 0, real + j, n2, t1, 2 * lanes, T(1), own);
      turn(c);
      for (std::int64_t b = 0; b < blocks; ++b)
        squares(t1 + b * lanes * 2 * lanes, 2 * lanes, middle + (b * n2 + j) * 2 * lanes, 2 * lanes);
    }
    for (std::int64_t b = 0; b < blocks; ++b) {
      T* from = middle + b * n2 * 2 * lanes;
      const T* result = planar_passes(d, line.second, Rows<T>{from, from + lanes, 2 * lanes}, t0, t1);
      for (std::int64_t k2 = 0; k2 < n2; ++k2)
        put_points(d, n, half, b * lanes + n1 * k2, std::min(lanes, rows - b * lanes),
                   load_pair(d, result + 2 * k2 * lanes), factor);
    }
    s.half_im[0] = T(0);
    if (n % 2 == 0) s.half_im[n / 2 * s.half_stride] = T(0);
  } else {
    for (std::int64_t b = 0; b < blocks; ++b) {
      for (std::int64_t k2 = 0; k2 < n2; ++k2)
        store_pair(d, t1 + 2 * k2 * lanes,
                   take_points(d, n, half, b * lanes + n1 * k2, std::min(lanes, rows - b * lanes)));
      const T* result = planar_passes(d, line.second, Rows<T>{t1, t1 + lanes, 2 * lanes}, t0, t1);
      T* to = middle + b * n2 * 2 * lanes;
      std::copy(result, result + n2 * 2 * lanes, to);
    }
    for (std::int64_t c = 0; c < columns; ++c) {
      const std::int64_t j = std::min(c * lanes, n2 - lanes);
      for (std::int64_t b = 0; b < blocks; ++b)
        squares(middle + (b * n2 + j) * 2 * lanes, 2 * lanes, t1 + b * lanes * 2 * lanes, 2 * lanes);
      turn(c);
      for (std::int64_t k = 0; k < rows; ++k) {  // of the conjugate the half line itself
        T* im = t1 + (2 * k + 1) * lanes;
        hn::StoreU(k == 0 || 2 * k == n1 ? hn::Zero(d) : hn::Neg(hn::LoadU(d, im)), d, im);
      }
      run_levels<false>(d, line.first, 0, real + j, n2, t1, 2 * lanes, factor, own);
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
      const T* result = planar_passes(d, line.second, Rows<T>{rows + at, rows + pitch + at, 2 * pitch}, t0, t1);
      for (std::int64_t k1 = 0; k1 < n1; ++k1)
        put_points(d, n, half, at + n2 * k1, lanes, load_pair(d, result + 2 * k1 * lanes), T(1));
    }
    s.half_im[0] = T(0);
    if (n % 2 == 0) s.half_im[n / 2 * s.half_stride] = T(0);
  } else {
    for (std::int64_t k = 0; k < count; k += lanes) {
      const std::int64_t at = std::min(k, count - lanes);
      for (std::int64_t k1 = 0; k1 < n1; ++k1)
        store_pair(d, t1 + 2 * k1 * lanes, take_points(d, n, half, at + n2 * k1, lanes));
      const T* result = planar_passes(d, line.second, Rows<T>{t1, t1 + lanes, 2 * lanes}, t0, t1);
      for (std::int64_t j = 0; j < n1; ++j) {
        const C<D> x = load_pair(d, result + 2 * j * lanes);
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

template <class T> OneRealLine<T> split_real_line_function(const RealLine<T>& line) {
  const bool there = line.direction == EngineKind::RealToHalf;
  if (line.kind == RealKind::Columns) return there ? columns_real_line<true, T> : columns_real_line<false, T>;
  return there ? split_real_line<true, T> : split_real_line<false, T>;
}

#endif

}  // namespace trn::fft::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
