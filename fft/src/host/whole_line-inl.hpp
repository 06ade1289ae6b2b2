// Short lines of interleaved numbers, each transformed whole in registers: SIMD within the line, numbers as they lie in
// memory.
//
// n = n1 n2, j = j1 n2 + j2, k = k1 + n1 k2:  X_k = sum_j2 w_n2^(j2 k2) [ w_n^(j2 k1) sum_j1 x_j w_n1^(j1 k1) ].
// Rows j1 of n2 numbers are vectors, so the sums over j1 are a codelet on whole vectors; twiddles; squares of `numbers`
// by `numbers` are transposed; the sums over j2 are a codelet again, and its results X_(k1 + n1 k2), k1 in the lanes,
// are rows of the line. A vector that reaches beyond its row carries what follows along and writes it where a later row
// is stored; only at the end of the line loads and stores are cut.
//
// A prime p above 13 is h = (p-1)/2 sums for cosines and as many for sines (codelets-inl.hpp), k in the lanes: a
// product of a matrix and a vector. A small multiple of it is as many of those and a codelet.
#if defined(TRN_FFT_WHOLE_LINE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TRN_FFT_WHOLE_LINE_INL
#undef TRN_FFT_WHOLE_LINE_INL
#else
#define TRN_FFT_WHOLE_LINE_INL
#endif

#include <hwy/highway.h>

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "host/tiles-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trn::fft::host::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR
template <class T> WholeKernel<T> whole_kernel_here(std::int64_t) { return {}; }
#else

template <class D> inline constexpr int kNumbers = static_cast<int>(hn::MaxLanes(D())) / 2;

// v[i] number j <-> v[j] number i, for kNumbers vectors.
template <class D> HWY_INLINE void transpose_numbers(D d, PairVector<D>* x) {
  using T = hn::TFromD<D>;
  constexpr int n = kNumbers<D>;
  if constexpr (n > 1) {
    hn::Vec<D> v[n];
    HWY_UNROLL(8)
    for (int i = 0; i < n; ++i) v[i] = x[i].v;
    if constexpr (sizeof(T) == 4) {
      const hn::Repartition<double, D> wide;  // a number is the size of a double
      hn::Vec<decltype(wide)> w[n];
      HWY_UNROLL(8)
      for (int i = 0; i < n; ++i) w[i] = hn::BitCast(wide, v[i]);
      if constexpr (n == 8) {
        transpose_square(wide, w);
      } else {
        HWY_UNROLL(2)
        for (int i = 0; i < n; i += 2) transpose_parts(wide, w + i);
        if constexpr (n == 4) {
          HWY_UNROLL(2)
          for (int i = 0; i < 2; ++i) {
            const auto low = hn::ConcatLowerLower(wide, w[i + 2], w[i]);
            w[i + 2] = hn::ConcatUpperUpper(wide, w[i + 2], w[i]);
            w[i] = low;
          }
        }
      }
      HWY_UNROLL(8)
      for (int i = 0; i < n; ++i) v[i] = hn::BitCast(d, w[i]);
    } else if constexpr (n == 2) {
      const auto low = hn::ConcatLowerLower(d, v[1], v[0]);
      v[1] = hn::ConcatUpperUpper(d, v[1], v[0]);
      v[0] = low;
    } else {
      transpose_quarters(d, v[0], v[1], v[2], v[3]);
    }
    HWY_UNROLL(8)
    for (int i = 0; i < n; ++i) x[i].v = v[i];
  }
}

// kCount numbers, or a whole vector.
template <int kCount, class D, class T> HWY_INLINE PairVector<D> load_numbers(D d, const T* p) {
  if constexpr (kCount >= kNumbers<D>) {
    return {hn::LoadU(d, p)};
  } else if constexpr (2 * kCount == kNumbers<D>) {
    const hn::Half<D> half;
    return {hn::ZeroExtendVector(d, hn::LoadU(half, p))};
  } else {
    return {hn::MaskedLoad(hn::FirstN(d, 2 * kCount), d, p)};
  }
}
template <int kCount, class D, class T> HWY_INLINE void store_numbers(D d, PairVector<D> x, T* p) {
  if constexpr (kCount >= kNumbers<D>) {
    hn::StoreU(x.v, d, p);
  } else if constexpr (2 * kCount == kNumbers<D>) {
    const hn::Half<D> half;
    hn::StoreU(hn::LowerHalf(half, x.v), half, p);
  } else {
    hn::BlendedStore(x.v, hn::FirstN(d, 2 * kCount), d, p);
  }
}

// f(integral_constant<int, 0>), ..., written out one after the other.
template <int kEnd, int kAt = 0, class F> HWY_INLINE void each(const F& f) {
  if constexpr (kAt < kEnd) {
    f(std::integral_constant<int, kAt>());
    each<kEnd, kAt + 1>(f);
  }
}

template <class D> HWY_INLINE Pairs<D> pairs_of(D d, hn::TFromD<D> turn) {
  const auto plus = hn::Set(d, turn);
  return {d, hn::OddEven(hn::Neg(plus), plus)};
}

// One line: load(at) for the vectors of rows, take(block, x) for the N2 results of each block of `numbers` k1, X_(k1 +
// n1 k2) beginning at number k2 n1 + block numbers. The table is [block of columns][k1 - 1][re, turned im][vector].
template <int N1, int N2, class D, class T, class Load, class Take>
HWY_INLINE void smooth_line(const Pairs<D>& d, const T* table, const Load& load, const Take& take) {
  constexpr int numbers = kNumbers<D>, lanes = 2 * numbers, columns = (N2 + numbers - 1) / numbers,
                rows = (N1 + numbers - 1) / numbers;
  PairVector<D> y[rows][columns * numbers];
  each<columns>([&](auto column) HWY_ATTR {
    constexpr int c = decltype(column)::value;
    PairVector<D> x[rows * numbers > N1 ? rows * numbers : N1];
    each<N1>([&](auto row) HWY_ATTR {
      constexpr int r = decltype(row)::value;
      x[r] = load(std::integral_constant<int, r * N2 + c * numbers>());
    });
    dft<N1>(d, x);
    if constexpr (N2 > 1) {
      const T* w = table + c * (N1 - 1) * 2 * lanes;
      HWY_UNROLL(16)
      for (int k = 1; k < N1; ++k, w += 2 * lanes)
        x[k] = times(d, x[k], hn::LoadU(d.tag, w), hn::LoadU(d.tag, w + lanes));
    }
    HWY_UNROLL(16)
    for (int k = N1; k < rows * numbers; ++k) x[k] = x[N1 - 1];  // lanes that nobody stores
    HWY_UNROLL(16)
    for (int b = 0; b < rows; ++b) {
      transpose_numbers(d.tag, x + b * numbers);
      HWY_UNROLL(8)
      for (int i = 0; i < numbers; ++i) y[b][c * numbers + i] = x[b * numbers + i];
    }
  });
  each<rows>([&](auto row) HWY_ATTR {
    constexpr int b = rows - 1 - decltype(row)::value;  // the cut one first: what it writes
                                                        // too much is overwritten
    dft<N2>(d, y[b]);
    take(std::integral_constant<int, b>(), y[b]);
  });
}
// Of a line in memory.
template <int kLength, class At, class D, class T> HWY_INLINE PairVector<D> load_vector(D tag, At, const T* in) {
  constexpr int at = At::value;
  return load_numbers < at + kNumbers<D> <= kLength ? kNumbers<D> : kLength - at > (tag, in + 2 * at);
}
template <int N1, int N2, class Block, class D, class T>
HWY_INLINE void store_block_of(D tag, Block, PairVector<D>* y, bool scaled, hn::Vec<D> by, T* out) {
  constexpr int numbers = kNumbers<D>, n = N1 * N2;
  if (scaled) {
    HWY_UNROLL(16)
    for (int k = 0; k < N2; ++k) y[k].v = hn::Mul(y[k].v, by);
  }
  each<N2>([&](auto point) HWY_ATTR {
    constexpr int k = decltype(point)::value, at = k * N1 + Block::value * numbers;
    store_numbers<at + numbers <= n ? numbers : n - at>(tag, y[k], out + 2 * at);
  });
}

template <int N1, int N2, class D, class T>
HWY_NOINLINE void smooth_lines(const void* context, const void* input, void* output) {
  const D tag;
  const WholeCall<T>& call = *static_cast<const WholeCall<T>*>(context);
  const Pairs<D> d = pairs_of(tag, call.turn);
  const bool scaled = call.factor != T(1);
  const auto by = hn::Set(tag, call.factor);
  const T* in = static_cast<const T*>(input);
  T* out = static_cast<T*>(output);
  for (std::int64_t line = call.lines; line > 0; --line, in += call.in_distance, out += call.out_distance)
    smooth_line<N1, N2>(
        d, call.table, [&](auto at) HWY_ATTR { return load_vector<N1 * N2>(tag, at, in); },
        [&](auto block, PairVector<D>* y) HWY_ATTR { store_block_of<N1, N2>(tag, block, y, scaled, by, out); });
}

// Broadcasts the number at p.
template <class D, class T> HWY_INLINE hn::Vec<D> broadcast_number(D d, const T* p) {
  if constexpr (sizeof(T) == 4) {
    double bits;
    std::memcpy(&bits, p, sizeof(bits));
    return hn::BitCast(d, hn::Set(hn::Repartition<double, D>(), bits));
  } else {
    return hn::LoadDup128(d, p);
  }
}
template <class D> HWY_INLINE hn::Vec<D> reverse_numbers(D d, hn::Vec<D> v) {
  if constexpr (sizeof(hn::TFromD<D>) == 4) {
    const hn::Repartition<double, D> wide;
    return hn::BitCast(d, hn::Reverse(wide, hn::BitCast(wide, v)));
  } else {
    return hn::ReverseBlocks(d, v);
  }
}

// kVectors vectors of results from number `first` on: sums over j of the columns [j][cos, sin][vector] of the table.
template <int kVectors, class D, class T>
HWY_INLINE void prime_rows(const Pairs<D>& d, int p, int first, const T* table, std::int64_t pitch, const T* even,
                           const T* odd, const T* x0, bool scaled, hn::Vec<D> by, T* out) {
  constexpr int numbers = kNumbers<D>, lanes = 2 * numbers;
  const int h = p / 2;
  PairVector<D> e[kVectors], o[kVectors];
  const auto start = broadcast_number(d.tag, x0);
  HWY_UNROLL(4)
  for (int v = 0; v < kVectors; ++v) e[v].v = start, o[v].v = hn::Zero(d.tag);
  for (int j = 0; j < h; ++j, table += 2 * pitch) {
    const auto a = broadcast_number(d.tag, even + 2 * j), b = broadcast_number(d.tag, odd + 2 * j);
    HWY_UNROLL(4)
    for (int v = 0; v < kVectors; ++v) {
      e[v].v = hn::MulAdd(hn::LoadU(d.tag, table + v * lanes), a, e[v].v);
      o[v].v = hn::MulAdd(hn::LoadU(d.tag, table + pitch + v * lanes), b, o[v].v);
    }
  }
  HWY_UNROLL(4)
  for (int v = 0; v < kVectors; ++v) {
    const int k = first + v * numbers;  // the first of these, counted from 1
    auto low = add_turned(d, e[v], o[v]).v, high = reverse_numbers(d.tag, sub_turned(d, e[v], o[v]).v);
    if (scaled) low = hn::Mul(low, by), high = hn::Mul(high, by);
    const int count = HWY_MIN(numbers, h - k + 1);
    T *to = out + 2 * k, *mirrored = out + 2 * (p - k - numbers + 1);
    if (HWY_LIKELY(count == numbers)) {
      hn::StoreU(low, d.tag, to);
      hn::StoreU(high, d.tag, mirrored);
    } else {  // what one half would write too much belongs to the other
      hn::BlendedStore(low, hn::FirstN(d.tag, static_cast<std::size_t>(2 * count)), d.tag, to);
      hn::BlendedStore(high, hn::Not(hn::FirstN(d.tag, static_cast<std::size_t>(2 * (numbers - count)))), d.tag,
                       mirrored);
    }
  }
}

// A line of p numbers, `step` numbers apart, to neighbours.
template <class D, class T>
HWY_INLINE void prime_line(const Pairs<D>& d, int p, const T* in, int step, const T* table, T factor, T* out) {
  constexpr int numbers = kNumbers<D>, lanes = 2 * numbers;
  const hn::CappedTag<T, 2> one;
  const int h = p / 2, vectors = (h + numbers - 1) / numbers;
  const std::int64_t pitch = vectors * lanes;
  const bool scaled = factor != T(1);
  const auto by = hn::Set(d.tag, factor);
  alignas(64) T even[kLargestDirect], odd[kLargestDirect], x0[2];
  const auto first = hn::LoadU(one, in);
  auto sum = first, more = hn::Zero(one);
  const T *up = in + 2 * step, *down = in + 2 * (p - 1) * step;
  for (int j = 0; j < h; ++j, up += 2 * step, down -= 2 * step) {
    const auto u = hn::LoadU(one, up), v = hn::LoadU(one, down), a = hn::Add(u, v);
    hn::StoreU(a, one, even + 2 * j);
    hn::StoreU(hn::Sub(u, v), one, odd + 2 * j);
    if (j % 2 == 0)
      sum = hn::Add(sum, a);
    else
      more = hn::Add(more, a);
  }
  hn::StoreU(first, one, x0);
  hn::StoreU(hn::Mul(hn::Add(sum, more), hn::Set(one, factor)), one, out);
  int v = 0;
  for (; v + 4 <= vectors; v += 4)
    prime_rows<4>(d, p, 1 + v * numbers, table + v * lanes, pitch, even, odd, x0, scaled, by, out);
  if (vectors - v >= 2) {
    prime_rows<2>(d, p, 1 + v * numbers, table + v * lanes, pitch, even, odd, x0, scaled, by, out);
    v += 2;
  }
  if (v < vectors) prime_rows<1>(d, p, 1 + v * numbers, table + v * lanes, pitch, even, odd, x0, scaled, by, out);
}

template <class D, class T> HWY_NOINLINE void prime_lines(const void* context, const void* input, void* output) {
  const D tag;
  const WholeCall<T>& call = *static_cast<const WholeCall<T>*>(context);
  const Pairs<D> d = pairs_of(tag, call.turn);
  const T* in = static_cast<const T*>(input);
  T* out = static_cast<T*>(output);
  for (std::int64_t line = call.lines; line > 0; --line, in += call.in_distance, out += call.out_distance)
    prime_line(d, static_cast<int>(call.n), in, 1, call.table, call.factor, out);
}

// n = r p, j = j1 + r j2, k = k2 + p k1:  X_k = sum_j1 w_r^(j1 k1) [ w_n^(j1 k2) sum_j2 x_j w_p^(j2 k2) ]: r lines of p
// numbers, then a codelet on their rows. Of these the last vectors overlap the ones before. Behind the table of p:
// [block][j1 - 1][re, turned im][vector].
template <int R, class D, class T>
HWY_NOINLINE void multiple_lines(const void* context, const void* input, void* output) {
  const D tag;
  constexpr int numbers = kNumbers<D>, lanes = 2 * numbers;
  const WholeCall<T>& call = *static_cast<const WholeCall<T>*>(context);
  const Pairs<D> d = pairs_of(tag, call.turn);
  const int p = static_cast<int>(call.n) / R, h = p / 2;
  const T* const twiddles = call.table + 2 * h * ((h + numbers - 1) / numbers) * lanes;
  const bool scaled = call.factor != T(1);
  const auto by = hn::Set(tag, call.factor);
  const T* in = static_cast<const T*>(input);
  T* out = static_cast<T*>(output);
  constexpr int pitch = 2 * 64;
  alignas(64) T rows[R * pitch];
  for (std::int64_t line = call.lines; line > 0; --line, in += call.in_distance, out += call.out_distance) {
    for (int j = 0; j < R; ++j) prime_line(d, p, in + 2 * j, R, call.table, T(1), rows + j * pitch);
    const T* w = twiddles;
    for (int next = 0; next < p; next += numbers) {
      const int k = HWY_MIN(next, p - numbers);
      PairVector<D> x[R];
      x[0].v = hn::LoadU(tag, rows + 2 * k);
      HWY_UNROLL(16)
      for (int j = 1; j < R; ++j, w += 2 * lanes)
        x[j] = times(d, PairVector<D>{hn::LoadU(tag, rows + j * pitch + 2 * k)}, hn::LoadU(tag, w),
                     hn::LoadU(tag, w + lanes));
      dft<R>(d, x);
      if (scaled) {
        HWY_UNROLL(16)
        for (int t = 0; t < R; ++t) x[t].v = hn::Mul(x[t].v, by);
      }
      HWY_UNROLL(16)
      for (int t = 0; t < R; ++t) hn::StoreU(x[t].v, tag, out + 2 * (t * p + k));
    }
  }
}
template <class D, class T> WholeRun<T> multiple_of_prime(std::int64_t r) {
  WholeRun<T> run = prime_lines<D, T>;
  with_length(Lengths<2, 3, 4, 5, 6, 7, 8, 9, 10, 12>(), r,
              [&](auto n) { run = multiple_lines<decltype(n)::value, D, T>; });
  return run;
}

// How a length is cut: the fewest vector operations, of vectors of 1, 2, 4, 8 numbers. Complex lines that are parted
// afterwards, or put together before (real_dense-inl.hpp), have vectors that do not cut rows of the result, or input.
enum class WholeUse { Complex, RealToHalf, HalfToReal };
struct WholeCut {
  int n1 = 0, n2 = 0, numbers = 0;
  double cost = 1e30;
};
constexpr WholeCut whole_cut(int n, int widest, int real_bytes, WholeUse use) {
  WholeCut best;
  const bool complex = use == WholeUse::Complex;
  for (int n1 = 2; n1 <= 16; ++n1) {
    const int n2 = n / n1;
    if (n % n1 != 0 || n2 > 16 || pairs_codelet_cost(n1) == 0 || (n2 > 1 && pairs_codelet_cost(n2) == 0)) continue;
    for (int numbers = 1; numbers <= widest; numbers *= 2) {
      if (complex && (n2 == 1 ? numbers > 1 : numbers == 1 && widest > 1)) continue;  // a codelet alone, or vectors
      if (!complex && (n2 == 1 || numbers == 1 || (use == WholeUse::RealToHalf ? n1 : n2) % numbers != 0)) continue;
      const int columns = (n2 + numbers - 1) / numbers, rows = (n1 + numbers - 1) / numbers;
      const int shuffles = numbers == 1 ? 0 : numbers == 2 ? 1 : numbers == 4 ? 2 : 3;
      const double first = columns * (pairs_codelet_cost(n1) + n1 + (n2 > 1 ? 3.0 * (n1 - 1) : 0)),
                   second = n2 > 1 ? rows * (pairs_codelet_cost(n2) + n2) : 0, parts = complex ? 0 : 7.0 * n / numbers;
      const double weight = numbers * real_bytes * 2 == 64 ? 1.8 : 1.0;
      const double cost = weight * (first + second + columns * rows * numbers * shuffles + parts) + (n2 == 1 ? n1 : 0);
      if (cost < best.cost) best = {n1, n2, numbers, cost};
    }
  }
  return best;
}
template <int N, class T, WholeUse kUse = WholeUse::Complex>
inline constexpr WholeCut kWholeCut = whole_cut(N,
                                                static_cast<int>(hn::MaxLanes(hn::CappedTag<T, 64 / sizeof(T)>())) / 2,
                                                sizeof(T), kUse);

using WholeLengths =
    Lengths<2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 18, 20, 21, 22, 24, 25, 26, 27, 28, 30, 32, 33, 35, 36,
            39, 40, 42, 44, 45, 48, 49, 50, 52, 54, 55, 56, 60, 63, 64, 65, 66, 70, 72, 75, 80, 90, 96, 100, 128>;
template <class T> WholeKernel<T> whole_kernel_here(std::int64_t n) {
  using D = hn::CappedTag<T, 64 / sizeof(T)>;
  WholeKernel<T> kernel;
  const auto smooth = [&](auto length) {
    constexpr WholeCut cut = kWholeCut<decltype(length)::value, T>;
    kernel = {
        smooth_lines<cut.n1, cut.n2, hn::CappedTag<T, 2 * cut.numbers>, T>, cut.n1, cut.n2, cut.numbers, 0, cut.cost};
  };
  if (with_length(WholeLengths(), n, smooth)) return kernel;
  for (std::int64_t r = 1; r <= 12; ++r) {
    const std::int64_t p = n / r;
    if (n % r != 0 || r == 11 || p <= 13 || p > kLargestDirect || prime_factors(p).size() != 1) continue;
    const double h = static_cast<double>(p / 2), vectors = static_cast<double>((p / 2 + kNumbers<D> - 1) / kNumbers<D>);
    const double codelet = r == 1 ? 0 : 2 * vectors * (pairs_codelet_cost(r) + 6 * static_cast<double>(r));
    return {multiple_of_prime<D, T>(r), static_cast<int>(r),
            static_cast<int>(p),        kNumbers<D>,
            static_cast<int>(p),        static_cast<double>(r) * (1.5 * h * (2 * vectors + 5) + 20) + codelet};
  }
  return {};
}
#endif

}  // namespace trn::fft::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
