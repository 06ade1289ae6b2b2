// The exact definition of rounding to a narrow floating-point format, in integers only: round_to() takes a float or a
// double and a rule that decides between the two neighbours. Nearest-even and stochastic rounding are two such rules.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <trn/core/float_types.hpp>

namespace trn::bits {

// A format's codes without the sign, in increasing order of value: finite numbers, then infinity (if any), then NaNs.
constexpr int exponent_bias(Format f) { return (1 << (f.exponent_bits - 1)) - 1; }
constexpr std::uint32_t sign_bit(Format f) { return 1u << (f.exponent_bits + f.mantissa_bits); }
constexpr std::uint32_t all_ones(Format f) { return sign_bit(f) - 1; }
constexpr std::uint32_t top_exponent(Format f) { return all_ones(f) >> f.mantissa_bits << f.mantissa_bits; }
constexpr std::uint32_t max_finite(Format f) { return f.has_infinity ? top_exponent(f) - 1 : all_ones(f) - 1; }
constexpr std::uint32_t overflow_code(Format f) { return f.has_infinity ? top_exponent(f) : all_ones(f); }

// The format of a dtype narrower than float32.
constexpr Format format_of(DType dtype) {
  switch (dtype) {
    case DType::TFloat32:
      return kTFloat32;
    case DType::BFloat16:
      return kBFloat16;
    case DType::Float16:
      return kFloat16;
    case DType::Float8E4M3:
      return kFloat8E4M3;
    case DType::Float8E4M3FN:
      return kFloat8E4M3FN;
    case DType::Float8E5M2:
      return kFloat8E5M2;
    default:
      return {};
  }
}
constexpr bool is_narrow_float(DType dtype) { return format_of(dtype).exponent_bits != 0; }

template <class Float> struct Source;
template <> struct Source<float> {
  using Word = std::uint32_t;
  static constexpr int kMantissaBits = 23, kBias = 127;
};
template <> struct Source<double> {
  using Word = std::uint64_t;
  static constexpr int kMantissaBits = 52, kBias = 1023;
};

// The quiet NaN code that keeps the top bits of the payload; `payload` holds the source's mantissa in its top bits.
constexpr std::uint32_t nan_code(Format f, std::uint64_t payload) {
  const auto kept = static_cast<std::uint32_t>(payload >> (64 - f.mantissa_bits));
  return f.has_infinity ? top_exponent(f) | 1u << (f.mantissa_bits - 1) | kept : all_ones(f);
}

// up(kept, fraction): |x| lies `fraction` / 2^64 of the way from the number with significand `kept` to the next one;
// true chooses the next one. What lies beyond the largest finite number becomes `overflow`.
template <class Float, class RoundUp>
constexpr std::uint32_t round_to(Float x, Format f, std::uint32_t overflow, RoundUp up) {
  using S = Source<Float>;
  using Word = typename S::Word;
  constexpr int width = 8 * sizeof(Word);
  constexpr Word implicit_one = Word{1} << S::kMantissaBits;
  const Word word = std::bit_cast<Word>(x);
  const std::uint32_t sign = word >> (width - 1) ? sign_bit(f) : 0;
  const auto exponent_field = static_cast<int>(word >> S::kMantissaBits & ((1u << (width - 1 - S::kMantissaBits)) - 1));
  const Word mantissa_field = word & (implicit_one - 1);
  if (x != x) return sign | nan_code(f, static_cast<std::uint64_t>(mantissa_field) << (64 - S::kMantissaBits));

  // |x| = significand * 2^(exponent - S::kMantissaBits), and the result counts units of 2^(target - f.mantissa_bits).
  const std::uint64_t significand = exponent_field ? mantissa_field | implicit_one : mantissa_field;
  const int exponent = std::max(exponent_field, 1) - S::kBias;
  const int target = std::max(exponent, 1 - exponent_bias(f));
  const int shift = S::kMantissaBits - f.mantissa_bits + (target - exponent);  // >= 13: every format here is narrower
  const std::uint64_t kept = shift < 64 ? significand >> shift : 0;
  const std::uint64_t fraction = shift <= 64   ? significand << (64 - shift)
                                 : shift < 128 ? significand >> (shift - 64)
                                               : 0;
  // `kept` includes the implicit one of a normal number, which is why one exponent less is added; a carry out of the
  // mantissa is the right code as well.
  const auto exponent_part = static_cast<std::uint64_t>(target + exponent_bias(f) - 1) << f.mantissa_bits;
  const std::uint64_t code = exponent_part + kept + (up(kept, fraction) ? 1 : 0);
  return sign | (code > max_finite(f) ? overflow : static_cast<std::uint32_t>(code));
}

// The rule of IEEE 754's default rounding.
struct NearestEven {
  constexpr bool operator()(std::uint64_t kept, std::uint64_t fraction) const {
    constexpr std::uint64_t half = std::uint64_t{1} << 63;
    return fraction > half || (fraction == half && (kept & 1));
  }
};

}  // namespace trn::bits
