// Passes over a block of rows: the loops around the codelets, and the sequence of passes that is a transform.
//
// Rows are vectors. In the planar form a row's re and im are at two addresses; in the interleaved form re and im
// alternate in memory and are parted on the way in, joined on the way out. Blocks in scratch are planar with rows [re
// lanes][im lanes]. A radix-r pass loads and stores every point once and does (r - 1)/r twiddle products a point.
#if defined(TRN_FFT_PASSES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TRN_FFT_PASSES_INL
#undef TRN_FFT_PASSES_INL
#else
#define TRN_FFT_PASSES_INL
#endif

#include <hwy/highway.h>

#include <cstdint>

#include "host/codelets-inl.hpp"
#include "host/line_plan.hpp"
#include "host/schedule.hpp"

HWY_BEFORE_NAMESPACE();
namespace trn::fft::host::HWY_NAMESPACE {

// Rows of `lanes` complex numbers: row j has its first re at re[j * stride], im likewise. Interleaved: neighbours in
// the lanes are two reals apart and im == re + 1, or re - 1 (the inverse transform's exchange); planar: one real apart.
template <class T> struct Rows {
  T *re, *im;
  std::int64_t stride;
  bool interleaved = false;
};

enum class Form { Planar, Interleaved };
// Twiddles: none, one number for all lanes, one for each lane; or one of these, as PassArgs::turn says.
enum class Turn { None, Numbers, Vectors, Any };

template <class T> struct PassArgs {
  const T *in_re, *in_im;
  T *out_re, *out_im;
  std::int64_t in_stride, out_stride, in_leg, out_leg, l, m;  // legs: between the points of a butterfly
  const T *twiddles, *constants;
  const T* post;  // Turn::Vectors: a vector for every row of the result
  int radix;
  bool swap_in, swap_out, scaled;
  T factor;
  Turn turn = Turn::None;
};

// Interleaved rows are for the widest vectors only: the code for each form is large.
template <class D> constexpr bool kTakesInterleaved = kWidth<D> > 1 && kWidth<D> == kWidest<hn::TFromD<D>>;

template <class D> HWY_INLINE void load_pairs(D d, const hn::TFromD<D>* p, hn::Vec<D>& first, hn::Vec<D>& second) {
  const auto a = hn::LoadU(d, p), b = hn::LoadU(d, p + hn::MaxLanes(d));
  first = a;
  second = b;
#if HWY_TARGET != HWY_SCALAR
  if constexpr (hn::MaxLanes(D()) > 1) {
    first = hn::ConcatEven(d, b, a);
    second = hn::ConcatOdd(d, b, a);
  }
#endif
}
// Two vectors as pairs, in the order of memory.
template <class D> HWY_INLINE void join_pairs([[maybe_unused]] D d, hn::Vec<D> first, hn::Vec<D> second,
                                              hn::Vec<D>& lower, hn::Vec<D>& upper) {
  using V [[maybe_unused]] = hn::Vec<D>;
  lower = first;
  upper = second;
#if HWY_TARGET != HWY_SCALAR
#if HWY_TARGET <= HWY_AVX3
  if constexpr (sizeof(V) == 64 && sizeof(hn::TFromD<D>) == 4) {
    lower = V{_mm512_permutex2var_ps(
        first.raw, _mm512_set_epi32(23, 7, 22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0), second.raw)};
    upper = V{_mm512_permutex2var_ps(
        first.raw, _mm512_set_epi32(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8), second.raw)};
    return;
  } else if constexpr (sizeof(V) == 64 && sizeof(hn::TFromD<D>) == 8) {
    lower = V{_mm512_permutex2var_pd(first.raw, _mm512_set_epi64(11, 3, 10, 2, 9, 1, 8, 0), second.raw)};
    upper = V{_mm512_permutex2var_pd(first.raw, _mm512_set_epi64(15, 7, 14, 6, 13, 5, 12, 4), second.raw)};
    return;
  } else if constexpr (sizeof(V) == 32 && sizeof(hn::TFromD<D>) == 4) {
    lower = V{_mm256_permutex2var_ps(first.raw, _mm256_set_epi32(11, 3, 10, 2, 9, 1, 8, 0), second.raw)};
    upper = V{_mm256_permutex2var_ps(first.raw, _mm256_set_epi32(15, 7, 14, 6, 13, 5, 12, 4), second.raw)};
    return;
  } else if constexpr (sizeof(V) == 32 && sizeof(hn::TFromD<D>) == 8) {
    lower = V{_mm256_permutex2var_pd(first.raw, _mm256_set_epi64x(5, 1, 4, 0), second.raw)};
    upper = V{_mm256_permutex2var_pd(first.raw, _mm256_set_epi64x(7, 3, 6, 2), second.raw)};
    return;
  }
#endif
  if constexpr (hn::MaxLanes(D()) > 1) {
    lower = hn::InterleaveLower(d, first, second);
    upper = hn::InterleaveUpper(d, first, second);
    if constexpr (hn::MaxLanes(D()) * sizeof(hn::TFromD<D>) == 32) {  // both hold halves of both
      const V a = lower, b = upper;
      lower = hn::ConcatLowerLower(d, b, a);
      upper = hn::ConcatUpperUpper(d, b, a);
    }
  }
#endif
}
template <class D> HWY_INLINE void store_pairs(D d, hn::TFromD<D>* p, hn::Vec<D> first, hn::Vec<D> second) {
  hn::Vec<D> lower, upper;
  join_pairs(d, first, second, lower, upper);
  hn::StoreU(lower, d, p);
  hn::StoreU(upper, d, p + hn::MaxLanes(d));
}

// A row at p: the address of re (planar), im being `im` further on, or of the lower one of re and im (interleaved).
template <Form kForm, class D, class T> HWY_INLINE C<D> load_row(D d, const T* p, std::int64_t im) {
  C<D> x;
  if constexpr (kForm == Form::Interleaved)
    load_pairs(d, p, x.r, x.i);
  else
    x = {hn::LoadU(d, p), hn::LoadU(d, p + im)};
  return x;
}
template <Form kForm, class D, class T> HWY_INLINE void store_row(D d, T* p, std::int64_t im, C<D> x) {
  if constexpr (kForm == Form::Interleaved) {
    store_pairs(d, p, x.r, x.i);
  } else {
    hn::StoreU(x.r, d, p);
    hn::StoreU(x.i, d, p + im);
  }
}

// What is seldom done to all points of a butterfly at once, so that the usual way has one branch: exchange re and im,
// multiply by the factor.
template <int R, class D> HWY_INLINE void exchange(D, C<D>* x) {
  HWY_UNROLL(16)
  for (int j = 0; j < R; ++j) x[j] = {x[j].i, x[j].r};
}
template <int R, class D> HWY_INLINE void scale(D d, C<D>* x, hn::TFromD<D> factor) {
  const auto by = hn::Set(d, factor);
  HWY_UNROLL(16)
  for (int j = 0; j < R; ++j) x[j] = {hn::Mul(x[j].r, by), hn::Mul(x[j].i, by)};
}

// The factor is for results without twiddles.
template <Turn kTurn, class T> HWY_INLINE bool is_scaled(const PassArgs<T>& a) {
  return a.scaled && (kTurn == Turn::None || (kTurn == Turn::Any && a.turn == Turn::None));
}
// Point t of a butterfly times its twiddle: `numbers` of the butterfly, or the vector of its row in the result.
template <Turn kTurn, class D, class T>
HWY_INLINE C<D> turn(D d, const T* numbers, int t, const PassArgs<T>& a, std::int64_t row, C<D> x) {
  if constexpr (kTurn == Turn::Any) {
    if (a.turn == Turn::Numbers) return turn<Turn::Numbers>(d, numbers, t, a, row, x);
    if (kWidth < D >> 1 && a.turn == Turn::Vectors) return turn<Turn::Vectors>(d, numbers, t, a, row, x);
  } else if constexpr (kTurn == Turn::Numbers) {
    if (t > 0) x = times(d, x, C<D>{hn::Set(d, numbers[2 * t - 2]), hn::Set(d, numbers[2 * t - 1])});
  } else if constexpr (kTurn == Turn::Vectors) {
    const T* w = a.post + row * 2 * kWidth<D>;
    x = times(d, x, C<D>{hn::LoadU(d, w), hn::LoadU(d, w + hn::MaxLanes(d))});
  }
  return x;
}

// One butterfly of 16 between p and o. Its points fill the registers, so they are loaded and stored four at a time.
// Exchanged parts are dealt with in the middle: the DFT of exchanged input is the exchanged DFT in reverse order, for
// the transforms of four before and after.
template <Form kIn, Form kOut, Turn kTurn, class D, class T>
HWY_INLINE void butterfly16(D d, const PassArgs<T>& a, const T* p, std::int64_t in_leg, std::int64_t in_im, T* o,
                            std::int64_t out_leg, std::int64_t out_im, const T* numbers, std::int64_t s) {
  C<D> x[16];
  const bool swap_out = kOut == Form::Interleaved && a.swap_out;
  HWY_UNROLL(4)
  for (int q = 0; q < 4; ++q, p += in_leg) {
    x[q] = load_row<kIn>(d, p, in_im);
    x[q + 4] = load_row<kIn>(d, p + 4 * in_leg, in_im);
    x[q + 8] = load_row<kIn>(d, p + 8 * in_leg, in_im);
    x[q + 12] = load_row<kIn>(d, p + 12 * in_leg, in_im);
    dft4(d, x[q], x[q + 4], x[q + 8], x[q + 12]);
  }
  if (kIn == Form::Interleaved && HWY_UNLIKELY(a.swap_in)) {
    HWY_UNROLL(4)
    for (int q = 4; q < 8; ++q) {
      const C<D> first = x[q];
      x[q] = x[q + 8];
      x[q + 8] = first;
    }
    exchange<16>(d, x);
  }
  dft16_turn(d, x);
  if (is_scaled<kTurn>(a)) scale<16>(d, x, a.factor);
  if (HWY_UNLIKELY(swap_out)) exchange<16>(d, x);
  const std::int64_t first = swap_out ? 12 * out_leg : 4 * out_leg, third = 16 * out_leg - first;
  dft16_finish(d, x, [&](int t, int k, C<D> z) HWY_ATTR {
    T* to = o + t * out_leg + (k == 0 ? 0 : k == 1 ? first : k == 2 ? 8 * out_leg : third);
    store_row<kOut>(d, to, out_im, turn<kTurn>(d, numbers, t + 4 * k, a, (t + 4 * k) * a.l + s, z));
  });
}

template <int R, Form kIn, Form kOut, Turn kTurn, class D, class T>
HWY_NOINLINE void pass(D d, const PassArgs<T>& args) {
  const PassArgs<T> a = args;
  const std::int64_t in_leg = a.in_leg, out_leg = a.out_leg, in_im = a.in_im - a.in_re, out_im = a.out_im - a.out_re;
  const T* in = kIn == Form::Interleaved && a.swap_in ? a.in_im : a.in_re;
  T* out = kOut == Form::Interleaved && a.swap_out ? a.out_im : a.out_re;
  const T* numbers = a.twiddles;
  for (std::int64_t q = 0; q < a.m; ++q) {
    for (std::int64_t s = 0; s < a.l; ++s) {
      if constexpr (R == 16) {
        butterfly16<kIn, kOut, kTurn>(d, a, in, in_leg, in_im, out, out_leg, out_im, numbers, s);
      } else {
        C<D> x[R];
        const T* p = in;
        HWY_UNROLL(16)
        for (int j = 0; j < R; ++j, p += in_leg) x[j] = load_row<kIn>(d, p, in_im);
        if (kIn == Form::Interleaved && HWY_UNLIKELY(a.swap_in)) exchange<R>(d, x);
        dft<R>(d, x);
        if (is_scaled<kTurn>(a)) scale<R>(d, x, a.factor);
        if (kOut == Form::Interleaved && HWY_UNLIKELY(a.swap_out)) exchange<R>(d, x);
        T* o = out;
        HWY_UNROLL(16)
        for (int t = 0; t < R; ++t, o += out_leg)
          store_row<kOut>(d, o, out_im, turn<kTurn>(d, numbers, t, a, t * a.l + s, x[t]));
      }
      in += a.in_stride;
      out += a.out_stride;
    }
    out += (R - 1) * out_leg;
    numbers += 2 * R - 2;
  }
}

// A prime radix above 13: sums of (p-1)/2 products for two pairs of results at a time.
template <Form kIn, Form kOut, Turn kTurn, class D, class T>
HWY_NOINLINE void prime_pass(D d, const PassArgs<T>& args) {
  const PassArgs<T> a = args;
  const int p = a.radix, h = p / 2;
  const std::int64_t in_leg = a.in_leg, out_leg = a.out_leg, in_im = a.in_im - a.in_re, out_im = a.out_im - a.out_re;
  const T* in = kIn == Form::Interleaved && a.swap_in ? a.in_im : a.in_re;
  T* out = kOut == Form::Interleaved && a.swap_out ? a.out_im : a.out_re;
  C<D> even[kLargestDirect / 2], odd[kLargestDirect / 2];
  for (std::int64_t q = 0; q < a.m; ++q) {
    const T* numbers = a.twiddles + q * (2 * p - 2);
    for (std::int64_t s = 0; s < a.l; ++s) {
      const T* from = in + (q * a.l + s) * a.in_stride;
      T* to = out + (q * p * a.l + s) * a.out_stride;
      const auto take = [&](int j) HWY_ATTR {
        C<D> x = load_row<kIn>(d, from + j * in_leg, in_im);
        if (kIn == Form::Interleaved && a.swap_in) exchange<1>(d, &x);
        return x;
      };
      const auto put = [&](int k, C<D> x) HWY_ATTR {
        if (is_scaled<kTurn>(a)) scale<1>(d, &x, a.factor);
        if (kOut == Form::Interleaved && a.swap_out) exchange<1>(d, &x);
        store_row<kOut>(d, to + k * out_leg, out_im, turn<kTurn>(d, numbers, k, a, k * a.l + s, x));
      };
      const C<D> x0 = take(0);
      for (int j = 1; j <= h; ++j) {
        const C<D> u = take(j), v = take(p - j);
        even[j - 1] = add(d, u, v);
        odd[j - 1] = sub(d, u, v);
      }
      C<D> sum = x0;  // by fours: of equal points the roundings of a sum do not cancel, so there should be few
      for (int j = 0; j < h;) {
        C<D> four = even[j++];
        for (const int end = std::min(j + 3, h); j < end; ++j) four = add(d, four, even[j]);
        sum = add(d, sum, four);
      }
      put(0, sum);
      const auto finish = [&](int k, C<D> e, C<D> o) HWY_ATTR {
        put(k, C<D>{hn::Add(e.r, o.i), hn::Sub(e.i, o.r)});
        put(p - k, C<D>{hn::Sub(e.r, o.i), hn::Add(e.i, o.r)});
      };
      for (int k = 1; k <= h; k += 2) {  // an odd h repeats its last one
        const int k2 = k < h ? k + 1 : k;
        const T *c1 = a.constants + (k - 1) * 2 * h, *c2 = a.constants + (k2 - 1) * 2 * h;
        C<D> e1 = x0, e2 = x0, o1 = {hn::Zero(d), hn::Zero(d)}, o2 = o1;
        for (int j = 0; j < h;) {  // eight products at a time: the roundings of one long sum grow with its length
          const int end = h - j < 12 ? h : j + 8;
          C<D> p1 = multiple(d, c1[2 * j], even[j]), q1 = multiple(d, c1[2 * j + 1], odd[j]),
               p2 = multiple(d, c2[2 * j], even[j]), q2 = multiple(d, c2[2 * j + 1], odd[j]);
          for (++j; j < end; ++j) {
            const auto cos1 = hn::Set(d, c1[2 * j]), sin1 = hn::Set(d, c1[2 * j + 1]), cos2 = hn::Set(d, c2[2 * j]),
                       sin2 = hn::Set(d, c2[2 * j + 1]);
            p1 = {hn::MulAdd(cos1, even[j].r, p1.r), hn::MulAdd(cos1, even[j].i, p1.i)};
            q1 = {hn::MulAdd(sin1, odd[j].r, q1.r), hn::MulAdd(sin1, odd[j].i, q1.i)};
            p2 = {hn::MulAdd(cos2, even[j].r, p2.r), hn::MulAdd(cos2, even[j].i, p2.i)};
            q2 = {hn::MulAdd(sin2, odd[j].r, q2.r), hn::MulAdd(sin2, odd[j].i, q2.i)};
          }
          e1 = add(d, e1, p1);
          o1 = add(d, o1, q1);
          e2 = add(d, e2, p2);
          o2 = add(d, o2, q2);
        }
        finish(k, e1, o1);
        if (k2 != k) finish(k2, e2, o2);
      }
    }
  }
}

template <Form kIn, Form kOut, Turn kTurn, class D, class T> HWY_INLINE void any_pass(D d, const PassArgs<T>& a) {
  const auto run = [&](auto r) HWY_ATTR { pass<decltype(r)::value, kIn, kOut, kTurn>(d, a); };
  if (!with_length(Radices(), a.radix, run) && !with_length(Lengths<1>(), a.radix, run))
    prime_pass<kIn, kOut, kTurn>(d, a);
}
// Between planar rows, with PassArgs::turn. The widest vectors have code for each kind of twiddles, the others one for
// all: it takes long to compile.
template <class D, class T> HWY_NOINLINE void planar_pass(D d, const PassArgs<T>& a) {
  if constexpr (kTakesInterleaved<D>) {
    if (a.turn == Turn::Numbers) return any_pass<Form::Planar, Form::Planar, Turn::Numbers>(d, a);
    if (a.turn == Turn::None) return any_pass<Form::Planar, Form::Planar, Turn::None>(d, a);
    any_pass<Form::Planar, Form::Planar, Turn::Vectors>(d, a);
  } else {
    any_pass<Form::Planar, Form::Planar, Turn::Any>(d, a);
  }
}
// One of `passes` with `columns` transforms side by side, their rows next to each other.
template <class T> PassArgs<T> pass_args(const Passes<T>& passes, std::size_t i, const Rows<T>& in, const Rows<T>& out,
                                         std::int64_t columns = 1) {
  const auto& p = passes.passes[i];
  const std::int64_t l = p.l * columns;
  const T* table = passes.table.data();
  return {in.re,
          in.im,
          out.re,
          out.im,
          in.stride,
          out.stride,
          l * p.m * in.stride,
          l * out.stride,
          l,
          p.m,
          table + p.twiddles,
          table + p.constants,
          nullptr,
          p.radix,
          in.im < in.re,
          out.im<out.re, false, T(1), p.m> 1 ? Turn::Numbers : Turn::None};
}

// n rows from one form to the other, times a factor.
template <class D, class T>
HWY_NOINLINE void copy_rows(D d, std::int64_t n, const Rows<T>& in, const Rows<T>& out, T factor) {
  const auto by = hn::Set(d, factor);
  const bool in_swapped = in.im < in.re, out_swapped = out.im < out.re;
  const T* from = in.interleaved && in_swapped ? in.im : in.re;
  T* to = out.interleaved && out_swapped ? out.im : out.re;
  for (std::int64_t j = 0; j < n; ++j, from += in.stride, to += out.stride) {
    C<D> x = in.interleaved ? load_row<Form::Interleaved>(d, from, 0) : load_row<Form::Planar>(d, from, in.im - in.re);
    if (in.interleaved && in_swapped) exchange<1>(d, &x);
    x = {hn::Mul(x.r, by), hn::Mul(x.i, by)};
    if (out.interleaved && out_swapped) exchange<1>(d, &x);
    if (out.interleaved)
      store_row<Form::Interleaved>(d, to, 0, x);
    else
      store_row<Form::Planar>(d, to, out.im - out.re, x);
  }
}

// The whole transform: out = DFT of in, times factor, or times the vectors of post (then the result is planar). t0 and
// t1 are two blocks in scratch; in may be t1, and out may be t1 or, if there is more than one pass or the input is
// planar, in.
template <class D, class T> HWY_NOINLINE void run_passes(D d, const Passes<T>& passes, Rows<T> in, const Rows<T>& out,
                                                         T factor, const T* post, T* t0, T* t1) {
  constexpr std::int64_t lanes = kWidth<D>;
  const std::size_t count = passes.passes.size();
  if (count == 1 && in.interleaved &&
      post == nullptr) {  // there is no code for a single pass from interleaved rows without twiddles
    const Rows<T> block{t1, t1 + lanes, 2 * lanes, false};
    copy_rows(d, passes.n, in, block, T(1));
    in = block;
  }
  for (std::size_t i = 0; i < count; ++i) {
    const bool last = i + 1 == count;
    T* block = i % 2 == 0 ? t0 : t1;
    const Rows<T> to = last ? out : Rows<T>{block, block + lanes, 2 * lanes, false};
    PassArgs<T> a = pass_args(passes, i, in, to);
    a.post = post;
    a.scaled = factor != T(1);
    a.factor = factor;
    bool done = false;
    if constexpr (kTakesInterleaved<D>) {
      done = in.interleaved || (last && post == nullptr && to.interleaved);
      if (in.interleaved && last)
        any_pass<Form::Interleaved, Form::Planar, Turn::Vectors>(d, a);
      else if (in.interleaved)
        any_pass<Form::Interleaved, Form::Planar, Turn::Numbers>(d, a);
      else if (done)
        any_pass<Form::Planar, Form::Interleaved, Turn::None>(d, a);
    }
    if (last && post != nullptr) a.turn = Turn::Vectors;
    if (!done) planar_pass(d, a);
    in = to;
  }
}

// These are compiled once, in run_passes.cpp. The widths of a plain processor are all one.
#undef TRN_FFT_PASSES
#undef TRN_FFT_ALL_PASSES
#if HWY_TARGET == HWY_SCALAR
#define TRN_FFT_ALL_PASSES(KIND, T) TRN_FFT_PASSES(KIND, Widest<T>, T)
#elif HWY_TARGET > HWY_AVX2  // vectors of 16 bytes have no half
#define TRN_FFT_ALL_PASSES(KIND, T) TRN_FFT_PASSES(KIND, Widest<T>, T) TRN_FFT_PASSES(KIND, OneTag<T>, T)
#else
#define TRN_FFT_ALL_PASSES(KIND, T) \
  TRN_FFT_PASSES(KIND, Widest<T>, T) TRN_FFT_PASSES(KIND, HalfTag<T>, T) TRN_FFT_PASSES(KIND, OneTag<T>, T)
#endif
#define TRN_FFT_PASSES(KIND, D, T)                             \
  KIND template void planar_pass<D, T>(D, const PassArgs<T>&); \
  KIND template void run_passes<D, T>(D, const Passes<T>&, Rows<T>, const Rows<T>&, T, const T*, T*, T*);
TRN_FFT_ALL_PASSES(extern, float)
TRN_FFT_ALL_PASSES(extern, double)

}  // namespace trn::fft::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
