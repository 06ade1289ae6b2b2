// Short real lines, each transformed whole in registers: SIMD within the line.
//
// n = 2 m: neighbours are complex numbers as they lie, transformed by the steps of whole_line-inl.hpp; then points k
// and m - k of the result are parted as in real-inl.hpp. The m numbers are Q vectors V_q. Their mirror images m - k are
// R_q = lane 0 of V_(Q-q), then lanes .. 2, 1 of V_(Q-1-q), a permutation; what comes out for m - k is a row of the
// result backwards, one number behind a row's beginning. k = m/2 is its own image. From half line to real line the same
// in reverse order. For that the vectors must not cut rows of the result (of the complex input): they divide n1, or n2.
//
// Dense real lines without scratch: even ones through the complex lines that have none either, primes from 17 to 61 as
// products of a matrix and a vector.
//
// n = 2 m: neighbours are complex numbers as they lie; a line whole in registers or in a few steps (whole_line-inl.hpp,
// steps-inl.hpp) transforms them, and its result is parted (real-inl.hpp).
//
// A prime p = 2 h + 1: with e_j = x_j + x_(p-j), o_j = x_j - x_(p-j),
//   X_k = x_0 + sum_j e_j cos(2 pi jk/p) - i sum_j o_j sin(2 pi jk/p),   j, k = 1 .. h:
// the pair (e_j, o_j) times the pairs (cos, -sin), k in the lanes, and the result lies as it is wanted. Back, the pairs
// (re, im) of X_k times (2 cos, -2 sin) are sums E and O with x_j = E + O, x_(p-j) = E - O.
#if defined(TRN_FFT_REAL_DENSE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TRN_FFT_REAL_DENSE_INL
#undef TRN_FFT_REAL_DENSE_INL
#else
#define TRN_FFT_REAL_DENSE_INL
#endif

#include <hwy/highway.h>

#include <cstdint>

#include "host/real-inl.hpp"
#include "host/real_codelets-inl.hpp"
#include "host/real_plan.hpp"
#include "host/schedule.hpp"
#include "host/whole_line-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trn::fft::host::HWY_NAMESPACE {

// A codelet on dense lines, one lane.
template <int N, bool kThere, class T>
HWY_NOINLINE void codelet_dense(const void* context, const void* input, void* output) {
  const DenseRealCall<T>& call = *static_cast<const DenseRealCall<T>*>(context);
  using D = hn::CappedTag<T, 1>;
  const D d;
  const auto by = hn::Set(d, call.factor);
  const T* in = static_cast<const T*>(input);
  T* out = static_cast<T*>(output);
  for (std::int64_t line = call.lines; line > 0; --line, in += call.in_distance, out += call.out_distance) {
    if constexpr (kThere)
      real_codelet<N, true>(
          d, [&](int j) HWY_ATTR { return hn::LoadU(d, in + j); },
          [&](int k, Complex<D> y) HWY_ATTR {
            hn::StoreU(hn::Mul(y.r, by), d, out + 2 * k);
            hn::StoreU(k == 0 || 2 * k == N ? y.i : hn::Mul(y.i, by), d, out + 2 * k + 1);  // or a zero
          });
    else
      real_codelet<N, false>(
          d,
          [&](int k) HWY_ATTR {
            return Complex<D>{hn::LoadU(d, in + 2 * k), hn::LoadU(d, in + 2 * k + 1)};
          },
          [&](int j, hn::Vec<D> x) HWY_ATTR { hn::StoreU(hn::Mul(x, by), d, out + j); });
  }
}

#if HWY_TARGET == HWY_SCALAR
template <class T> WholeKernel<T> pairs_kernel_here(std::int64_t, bool) { return {}; }
#else

// Lane 0 of `first`, then lanes .. 2, 1 of `rest`: numbers, in their two sizes.
template <class D> HWY_INLINE PairVector<D> mirrored(D d, PairVector<D> rest, PairVector<D> first) {
  constexpr int numbers = kNumbers<D>, unit = sizeof(hn::TFromD<D>) == 4 ? 1 : 2;  // doubles in a number
  const hn::Repartition<double, D> wide;
  using W = decltype(wide);
  alignas(64) std::int64_t index[hn::MaxLanes(W())] = {};
  for (int j = 0; j < numbers; ++j)
    for (int s = 0; s < unit; ++s) index[j * unit + s] = (numbers - j) % numbers * unit + s;
  const auto turned = hn::TableLookupLanes(hn::BitCast(wide, rest.v), hn::SetTableIndices(wide, index));
  return {hn::BitCast(d, hn::IfThenElse(hn::FirstN(wide, unit), hn::BitCast(wide, first.v), turned))};
}
// The first number alone.
template <class D, class T> HWY_INLINE void store_first(D, PairVector<D> x, T* p) {
  const hn::CappedTag<T, 2> two;
  if constexpr (kNumbers<D> == 1)
    hn::StoreU(x.v, two, p);
  else
    store_first(hn::Half<D>(), PairVector<hn::Half<D> >{hn::LowerHalf(hn::Half<D>(), x.v)}, p);
}

template <int N1, int N2, bool kThere, class D, class T>
HWY_NOINLINE void pairs_lines(const void* context, const void* input, void* output) {
  const D tag;
  constexpr int numbers = kNumbers<D>, lanes = 2 * numbers, m = N1 * N2;
  constexpr int columns = (N2 + numbers - 1) / numbers, Q = m / numbers, middle = (Q + 1) / 2;
  static_assert((kThere ? N1 : N2) % numbers == 0);
  const DenseRealCall<T>& call = *static_cast<const DenseRealCall<T>*>(context);
  const Pairs<D> d = pairs_of(tag, kThere ? T(1) : T(-1));
  const bool scaled = call.factor != T(1);
  const auto by = hn::Set(tag, call.factor), one = hn::Set(tag, T(1)), half = hn::Set(tag, T(0.5));
  const auto conjugate = hn::OddEven(hn::Neg(one), one), by_conjugate = hn::Mul(by, conjugate);
  const T* in = static_cast<const T*>(input);
  T* out = static_cast<T*>(output);
  const T* part = call.table + columns * (N1 - 1) * 2 * lanes;  // [q][re, im of both signs][vector]: w^k/(2i), or i/w^k
  for (std::int64_t line = call.lines; line > 0; --line, in += call.in_distance, out += call.out_distance) {
    PairVector<D> v[Q];
    if constexpr (!kThere) {
      PairVector<D> images[middle + 1];
      images[middle].v = hn::Mul(broadcast_number(tag, in + m), hn::Add(conjugate, conjugate));  // of m/2, if Q is even
      each<middle>([&](auto vector) HWY_ATTR {
        constexpr int q = decltype(vector)::value;
        auto a = hn::LoadU(tag, in + q * lanes), b = reverse_numbers(tag, hn::LoadU(tag, in + (Q - 1 - q) * lanes + 2));
        if constexpr (q == 0) {  // the imaginary parts of points 0 and m are not used
          const auto drop = hn::AndNot(hn::FirstN(tag, 1), hn::FirstN(tag, 2));
          a = hn::IfThenZeroElse(drop, a);
          b = hn::IfThenZeroElse(drop, b);
        }
        const auto sum = hn::MulAdd(b, conjugate, a);
        const PairVector<D> difference = {hn::NegMulAdd(b, conjugate, a)};
        const auto p = hn::MulAdd(exchanged(d, difference), hn::LoadU(tag, part + (2 * q + 1) * lanes),
                                  hn::Mul(difference.v, hn::LoadU(tag, part + 2 * q * lanes)));
        v[q].v = hn::Add(sum, p);
        images[q].v = hn::Mul(hn::Sub(sum, p), conjugate);
      });
      each<Q / 2>([&](auto vector) HWY_ATTR {
        constexpr int q = decltype(vector)::value;
        v[Q - 1 - q] = mirrored(tag, images[q], images[q + 1]);
      });
    }
    smooth_line<N1, N2>(
        d, call.table,
        [&](auto at) HWY_ATTR {
          if constexpr (kThere)
            return load_vector<m>(tag, at, in);
          else
            return v[decltype(at)::value / numbers];
        },
        [&](auto block, PairVector<D>* y) HWY_ATTR {
          if constexpr (kThere)
            each<N2>([&](auto point) HWY_ATTR {
              constexpr int k = decltype(point)::value;
              v[(k * N1 + decltype(block)::value * numbers) / numbers] = y[k];
            });
          else
            store_block_of<N1, N2>(tag, block, y, scaled, by, out);
        });
    if constexpr (kThere) {
      each<middle>([&](auto vector) HWY_ATTR {
        constexpr int q = decltype(vector)::value;
        const auto image = mirrored(tag, v[Q - 1 - q], v[(Q - q) % Q]).v;
        const auto sum = hn::MulAdd(image, conjugate, v[q].v);
        const PairVector<D> difference = {hn::NegMulAdd(image, conjugate, v[q].v)};
        const auto p = hn::MulAdd(exchanged(d, difference), hn::LoadU(tag, part + (2 * q + 1) * lanes),
                                  hn::Mul(difference.v, hn::LoadU(tag, part + 2 * q * lanes)));
        auto a = hn::MulAdd(half, sum, p), b = hn::Mul(hn::MulSub(half, sum, p), by_conjugate);
        if (scaled) a = hn::Mul(a, by);
        hn::StoreU(a, tag, out + q * lanes);
        hn::StoreU(reverse_numbers(tag, b), tag, out + (Q - 1 - q) * lanes + 2);
      });
      if constexpr (Q % 2 == 0) store_first(tag, PairVector<D>{hn::Mul(v[Q / 2].v, by_conjugate)}, out + m);
      out[1] = out[2 * m + 1] = T(0);
    }
  }
}

template <int N, bool kThere, class T> WholeKernel<T> pairs_kernel() {
  constexpr WholeCut cut = kWholeCut < N / 2, T, kThere ? WholeUse::RealToHalf : WholeUse::HalfToReal > ;
  if constexpr (cut.n1 == 0)
    return {};
  else
    return {pairs_lines<cut.n1, cut.n2, kThere, hn::CappedTag<T, 2 * cut.numbers>, T>,
            cut.n1,
            cut.n2,
            cut.numbers,
            0,
            cut.cost};
}
using PairsLengths =
    Lengths<16, 20, 24, 28, 32, 36, 40, 48, 56, 60, 64, 72, 80, 96, 100, 112, 120, 128, 144, 160, 192, 200, 240, 256>;
template <class T> WholeKernel<T> pairs_kernel_here(std::int64_t n, bool there) {
  WholeKernel<T> kernel;
  with_length(PairsLengths(), n, [&](auto length) {
    constexpr int N = decltype(length)::value;
    kernel = there ? pairs_kernel<N, true, T>() : pairs_kernel<N, false, T>();
  });
  return kernel;
}
#endif

template <class T> WholeRun<T> dense_codelet_here(std::int64_t n, bool there) {
  WholeRun<T> run = nullptr;
  with_length(RealLengths(), n, [&](auto length) {
    constexpr int N = decltype(length)::value;
    run = there ? codelet_dense<N, true, T> : codelet_dense<N, false, T>;
  });
  return run;
}

#if HWY_TARGET == HWY_SCALAR
template <class T> DenseKernel<T> parted_kernel_here(bool) { return {}; }
template <class T> DenseKernel<T> prime_real_kernel_here(bool) { return {}; }
#else

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
