// Error-free transformations and float-float arithmetic: the primitives that compensated sums and FP64-like results on
// an FP32 machine are made of. All of them need round-to-nearest and no contraction (the build sets -ffp-contract=off).
#pragma once

#include <cmath>

namespace trn {

// sum + error == a + b exactly.
template <class T> struct SumError { T sum, error; };
// product + error == a * b exactly (unless the error underflows).
template <class T> struct ProductError { T product, error; };

// Knuth's TwoSum: 6 additions, any magnitudes.
template <class T> [[nodiscard]] constexpr SumError<T> two_sum(T a, T b) {
  const T s = a + b;
  const T t = s - a;
  return {s, (a - (s - t)) + (b - t)};
}

// Dekker's FastTwoSum: 3 additions, needs |a| >= |b| or a == 0.
template <class T> [[nodiscard]] constexpr SumError<T> fast_two_sum(T a, T b) {
  const T s = a + b;
  return {s, b - (s - a)};
}

template <class T> [[nodiscard]] inline ProductError<T> two_prod(T a, T b) {
  const T p = a * b;
  return {p, std::fma(a, b, -p)};
}

// An unevaluated sum hi + lo with |lo| <= ulp(hi)/2: about 49 significant bits of float, 106 of double.
template <class T> struct DoubleWord {
  T hi = 0, lo = 0;
  constexpr DoubleWord() = default;
  constexpr DoubleWord(T h) : hi(h) {}
  constexpr DoubleWord(T h, T l) : hi(h), lo(l) {}

  // Relative error <= 3u^2 / (1 - 4u) (AccurateDWPlusDW, Joldes-Muller-Popescu 2017).
  friend constexpr DoubleWord operator+(DoubleWord x, DoubleWord y) {
    const auto s = two_sum(x.hi, y.hi);
    const auto t = two_sum(x.lo, y.lo);
    const auto v = fast_two_sum(s.sum, s.error + t.sum);
    const auto z = fast_two_sum(v.sum, t.error + v.error);
    return {z.sum, z.error};
  }
  friend constexpr DoubleWord operator-(DoubleWord x) { return {-x.hi, -x.lo}; }
  friend constexpr DoubleWord operator-(DoubleWord x, DoubleWord y) { return x + -y; }

  // Relative error <= 5u^2 (DWTimesDW3 of the same paper).
  friend DoubleWord operator*(DoubleWord x, DoubleWord y) {
    const auto c = two_prod(x.hi, y.hi);
    const T tl = std::fma(x.hi, y.lo, std::fma(x.lo, y.hi, x.lo * y.lo));
    const auto z = fast_two_sum(c.product, c.error + tl);
    return {z.sum, z.error};
  }
  [[nodiscard]] explicit constexpr operator double() const { return static_cast<double>(hi) + static_cast<double>(lo); }
};
using FloatFloat = DoubleWord<float>;
using DoubleDouble = DoubleWord<double>;

// The double as float-float: exact while x has at most 49 significant bits within float's exponent range.
[[nodiscard]] constexpr FloatFloat split(double x) {
  const auto hi = static_cast<float>(x);
  return {hi, static_cast<float>(x - static_cast<double>(hi))};
}

}  // namespace trn
