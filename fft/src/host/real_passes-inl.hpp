// Passes over a block of real rows: transforms of smooth length, odd or even, with half the work of the complex ones.
//
// n = r m, j = p m + q, k = t + r k2, w_n = exp(-2 pi i/n):
//   X_(t + r k2) = sum_q w_m^(q k2) [ w_n^(qt) sum_p x_(pm+q) w_r^(pt) ].
// The sums over p are real transforms of r points (real_pass). Their results for t and r - t are conjugate, so the
// columns t = 1 .. (r-1)/2 go through complex passes of length m, side by side, and the last of these
// (mirror_last_pass) stores X_k where k <= n/2, else the conjugate at n - k; column 0 is a real line of m points: the
// same again, the results r rows apart. For even r the column r/2, real but for its twiddle, is done as a complex one.
// From half lines to real ones everything runs backwards: complex passes on the conjugates of the columns
// (mirror_first_pass loads them), column 0 by the same again, then twiddles and sums over t, which are half_dft.
#if defined(TRN_FFT_REAL_PASSES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TRN_FFT_REAL_PASSES_INL
#undef TRN_FFT_REAL_PASSES_INL
#else
#define TRN_FFT_REAL_PASSES_INL
#endif

#include <hwy/highway.h>

#include <cstdint>
#include <type_traits>

#include "host/passes-inl.hpp"
#include "host/real_codelets-inl.hpp"
#include "host/real_plan.hpp"

HWY_BEFORE_NAMESPACE();
namespace trn::fft::host::HWY_NAMESPACE {

// One level's data. Real rows are real_stride reals apart; half rows (re, im `lanes` further on) half_stride; those in
// scratch are packed.
template <class T> struct RealArgs {
  T *real, *half;
  std::int64_t real_stride, half_stride;
  std::int64_t n, m, columns;
  int radix;        // of the real pass
  T *first, *rest;  // column 0: [m]; the others: [m][columns][re, im]
  const T *twiddles, *constants;
  T factor;
  std::int64_t lines = 1, real_step = 0, half_step = 0;  // real_whole, half_whole: lines and what is between them
};

template <class D, class T> HWY_INLINE C<D> load_pair(D d, const T* p) {
  return {hn::LoadU(d, p), hn::LoadU(d, p + kWidth<D>)};
}
template <class D, class T> HWY_INLINE void store_pair(D d, T* p, C<D> x) {
  hn::StoreU(x.r, d, p);
  hn::StoreU(x.i, d, p + kWidth<D>);
}
template <class D> HWY_INLINE C<D> number(D d, const hn::TFromD<D>* w) { return {hn::Set(d, w[0]), hn::Set(d, w[1])}; }

// The sums of a prime radix above 13, of real numbers: x_j = take(j) to put(k, y_k), k = 0 .. p/2 (y_0 without its
// imaginary part).
template <class D, class T, class Take, class Put>
HWY_INLINE void real_prime(D d, int p, const T* constants, const Take& take, const Put& put) {
  const int h = p / 2;
  hn::Vec<D> even[kLargestDirect / 2], odd[kLargestDirect / 2];
  const auto x0 = take(0);
  auto sum = x0;
  for (int j = 1; j <= h; ++j) {
    const auto u = take(j), v = take(p - j);
    even[j - 1] = hn::Add(u, v);
    odd[j - 1] = hn::Sub(v, u);
    sum = hn::Add(sum, even[j - 1]);
  }
  put(0, C<D>{sum, hn::Zero(d)});
  for (int k = 1; k <= h; k += 2) {  // an odd h repeats its last one
    const int k2 = k < h ? k + 1 : k;
    const T *c1 = constants + (k - 1) * 2 * h, *c2 = constants + (k2 - 1) * 2 * h;
    auto e1 = x0, e2 = x0, o1 = hn::Zero(d), o2 = o1;
    for (int j = 0; j < h; ++j) {
      e1 = hn::MulAdd(hn::Set(d, c1[2 * j]), even[j], e1);
      o1 = hn::MulAdd(hn::Set(d, c1[2 * j + 1]), odd[j], o1);
      e2 = hn::MulAdd(hn::Set(d, c2[2 * j]), even[j], e2);
      o2 = hn::MulAdd(hn::Set(d, c2[2 * j + 1]), odd[j], o2);
    }
    put(k, C<D>{e1, o1});
    if (k2 != k) put(k2, C<D>{e2, o2});
  }
}
// Back: y_k = take(k), k = 0 .. p/2, to put(j, x_j) for all j.
template <class D, class T, class Take, class Put>
HWY_INLINE void half_prime(D d, int p, const T* constants, const Take& take, const Put& put) {
  const int h = p / 2;
  hn::Vec<D> a[kLargestDirect / 2], b[kLargestDirect / 2];
  const auto y0 = take(0).r;
  auto sum = y0;
  for (int k = 1; k <= h; ++k) {
    const C<D> y = take(k);
    a[k - 1] = hn::Add(y.r, y.r);
    b[k - 1] = hn::Add(y.i, y.i);
    sum = hn::Add(sum, a[k - 1]);
  }
  put(0, sum);
  for (int j = 1; j <= h; j += 2) {
    const int j2 = j < h ? j + 1 : j;
    const T *c1 = constants + (j - 1) * 2 * h, *c2 = constants + (j2 - 1) * 2 * h;
    auto e1 = y0, e2 = y0, o1 = hn::Zero(d), o2 = o1;
    for (int k = 0; k < h; ++k) {
      e1 = hn::MulAdd(hn::Set(d, c1[2 * k]), a[k], e1);
      o1 = hn::MulAdd(hn::Set(d, c1[2 * k + 1]), b[k], o1);
      e2 = hn::MulAdd(hn::Set(d, c2[2 * k]), a[k], e2);
      o2 = hn::MulAdd(hn::Set(d, c2[2 * k + 1]), b[k], o2);
    }
    put(j, hn::Sub(e1, o1));
    put(p - j, hn::Add(e1, o1));
    if (j2 == j) continue;
    put(j2, hn::Sub(e2, o2));
    put(p - j2, hn::Add(e2, o2));
  }
}
// Complex, any way.
template <class D, class T, class Take, class Put>
HWY_INLINE void complex_prime(D d, int p, const T* constants, const Take& take, const Put& put) {
  const int h = p / 2;
  C<D> even[kLargestDirect / 2], odd[kLargestDirect / 2];
  const C<D> x0 = take(0);
  C<D> sum = x0;
  for (int j = 1; j <= h; ++j) {
    const C<D> u = take(j), v = take(p - j);
    even[j - 1] = add(d, u, v);
    odd[j - 1] = sub(d, u, v);
    sum = add(d, sum, even[j - 1]);
  }
  put(0, sum);
  for (int k = 1; k <= h; ++k) {
    const T* c = constants + (k - 1) * 2 * h;
    C<D> e = x0, o = {hn::Zero(d), hn::Zero(d)};
    for (int j = 0; j < h; ++j) {
      const auto cosine = hn::Set(d, c[2 * j]), sine = hn::Set(d, c[2 * j + 1]);
      e = {hn::MulAdd(cosine, even[j].r, e.r), hn::MulAdd(cosine, even[j].i, e.i)};
      o = {hn::MulAdd(sine, odd[j].r, o.r), hn::MulAdd(sine, odd[j].i, o.i)};
    }
    put(k, C<D>{hn::Add(e.r, o.i), hn::Sub(e.i, o.r)});
    put(p - k, C<D>{hn::Sub(e.r, o.i), hn::Add(e.i, o.r)});
  }
}

// Sums over p, twiddles. N is the radix, 0 for primes above 13.
template <int N, class D, class T> HWY_NOINLINE void real_pass(D d, const RealArgs<T>& args) {
  const RealArgs<T> a = args;
  const std::int64_t leg = a.m * a.real_stride;
  const T *in = a.real, *w = a.twiddles;
  T *first = a.first, *rest = a.rest;
  for (std::int64_t q = 0; q < a.m; ++q, in += a.real_stride, first += kWidth<D>, w += 2 * a.columns) {
    const auto put = [&](int t, C<D> y) HWY_ATTR {
      if (t == 0) return hn::StoreU(y.r, d, first);
      const C<D> turn = number(d, w + 2 * (t - 1));
      if (N > 0 && 2 * t == N)
        y = {hn::Mul(y.r, turn.r), hn::Mul(y.r, turn.i)};
      else
        y = times(d, y, turn);
      store_pair(d, rest + 2 * (t - 1) * kWidth<D>, y);
    };
    if constexpr (N == 0) {
      real_prime(
          d, a.radix, a.constants, [&](int p) HWY_ATTR { return hn::LoadU(d, in + p * leg); }, put);
    } else {
      hn::Vec<D> x[N];
      C<D> y[N / 2 + 1];
      HWY_UNROLL(16)
      for (int p = 0; p < N; ++p) x[p] = hn::LoadU(d, in + p * leg);
      real_dft<N>(d, x, y);
      HWY_UNROLL(16)
      for (int t = 0; t <= N / 2; ++t) put(t, y[t]);
    }
    rest += 2 * a.columns * kWidth<D>;
  }
}
template <int N, class D, class T> HWY_NOINLINE void half_pass(D d, const RealArgs<T>& args) {
  const RealArgs<T> a = args;
  const bool scaled = a.factor != T(1);
  const auto by = hn::Set(d, a.factor);
  const std::int64_t leg = a.m * a.real_stride;
  const T *first = a.first, *rest = a.rest, *w = a.twiddles;
  T* out = a.real;
  for (std::int64_t q = 0; q < a.m; ++q, out += a.real_stride, first += kWidth<D>, w += 2 * a.columns) {
    const auto take = [&](int t) HWY_ATTR {
      if (t == 0) return C<D>{hn::LoadU(d, first), hn::Zero(d)};
      const C<D> z = load_pair(d, rest + 2 * (t - 1) * kWidth<D>), turn = number(d, w + 2 * (t - 1));
      // conj(z conj(turn)): the twiddles of this direction are conjugate already
      return C<D>{hn::MulAdd(z.i, turn.i, hn::Mul(z.r, turn.r)), hn::NegMulAdd(z.i, turn.r, hn::Mul(z.r, turn.i))};
    };
    const auto put = [&](int p, hn::Vec<D> x) HWY_ATTR { hn::StoreU(scaled ? hn::Mul(x, by) : x, d, out + p * leg); };
    if constexpr (N == 0) {
      half_prime(d, a.radix, a.constants, take, put);
    } else {
      hn::Vec<D> x[N];
      C<D> y[N / 2 + 1];
      HWY_UNROLL(16)
      for (int t = 0; t <= N / 2; ++t) y[t] = take(t);
      half_dft<N>(d, y, x);
      HWY_UNROLL(16)
      for (int p = 0; p < N; ++p) put(p, x[p]);
    }
    rest += 2 * a.columns * kWidth<D>;
  }
}

// Whole lines of N points, or of a prime above 13.
template <int N, class D, class T> HWY_NOINLINE void real_whole(D d, const RealArgs<T>& args) {
  RealArgs<T> a = args;
  const bool scaled = a.factor != T(1);
  const auto put = [&](int k, C<D> y) HWY_ATTR {
    if (k == 0 || (N > 0 && 2 * k == N)) y.i = hn::Zero(d);
    if (scaled) scale<1>(d, &y, a.factor);
    store_pair(d, a.half + k * a.half_stride, y);
  };
  const auto take = [&](int j) HWY_ATTR { return hn::LoadU(d, a.real + j * a.real_stride); };
  for (; a.lines > 0; --a.lines, a.real += a.real_step, a.half += a.half_step) {
    if constexpr (N == 0) {
      real_prime(d, a.radix, a.constants, take, put);
    } else {
      hn::Vec<D> x[N];
      C<D> y[N / 2 + 1];
      HWY_UNROLL(32)
      for (int j = 0; j < N; ++j) x[j] = take(j);
      real_dft<N>(d, x, y);
      HWY_UNROLL(32)
      for (int k = 0; k <= N / 2; ++k) put(k, y[k]);
    }
  }
}
template <int N, class D, class T> HWY_NOINLINE void half_whole(D d, const RealArgs<T>& args) {
  RealArgs<T> a = args;
  const bool scaled = a.factor != T(1);
  const auto by = hn::Set(d, a.factor);
  const auto put = [&](int j, hn::Vec<D> x)
                       HWY_ATTR { hn::StoreU(scaled ? hn::Mul(x, by) : x, d, a.real + j * a.real_stride); };
  const auto take = [&](int k) HWY_ATTR { return load_pair(d, a.half + k * a.half_stride); };
  for (; a.lines > 0; --a.lines, a.real += a.real_step, a.half += a.half_step) {
    if constexpr (N == 0) {
      half_prime(d, a.radix, a.constants, take, put);
    } else {
      hn::Vec<D> x[N];
      C<D> y[N / 2 + 1];
      HWY_UNROLL(32)
      for (int k = 0; k <= N / 2; ++k) y[k] = take(k);
      half_dft<N>(d, y, x);
      HWY_UNROLL(32)
      for (int j = 0; j < N; ++j) put(j, x[j]);
    }
  }
}

// The last complex pass of the columns, radix R (0: `radix`, prime): butterfly (k2, s) has the points k0 + t n/R, k0 =
// s + 1 + r k2.
template <int R, class D, class T>
HWY_NOINLINE void mirror_last_pass(D d, const RealArgs<T>& args, const T* from, int radix, const T* constants) {
  const RealArgs<T> a = args;
  const int points = R > 0 ? R : radix;
  const std::int64_t blocks = a.m / points, in_leg = 2 * kWidth<D> * blocks * a.columns, leg = a.n / points;
  const bool scaled = a.factor != T(1);
  for (std::int64_t k2 = 0; k2 < blocks; ++k2) {
    for (std::int64_t s = 0; s < a.columns; ++s, from += 2 * kWidth<D>) {
      const std::int64_t k0 = s + 1 + a.radix * k2;
      const auto take = [&](int j) HWY_ATTR { return load_pair(d, from + j * in_leg); };
      const auto put = [&](int t, C<D> x) HWY_ATTR {
        const std::int64_t k = k0 + t * leg;
        const bool mirrored = R > 0 && R % 2 == 0 ? 2 * t >= R : 2 * k > a.n;
        if (scaled) scale<1>(d, &x, a.factor);
        if (mirrored) x.i = hn::Neg(x.i);
        store_pair(d, a.half + (mirrored ? a.n - k : k) * a.half_stride, x);
      };
      if constexpr (R == 0) {
        complex_prime(d, radix, constants, take, put);
      } else {
        C<D> x[R];
        HWY_UNROLL(16)
        for (int j = 0; j < R; ++j) x[j] = take(j);
        dft<R>(d, x);
        HWY_UNROLL(16)
        for (int t = 0; t < R; ++t) put(t, x[t]);
      }
    }
  }
}
// The first complex pass of the conjugate columns: butterfly (q, s) takes the points k0 + p n/R, k0 = s + 1 + r q.
template <int R, class D, class T> HWY_NOINLINE void mirror_first_pass(D d, const RealArgs<T>& args, T* to, int radix,
                                                                       const T* twiddles, const T* constants) {
  const RealArgs<T> a = args;
  const int points = R > 0 ? R : radix;
  const std::int64_t blocks = a.m / points, out_leg = 2 * kWidth<D> * a.columns, leg = a.n / points;
  for (std::int64_t q = 0; q < blocks; ++q, twiddles += 2 * (points - 1), to += (points - 1) * out_leg) {
    for (std::int64_t s = 0; s < a.columns; ++s, to += 2 * kWidth<D>) {
      const std::int64_t k0 = s + 1 + a.radix * q;
      const auto take = [&](int p) HWY_ATTR {
        const std::int64_t k = k0 + p * leg;
        const bool mirrored = R > 0 && R % 2 == 0 ? 2 * p >= R : 2 * k > a.n;
        C<D> x = load_pair(d, a.half + (mirrored ? a.n - k : k) * a.half_stride);
        if (!mirrored) x.i = hn::Neg(x.i);
        return x;
      };
      const auto put = [&](int t, C<D> x) HWY_ATTR {
        if (t > 0 && blocks > 1) x = times(d, x, number(d, twiddles + 2 * (t - 1)));
        store_pair(d, to + t * out_leg, x);
      };
      if constexpr (R == 0) {
        complex_prime(d, radix, constants, take, put);
      } else {
        C<D> x[R];
        HWY_UNROLL(16)
        for (int p = 0; p < R; ++p) x[p] = take(p);
        dft<R>(d, x);
        HWY_UNROLL(16)
        for (int t = 0; t < R; ++t) put(t, x[t]);
      }
    }
  }
}

// Calls f(integral_constant<int, N>) for a codelet of up to 16 points, or 0.
template <class F> HWY_INLINE void with_radix(int radix, const F& f) {
  if (!with_length(Radices(), radix, f)) f(std::integral_constant<int, 0>());
}

}  // namespace trn::fft::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
