// Dense real lines n = r m in a few passes without scratch: real columns of r points, then a complex transform of m
// rows, of which only half is there.
//
// With j = p m + q, k = t + r k2:  X_k = sum_q w_m^(q k2) [ w_n^(q t) sum_p x_j w_r^(p t) ].
// The sums over p are codelets of real points, neighbours q in the lanes, and give t = 0 .. r/2; turned and transposed
// in registers they become m rows of these numbers, filled up with zeros to whole vectors. The sums over q are passes
// of Stockham's ordering over the rows (steps-inl.hpp), which never cut a vector. Their results are X_k for t <= r/2
// and all k2; those of the first half of the rows lie where they belong, the others are X_(n-k) conjugated, stored
// backwards:
//   k2 < m/2:  numbers r k2 .. r k2 + r/2;   k2 >= m/2:  numbers r (m - k2) - r/2 .. r (m - k2).
// Points where two rows meet are written twice, with values that differ in their rounding only. Back, the same in
// reverse: the first pass reads rows like that,
//   Y_(q t) = w_n^(-q t) sum_k2 X_(t + r k2) w_m^(-q k2),  x_(q + m p) = sum_t Y_(q t) w_r^(-p t),  Y_(q (r - t)) =
//     conj Y_(q t).
// What one pass stores the next one loads in vectors of the same size, so that it need not wait for the cache.
#if defined(TRN_FFT_REAL_STEPS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TRN_FFT_REAL_STEPS_INL
#undef TRN_FFT_REAL_STEPS_INL
#else
#define TRN_FFT_REAL_STEPS_INL
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "host/real_codelets-inl.hpp"
#include "host/real_plan.hpp"
#include "host/steps-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trn::fft::host::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR
template <class T> RealColumns<T> real_columns_here(int, bool, bool) { return nullptr; }
template <class T> StepKernel<T> half_rows_here(int, HalfRows, bool) { return nullptr; }
template <class T> WholeRun<T> real_steps_here(bool) { return nullptr; }
#else

// v[i] lane j <-> v[j] lane i, for as many vectors as lanes.
template <class D> HWY_INLINE void transpose_lanes(D d, hn::Vec<D>* v) {
  if constexpr (kSquares<D>) {
    transpose_square(d, v);
  } else {
    constexpr int k = static_cast<int>(kPiece<hn::TFromD<D> >);
    static_assert(hn::MaxLanes(D()) == 2 * k);
    transpose_parts(d, v);
    transpose_parts(d, v + k);
    HWY_UNROLL(4)
    for (int i = 0; i < k; ++i) {
      const auto low = hn::ConcatLowerLower(d, v[k + i], v[i]);
      v[k + i] = hn::ConcatUpperUpper(d, v[k + i], v[i]);
      v[i] = low;
    }
  }
}

// Reals in a row of numbers t = 0 .. r/2.
template <int R, class D> inline constexpr int kRowReals = (2 * (R / 2 + 1) + static_cast<int>(hn::MaxLanes(D())) - 1) /
                                                           static_cast<int>(hn::MaxLanes(D())) *
                                                           static_cast<int>(hn::MaxLanes(D()));

// Columns of real points, from and to rows. The table is [block of columns q][t = 1 .. r/2][re, im][lanes]; the last
// block overlaps the one before. Fewer columns than lanes are cut; the rows beyond them are nobody's.
template <int R, bool kThere, class D, class T>
HWY_NOINLINE void real_columns(const DenseRealCall<T>& call, const T* in, T* out) {
  const D d;
  constexpr int lanes = static_cast<int>(hn::MaxLanes(D())), row = kRowReals<R, D>, last = R / 2;
  const std::int64_t m = call.complex.n / R;
  const T* w = call.table;
  const auto by = hn::Set(d, call.factor);
  const bool whole = m >= lanes;
  const auto mask = hn::FirstN(d, static_cast<std::size_t>(m));
  for (std::int64_t next = 0; next < m; next += lanes, w += 2 * last * lanes) {
    const std::int64_t q = whole ? std::min(next, m - lanes) : 0;
    hn::Vec<D> x[R], z[row];
    C<D> y[last + 1];
    if constexpr (kThere) {
      const T* p = in + q;
      if (HWY_LIKELY(whole)) {
        HWY_UNROLL(16)
        for (int j = 0; j < R; ++j, p += m) x[j] = hn::LoadU(d, p);
      } else {
        HWY_UNROLL(16)
        for (int j = 0; j < R; ++j, p += m) x[j] = hn::MaskedLoad(mask, d, p);
      }
      real_dft<R>(d, x, y);
      z[0] = y[0].r;
      z[1] = hn::Zero(d);
      HWY_UNROLL(8)
      for (int t = 1; t <= last; ++t) {
        const C<D> turn = {hn::LoadU(d, w + 2 * (t - 1) * lanes), hn::LoadU(d, w + (2 * t - 1) * lanes)};
        const C<D> product = 2 * t == R ? C<D>{hn::Mul(y[t].r, turn.r), hn::Mul(y[t].r, turn.i)} : times(d, y[t], turn);
        z[2 * t] = product.r;
        z[2 * t + 1] = product.i;
      }
      HWY_UNROLL(16)
      for (int i = 2 * last + 2; i < row; ++i) z[i] = hn::Zero(d);
      HWY_UNROLL(4)
      for (int b = 0; b < row; b += lanes) {
        transpose_lanes(d, z + b);
        HWY_UNROLL(16)
        for (int i = 0; i < lanes; ++i) hn::StoreU(z[b + i], d, out + (q + i) * row + b);
      }
    } else {
      HWY_UNROLL(4)
      for (int b = 0; b < row; b += lanes) {
        HWY_UNROLL(16)
        for (int i = 0; i < lanes; ++i) z[b + i] = hn::LoadU(d, in + (q + i) * row + b);
        transpose_lanes(d, z + b);
      }
      y[0] = {z[0], z[1]};
      HWY_UNROLL(8)
      for (int t = 1; t <= last; ++t)
        y[t] = times(d, C<D>{z[2 * t], z[2 * t + 1]},
                     C<D>{hn::LoadU(d, w + 2 * (t - 1) * lanes), hn::LoadU(d, w + (2 * t - 1) * lanes)});
      half_dft<R>(d, y, x);
      T* o = out + q;
      if (HWY_LIKELY(whole)) {
        HWY_UNROLL(16)
        for (int j = 0; j < R; ++j, o += m) hn::StoreU(hn::Mul(x[j], by), d, o);
      } else {
        HWY_UNROLL(16)
        for (int j = 0; j < R; ++j, o += m) hn::BlendedStore(hn::Mul(x[j], by), mask, d, o);
      }
    }
  }
}

// Where numbers v .. of row k2 lie in the half line, and how many of them there are.
template <int kVector> struct HalfRow {
  std::int64_t radix, rows;
  [[nodiscard]] HWY_INLINE bool direct(std::int64_t k2) const { return 2 * k2 < rows; }
  [[nodiscard]] HWY_INLINE std::int64_t count(std::int64_t v) const {
    return std::min<std::int64_t>(kVector, radix / 2 + 1 - v);
  }
  [[nodiscard]] HWY_INLINE std::int64_t at(std::int64_t k2, std::int64_t v) const { return radix * k2 + v; }
  [[nodiscard]] HWY_INLINE std::int64_t mirrored(std::int64_t k2, std::int64_t v) const {
    return radix * (rows - k2) - v - kVector + 1;
  }
};

// The last pass there: results to where they belong.
template <int R, class D, class T>
HWY_NOINLINE void half_rows_out(const Step<T>& step, const WholeCall<T>& call, const T* in, T* out) {
  const D tag;
  const Pairs<D> d = pairs_of(tag, T(1));
  constexpr int numbers = kNumbers<D>;
  const std::int64_t l = step.l, row = call.row, legs = l / row;
  const HalfRow<numbers> half{call.radix, R * legs};
  const auto by = hn::Set(tag, call.factor), conjugated = hn::OddEven(hn::Neg(by), by);
  for (std::int64_t v = 0; v < call.radix / 2 + 1; v += numbers) {
    const std::int64_t count = half.count(v);
    const auto first = hn::FirstN(tag, static_cast<std::size_t>(2 * count)),
               final = hn::Not(hn::FirstN(tag, static_cast<std::size_t>(2 * (numbers - count))));
    for (std::int64_t q = 0; q < legs; ++q) {
      PairVector<D> x[R];
      const T* p = in + 2 * (q * row + v);
      HWY_UNROLL(16)
      for (int j = 0; j < R; ++j, p += 2 * l) x[j].v = hn::LoadU(tag, p);
      dft<R>(d, x);
      HWY_UNROLL(16)
      for (int t = 0; t < R; ++t) {
        const std::int64_t k2 = t * legs + q;
        if (2 * t + 1 < R || (2 * t + 1 == R && half.direct(k2))) {
          T* const to = out + 2 * half.at(k2, v);
          const auto z = hn::Mul(x[t].v, by);
          if (count == numbers)
            hn::StoreU(z, tag, to);
          else
            hn::BlendedStore(z, first, tag, to);
        } else {
          T* const to = out + 2 * half.mirrored(k2, v);
          const auto z = reverse_numbers(tag, hn::Mul(x[t].v, conjugated));
          if (count == numbers)
            hn::StoreU(z, tag, to);
          else
            hn::BlendedStore(z, final, tag, to);
        }
      }
    }
  }
  out[1] = T(0);
  if (call.n % 2 == 0) out[call.n + 1] = T(0);
}

// The first pass back. Its table is that of steps-inl.hpp. The imaginary parts of points 0 and n/2 are not used.
template <int R, class D, class T>
HWY_NOINLINE void half_rows_in(const Step<T>& step, const WholeCall<T>& call, const T* in, T* out) {
  const D tag;
  const Pairs<D> d = pairs_of(tag, T(-1));
  constexpr int numbers = kNumbers<D>;
  const std::int64_t m = step.m, row = call.row;
  const HalfRow<numbers> half{call.radix, R * m};
  const auto one = hn::Set(tag, T(1)), conjugated = hn::OddEven(hn::Neg(one), one);
  const std::int64_t middle =
      call.radix % 2 == 0 && half.rows % 2 != 0 ? call.radix / 2 : 0;  // n/2 is in row rows/2, this is its t
  const auto lane = [&](std::int64_t t) HWY_ATTR {
    return hn::AndNot(hn::FirstN(tag, static_cast<std::size_t>(2 * t + 1)),
                      hn::FirstN(tag, static_cast<std::size_t>(2 * t + 2)));
  };
  for (std::int64_t v = 0; v < call.radix / 2 + 1; v += numbers) {
    const std::int64_t count = half.count(v);
    const auto first = hn::FirstN(tag, static_cast<std::size_t>(2 * count)),
               final = hn::Not(hn::FirstN(tag, static_cast<std::size_t>(2 * (numbers - count))));
    const T* w = step.table[1];
    for (std::int64_t q = 0; q < m; ++q, w += 4 * (R - 1)) {
      PairVector<D> x[R];
      HWY_UNROLL(16)
      for (int j = 0; j < R; ++j) {
        const std::int64_t k2 = j * m + q;
        if (2 * j + 1 < R || (2 * j + 1 == R && half.direct(k2))) {
          const T* p = in + 2 * half.at(k2, v);
          x[j].v = count == numbers ? hn::LoadU(tag, p) : hn::MaskedLoad(first, tag, p);
        } else {
          const T* p = in + 2 * half.mirrored(k2, v);
          x[j].v = hn::Mul(reverse_numbers(tag, count == numbers ? hn::LoadU(tag, p) : hn::MaskedLoad(final, tag, p)),
                           conjugated);
        }
      }
      if (q == 0 && v == 0) x[0].v = hn::IfThenZeroElse(lane(0), x[0].v);
      if (call.n % 2 == 0 && middle >= v && middle < v + numbers && half.rows / 2 % m == q) {
        HWY_UNROLL(16)
        for (int j = 0; j < R; ++j)
          if (j * m + q == half.rows / 2) x[j].v = hn::IfThenZeroElse(lane(middle - v), x[j].v);
      }
      dft<R>(d, x);
      if (m > 1) {
        const T* turn = w;
        HWY_UNROLL(16)
        for (int t = 1; t < R; ++t, turn += 4)
          x[t] = times(d, x[t], broadcast_number(tag, turn), broadcast_number(tag, turn + 2));
      }
      T* o = out + 2 * (q * R * row + v);
      HWY_UNROLL(16)
      for (int t = 0; t < R; ++t, o += 2 * row) hn::StoreU(x[t].v, tag, o);
    }
  }
}

template <bool kThere, class T>
HWY_NOINLINE void real_step_lines(const void* context, const void* input, void* output) {
  const DenseRealCall<T>& call = *static_cast<const DenseRealCall<T>*>(context);
  const WholeCall<T>& rows = call.complex;
  const T* in = static_cast<const T*>(input);
  T* out = static_cast<T*>(output);
  alignas(64) T first[2 * kLongestSteps + 64], second[2 * kLongestSteps + 64];
  const Step<T>* const end = rows.steps + rows.step_count;
  for (std::int64_t line = call.lines; line > 0; --line, in += call.in_distance, out += call.out_distance) {
    T *from = first, *to = second;
    const Step<T>* step = rows.steps;
    if constexpr (kThere) {
      call.columns(call, in, from);
      for (; step + 1 < end; ++step, std::swap(from, to)) step->run(*step, rows, from, to);
      step->run(*step, rows, from, out);
    } else {
      step->run(*step, rows, in, from);
      for (++step; step < end; ++step, std::swap(from, to)) step->run(*step, rows, from, to);
      call.columns(call, from, out);
    }
  }
}

template <int R, class D, class T> StepKernel<T> half_rows_of(HalfRows place) {
  switch (place) {
    case HalfRows::Out:
      return half_rows_out<R, D, T>;
    case HalfRows::In:
      return half_rows_in<R, D, T>;
    case HalfRows::Middle:
      return rows_pass<R, false, D, T>;
    case HalfRows::Last:
      break;
  }
  return rows_pass<R, true, D, T>;
}

// The widest vectors, or those of 32 bytes.
template <class T> using NarrowTag = hn::CappedTag<T, 32 / sizeof(T)>;
template <class T> RealColumns<T> real_columns_here(int radix, bool there, bool narrow) {
  RealColumns<T> kernel = nullptr;
  with_length(Lengths<3, 5, 6, 7, 9, 10, 11, 12, 13, 15>(), radix, [&](auto r) {
    constexpr int R = decltype(r)::value;
    if (narrow)
      kernel = there ? real_columns<R, true, NarrowTag<T>, T> : real_columns<R, false, NarrowTag<T>, T>;
    else
      kernel = there ? real_columns<R, true, StepTag<T>, T> : real_columns<R, false, StepTag<T>, T>;
  });
  return kernel;
}
template <class T> StepKernel<T> half_rows_here(int radix, HalfRows place, bool narrow) {
  StepKernel<T> kernel = nullptr;
  with_length(Radices(), radix, [&](auto r) {
    constexpr int R = decltype(r)::value;
    kernel = narrow ? half_rows_of<R, NarrowTag<T>, T>(place) : half_rows_of<R, StepTag<T>, T>(place);
  });
  return kernel;
}
template <class T> WholeRun<T> real_steps_here(bool there) {
  if (there) return real_step_lines<true, T>;
  return real_step_lines<false, T>;
}
#endif

}  // namespace trn::fft::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
