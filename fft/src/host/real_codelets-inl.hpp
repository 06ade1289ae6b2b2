// Codelets of real lines: DFTs of real points and their inverses, half the work of the complex ones, every lane its own
// transform.
//
//   real_dft<N>  y_k = sum_j x_j w^(jk), k = 0 .. N/2, w = exp(-2 pi i/N); of y_0 and, for even N, y_(N/2) the
//     imaginary parts, zeros, are not set
//   half_dft<N>  x_j = sum_k Y_k w^(-jk), Y the Hermitian extension of y; those two imaginary parts are not read
//
// The ways of codelets-inl.hpp, each with what the symmetry Y_(N-k) = conj Y_k leaves of it. Powers of two: two halves
// E, O of even and odd j,
//   y_k = E_k + w^k O_k,  y_(N/2-k) = conj(E_k - w^k O_k);   back  E_k = Y_k + conj Y_(N/2-k),  O_k = w^-k (Y_k - conj
//     Y_(N/2-k)).
// Coprime N = A B: B real transforms of A points, of whose results k_a = 0 (and A/2) are real, k_a = 1 .. (A-1)/2 go
// through complex transforms of B points. Odd primes: the sums of codelets-inl.hpp, of real numbers. 9 = 3 x 3.
#if defined(TRN_FFT_REAL_CODELETS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TRN_FFT_REAL_CODELETS_INL
#undef TRN_FFT_REAL_CODELETS_INL
#else
#define TRN_FFT_REAL_CODELETS_INL
#endif

#include <hwy/highway.h>

#include "host/codelets-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trn::fft::host::HWY_NAMESPACE {

template <class D> HWY_INLINE C<D> conjugate(D, C<D> x) { return {x.r, hn::Neg(x.i)}; }
// sum_j x_j w^(-jk): the parts exchanged on both sides.
template <int R, class D> HWY_INLINE void inverse_dft(D d, C<D>* x) {
  C<D> y[R];
  HWY_UNROLL(16)
  for (int j = 0; j < R; ++j) y[j] = {x[j].i, x[j].r};
  dft<R>(d, y);
  HWY_UNROLL(16)
  for (int j = 0; j < R; ++j) x[j] = {y[j].i, y[j].r};
}

// 0 <= k < A B with k = a mod A and k = b mod B.
constexpr int chinese(int a, int b, int A, int B) {
  int k = a;
  while (k % B != b) k += A;
  return k;
}

template <int N> struct Turns;  // cos and sin of 2 pi k/N, k = 1 .. N/4 - 1
template <> struct Turns<16> {
  static constexpr double c[] = {0.92387953251128675613, 0.70710678118654752440, 0.38268343236508977173};
  static constexpr double s[] = {0.38268343236508977173, 0.70710678118654752440, 0.92387953251128675613};
};
template <> struct Turns<32> {
  static constexpr double c[] = {0.98078528040323044913, 0.92387953251128675613, 0.83146961230254523708,
                                 0.70710678118654752440, 0.55557023301960222474, 0.38268343236508977173,
                                 0.19509032201612826785};
  static constexpr double s[] = {0.19509032201612826785, 0.38268343236508977173, 0.55557023301960222474,
                                 0.70710678118654752440, 0.83146961230254523708, 0.92387953251128675613,
                                 0.98078528040323044913};
};
inline constexpr double kNinthCos[] = {1, 0.7660444431189780352, 0.17364817766693034885},
                        kNinthSin[] = {0, 0.64278760968653932632, 0.98480775301220805937};

template <int N, class D> HWY_INLINE void real_dft(D d, const hn::Vec<D>* x, C<D>* y);
template <int N, class D> HWY_INLINE void half_dft(D d, const C<D>* y, hn::Vec<D>* x);

template <int P, class D> HWY_INLINE void real_dft_prime(D d, const hn::Vec<D>* x, C<D>* y) {
  using T = hn::TFromD<D>;
  constexpr int h = (P - 1) / 2;
  hn::Vec<D> a[h], b[h], sum = x[0];
  HWY_UNROLL(8)
  for (int j = 0; j < h; ++j) {
    a[j] = hn::Add(x[j + 1], x[P - 1 - j]);
    b[j] = hn::Sub(x[P - 1 - j], x[j + 1]);
    sum = hn::Add(sum, a[j]);
  }
  y[0].r = sum;
  HWY_UNROLL(8)
  for (int k = 1; k <= h; ++k) {
    hn::Vec<D> even = x[0], odd = hn::Zero(d);
    HWY_UNROLL(8)
    for (int j = 1; j <= h; ++j) {
      const int e = j * k % P, f = e <= h ? e : P - e;
      const auto c = hn::Set(d, static_cast<T>(Roots<P>::c[f - 1])), s = hn::Set(d, static_cast<T>(Roots<P>::s[f - 1]));
      even = hn::MulAdd(c, a[j - 1], even);
      odd = j == 1 ? hn::Mul(s, b[0]) : e <= h ? hn::MulAdd(s, b[j - 1], odd) : hn::NegMulAdd(s, b[j - 1], odd);
    }
    y[k] = {even, odd};
  }
}
template <int P, class D> HWY_INLINE void half_dft_prime(D d, const C<D>* y, hn::Vec<D>* x) {
  using T = hn::TFromD<D>;
  constexpr int h = (P - 1) / 2;
  hn::Vec<D> a[h], b[h], sum = y[0].r;
  HWY_UNROLL(8)
  for (int k = 0; k < h; ++k) {
    a[k] = hn::Add(y[k + 1].r, y[k + 1].r);
    b[k] = hn::Add(y[k + 1].i, y[k + 1].i);
    sum = hn::Add(sum, a[k]);
  }
  x[0] = sum;
  HWY_UNROLL(8)
  for (int j = 1; j <= h; ++j) {
    hn::Vec<D> even = y[0].r, odd = hn::Zero(d);
    HWY_UNROLL(8)
    for (int k = 1; k <= h; ++k) {
      const int e = j * k % P, f = e <= h ? e : P - e;
      const auto c = hn::Set(d, static_cast<T>(Roots<P>::c[f - 1])), s = hn::Set(d, static_cast<T>(Roots<P>::s[f - 1]));
      even = hn::MulAdd(c, a[k - 1], even);
      odd = k == 1 ? hn::Mul(s, b[0]) : e <= h ? hn::MulAdd(s, b[k - 1], odd) : hn::NegMulAdd(s, b[k - 1], odd);
    }
    x[j] = hn::Sub(even, odd);
    x[P - j] = hn::Add(even, odd);
  }
}

template <class D> HWY_INLINE void real_dft3(D d, hn::Vec<D> x0, hn::Vec<D> x1, hn::Vec<D> x2, C<D>& y0, C<D>& y1) {
  using T = hn::TFromD<D>;
  const auto half = hn::Set(d, T(0.5)), sine = hn::Set(d, static_cast<T>(0.86602540378443864676)),
             sum = hn::Add(x1, x2);
  y0.r = hn::Add(x0, sum);
  y1 = {hn::NegMulAdd(half, sum, x0), hn::Mul(sine, hn::Sub(x2, x1))};
}
template <class D>
HWY_INLINE void half_dft3(D d, hn::Vec<D> y0, C<D> y1, hn::Vec<D>& x0, hn::Vec<D>& x1, hn::Vec<D>& x2) {
  using T = hn::TFromD<D>;
  const auto root = hn::Set(d, static_cast<T>(1.73205080756887729353)), m = hn::Sub(y0, y1.r);
  x0 = hn::Add(y0, hn::Add(y1.r, y1.r));
  x1 = hn::NegMulAdd(root, y1.i, m);
  x2 = hn::MulAdd(root, y1.i, m);
}

// j = 3 p + q, k = t + 3 k2.
template <class D> HWY_INLINE void real_dft9(D d, const hn::Vec<D>* x, C<D>* y) {
  C<D> a[3], b[3], sum[2];
  for (int q = 0; q < 3; ++q) real_dft3(d, x[q], x[q + 3], x[q + 6], a[q], b[q]);
  for (int q = 1; q < 3; ++q) b[q] = times(d, b[q], kNinthCos[q], -kNinthSin[q]);
  real_dft3(d, a[0].r, a[1].r, a[2].r, sum[0], sum[1]);
  dft3(d, b[0], b[1], b[2]);
  y[0].r = sum[0].r;
  y[1] = b[0];
  y[2] = conjugate(d, b[2]);
  y[3] = sum[1];
  y[4] = b[1];
}
template <class D> HWY_INLINE void half_dft9(D d, const C<D>* y, hn::Vec<D>* x) {
  hn::Vec<D> a[3];
  C<D> b[3] = {y[1], y[4], conjugate(d, y[2])};
  half_dft3(d, y[0].r, y[3], a[0], a[1], a[2]);
  inverse_dft<3>(d, b);
  for (int q = 1; q < 3; ++q) b[q] = times(d, b[q], kNinthCos[q], kNinthSin[q]);
  for (int q = 0; q < 3; ++q) half_dft3(d, a[q], b[q], x[q], x[q + 3], x[q + 6]);
}

template <int N, class D> HWY_INLINE void real_dft_halves(D d, const hn::Vec<D>* x, C<D>* y) {
  constexpr int h = N / 2;
  hn::Vec<D> even[h], odd[h];
  C<D> e[h / 2 + 1], o[h / 2 + 1];
  HWY_UNROLL(16)
  for (int j = 0; j < h; ++j) {
    even[j] = x[2 * j];
    odd[j] = x[2 * j + 1];
  }
  real_dft<h>(d, even, e);
  real_dft<h>(d, odd, o);
  y[0].r = hn::Add(e[0].r, o[0].r);
  y[h].r = hn::Sub(e[0].r, o[0].r);
  y[h / 2] = {e[h / 2].r, hn::Neg(o[h / 2].r)};
  if constexpr (N == 8) {
    const auto root = hn::Set(d, static_cast<hn::TFromD<D>>(0.70710678118654752440)), p = hn::Add(o[1].r, o[1].i),
               m = hn::Sub(o[1].i, o[1].r);
    y[1] = {hn::MulAdd(root, p, e[1].r), hn::MulAdd(root, m, e[1].i)};
    y[3] = {hn::NegMulAdd(root, p, e[1].r), hn::MulSub(root, m, e[1].i)};
  } else {
    HWY_UNROLL(8)
    for (int k = 1; k < h / 2; ++k) {
      const C<D> turned = times(d, o[k], Turns<N>::c[k - 1], -Turns<N>::s[k - 1]);
      y[k] = add(d, e[k], turned);
      y[h - k] = {hn::Sub(e[k].r, turned.r), hn::Sub(turned.i, e[k].i)};
    }
  }
}
template <int N, class D> HWY_INLINE void half_dft_halves(D d, const C<D>* y, hn::Vec<D>* x) {
  constexpr int h = N / 2;
  hn::Vec<D> even[h], odd[h];
  C<D> e[h / 2 + 1], o[h / 2 + 1];
  e[0].r = hn::Add(y[0].r, y[h].r);
  o[0].r = hn::Sub(y[0].r, y[h].r);
  e[h / 2].r = hn::Add(y[h / 2].r, y[h / 2].r);
  o[h / 2].r = hn::Neg(hn::Add(y[h / 2].i, y[h / 2].i));
  HWY_UNROLL(8)
  for (int k = 1; k < h / 2; ++k) {
    e[k] = {hn::Add(y[k].r, y[h - k].r), hn::Sub(y[k].i, y[h - k].i)};
    const C<D> difference = {hn::Sub(y[k].r, y[h - k].r), hn::Add(y[k].i, y[h - k].i)};
    if constexpr (N == 8) {
      const auto root = hn::Set(d, static_cast<hn::TFromD<D>>(0.70710678118654752440));
      o[k] = {hn::Mul(root, hn::Sub(difference.r, difference.i)), hn::Mul(root, hn::Add(difference.r, difference.i))};
    } else {
      o[k] = times(d, difference, Turns<N>::c[k - 1], Turns<N>::s[k - 1]);
    }
  }
  half_dft<h>(d, e, even);
  half_dft<h>(d, o, odd);
  HWY_UNROLL(16)
  for (int j = 0; j < h; ++j) {
    x[2 * j] = even[j];
    x[2 * j + 1] = odd[j];
  }
}

// N = A B, A odd: input j = (B a + A b) mod N, output k with k mod A = k_a, k mod B = k_b; those above N/2 are given by
// their mirror images.
template <int A, int B, class D> HWY_INLINE void real_dft_coprime(D d, const hn::Vec<D>* x, C<D>* y) {
  constexpr int N = A * B;
  hn::Vec<D> first[B];
  C<D> rest[A / 2][B];
  HWY_UNROLL(8)
  for (int b = 0; b < B; ++b) {
    hn::Vec<D> u[A];
    C<D> v[A / 2 + 1];
    HWY_UNROLL(16)
    for (int a = 0; a < A; ++a) u[a] = x[(B * a + A * b) % N];
    real_dft<A>(d, u, v);
    first[b] = v[0].r;
    HWY_UNROLL(8)
    for (int a = 1; a <= A / 2; ++a) rest[a - 1][b] = v[a];
  }
  const auto put = [&](int k, C<D> z) HWY_ATTR {
    if (2 * k > N)
      y[N - k] = conjugate(d, z);
    else
      y[k] = z;
  };
  C<D> v[B / 2 + 1];
  real_dft<B>(d, first, v);
  y[0].r = v[0].r;
  HWY_UNROLL(8)
  for (int b = 1; b <= B / 2; ++b) {
    if (2 * b == B)
      y[chinese(0, b, A, B)].r = v[b].r;
    else
      put(chinese(0, b, A, B), v[b]);
  }
  HWY_UNROLL(8)
  for (int a = 1; a <= A / 2; ++a) {
    dft<B>(d, rest[a - 1]);
    HWY_UNROLL(8)
    for (int b = 0; b < B; ++b) put(chinese(a, b, A, B), rest[a - 1][b]);
  }
}
template <int A, int B, class D> HWY_INLINE void half_dft_coprime(D d, const C<D>* y, hn::Vec<D>* x) {
  constexpr int N = A * B;
  const auto take = [&](int k) HWY_ATTR { return 2 * k > N ? conjugate(d, y[N - k]) : y[k]; };
  hn::Vec<D> first[B];
  C<D> v[B / 2 + 1], rest[A / 2][B];
  v[0].r = y[0].r;
  HWY_UNROLL(8)
  for (int b = 1; b <= B / 2; ++b) {
    if (2 * b == B)
      v[b].r = y[chinese(0, b, A, B)].r;
    else
      v[b] = take(chinese(0, b, A, B));
  }
  half_dft<B>(d, v, first);
  HWY_UNROLL(8)
  for (int a = 1; a <= A / 2; ++a) {
    HWY_UNROLL(8)
    for (int b = 0; b < B; ++b) rest[a - 1][b] = take(chinese(a, b, A, B));
    inverse_dft<B>(d, rest[a - 1]);
  }
  HWY_UNROLL(8)
  for (int b = 0; b < B; ++b) {
    C<D> u[A / 2 + 1];
    hn::Vec<D> line[A];
    u[0].r = first[b];
    HWY_UNROLL(8)
    for (int a = 1; a <= A / 2; ++a) u[a] = rest[a - 1][b];
    half_dft<A>(d, u, line);
    HWY_UNROLL(16)
    for (int a = 0; a < A; ++a) x[(B * a + A * b) % N] = line[a];
  }
}

template <int N, class D> HWY_INLINE void real_dft(D d, const hn::Vec<D>* x, C<D>* y) {
  if constexpr (N == 1) {
    y[0].r = x[0];
  } else if constexpr (N == 2) {
    y[0].r = hn::Add(x[0], x[1]);
    y[1].r = hn::Sub(x[0], x[1]);
  } else if constexpr (N == 3) {
    real_dft3(d, x[0], x[1], x[2], y[0], y[1]);
  } else if constexpr (N == 4) {
    const auto a = hn::Add(x[0], x[2]), c = hn::Add(x[1], x[3]);
    y[1] = {hn::Sub(x[0], x[2]), hn::Sub(x[3], x[1])};
    y[0].r = hn::Add(a, c);
    y[2].r = hn::Sub(a, c);
  } else if constexpr (N == 8 || N == 16 || N == 32) {
    real_dft_halves<N>(d, x, y);
  } else if constexpr (N == 9) {
    real_dft9(d, x, y);
  } else if constexpr (coprime_factor(N) != 0) {
    real_dft_coprime<coprime_factor(N), N / coprime_factor(N)>(d, x, y);
  } else {
    real_dft_prime<N>(d, x, y);
  }
}
template <int N, class D> HWY_INLINE void half_dft(D d, const C<D>* y, hn::Vec<D>* x) {
  if constexpr (N == 1) {
    x[0] = y[0].r;
  } else if constexpr (N == 2) {
    x[0] = hn::Add(y[0].r, y[1].r);
    x[1] = hn::Sub(y[0].r, y[1].r);
  } else if constexpr (N == 3) {
    half_dft3(d, y[0].r, y[1], x[0], x[1], x[2]);
  } else if constexpr (N == 4) {
    const auto a = hn::Add(y[0].r, y[2].r), b = hn::Sub(y[0].r, y[2].r), c = hn::Add(y[1].r, y[1].r),
               e = hn::Add(y[1].i, y[1].i);
    x[0] = hn::Add(a, c);
    x[1] = hn::Sub(b, e);
    x[2] = hn::Sub(a, c);
    x[3] = hn::Add(b, e);
  } else if constexpr (N == 8 || N == 16 || N == 32) {
    half_dft_halves<N>(d, y, x);
  } else if constexpr (N == 9) {
    half_dft9(d, y, x);
  } else if constexpr (coprime_factor(N) != 0) {
    half_dft_coprime<coprime_factor(N), N / coprime_factor(N)>(d, y, x);
  } else {
    half_dft_prime<N>(d, y, x);
  }
}

// A codelet from load(j), j < N, to store(k, y_k), k = 0 .. N/2, with zeros where a point is its own mirror image; or
// back, from load(k) to store(j, x_j).
template <int N, bool kThere, class D, class Load, class Store>
HWY_INLINE void real_codelet(D d, const Load& load, const Store& store) {
  hn::Vec<D> x[N];
  C<D> y[N / 2 + 1];
  if constexpr (kThere) {
    HWY_UNROLL(32)
    for (int j = 0; j < N; ++j) x[j] = load(j);
    real_dft<N>(d, x, y);
    y[0].i = hn::Zero(d);
    if constexpr (N % 2 == 0) y[N / 2].i = hn::Zero(d);
    HWY_UNROLL(32)
    for (int k = 0; k <= N / 2; ++k) store(k, y[k]);
  } else {
    HWY_UNROLL(32)
    for (int k = 0; k <= N / 2; ++k) y[k] = load(k);
    half_dft<N>(d, y, x);
    HWY_UNROLL(32)
    for (int j = 0; j < N; ++j) store(j, x[j]);
  }
}

}  // namespace trn::fft::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
