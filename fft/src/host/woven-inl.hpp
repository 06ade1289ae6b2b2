// Woven lines, n = r m, r a codelet: columns, r lines of m points that stay in the first caches, and their results
// woven into one. With j = p m + q and k = t + r s, p, t < r, q, s < m:
//   X_(t + r s) = sum_q w_m^(qs) [ w_n^(qt) sum_p x_(p m + q) w_r^(pt) ].
// The bracket is a codelet on neighbouring columns q and a twiddle, stored as line t of the middle; the sum over q is
// the inner line (any that takes interleaved numbers, where it lies); weaving stores number s of the r lines beside
// each other. Interleaved numbers throughout, a codelet of r complex numbers in r registers: with 16 registers this is
// quicker than four steps, whose codelets have real and imaginary parts in registers of their own.
//
// Memory: the line is read and written three times. Lines of the middle lie a cache line further apart than their
// numbers, for otherwise those of a power of two would fall into the same sets of the cache.
#if defined(TRN_FFT_WOVEN_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TRN_FFT_WOVEN_INL
#undef TRN_FFT_WOVEN_INL
#else
#define TRN_FFT_WOVEN_INL
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>

#include "host/steps-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trn::fft::host::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR
template <class T> WovenColumns<T> woven_columns_here(std::int64_t) { return {}; }
template <class T> constexpr WeaveLines<T> weave_here = nullptr;
#else

// Blocks [begin, end) of columns, a vector each; the last one overlaps the one before. The table is
// [block][t = 1 .. r - 1][vector] of numbers (cos, sin), for both directions.
template <int R, class D, class T> HWY_NOINLINE void columns_apart(const Woven<T>& line, bool inverse, const T* in,
                                                                   T* middle, std::int64_t begin, std::int64_t end) {
  const D tag;
  constexpr std::int64_t numbers = kNumbers<D>;
  const Pairs<D> d = pairs_of(tag, inverse ? T(-1) : T(1));
  const T* w = line.table + begin * (R - 1) * 2 * numbers;
  for (std::int64_t block = begin; block < end; ++block) {
    const std::int64_t q = std::min(block * numbers, line.m - numbers);
    PairVector<D> x[R];
    const T* p = in + 2 * q;
    HWY_UNROLL(16)
    for (int j = 0; j < R; ++j, p += 2 * line.m) x[j].v = hn::LoadU(tag, p);
    dft<R>(d, x);
    T* o = middle + 2 * q;
    hn::StoreU(x[0].v, tag, o);
    HWY_UNROLL(16)
    for (int t = 1; t < R; ++t, w += 2 * numbers) {
      const auto root = hn::LoadU(tag, w);
      o += line.pitch;
      hn::StoreU(times(d, x[t], hn::DupEven(root), hn::Mul(d.turn, hn::DupOdd(root))).v, tag, o);
    }
  }
}

// Blocks [begin, end) of points of all lines, the last one overlapping the one before, and so do the last lines.
template <class D, class T>
HWY_NOINLINE void weave(const Woven<T>& line, const T* middle, T* out, std::int64_t begin, std::int64_t end) {
  const D tag;
  constexpr std::int64_t numbers = kNumbers<D>;
  for (std::int64_t block = begin; block < end; ++block) {
    const std::int64_t s = std::min(block * numbers, line.m - numbers);
    for (std::int64_t next = 0; next < line.r; next += numbers) {
      const std::int64_t t = std::min(next, line.r - numbers);
      PairVector<D> x[numbers];
      HWY_UNROLL(8)
      for (std::int64_t i = 0; i < numbers; ++i) x[i].v = hn::LoadU(tag, middle + (t + i) * line.pitch + 2 * s);
      transpose_numbers(tag, x);
      HWY_UNROLL(8)
      for (std::int64_t i = 0; i < numbers; ++i) hn::StoreU(x[i].v, tag, out + 2 * (line.r * (s + i) + t));
    }
  }
}

template <class T> WovenColumns<T> woven_columns_here(std::int64_t radix) {
  WovenColumns<T> kernel = nullptr;
  with_length(Radices(), radix, [&](auto r) { kernel = columns_apart<decltype(r)::value, StepTag<T>, T>; });
  return kernel;
}
template <class T> constexpr WeaveLines<T> weave_here = weave<StepTag<T>, T>;

#endif

}  // namespace trn::fft::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
