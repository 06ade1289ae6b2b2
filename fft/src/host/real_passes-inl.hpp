// Blocks of real rows to rows of half lines, or back: transforms of smooth length with about half the work of the
// complex ones.
//
// n = r m, r a codelet of real points, j = p m + q, k = t + r k2, w_n = exp(-2 pi i/n):
//   X_(t + r k2) = sum_q w_m^(q k2) [ w_n^(qt) sum_p x_(pm+q) w_r^(pt) ].
// The sums over p are codelets (real_sums). Their results for t and r - t are conjugate, so columns t = 0 .. r/2 go
// through complex passes of length m, and of what comes out X_k is kept where k <= n/2, else its conjugate as X_(n-k).
// From half lines to real ones everything runs backwards, on conjugates: complex passes know the forward transform
// only.
//
// n = 2 m, radix 0: pairs of rows are the parts of complex numbers as they lie, whose transform is parted, or put
// together before, by the formulas of real-inl.hpp.
#if defined(TRN_FFT_REAL_PASSES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TRN_FFT_REAL_PASSES_INL
#undef TRN_FFT_REAL_PASSES_INL
#else
#define TRN_FFT_REAL_PASSES_INL
#endif

#include <hwy/highway.h>

#include <cstdint>

#include "host/passes-inl.hpp"
#include "host/real_codelets-inl.hpp"
#include "host/real_plan.hpp"

HWY_BEFORE_NAMESPACE();
namespace trn::fft::host::HWY_NAMESPACE {

// Real rows are real_stride reals apart; half rows (re, im `lanes` further on) half_stride.
template <class T> struct RealRows {
  T *real, *half;
  std::int64_t real_stride, half_stride;
  T factor;
  std::int64_t lines = 1, real_step = 0, half_step = 0;  // single codelets: lines and what is between them
};

template <class D, class T> HWY_INLINE C<D> load_pair(D d, const T* p) {
  return {hn::LoadU(d, p), hn::LoadU(d, p + kWidth<D>)};
}
template <class D, class T> HWY_INLINE void store_pair(D d, T* p, C<D> x) {
  hn::StoreU(x.r, d, p);
  hn::StoreU(x.i, d, p + kWidth<D>);
}

#if HWY_TARGET != HWY_SCALAR  // a plain processor takes real lines one by one
// Lines of a codelet.
template <int N, bool kThere, class D, class T> HWY_NOINLINE void real_codelet_rows(D d, RealRows<T> a) {
  const auto by = hn::Set(d, a.factor);
  for (; a.lines > 0; --a.lines, a.real += a.real_step, a.half += a.half_step) {
    if constexpr (kThere)
      real_codelet<N, true>(
          d, [&](int j) HWY_ATTR { return hn::LoadU(d, a.real + j * a.real_stride); },
          [&](int k, C<D> y) HWY_ATTR {
            store_pair(d, a.half + k * a.half_stride, C<D>{hn::Mul(y.r, by), hn::Mul(y.i, by)});
          });
    else
      real_codelet<N, false>(
          d, [&](int k) HWY_ATTR { return load_pair(d, a.half + k * a.half_stride); },
          [&](int j, hn::Vec<D> x) HWY_ATTR { hn::StoreU(hn::Mul(x, by), d, a.real + j * a.real_stride); });
  }
}

// Sums over p and twiddles, from real rows to columns [q][t][re, im], or back.
template <int R, bool kThere, class D, class T>
HWY_NOINLINE void real_sums(D d, const RealPasses<T>& passes, T* real, std::int64_t stride, T* columns, T factor) {
  constexpr std::int64_t row = 2 * kWidth<D>, count = R / 2 + 1;
  const std::int64_t m = passes.inner.n, leg = m * stride;
  const auto by = hn::Set(d, factor);
  const T* w = passes.twiddles.data();
  for (std::int64_t q = 0; q < m; ++q, real += stride, columns += count * row, w += R / 2 * 2) {
    // Back, columns are conjugate and twiddles, too.
    const auto turned = [&](int t, C<D> y) HWY_ATTR {
      if (t == 0) return y;
      const C<D> turn = {hn::Set(d, w[2 * t - 2]), hn::Set(d, w[2 * t - 1])};
      return times(d, kThere ? y : conjugate(d, y), turn);
    };
    if constexpr (kThere)
      real_codelet<R, true>(
          d, [&](int p) HWY_ATTR { return hn::LoadU(d, real + p * leg); },
          [&](int t, C<D> y) HWY_ATTR { store_pair(d, columns + t * row, turned(t, y)); });
    else
      real_codelet<R, false>(
          d, [&](int t) HWY_ATTR { return turned(t, load_pair(d, columns + t * row)); },
          [&](int p, hn::Vec<D> x) HWY_ATTR { hn::StoreU(hn::Mul(x, by), d, real + p * leg); });
  }
}

// The complex passes of all columns, in place: a single one for all columns at once, several column by column.
template <class D, class T>
void column_transforms(D d, const Passes<T>& passes, std::int64_t count, T* columns, T factor, T* t0, T* t1) {
  constexpr std::int64_t row = 2 * kWidth<D>;
  if (passes.passes.size() == 1) {
    const Rows<T> rows{columns, columns + kWidth<D>, row};
    PassArgs<T> a = pass_args(passes, 0, rows, rows, count);
    a.scaled = factor != T(1);
    a.factor = factor;
    return planar_pass(d, a);
  }
  for (std::int64_t t = 0; t < count; ++t) {
    const Rows<T> rows{columns + t * row, columns + t * row + kWidth<D>, count * row};
    run_passes(d, passes, rows, rows, factor, static_cast<const T*>(nullptr), t0, t1);
  }
}

template <bool kThere, class D, class T>
void run_halves(D d, const RealPasses<T>& passes, const RealRows<T>& a, T* scratch) {
  constexpr std::int64_t lanes = kWidth<D>, row = 2 * lanes;
  const std::int64_t m = passes.inner.n;
  const T *none = nullptr, *w = passes.twiddles.data();
  T *z = scratch, *t0 = z + m * row, *t1 = t0 + m * row;
  const Rows<T> real{a.real, a.real + a.real_stride, 2 * a.real_stride}, numbers{z, z + lanes, row};
  const auto half = hn::Set(d, T(0.5)), two = hn::Set(d, T(2));
  if constexpr (kThere) run_passes(d, passes.inner, real, numbers, a.factor, none, t0, t1);
  for (std::int64_t k = 0; 2 * k <= m; ++k, w += 2) {  // points k and m - k
    const C<D> turn = {hn::Set(d, w[0]), hn::Set(d, w[1])};
    T *x = a.half + k * a.half_stride, *image = a.half + (m - k) * a.half_stride, *number = z + k * row,
      *mirrored = z + (k == 0 ? 0 : m - k) * row;
    C<D> p = load_pair(d, kThere ? number : x), q = load_pair(d, kThere ? mirrored : image);
    if (!kThere && k == 0) p.i = q.i = hn::Zero(d);
    const C<D> sum = {hn::Add(p.r, q.r), hn::Sub(p.i, q.i)}, difference = {hn::Sub(p.r, q.r), hn::Add(p.i, q.i)};
    if constexpr (kThere) {
      const C<D> turned = times(d, turn, C<D>{difference.i, hn::Neg(difference.r)});
      p = {hn::MulAdd(half, sum.r, turned.r), hn::MulAdd(half, sum.i, turned.i)};
      q = {hn::MulSub(half, sum.r, turned.r), hn::NegMulAdd(half, sum.i, turned.i)};
      if (k == 0) p.i = q.i = hn::Zero(d);
      store_pair(d, image, q);
      store_pair(d, x, p);
    } else {
      const C<D> turned = times(d, C<D>{turn.i, turn.r}, difference);
      p = {hn::MulAdd(two, turned.r, sum.r), hn::MulAdd(two, turned.i, sum.i)};
      q = {hn::NegMulAdd(two, turned.r, sum.r), hn::MulSub(two, turned.i, sum.i)};
      store_pair(d, mirrored, q);
      store_pair(d, number, p);
    }
  }
  if constexpr (!kThere)
    run_passes(d, passes.inner, Rows<T>{numbers.im, numbers.re, row}, Rows<T>{real.im, real.re, real.stride}, a.factor,
               none, t0, t1);
}

// Real rows to half rows, or back; the two may be the same memory.
template <bool kThere, class D, class T>
void run_real_passes(D d, const RealPasses<T>& passes, const RealRows<T>& a, T* scratch) {
  constexpr std::int64_t row = 2 * kWidth<D>;
  const std::int64_t n = passes.n, r = passes.radix, m = passes.inner.n, count = r / 2 + 1;
  if (r == 0) return run_halves<kThere>(d, passes, a, scratch);
  if (m == 1) {
    with_length(RealLengths(), r,
                [&](auto length) HWY_ATTR { real_codelet_rows<decltype(length)::value, kThere>(d, a); });
    return;
  }
  T *columns = scratch, *t0 = columns + count * m * row, *t1 = t0 + m * row;
  const auto sums = [&]() HWY_ATTR {
    with_length(Radices(), r, [&](auto radix) HWY_ATTR {
      real_sums<decltype(radix)::value, kThere>(d, passes, a.real, a.real_stride, columns, a.factor);
    });
  };
  if constexpr (kThere) {
    sums();
    column_transforms(d, passes.inner, count, columns, a.factor, t0, t1);
  }
  T* point = columns;
  for (std::int64_t k2 = 0; k2 < m; ++k2)
    for (std::int64_t t = 0; t < count; ++t, point += row) {
      const std::int64_t k = t + r * k2;
      const bool mirrored = 2 * k > n, own = k == 0 || 2 * k == n;  // own: its own mirror image, and real
      if (kThere && mirrored && (t == 0 || 2 * t == r)) continue;   // these columns have every point twice
      T* const half = a.half + (mirrored ? n - k : k) * a.half_stride;
      C<D> x = load_pair(d, kThere ? point : half);
      if (mirrored == kThere) x.i = hn::Neg(x.i);
      if (own) x.i = hn::Zero(d);
      store_pair(d, kThere ? half : point, x);
    }
  if constexpr (!kThere) {
    column_transforms(d, passes.inner, count, columns, T(1), t0, t1);
    sums();
  }
}
#endif

}  // namespace trn::fft::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
