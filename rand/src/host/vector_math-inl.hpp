// log, exp, sine and cosine of vectors, float and double, for the transforms of random words. Additions,
// multiplications, divisions and square roots only, each rounded once and none fused: the same bits on every
// instruction set.
//
// The polynomials are Taylor's: arguments are reduced far enough that the first term left out is below a quarter of an
// ulp. Largest errors over the arguments that occur, measured against libm (rand/test/math_test.cpp): 1.5 ulp.
#if defined(TRN_RAND_VECTOR_MATH_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TRN_RAND_VECTOR_MATH_INL
#undef TRN_RAND_VECTOR_MATH_INL
#else
#define TRN_RAND_VECTOR_MATH_INL
#endif

#include <hwy/highway.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace trn::rand::host::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// What differs between the two types. kWhole + n, n a small integer, holds n in its last bits.
template <class T> constexpr T power_of(int n) {
  return n == 0 ? T(1) : n > 0 ? 2 * power_of<T>(n - 1) : power_of<T>(n + 1) / 2;
}

template <class T> struct Format;
template <> struct Format<float> {
  using Bits = std::uint32_t;
  static constexpr int kMantissa = 23, kBias = 127;
  static constexpr Bits kSqrtHalf = 0x3f3504f3, kOne = 0x3f800000, kWholeBits = 0x4b000000;
  static constexpr float kWhole = 0x1p23f, kRound = 0x1.8p23f;
  static constexpr float kLn2High = 0x1.62e4p-1f, kLn2Low = 0x1.7f7d1cp-20f, kLog2E = 0x1.715476p0f;
  static constexpr float kLowest = -104, kHighest = 89;  // beyond, exp is 0 or infinity
  static constexpr int kLogTerms = 5, kExpTerms = 8, kSineTerms = 5, kCosineTerms = 6;
};
template <> struct Format<double> {
  using Bits = std::uint64_t;
  static constexpr int kMantissa = 52, kBias = 1023;
  static constexpr Bits kSqrtHalf = 0x3fe6a09e667f3bcd, kOne = 0x3ff0000000000000, kWholeBits = 0x4330000000000000;
  static constexpr double kWhole = 0x1p52, kRound = 0x1.8p52;
  static constexpr double kLn2High = 0x1.62e42feep-1, kLn2Low = 0x1.a39ef35793c76p-33, kLog2E = 0x1.71547652b82fep0;
  static constexpr double kLowest = -746, kHighest = 710;
  static constexpr int kLogTerms = 10, kExpTerms = 14, kSineTerms = 9, kCosineTerms = 9;
};

// The series' coefficients as tables, so that none is computed where it is used.
inline constexpr int kMostTerms = 16;
using Coefficients = std::array<double, kMostTerms>;
template <class F> constexpr Coefficients coefficients(F f) {
  Coefficients c{};
  for (int k = 0; k < kMostTerms; ++k) c[static_cast<std::size_t>(k)] = f(k);
  return c;
}
constexpr double factorial(int n) { return n <= 1 ? 1.0 : n * factorial(n - 1); }
constexpr double alternating(int k) { return k % 2 == 0 ? 1.0 : -1.0; }
inline constexpr Coefficients kLogSeries = coefficients([](int k) { return 2.0 / (2 * k + 3); });
inline constexpr Coefficients kExpSeries = coefficients([](int k) { return 1 / factorial(k + 2); });
inline constexpr Coefficients kSineSeries =
    coefficients([](int k) { return alternating(k + 1) / factorial(2 * k + 3); });
inline constexpr Coefficients kCosineSeries = coefficients([](int k) { return alternating(k) / factorial(2 * k + 4); });

// sum over k < n of c[k] x^k, from the highest down.
template <class D, class V, class C> HWY_INLINE V series(D d, V x, int n, const C& c) {
  using T = hn::TFromD<D>;
  const auto number = [&](int k) { return hn::Set(d, static_cast<T>(c[static_cast<std::size_t>(k)])); };
  V sum = number(n - 1);
  for (int k = n - 2; k >= 0; --k) sum = hn::Add(hn::Mul(sum, x), number(k));
  return sum;
}

// An unsigned integer below 2^mantissa as a floating-point number, exactly.
template <class D, class VU> HWY_INLINE hn::Vec<D> small_to_float(D d, VU n) {
  using F = Format<hn::TFromD<D>>;
  const hn::RebindToUnsigned<D> du;
  return hn::Sub(hn::BitCast(d, hn::Or(n, hn::Set(du, F::kWholeBits))), hn::Set(d, F::kWhole));
}

// The upper half of each lane of `n` replaced by that of `upper`.
template <class DU, class VU> HWY_INLINE VU with_upper_half(DU du, VU n, VU upper) {
  using Bits = hn::TFromD<DU>;
#if HWY_TARGET == HWY_SCALAR
  constexpr auto kLow = static_cast<Bits>((std::uint64_t{1} << (4 * sizeof(Bits))) - 1);
  return hn::Or(hn::And(n, hn::Set(du, kLow)), upper);  // the lower half of `upper` is 0 here
#else
  using Half = std::conditional_t<sizeof(Bits) == 4, std::uint16_t, std::uint32_t>;
  const hn::Repartition<Half, DU> halves;
  return hn::BitCast(du, hn::OddEven(hn::BitCast(halves, upper), hn::BitCast(halves, n)));
#endif
}

// Any word times 2^kScale as a floating-point number, rounded once. Without an instruction for it: with the exponent
// that makes its last bit count as much as the half's own, either half becomes the fraction of a floating-point number
// above a power of two, 2^(M + kScale) + low and 2^(M + H + kScale) + high 2^H, M bits in a fraction and H in half a
// word. The second less both powers of two is exact, and so is adding the first but for one rounding.
template <int kScale = 0, class D, class VU> HWY_INLINE hn::Vec<D> to_float(D d, VU n) {
  using T = hn::TFromD<D>;
  using F = Format<T>;
#if HWY_TARGET <= HWY_AVX3
  if constexpr (sizeof(hn::Vec<D>) == 64) {
    const auto whole = hn::ConvertTo(d, n);
    if constexpr (kScale == 0) return whole;
    return hn::Mul(whole, hn::Set(d, power_of<T>(kScale)));
  }
#endif
  const hn::RebindToUnsigned<D> du;
  constexpr int kHalf = 4 * sizeof(T), kLowest = F::kMantissa + kScale;
  const auto power = [&](auto value) { return hn::BitCast(du, hn::Set(d, value)); };
  const auto low = with_upper_half(du, n, power(power_of<T>(kLowest)));
  const auto high = with_upper_half(du, hn::ShiftRight<kHalf>(n), power(power_of<T>(kLowest + kHalf)));
  constexpr T kBoth = power_of<T>(kLowest + kHalf) + power_of<T>(kLowest);
  return hn::Add(hn::Sub(hn::BitCast(d, high), hn::Set(d, kBoth)), hn::BitCast(d, low));
}

// Calls step(0) ... step(N - 1): one step of a computation for each of N vectors, so that the steps of one fill the
// time in which another waits for its own.
template <std::size_t N, class Step> HWY_INLINE void each(const Step& step) {
#pragma GCC unroll 8
  for (std::size_t i = 0; i < N; ++i) step(i);
}

// x becomes ln x, for N vectors of normal positive x. x = 2^k m with m = 1 + f in [sqrt(1/2), sqrt(2)),
// s = f / (2 + f): ln m = 2 artanh(s) = f - f^2/2 + s (f^2/2 + R), R = 2 s^2/3 + 2 s^4/5 + ..., |s| < 0.172.
template <int kTerms, class D, class V, std::size_t N> HWY_INLINE void logs(D d, V (&x)[N]) {
  using T = hn::TFromD<D>;
  using F = Format<T>;
  using Bits = typename F::Bits;
  const hn::RebindToUnsigned<D> du;
  constexpr auto kShift = static_cast<Bits>(F::kBias + 1);
  constexpr Bits kFraction = (Bits{1} << F::kMantissa) - 1;
  const auto number = [&](double value) { return hn::Set(d, static_cast<T>(value)); };
  V k[N], f[N], s[N], z[N], r[N], h[N];
  each<N>([&](std::size_t i) {
    // Counted from sqrt(1/2): k + shift in the exponent's place, and the fraction of m beyond that of sqrt(1/2).
    const auto counted =
        hn::Sub(hn::BitCast(du, x[i]), hn::Set(du, static_cast<Bits>(F::kSqrtHalf - (kShift << F::kMantissa))));
    const auto biased = hn::Or(hn::ShiftRight<F::kMantissa>(counted), hn::Set(du, F::kWholeBits));
    k[i] = hn::Sub(hn::BitCast(d, biased), hn::Set(d, F::kWhole + static_cast<T>(kShift)));
    const auto m = hn::Add(hn::And(counted, hn::Set(du, kFraction)), hn::Set(du, F::kSqrtHalf));
    f[i] = hn::Sub(hn::BitCast(d, m), number(1));
    s[i] = hn::Div(f[i], hn::Add(f[i], number(2)));
    h[i] = hn::Mul(hn::Mul(f[i], f[i]), number(0.5));
  });
  each<N>([&](std::size_t i) {
    z[i] = hn::Mul(s[i], s[i]);
    r[i] = number(kLogSeries[kTerms - 1]);
  });
#pragma GCC unroll 16
  for (int j = kTerms - 2; j >= 0; --j) {
    each<N>(
        [&](std::size_t i) { r[i] = hn::Add(hn::Mul(r[i], z[i]), number(kLogSeries[static_cast<std::size_t>(j)])); });
  }
  each<N>([&](std::size_t i) { r[i] = hn::Mul(s[i], hn::Add(h[i], hn::Mul(z[i], r[i]))); });
  each<N>([&](std::size_t i) { r[i] = hn::Add(r[i], hn::Mul(k[i], hn::Set(d, F::kLn2Low))); });
  each<N>([&](std::size_t i) {
    x[i] = hn::Add(hn::Mul(k[i], hn::Set(d, F::kLn2High)), hn::Sub(f[i], hn::Sub(h[i], r[i])));
  });
}
template <class D, class V, std::size_t N> HWY_INLINE void logs(D d, V (&x)[N]) {
  logs<Format<hn::TFromD<D>>::kLogTerms - 1>(d, x);
}
template <int kTerms, class D, class V> HWY_INLINE V log(D d, V x) {
  V one[1] = {x};
  logs<kTerms>(d, one);
  return one[0];
}
template <class D, class V> HWY_INLINE V log(D d, V x) { return log<Format<hn::TFromD<D>>::kLogTerms - 1>(d, x); }

// 2^k for whole k within the exponents of normal numbers.
template <class D, class V> HWY_INLINE V power_of_two(D d, V k) {
  using F = Format<hn::TFromD<D>>;
  const hn::RebindToUnsigned<D> du;
  const auto last_bits = hn::BitCast(du, hn::Add(k, hn::Set(d, F::kRound)));
  return hn::BitCast(d, hn::Add(hn::ShiftLeft<F::kMantissa>(last_bits), hn::Set(du, F::kOne)));
}

// e^x = 2^k e^r, r = x - k ln 2, |r| < 0.347; 2^k in two steps, so that results below the normal numbers round once.
template <class D, class V> HWY_INLINE V exp(D d, V x) {
  using T = hn::TFromD<D>;
  using F = Format<T>;
  x = hn::Min(hn::Max(x, hn::Set(d, F::kLowest)), hn::Set(d, F::kHighest));
  const V whole = hn::Set(d, F::kRound);
  const V k = hn::Sub(hn::Add(hn::Mul(x, hn::Set(d, F::kLog2E)), whole), whole);
  const V r = hn::Sub(hn::Sub(x, hn::Mul(k, hn::Set(d, F::kLn2High))), hn::Mul(k, hn::Set(d, F::kLn2Low)));
  const V p = series(d, r, F::kExpTerms - 2, kExpSeries);
  const V e = hn::Add(hn::Add(hn::Mul(hn::Mul(r, r), p), r), hn::Set(d, T(1)));
  const V half = hn::Sub(hn::Add(hn::Mul(k, hn::Set(d, T(0.5))), whole), whole);
  return hn::Mul(hn::Mul(e, power_of_two(d, half)), power_of_two(d, hn::Sub(k, half)));
}

// For 0 <= x <= pi/4 (and a little more).
template <class D, class V> HWY_INLINE V sine(D d, V x) {
  const V z = hn::Mul(x, x);
  const V p = series(d, z, Format<hn::TFromD<D>>::kSineTerms - 1, kSineSeries);
  return hn::Add(hn::Mul(hn::Mul(z, p), x), x);
}
template <class D, class V> HWY_INLINE V cosine(D d, V x, int terms = Format<hn::TFromD<D>>::kCosineTerms - 2) {
  using T = hn::TFromD<D>;
  const V z = hn::Mul(x, x);
  const V p = series(d, z, terms, kCosineSeries);
  return hn::Add(hn::Sub(hn::Mul(hn::Mul(z, z), p), hn::Mul(z, hn::Set(d, T(0.5)))), hn::Set(d, T(1)));
}

}  // namespace trn::rand::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
