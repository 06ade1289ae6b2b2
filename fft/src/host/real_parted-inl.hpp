// Dense real lines without scratch: even ones through the complex lines that have none either, primes from 17 to 61 as
// products of a matrix and a vector.
//
// n = 2 m: neighbours are complex numbers as they lie; a line whole in registers or in a few steps (whole_line-inl.hpp,
// steps-inl.hpp) transforms them, and points k and m - k of its result are parted as in real-inl.hpp, vectors of
// neighbours and of their mirror images at once. Z_m = Z_0 makes k = 0 a pair like the others.
//
// A prime p = 2 h + 1: with e_j = x_j + x_(p-j), o_j = x_j - x_(p-j),
//   X_k = x_0 + sum_j e_j cos(2 pi jk/p) - i sum_j o_j sin(2 pi jk/p),   j, k = 1 .. h:
// the pair (e_j, o_j) times the pairs (cos, -sin), k in the lanes, and the result lies as it is wanted. Back, the pairs
// (re, im) of X_k times (2 cos, -2 sin) are sums E and O with x_j = E + O, x_(p-j) = E - O.
#if defined(TRN_FFT_REAL_PARTED_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TRN_FFT_REAL_PARTED_INL
#undef TRN_FFT_REAL_PARTED_INL
#else
#define TRN_FFT_REAL_PARTED_INL
#endif

#include <hwy/highway.h>

#include <cstdint>

#include "host/real_plan.hpp"
#include "host/schedule.hpp"
#include "host/whole_line-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trn::fft::host::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR
template <class T> DenseKernel<T> parted_kernel_here(bool) { return {}; }
template <class T> DenseKernel<T> prime_real_kernel_here(bool) { return {}; }
#else

template <class T> using DenseTag = hn::CappedTag<T, 64 / sizeof(T)>;

// (a, b) = (Z_k, Z_(m-k)) to (X_k, X_(m-k)), or, back, the other way round; w, turned: w^k/(2i), or i/w^k, as tables
// have it: re, re and -im, im.
template <bool kThere, class D> HWY_INLINE void part(const Pairs<D>& d, hn::Vec<D>& a, hn::Vec<D>& b, hn::Vec<D> w,
                                                     hn::Vec<D> turned, hn::Vec<D> conjugate) {
  const auto sum = hn::MulAdd(b, conjugate, a);
  const PairVector<D> difference = {hn::NegMulAdd(b, conjugate, a)};
  const auto p = hn::MulAdd(exchanged(d, difference), turned, hn::Mul(difference.v, w));
  if constexpr (kThere) {
    const auto half = hn::Set(d.tag, hn::TFromD<D>(0.5));
    a = hn::MulAdd(half, sum, p);
    b = hn::Mul(hn::MulSub(half, sum, p), conjugate);
  } else {
    a = hn::Add(sum, p);
    b = hn::Mul(hn::Sub(sum, p), conjugate);
  }
}

// m + 1 numbers to m + 1 numbers: Z with Z_m = Z_0 to X, or back X to Z. Vectors from both ends inwards; in the middle
// they may overlap, for both formulas hold for every k. The imaginary parts of X_0 and X_m are written as zeros, and
// not used.
template <bool kThere, class T> HWY_INLINE void part_line(std::int64_t m, const T* table, const T* in, T* out) {
  using D = DenseTag<T>;
  const D tag;
  const Pairs<D> d = pairs_of(tag, T(1));
  constexpr std::int64_t numbers = kNumbers<D>, lanes = 2 * numbers;
  const auto conjugate = hn::OddEven(hn::Set(tag, T(-1)), hn::Set(tag, T(1)));
  const auto imaginary = hn::AndNot(hn::FirstN(tag, 1), hn::FirstN(tag, 2));  // of the first number
  std::int64_t k = 0, image = 2 * (m - numbers + 1);
  auto a = hn::LoadU(tag, in), b = reverse_numbers(tag, hn::LoadU(tag, in + image));
  if constexpr (!kThere) a = hn::IfThenZeroElse(imaginary, a), b = hn::IfThenZeroElse(imaginary, b);
  for (;;) {
    part<kThere>(d, a, b, hn::LoadU(tag, table), hn::LoadU(tag, table + lanes), conjugate);
    hn::StoreU(reverse_numbers(tag, b), tag, out + image);
    hn::StoreU(a, tag, out + k);
    k += lanes;
    image -= lanes;
    table += 2 * lanes;
    if (k >= image + lanes) break;
    a = hn::LoadU(tag, in + k);
    b = reverse_numbers(tag, hn::LoadU(tag, in + image));
  }
  if constexpr (kThere) out[1] = out[2 * m + 1] = T(0);
}

template <bool kThere, class T> HWY_NOINLINE void parted_lines(const void* context, const void* input, void* output) {
  const DenseRealCall<T>& call = *static_cast<const DenseRealCall<T>*>(context);
  const std::int64_t m = call.complex.n;
  const T* in = static_cast<const T*>(input);
  T* out = static_cast<T*>(output);
  alignas(64) T z[2 * kLongestSteps + 16];
  for (std::int64_t line = call.lines; line > 0; --line, in += call.in_distance, out += call.out_distance) {
    if constexpr (kThere) {
      call.run_complex(&call.complex, in, z);
      z[2 * m] = z[0];
      z[2 * m + 1] = z[1];
      part_line<true>(m, call.table, z, out);
    } else {
      part_line<false>(m, call.table, in, z);
      call.run_complex(&call.complex, z, out);
    }
  }
}

// Sums over j = 1 .. h of the pairs at `pairs` times kVectors vectors of the table [j][vector], in kChains chains.
template <int kVectors, int kChains, class D, class T> HWY_INLINE void pair_sums(D d, int h, const T* pairs,
                                                                                 const T* table, std::int64_t pitch,
                                                                                 hn::Vec<D> start, hn::Vec<D>* sums) {
  constexpr int lanes = 2 * kNumbers<D>;
  hn::Vec<D> s[kChains][kVectors];
  HWY_UNROLL(4)
  for (int c = 0; c < kChains; ++c) {
    HWY_UNROLL(8)
    for (int v = 0; v < kVectors; ++v) s[c][v] = c == 0 ? start : hn::Zero(d);
  }
  int j = 0;
  for (; j + kChains <= h; j += kChains) {
    HWY_UNROLL(4)
    for (int c = 0; c < kChains; ++c, table += pitch) {
      const auto x = broadcast_number(d, pairs + 2 * (j + c));
      HWY_UNROLL(8)
      for (int v = 0; v < kVectors; ++v) s[c][v] = hn::MulAdd(hn::LoadU(d, table + v * lanes), x, s[c][v]);
    }
  }
  for (; j < h; ++j, table += pitch) {
    const auto x = broadcast_number(d, pairs + 2 * j);
    HWY_UNROLL(8)
    for (int v = 0; v < kVectors; ++v) s[0][v] = hn::MulAdd(hn::LoadU(d, table + v * lanes), x, s[0][v]);
  }
  HWY_UNROLL(8)
  for (int v = 0; v < kVectors; ++v) {
    auto sum = s[0][v];
    if constexpr (kChains == 4) sum = hn::Add(hn::Add(sum, s[2][v]), hn::Add(s[1][v], s[3][v]));
    if constexpr (kChains == 2) sum = hn::Add(sum, s[1][v]);
    sums[v] = sum;
  }
}
// All `vectors` of them, four at a time, each handed to store(vector, sums).
template <class D, class T, class F> HWY_INLINE void all_pair_sums(D d, int h, int vectors, const T* pairs,
                                                                   const T* table, hn::Vec<D> start, const F& store) {
  constexpr int lanes = 2 * kNumbers<D>;
  const std::int64_t pitch = vectors * lanes;
  int v = 0;
  hn::Vec<D> s[4];
  for (; v + 4 <= vectors; v += 4) {
    pair_sums<4, 1>(d, h, pairs, table + v * lanes, pitch, start, s);
    HWY_UNROLL(4)
    for (int i = 0; i < 4; ++i) store(v + i, s[i]);
  }
  if (vectors - v == 3) {
    pair_sums<3, 2>(d, h, pairs, table + v * lanes, pitch, start, s);
    HWY_UNROLL(4)
    for (int i = 0; i < 3; ++i) store(v + i, s[i]);
  } else if (vectors - v == 2) {
    pair_sums<2, 2>(d, h, pairs, table + v * lanes, pitch, start, s);
    store(v, s[0]);
    store(v + 1, s[1]);
  } else if (vectors - v == 1) {
    pair_sums<1, 4>(d, h, pairs, table + v * lanes, pitch, start, s);
    store(v, s[0]);
  }
}

template <bool kThere, class T>
HWY_NOINLINE void prime_real_lines(const void* context, const void* input, void* output) {
  using D = DenseTag<T>;
  const D d;
  constexpr int numbers = kNumbers<D>, lanes = 2 * numbers;
  const DenseRealCall<T>& call = *static_cast<const DenseRealCall<T>*>(context);
  const int p = static_cast<int>(call.complex.n), h = p / 2, vectors = (h + numbers - 1) / numbers;
  const auto by = hn::Set(d, call.factor);
  const T* in = static_cast<const T*>(input);
  T* out = static_cast<T*>(output);
  alignas(64) T pairs[kLargestDirect + 3 + 32];
  for (std::int64_t line = call.lines; line > 0; --line, in += call.in_distance, out += call.out_distance) {
    if constexpr (kThere) {
      const T first = in[0];
      auto all = hn::Zero(d);
      for (int j = 0; j < h; j += lanes) {  // p >= 17, so that these vectors are within the line
        const auto up = hn::LoadU(d, in + 1 + j), down = hn::Reverse(d, hn::LoadU(d, in + p - j - lanes));
        const auto even = hn::Add(up, down), odd = hn::Sub(up, down);
        hn::Vec<D> lower, upper;
        join_pairs(d, even, odd, lower, upper);
        hn::StoreU(lower, d, pairs + 2 * j);
        hn::StoreU(upper, d, pairs + 2 * j + lanes);
        all = hn::Add(all, hn::IfThenElseZero(hn::FirstN(d, static_cast<std::size_t>(h - j)), even));
      }
      const auto start = hn::OddEven(hn::Zero(d), hn::Set(d, first));
      all_pair_sums(d, h, vectors, pairs, call.table, start, [&](int v, hn::Vec<D> sum) HWY_ATTR {
        const int count = h - v * numbers;
        sum = hn::Mul(sum, by);
        T* to = out + 2 + v * lanes;
        if (count >= numbers)
          hn::StoreU(sum, d, to);
        else
          hn::BlendedStore(sum, hn::FirstN(d, static_cast<std::size_t>(2 * count)), d, to);
      });
      out[0] = (first + hn::GetLane(hn::SumOfLanes(d, all))) * call.factor;
      out[1] = T(0);
    } else {
      const T first = in[0];
      auto all = hn::Zero(d);
      for (int k = 0; k < h; k += numbers) {
        const int count = h - k;
        all = hn::Add(
            all, hn::MaskedLoad(hn::FirstN(d, static_cast<std::size_t>(2 * (count < numbers ? count : numbers))), d,
                                in + 2 + 2 * k));
      }
      // The line may be in place: everything is read before anything is written.
      const auto start = hn::OddEven(hn::Zero(d), hn::Set(d, first));
      all_pair_sums(d, h, vectors, in + 2, call.table, start,
                    [&](int v, hn::Vec<D> sum) HWY_ATTR { hn::StoreU(hn::Mul(sum, by), d, pairs + v * lanes); });
      const T sum = hn::GetLane(hn::SumOfLanes(d, hn::OddEven(hn::Zero(d), all)));
      for (int j = 0; j < h; j += lanes) {
        const auto lower = hn::LoadU(d, pairs + 2 * j), upper = hn::LoadU(d, pairs + 2 * j + lanes);
        const auto even = hn::ConcatEven(d, upper, lower), odd = hn::ConcatOdd(d, upper, lower);
        const auto up = hn::Add(even, odd), down = hn::Reverse(d, hn::Sub(even, odd));
        const int count = h - j;
        T *to = out + 1 + j, *image = out + p - j - lanes;
        if (count >= lanes) {
          hn::StoreU(up, d, to);
          hn::StoreU(down, d, image);
        } else {
          hn::BlendedStore(up, hn::FirstN(d, static_cast<std::size_t>(count)), d, to);
          hn::BlendedStore(down, hn::Not(hn::FirstN(d, static_cast<std::size_t>(lanes - count))), d, image);
        }
      }
      out[0] = (first + 2 * sum) * call.factor;
    }
  }
}

template <class T> DenseKernel<T> parted_kernel_here(bool there) {
  return {there ? parted_lines<true, T> : parted_lines<false, T>, kNumbers<DenseTag<T> >};
}
template <class T> DenseKernel<T> prime_real_kernel_here(bool there) {
  return {there ? prime_real_lines<true, T> : prime_real_lines<false, T>, kNumbers<DenseTag<T> >};
}
#endif

}  // namespace trn::fft::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
