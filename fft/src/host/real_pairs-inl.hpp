// Short real lines, each transformed whole in registers: SIMD within the line.
//
// n = 2 m: neighbours are complex numbers as they lie, transformed by the steps of whole_line-inl.hpp; then points k
// and m - k of the result are parted as in real-inl.hpp. The m numbers are Q vectors V_q. Their mirror images m - k are
// R_q = lane 0 of V_(Q-q), then lanes .. 2, 1 of V_(Q-1-q), a permutation; what comes out for m - k is a row of the
// result backwards, one number behind a row's beginning. k = m/2 is its own image. From half line to real line the same
// in reverse order. For that the vectors must not cut rows of the result (of the complex input): they divide n1, or n2.
#if defined(TRN_FFT_REAL_PAIRS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TRN_FFT_REAL_PAIRS_INL
#undef TRN_FFT_REAL_PAIRS_INL
#else
#define TRN_FFT_REAL_PAIRS_INL
#endif

#include <hwy/highway.h>

#include <cstdint>

#include "host/real_codelets-inl.hpp"
#include "host/real_plan.hpp"
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
    hn::Vec<D> x[N];
    Complex<D> y[N / 2 + 1];
    if constexpr (kThere) {
      HWY_UNROLL(32)
      for (int j = 0; j < N; ++j) x[j] = hn::LoadU(d, in + j);
      real_dft<N>(d, x, y);
      HWY_UNROLL(32)
      for (int k = 0; k <= N / 2; ++k) {
        hn::StoreU(hn::Mul(y[k].r, by), d, out + 2 * k);
        hn::StoreU(k == 0 || 2 * k == N ? hn::Zero(d) : hn::Mul(y[k].i, by), d, out + 2 * k + 1);
      }
    } else {
      HWY_UNROLL(32)
      for (int k = 0; k <= N / 2; ++k) y[k] = {hn::LoadU(d, in + 2 * k), hn::LoadU(d, in + 2 * k + 1)};
      half_dft<N>(d, y, x);
      HWY_UNROLL(32)
      for (int j = 0; j < N; ++j) hn::StoreU(hn::Mul(x[j], by), d, out + j);
    }
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
  else if constexpr (kNumbers<D> == 2)
    store_first(hn::Half<D>(), PairVector<hn::Half<D> >{hn::LowerHalf(hn::Half<D>(), x.v)}, p);
  else
    store_first(hn::Half<D>(), PairVector<hn::Half<D> >{hn::LowerHalf(hn::Half<D>(), x.v)}, p);
}

template <int N1, int N2, bool kThere, class D, class T>
HWY_NOINLINE void pairs_lines(const void* context, const void* input, void* output) {
  const D tag;
  constexpr int numbers = kNumbers<D>, lanes = 2 * numbers, m = N1 * N2;
  constexpr int columns = (N2 + numbers - 1) / numbers, rows = (N1 + numbers - 1) / numbers, Q = m / numbers,
                middle = (Q + 1) / 2;
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
    PairVector<D> y[rows][columns * numbers];
    each<columns>([&](auto column) HWY_ATTR {
      constexpr int c = decltype(column)::value;
      PairVector<D> x[rows * numbers > N1 ? rows * numbers : N1];
      each<N1>([&](auto row) HWY_ATTR {
        constexpr int r = decltype(row)::value, at = r * N2 + c * numbers;
        if constexpr (kThere)
          x[r] = load_numbers < at + numbers <= m ? numbers : m - at > (tag, in + 2 * at);
        else
          x[r] = v[at / numbers];
      });
      dft<N1>(d, x);
      const T* w = call.table + c * (N1 - 1) * 2 * lanes;
      HWY_UNROLL(16)
      for (int k = 1; k < N1; ++k, w += 2 * lanes) x[k] = times(d, x[k], hn::LoadU(tag, w), hn::LoadU(tag, w + lanes));
      HWY_UNROLL(16)
      for (int k = N1; k < rows * numbers; ++k) x[k] = x[N1 - 1];  // lanes that nobody stores
      HWY_UNROLL(16)
      for (int b = 0; b < rows; ++b) {
        transpose_numbers(tag, x + b * numbers);
        HWY_UNROLL(8)
        for (int i = 0; i < numbers; ++i) y[b][c * numbers + i] = x[b * numbers + i];
      }
    });
    each<rows>([&](auto row) HWY_ATTR {
      constexpr int b = rows - 1 - decltype(row)::value;  // the cut one first: what it writes too much is overwritten
      dft<N2>(d, y[b]);
      each<N2>([&](auto point) HWY_ATTR {
        constexpr int k = decltype(point)::value, at = k * N1 + b * numbers;
        if constexpr (kThere) {
          v[at / numbers] = y[b][k];
        } else {
          if (scaled) y[b][k].v = hn::Mul(y[b][k].v, by);
          store_numbers<at + numbers <= m ? numbers : m - at>(tag, y[b][k], out + 2 * at);
        }
      });
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

// The fewest vector operations, as whole_cut, of the cuts that serve.
constexpr WholeCut pairs_cut(int m, int widest, int real_bytes, bool there) {
  WholeCut best;
  for (int n1 = 2; n1 <= 16; ++n1) {
    if (m % n1 != 0 || m / n1 > 16 || m / n1 < 2 || pairs_codelet_cost(n1) == 0 || pairs_codelet_cost(m / n1) == 0)
      continue;
    const int n2 = m / n1;
    for (int numbers = 2; numbers <= widest; numbers *= 2) {
      if ((there ? n1 : n2) % numbers != 0) continue;
      const int columns = (n2 + numbers - 1) / numbers, rows = (n1 + numbers - 1) / numbers,
                shuffles = numbers == 2   ? 1
                           : numbers == 4 ? 2
                                          : 3;
      const double first = columns * (pairs_codelet_cost(n1) + n1 + 3.0 * (n1 - 1)),
                   second = rows * (pairs_codelet_cost(n2) + n2);
      const double weight = numbers * real_bytes * 2 == 64 ? 1.8 : 1.0;
      const double cost = weight * (first + second + columns * rows * numbers * shuffles + 7.0 * m / numbers);
      if (cost < best.cost) best = {n1, n2, numbers, cost};
    }
  }
  return best;
}
template <int N, bool kThere, class T> WholeKernel<T> pairs_kernel() {
  constexpr int widest = static_cast<int>(hn::MaxLanes(hn::CappedTag<T, 64 / sizeof(T)>())) / 2;
  constexpr WholeCut cut = pairs_cut(N / 2, widest, sizeof(T), kThere);
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

}  // namespace trn::fft::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
