// Codelets: DFTs of 1 .. 16 points on complex vectors, every lane its own transform.
//
// X_k = sum_j x_j w^(jk), w = exp(-2 pi i/R), in place. Powers of two by halves and quarters; 9 = 3 x 3; 6, 10, 12 and
// 15 by the Chinese remainder theorem, without twiddles; odd primes by the symmetry of the roots: with a_j = x_j +
// x_(p-j), b_j = x_j - x_(p-j),
//   X_k, X_(p-k) = (x_0 + sum_j cos(2 pi jk/p) a_j) -+ i (sum_j sin(2 pi jk/p) b_j),  j = 1 .. (p-1)/2.
//
// Numbers come in two kinds, said by the first argument of every function. A Highway tag: re in one vector, im in
// another, forward only. Pairs of a tag: one vector with re and im alternating, where a turn by -i costs a shuffle, and
// by +i as much: pairs go both ways. All that codelets need is additions, real factors, and the turn.
#if defined(TRN_FFT_CODELETS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TRN_FFT_CODELETS_INL
#undef TRN_FFT_CODELETS_INL
#else
#define TRN_FFT_CODELETS_INL
#endif

#include <hwy/highway.h>

#include "host/codelets.hpp"

HWY_BEFORE_NAMESPACE();
namespace trn::fft::host::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class T> using Widest = hn::CappedTag<T, 64 / sizeof(T)>;
template <class T> inline constexpr int kWidest = static_cast<int>(hn::MaxLanes(Widest<T>()));
// Half as wide, where that is 16 bytes or more.
template <class T> using HalfTag = hn::CappedTag<T, (kWidest<T> * sizeof(T) >= 32 ? kWidest<T> / 2 : kWidest<T>)>;
template <class T> using OneTag = hn::CappedTag<T, 1>;
template <class T> inline constexpr int kHalf = static_cast<int>(hn::MaxLanes(HalfTag<T>()));
template <class D> inline constexpr std::int64_t kWidth = static_cast<std::int64_t>(hn::MaxLanes(D()));

// Calls f(integral_constant<int, N>) for the N of a list that is n; false if there is none.
template <int... N, class F> HWY_INLINE bool with_length(Lengths<N...>, std::int64_t n, const F& f) {
  return ((n == N ? (f(std::integral_constant<int, N>()), true) : false) || ...);
}

template <class D> struct Complex { hn::Vec<D> r, i; };
// re, im, re, im, ...; `turn` is 1, -1, 1, -1, ... for the forward transform and its negative for the inverse.
template <class D> struct Pairs {
  D tag;
  hn::Vec<D> turn;
};
template <class D> struct PairVector { hn::Vec<D> v; };
template <class D> struct NumberOf {
  using type = Complex<D>;
  using Real = hn::TFromD<D>;
};
template <class D> struct NumberOf<Pairs<D>> {
  using type = PairVector<D>;
  using Real = hn::TFromD<D>;
};
template <class D> using C = typename NumberOf<D>::type;

template <class D> HWY_INLINE Complex<D> add(D, Complex<D> a, Complex<D> b) {
  return {hn::Add(a.r, b.r), hn::Add(a.i, b.i)};
}
template <class D> HWY_INLINE Complex<D> sub(D, Complex<D> a, Complex<D> b) {
  return {hn::Sub(a.r, b.r), hn::Sub(a.i, b.i)};
}
template <class D> HWY_INLINE Complex<D> times(D, Complex<D> a, Complex<D> w) {
  return {hn::NegMulAdd(a.i, w.i, hn::Mul(a.r, w.r)), hn::MulAdd(a.i, w.r, hn::Mul(a.r, w.i))};
}
template <class D> HWY_INLINE Complex<D> times(D d, Complex<D> a, double wr, double wi) {
  using T = hn::TFromD<D>;
  return times(d, a, Complex<D>{hn::Set(d, static_cast<T>(wr)), hn::Set(d, static_cast<T>(wi))});
}
// The turn: -i a, a - i b, a + i b; c a, a + c b, a - c b; a - i c b, a + i c b.
template <class D> HWY_INLINE Complex<D> turned(D, Complex<D> a) { return {a.i, hn::Neg(a.r)}; }
template <class D> HWY_INLINE Complex<D> add_turned(D, Complex<D> a, Complex<D> b) {
  return {hn::Add(a.r, b.i), hn::Sub(a.i, b.r)};
}
template <class D> HWY_INLINE Complex<D> sub_turned(D, Complex<D> a, Complex<D> b) {
  return {hn::Sub(a.r, b.i), hn::Add(a.i, b.r)};
}
template <class D> HWY_INLINE Complex<D> multiple(D d, double c, Complex<D> a) {
  const auto by = hn::Set(d, static_cast<hn::TFromD<D>>(c));
  return {hn::Mul(by, a.r), hn::Mul(by, a.i)};
}
template <class D> HWY_INLINE Complex<D> add_multiple(D d, Complex<D> a, double c, Complex<D> b) {
  const auto by = hn::Set(d, static_cast<hn::TFromD<D>>(c));
  return {hn::MulAdd(by, b.r, a.r), hn::MulAdd(by, b.i, a.i)};
}
template <class D> HWY_INLINE Complex<D> sub_multiple(D d, Complex<D> a, double c, Complex<D> b) {
  const auto by = hn::Set(d, static_cast<hn::TFromD<D>>(c));
  return {hn::NegMulAdd(by, b.r, a.r), hn::NegMulAdd(by, b.i, a.i)};
}
template <class D> HWY_INLINE Complex<D> add_turned_multiple(D d, Complex<D> a, double c, Complex<D> b) {
  const auto by = hn::Set(d, static_cast<hn::TFromD<D>>(c));
  return {hn::MulAdd(by, b.i, a.r), hn::NegMulAdd(by, b.r, a.i)};
}
template <class D> HWY_INLINE Complex<D> sub_turned_multiple(D d, Complex<D> a, double c, Complex<D> b) {
  const auto by = hn::Set(d, static_cast<hn::TFromD<D>>(c));
  return {hn::NegMulAdd(by, b.i, a.r), hn::MulAdd(by, b.r, a.i)};
}

// The same for pairs. A product with 1 or -1 is exact, so a fused multiply-add with `turn` is an addition.
template <class D> HWY_INLINE hn::Vec<D> exchanged(const Pairs<D>& d, PairVector<D> a) {
  static_cast<void>(d);
#if HWY_TARGET == HWY_SCALAR
  return a.v;  // never run: without vectors there are no pairs
#else
  return hn::Reverse2(d.tag, a.v);
#endif
}
template <class D> HWY_INLINE hn::Vec<D> constant(const Pairs<D>& d, double c) {
  return hn::Set(d.tag, static_cast<hn::TFromD<D>>(c));
}
template <class D> HWY_INLINE hn::Vec<D> turned_constant(const Pairs<D>& d, double c) {
  return hn::Mul(d.turn, constant(d, c));
}
template <class D> HWY_INLINE PairVector<D> add(const Pairs<D>&, PairVector<D> a, PairVector<D> b) {
  return {hn::Add(a.v, b.v)};
}
template <class D> HWY_INLINE PairVector<D> sub(const Pairs<D>&, PairVector<D> a, PairVector<D> b) {
  return {hn::Sub(a.v, b.v)};
}
template <class D> HWY_INLINE PairVector<D> turned(const Pairs<D>& d, PairVector<D> a) {
  return {hn::Mul(d.turn, exchanged(d, a))};
}
template <class D> HWY_INLINE PairVector<D> add_turned(const Pairs<D>& d, PairVector<D> a, PairVector<D> b) {
  return {hn::MulAdd(d.turn, exchanged(d, b), a.v)};
}
template <class D> HWY_INLINE PairVector<D> sub_turned(const Pairs<D>& d, PairVector<D> a, PairVector<D> b) {
  return {hn::NegMulAdd(d.turn, exchanged(d, b), a.v)};
}
template <class D> HWY_INLINE PairVector<D> multiple(const Pairs<D>& d, double c, PairVector<D> a) {
  return {hn::Mul(constant(d, c), a.v)};
}
template <class D>
HWY_INLINE PairVector<D> add_multiple(const Pairs<D>& d, PairVector<D> a, double c, PairVector<D> b) {
  return {hn::MulAdd(constant(d, c), b.v, a.v)};
}
template <class D>
HWY_INLINE PairVector<D> sub_multiple(const Pairs<D>& d, PairVector<D> a, double c, PairVector<D> b) {
  return {hn::NegMulAdd(constant(d, c), b.v, a.v)};
}
template <class D>
HWY_INLINE PairVector<D> add_turned_multiple(const Pairs<D>& d, PairVector<D> a, double c, PairVector<D> b) {
  return {hn::MulAdd(turned_constant(d, c), exchanged(d, b), a.v)};
}
template <class D>
HWY_INLINE PairVector<D> sub_turned_multiple(const Pairs<D>& d, PairVector<D> a, double c, PairVector<D> b) {
  return {hn::NegMulAdd(turned_constant(d, c), exchanged(d, b), a.v)};
}
// wr + i wi in the forward direction, its conjugate in the other.
template <class D> HWY_INLINE PairVector<D> times(const Pairs<D>& d, PairVector<D> a, double wr, double wi) {
  return sub_turned_multiple(d, multiple(d, wr, a), wi, a);
}
// Of numbers w = c - i s: re = c, c, ..., turned_im = s * turn.
template <class D>
HWY_INLINE PairVector<D> times(const Pairs<D>& d, PairVector<D> a, hn::Vec<D> re, hn::Vec<D> turned_im) {
  return {hn::MulAdd(turned_im, exchanged(d, a), hn::Mul(re, a.v))};
}

template <class D> HWY_INLINE void dft2(const D& d, C<D>& a, C<D>& b) {
  const C<D> s = add(d, a, b);
  b = sub(d, a, b);
  a = s;
}

// (a, b, c, d) become X_0, X_1, X_2, X_3.
template <class D> HWY_INLINE void dft4(const D& d, C<D>& x0, C<D>& x1, C<D>& x2, C<D>& x3) {
  const C<D> a = add(d, x0, x2), b = sub(d, x0, x2), c = add(d, x1, x3), e = sub(d, x1, x3);
  x0 = add(d, a, c);
  x2 = sub(d, a, c);
  x1 = add_turned(d, b, e);
  x3 = sub_turned(d, b, e);
}

template <class D> HWY_INLINE void dft3(const D& d, C<D>& x0, C<D>& x1, C<D>& x2) {
  constexpr double sine = 0.86602540378443864676;
  const C<D> a = add(d, x1, x2), b = sub(d, x1, x2), m = sub_multiple(d, x0, 0.5, a);
  x0 = add(d, x0, a);
  x1 = add_turned_multiple(d, m, sine, b);
  x2 = sub_turned_multiple(d, m, sine, b);
}

// Two halves of four; the eighth roots (1 - i) h and -(1 + i) h, h = sqrt(1/2), cost an addition and two fused
// multiply-adds each.
template <class D> HWY_INLINE void dft8(const D& d, C<D>* x) {
  constexpr double h = 0.70710678118654752440;
  dft4(d, x[0], x[2], x[4], x[6]);
  dft4(d, x[1], x[3], x[5], x[7]);
  const C<D> e0 = x[0], e1 = x[2], e2 = x[4], e3 = x[6], o0 = x[1], o1 = x[3], o2 = x[5], o3 = x[7];
  x[0] = add(d, e0, o0);
  x[4] = sub(d, e0, o0);
  x[2] = add_turned(d, e2, o2);
  x[6] = sub_turned(d, e2, o2);
  const C<D> p1 = add_turned(d, o1, o1), p3 = sub_turned(d, o3, o3);
  x[1] = add_multiple(d, e1, h, p1);
  x[5] = sub_multiple(d, e1, h, p1);
  x[3] = sub_multiple(d, e3, h, p3);
  x[7] = add_multiple(d, e3, h, p3);
}

// Sixteen as four by four. x[q + 4 p] has been through the transforms of four over p: the twiddles in between, ...
template <class D> HWY_INLINE void dft16_turn(const D& d, C<D>* x) {
  constexpr double c = 0.92387953251128675613, s = 0.38268343236508977173, h = 0.70710678118654752440;
  x[5] = times(d, x[5], c, -s);
  x[6] = times(d, x[6], h, -h);
  x[7] = times(d, x[7], s, -c);
  x[9] = times(d, x[9], h, -h);
  x[10] = turned(d, x[10]);
  x[11] = times(d, x[11], -h, -h);
  x[13] = times(d, x[13], s, -c);
  x[14] = times(d, x[14], -h, -h);
  x[15] = times(d, x[15], -c, s);
}
// ... and the transforms over q: out(t, k, X_(t + 4 k)), each as soon as it is there.
template <class D, class Out> HWY_INLINE void dft16_finish(const D& d, C<D>* x, const Out& out) {
  HWY_UNROLL(4)
  for (int t = 0; t < 4; ++t) {
    dft4(d, x[4 * t], x[4 * t + 1], x[4 * t + 2], x[4 * t + 3]);
    HWY_UNROLL(4)
    for (int k = 0; k < 4; ++k) out(t, k, x[4 * t + k]);
  }
}
template <class D> HWY_INLINE void dft16(const D& d, C<D>* x) {
  C<D> y[16];
  HWY_UNROLL(4)
  for (int q = 0; q < 4; ++q) dft4(d, x[q], x[q + 4], x[q + 8], x[q + 12]);
  dft16_turn(d, x);
  dft16_finish(d, x, [&](int t, int k, C<D> z) HWY_ATTR { y[t + 4 * k] = z; });
  HWY_UNROLL(16)
  for (int k = 0; k < 16; ++k) x[k] = y[k];
}

template <class D> HWY_INLINE void dft9(const D& d, C<D>* x) {
  constexpr double c1 = 0.7660444431189780352, s1 = 0.64278760968653932632, c2 = 0.17364817766693034885,
                   s2 = 0.98480775301220805937, c4 = -0.93969262078590838405, s4 = 0.34202014332566873304;
  for (int q = 0; q < 3; ++q) dft3(d, x[q], x[q + 3], x[q + 6]);
  x[4] = times(d, x[4], c1, -s1);
  x[5] = times(d, x[5], c2, -s2);
  x[7] = times(d, x[7], c2, -s2);
  x[8] = times(d, x[8], c4, -s4);
  for (int t = 0; t < 3; ++t) dft3(d, x[3 * t], x[3 * t + 1], x[3 * t + 2]);
  const C<D> y1 = x[1], y2 = x[2], y5 = x[5];
  x[1] = x[3];
  x[2] = x[6];
  x[3] = y1;
  x[5] = x[7];
  x[6] = y2;
  x[7] = y5;
}

// cos and sin of 2 pi j/p, j = 1 .. (p-1)/2.
template <int P> struct Roots;
template <> struct Roots<5> {
  static constexpr double c[] = {0.3090169943749474241, -0.8090169943749474241},
                          s[] = {0.95105651629515357212, 0.58778525229247312917};
};
template <> struct Roots<7> {
  static constexpr double c[] = {0.62348980185873353053, -0.22252093395631440429, -0.90096886790241912624},
                          s[] = {0.78183148246802980871, 0.97492791218182360702, 0.43388373911755812048};
};
template <> struct Roots<11> {
  static constexpr double c[] = {0.84125353283118116886, 0.41541501300188642553, -0.14231483827328514044,
                                 -0.65486073394528506406, -0.95949297361449738989},
                          s[] = {0.54064081745559758211, 0.90963199535451837141, 0.98982144188093273238,
                                 0.75574957435425828377, 0.28173255684142969771};
};
template <> struct Roots<13> {
  static constexpr double c[] = {0.8854560256532098959,   0.56806474673115580251,  0.12053668025532305335,
                                 -0.35460488704253562597, -0.74851074817110109863, -0.97094181742605202716},
                          s[] = {0.46472317204376854566, 0.82298386589365639458, 0.9927088740980539928,
                                 0.93501624268541482344, 0.66312265824079520238, 0.23931566428755776715};
};

template <int P, class D> HWY_INLINE void dft_prime(const D& d, C<D>* x) {
  constexpr int h = (P - 1) / 2;
  C<D> a[h], b[h], y[P];
  C<D> sum = x[0];
  HWY_UNROLL(8)
  for (int j = 0; j < h; ++j) {
    a[j] = add(d, x[j + 1], x[P - 1 - j]);
    b[j] = sub(d, x[j + 1], x[P - 1 - j]);
    sum = add(d, sum, a[j]);
  }
  y[0] = sum;
  HWY_UNROLL(8)
  for (int k = 1; k <= h; ++k) {
    C<D> even = add_multiple(d, x[0], Roots<P>::c[k - 1], a[0]), odd = multiple(d, Roots<P>::s[k - 1], b[0]);
    HWY_UNROLL(8)
    for (int j = 2; j <= h; ++j) {
      const int e = j * k % P, f = e <= h ? e : P - e;
      even = add_multiple(d, even, Roots<P>::c[f - 1], a[j - 1]);
      if (e <= h)
        odd = add_multiple(d, odd, Roots<P>::s[f - 1], b[j - 1]);
      else
        odd = sub_multiple(d, odd, Roots<P>::s[f - 1], b[j - 1]);
    }
    y[k] = add_turned(d, even, odd);
    y[P - k] = sub_turned(d, even, odd);
  }
  HWY_UNROLL(16)
  for (int k = 0; k < P; ++k) x[k] = y[k];
}

template <int R, class D> HWY_INLINE void dft(const D& d, C<D>* x);

// R = A B, coprime: input j = (B a + A b) mod R, output k = the number with k mod A = k_a, k mod B = k_b; then w^(jk)
// is a product of an A-th and a B-th root with exponents a k_a and b k_b.
template <int A, int B, class D> HWY_INLINE void dft_coprime(const D& d, C<D>* x) {
  constexpr int R = A * B;
  C<D> y[R];
  HWY_UNROLL(8)
  for (int b = 0; b < B; ++b) {
    C<D> u[A];
    HWY_UNROLL(8)
    for (int a = 0; a < A; ++a) u[a] = x[(B * a + A * b) % R];
    dft<A>(d, u);
    HWY_UNROLL(8)
    for (int a = 0; a < A; ++a) y[a * B + b] = u[a];
  }
  HWY_UNROLL(8)
  for (int a = 0; a < A; ++a) {
    dft<B>(d, y + a * B);
    HWY_UNROLL(8)
    for (int b = 0; b < B; ++b) {
      // 0 <= k < R with k = a mod A and k = b mod B
      int k = a;
      for (int step = 0; step < B; ++step)
        if ((a + step * A) % B == b) k = a + step * A;
      x[k] = y[a * B + b];
    }
  }
}

template <int R, class D> HWY_INLINE void dft(const D& d, C<D>* x) {
  if constexpr (R == 2) dft2(d, x[0], x[1]);
  if constexpr (R == 3) dft3(d, x[0], x[1], x[2]);
  if constexpr (R == 4) dft4(d, x[0], x[1], x[2], x[3]);
  if constexpr (R == 5 || R == 7 || R == 11 || R == 13) dft_prime<R>(d, x);
  if constexpr (R == 8) dft8(d, x);
  if constexpr (R == 9) dft9(d, x);
  if constexpr (R == 16) dft16(d, x);
  if constexpr (coprime_factor(R) != 0) dft_coprime<coprime_factor(R), R / coprime_factor(R)>(d, x);
}

}  // namespace trn::fft::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
