// Microscaling codes on the host: their values, rounding to them, and where MxMatrix keeps them.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include <trn/blas/mx.hpp>
#include <trn/core/convert.hpp>

namespace trn::blas::host {

struct MxFacts {
  int largest_exponent;
  double largest;
};
[[nodiscard]] inline MxFacts mx_facts(MxType type) {
  return type == MxType::Float8E4M3FN ? MxFacts{8, 448}
         : type == MxType::Float8E5M2 ? MxFacts{15, 57344}
                                      : MxFacts{2, 6};
}

// By code; 16 of them for the 4-bit format: sign, two bits of exponent, one of fraction.
[[nodiscard]] inline std::array<float, 256> mx_values(MxType type) {
  std::array<float, 256> values{};
  if (type == MxType::Float4E2M1FN) {
    constexpr float kHalf[] = {0, 0.5F, 1, 1.5F, 2, 3, 4, 6};
    for (std::size_t i = 0; i < 8; ++i) values[i] = kHalf[i], values[i + 8] = -kHalf[i];
    return values;
  }
  std::array<std::uint8_t, 256> codes;
  for (std::size_t i = 0; i < 256; ++i) codes[i] = static_cast<std::uint8_t>(i);
  to_float(type == MxType::Float8E4M3FN ? DType::Float8E4M3FN : DType::Float8E5M2, codes.data(), values.data(), 256);
  return values;
}

// The nearest codes, of two the even one; |x| is at most the largest number, or NaN in an 8-bit format.
inline void mx_codes(MxType type, const float* x, std::uint8_t* codes, std::int64_t n) {
  if (type != MxType::Float4E2M1FN)
    return from_float(x, type == MxType::Float8E4M3FN ? DType::Float8E4M3FN : DType::Float8E5M2, codes, n);
  // Halves below 2, then steps of 1 and 2: the code counts them.
  for (std::int64_t i = 0; i < n; ++i) {
    const float v = std::fabs(x[i]);
    const float count = v <= 2 ? std::nearbyint(2 * v) : v <= 4 ? std::nearbyint(v) + 2 : std::nearbyint(v / 2) + 4;
    codes[i] = static_cast<std::uint8_t>(static_cast<int>(count) | (std::signbit(x[i]) ? 8 : 0));
  }
}

[[nodiscard]] inline float mx_scale(std::uint8_t scale) {
  return scale == 255 ? std::numeric_limits<float>::quiet_NaN() : std::ldexp(1.0F, static_cast<int>(scale) - 127);
}

// Element (row, k): which byte, and by how many bits its code is shifted there.
struct MxPlace {
  std::int64_t byte;
  int shift;
};
[[nodiscard]] inline MxPlace mx_place(std::int64_t bits, std::int64_t padded_rows, std::int64_t row, std::int64_t k) {
  const std::int64_t bit = ((k / 4) * padded_rows + row) * 4 * bits + k % 4 * bits;
  return {bit / 8, static_cast<int>(bit % 8)};
}

}  // namespace trn::blas::host
