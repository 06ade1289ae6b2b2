// Lines of interleaved numbers as a few passes, each a codelet on vectors within the line: lengths too long for the
// registers, short enough for the first caches.
//
// Stockham's ordering (line_plan.hpp): with l the product of the radices done, r this one, n = l r m,
//   y[(q r + t) l + s] = w_(rm)^(qt) sum_p x[(p m + q) l + s] w_r^(pt),   q < m, s < l, t < r.
// In the first pass (l = 1) neighbours are q: vectors of columns, whose results are turned and transposed in squares,
// so that from then on neighbours are s and every load and store is a whole vector. The first pass goes to a buffer,
// the next to the output, and so on; the last one (m = 1) is left where it is or brings the line to the output: x and y
// of a butterfly are then the same places. So one buffer is enough, also in place, and a second one if numbers do not
// fill their vectors.
//
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
#if defined(TRN_FFT_STEPS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TRN_FFT_STEPS_INL
#undef TRN_FFT_STEPS_INL
#else
#define TRN_FFT_STEPS_INL
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "host/whole_line-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trn::fft::host::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR
template <class T> StepKernel<T> step_kernel_here(std::int64_t, StepPlace) { return {}; }
template <class T> constexpr int step_numbers_here() { return 0; }
#else

template <class T> using StepTag = hn::CappedTag<T, 64 / sizeof(T)>;
template <class T> constexpr int step_numbers_here() { return kNumbers<StepTag<T> >; }

// The first pass: l = 1. The table is [block of columns][t = 1 .. r - 1][re, turned im][vector]. The last block
// overlaps the one before. What is written beyond a row of r numbers is overwritten by the next row; the buffer has
// room for the last one's.
template <int R, class D, class T>
HWY_NOINLINE void columns_pass(const Step<T>& step, const WholeCall<T>& call, const T* in, T* out) {
  const D tag;
  constexpr int numbers = kNumbers<D>, lanes = 2 * numbers, rows = (R + numbers - 1) / numbers;
  const Pairs<D> d = pairs_of(tag, call.turn);
  const std::int64_t m = step.m;
  const T* w = step.table[call.turn < 0 ? 1 : 0];
  for (std::int64_t next = 0; next < m; next += numbers) {
    const std::int64_t q = std::min<std::int64_t>(next, m - numbers);
    PairVector<D> x[rows * numbers];
    const T* p = in + 2 * q;
    HWY_UNROLL(16)
    for (int j = 0; j < R; ++j, p += 2 * m) x[j].v = hn::LoadU(tag, p);
    dft<R>(d, x);
    HWY_UNROLL(16)
    for (int t = 1; t < R; ++t, w += 2 * lanes) x[t] = times(d, x[t], hn::LoadU(tag, w), hn::LoadU(tag, w + lanes));
    HWY_UNROLL(16)
    for (int t = R; t < rows * numbers; ++t) x[t] = x[R - 1];  // lanes that are overwritten
    HWY_UNROLL(16)
    for (int b = 0; b < rows; ++b) transpose_numbers(tag, x + b * numbers);
    T* o = out + 2 * q * R;
    HWY_UNROLL(8)
    for (int i = 0; i < numbers; ++i, o += 2 * R) {
      HWY_UNROLL(16)
      for (int b = 0; b < rows; ++b) hn::StoreU(x[b * numbers + i].v, tag, o + b * lanes);
    }
  }
}

// R vectors from p to o; `count` of their numbers if that is less than all.
template <int R, bool kLast, class D, class T>
HWY_INLINE void butterfly(const Pairs<D>& d, const T* p, std::int64_t in_leg, T* o, std::int64_t out_leg, const T* w,
                          bool scaled, hn::Vec<D> by, std::int64_t count) {
  PairVector<D> x[R];
  const bool whole = count >= kNumbers<D>;
  const auto mask = hn::FirstN(d.tag, static_cast<std::size_t>(2 * count));
  if (HWY_LIKELY(whole)) {
    HWY_UNROLL(16)
    for (int j = 0; j < R; ++j, p += in_leg) x[j].v = hn::LoadU(d.tag, p);
  } else {
    HWY_UNROLL(16)
    for (int j = 0; j < R; ++j, p += in_leg) x[j].v = hn::MaskedLoad(mask, d.tag, p);
  }
  dft<R>(d, x);
  if constexpr (!kLast) {
    HWY_UNROLL(16)
    for (int t = 1; t < R; ++t, w += 4)
      x[t] = times(d, x[t], broadcast_number(d.tag, w), broadcast_number(d.tag, w + 2));
  } else if (scaled) {
    HWY_UNROLL(16)
    for (int t = 0; t < R; ++t) x[t].v = hn::Mul(x[t].v, by);
  }
  if (HWY_LIKELY(whole)) {
    HWY_UNROLL(16)
    for (int t = 0; t < R; ++t, o += out_leg) hn::StoreU(x[t].v, d.tag, o);
  } else {
    HWY_UNROLL(16)
    for (int t = 0; t < R; ++t, o += out_leg) hn::BlendedStore(x[t].v, mask, d.tag, o);
  }
}

// The passes after it. The table is [q][t = 1 .. r - 1][re, re, im, -im]: numbers to broadcast; the last pass has none.
template <int R, bool kLast, class D, class T>
HWY_NOINLINE void rows_pass(const Step<T>& step, const WholeCall<T>& call, const T* in, T* out) {
  const D tag;
  const Pairs<D> d = pairs_of(tag, call.turn);
  const bool scaled = call.factor != T(1);
  const auto by = hn::Set(tag, call.factor);
  const std::int64_t l = step.l, m = kLast ? 1 : step.m;
  const T* w = step.table[call.turn < 0 ? 1 : 0];
  for (std::int64_t q = 0; q < m; ++q, in += 2 * l, out += 2 * R * l, w += 4 * (R - 1))
    for (std::int64_t next = 0; next < l; next += kNumbers<D>) {
      const std::int64_t s =
          l < kNumbers<D> ? 0
                          : std::min<std::int64_t>(next, l - kNumbers<D>);  // the last vector overlaps the one before
      butterfly<R, kLast>(d, in + 2 * s, 2 * m * l, out + 2 * s, 2 * l, w, scaled, by, l);
    }
}

#endif

template <class T> void step_lines(const void* context, const void* input, void* output) {
  const WholeCall<T>& call = *static_cast<const WholeCall<T>*>(context);
  const T* in = static_cast<const T*>(input);
  T* out = static_cast<T*>(output);
  alignas(64) T buffer[2 * kLongestSteps + 64], other[2 * kLongestSteps + 64];
  const Step<T>* const end = call.steps + call.step_count;
  const bool apart = call.step_count == 3 &&
                     end[-1].l % HWY_MAX(1, step_numbers_here<T>()) != 0;  // vectors that overlap cannot work in place
  for (std::int64_t line = call.lines; line > 0; --line, in += call.in_distance, out += call.out_distance) {
    call.steps[0].run(call.steps[0], call, in, buffer);
    T *from = buffer, *to = apart ? other : out;
    for (const Step<T>* step = call.steps + 1; step < end; ++step) {
      if (step + 1 == end) to = out;
      step->run(*step, call, from, to);
      std::swap(from, to);
    }
  }
}

#if HWY_TARGET != HWY_SCALAR
template <int R, class T> StepKernel<T> step_of(StepPlace place) {
  using D = StepTag<T>;
  switch (place) {
    case StepPlace::First:
      return columns_pass<R, D, T>;
    case StepPlace::Middle:
      return rows_pass<R, false, D, T>;
    case StepPlace::Last:
      break;
  }
  return rows_pass<R, true, D, T>;
}
template <class T> StepKernel<T> step_kernel_here(std::int64_t radix, StepPlace place) {
  StepKernel<T> kernel = nullptr;
  with_length(Radices(), radix, [&](auto r) { kernel = step_of<decltype(r)::value, T>(place); });
  return kernel;
}
#endif

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
