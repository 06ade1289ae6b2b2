// The oracle of stochastic rounding: the rule of trn/core/rounding.hpp in double.
#pragma once

#include <cmath>
#include <limits>
#include <random>
#include <trn/blas/narrow.hpp>
#include <trn/core/array.hpp>
#include <vector>

#include "support/philox_oracle.hpp"

namespace trn::blas::test {

struct NarrowFormat {
  int fraction, least;
  double largest;
  bool has_infinity;
};
template <NarrowFloat T> NarrowFormat format_of() {
  if constexpr (std::same_as<T, bfloat16>) return {7, -126, 0x1.FEp127, true};
  if constexpr (std::same_as<T, float16>) return {10, -14, 65504, true};
  if constexpr (std::same_as<T, float8_e4m3>) return {3, -6, 240, true};
  if constexpr (std::same_as<T, float8_e4m3fn>) return {3, -6, 448, false};
  if constexpr (std::same_as<T, float8_e5m2>) return {2, -14, 57344, true};
}

// The words of numbers 0, 1, ... of a stream.
inline std::vector<std::uint32_t> words_of(std::uint64_t seed, std::uint64_t step, std::int64_t count) {
  std::vector<std::uint32_t> words;
  for (std::int64_t i = 0; i < count; ++i)
    words.push_back(testing_support::philox_word(seed, step, static_cast<std::uint64_t>(i)));
  return words;
}

// What v becomes: exact in double, whose 53 bits hold every quotient here.
inline float expected_rounding(float v, NarrowFormat f, std::uint32_t word) {
  if (v != v || std::isinf(v)) return f.has_infinity || v != v ? v : std::copysign(NAN, v);
  int exponent = f.least;
  if (v != 0) exponent = std::max(f.least, std::ilogb(v));
  const double unit = std::ldexp(1.0, exponent - f.fraction), position = std::abs(static_cast<double>(v)) / unit,
               below = std::floor(position), counted = std::floor((position - below) * 0x1p24);
  double size = (below + (counted + (word >> 8) >= 0x1p24 ? 1 : 0)) * unit;
  if (size > f.largest) size = f.has_infinity ? INFINITY : NAN;
  return std::copysign(static_cast<float>(size), v);
}

inline bool same_number(float a, float b) {
  return (a != a && b != b) || (a == b && std::signbit(a) == std::signbit(b));
}

// Normal numbers of all sizes around those that the format has, and its edges: zeros, infinities, NaN, the largest
// number and what lies beyond it, numbers of the format, and numbers below its smallest.
template <NarrowFloat T> std::vector<float> every_kind(std::int64_t n, std::uint64_t seed) {
  const NarrowFormat f = format_of<T>();
  const auto top = static_cast<float>(f.largest);
  const auto least = std::ldexp(1.0f, f.least), smallest = std::ldexp(1.0f, std::max(-149, f.least - f.fraction));
  std::vector<float> x{0.0f,
                       -0.0f,
                       INFINITY,
                       -INFINITY,
                       NAN,
                       -NAN,
                       top,
                       -top,
                       top * 1.01f,
                       -top * 1.05f,
                       1.0f,
                       -1.5f,
                       least,
                       -least,
                       smallest,
                       -smallest,
                       smallest / 2,
                       1.7f * smallest,
                       0x1p-149f,
                       -0x1p-140f,
                       std::nextafter(least, 0.0f),
                       std::numeric_limits<float>::max(),
                       std::bit_cast<float>(0x7f800001u),
                       std::bit_cast<float>(0xffffffffu)};
  std::mt19937_64 engine(seed);
  std::uniform_real_distribution<float> uniform(-2, 2);
  while (std::ssize(x) < n) {
    const int exponent = static_cast<int>(engine() % 24) - 12;
    x.push_back(std::ldexp(uniform(engine), engine() % 2 ? exponent : f.least + exponent / 2));
  }
  x.resize(static_cast<std::size_t>(n));
  return x;
}

}  // namespace trn::blas::test
