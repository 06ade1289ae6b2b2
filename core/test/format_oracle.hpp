// What the narrow float formats mean, written from their definition with std::ldexp in long double: the oracle that the
// conversions are compared with. It shares no code with the product.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <ostream>
#include <trn/core/dtype.hpp>
#include <trn/core/float_types.hpp>
#include <vector>

namespace trn::oracle {

struct Format {
  const char* name;
  DType dtype;
  bits::Format product;  // the argument of bits::narrow and bits::widen
  int exponent_bits, mantissa_bits;
  bool has_infinity;
  std::uint32_t (*construct)(float);  // through the C++ value type, as a right-aligned code
  float (*value)(std::uint32_t);
  int stored_shift = 0;  // the code's position in the stored element

  [[nodiscard]] std::uint32_t sign() const { return 1u << (exponent_bits + mantissa_bits); }
  [[nodiscard]] std::uint32_t max_finite() const {
    return has_infinity ? ((1u << exponent_bits) - 1) * (1u << mantissa_bits) - 1 : sign() - 2;
  }
  [[nodiscard]] std::uint32_t overflow() const { return max_finite() + 1; }  // infinity, or the fn formats' NaN
  [[nodiscard]] bool is_nan(std::uint32_t code) const {
    const std::uint32_t magnitude = code % sign();
    return has_infinity ? magnitude > overflow() : magnitude == overflow();
  }
  friend std::ostream& operator<<(std::ostream& out, const Format& f) { return out << f.name; }
};

template <class T> Format value_type_format(const char* name, DType dtype, bits::Format product, int exponent,
                                            int mantissa, bool has_infinity) {
  return {name,
          dtype,
          product,
          exponent,
          mantissa,
          has_infinity,
          [](float x) { return static_cast<std::uint32_t>(T(x).bits); },
          [](std::uint32_t code) {
            T t;
            t.bits = static_cast<decltype(t.bits)>(code);
            return static_cast<float>(t);
          }};
}

inline std::vector<Format> formats() {
  return {
      {"tfloat32", DType::TFloat32, bits::kTFloat32, 8, 10, true,
       [](float x) { return std::bit_cast<std::uint32_t>(tfloat32(x).value) >> 13; },
       [](std::uint32_t code) {
         tfloat32 t;
         t.value = std::bit_cast<float>(code << 13);
         return static_cast<float>(t);
       },
       13},
      value_type_format<bfloat16>("bfloat16", DType::BFloat16, bits::kBFloat16, 8, 7, true),
      value_type_format<float16>("float16", DType::Float16, bits::kFloat16, 5, 10, true),
      value_type_format<float8_e4m3>("float8_e4m3", DType::Float8E4M3, bits::kFloat8E4M3, 4, 3, true),
      value_type_format<float8_e4m3fn>("float8_e4m3fn", DType::Float8E4M3FN, bits::kFloat8E4M3FN, 4, 3, false),
      value_type_format<float8_e5m2>("float8_e5m2", DType::Float8E5M2, bits::kFloat8E5M2, 5, 2, true),
  };
}

// The value of a code without its sign, as if the exponent range went on for ever.
inline long double magnitude(const Format& f, std::uint32_t code) {
  const int bias = (1 << (f.exponent_bits - 1)) - 1;
  const auto exponent = static_cast<int>(code >> f.mantissa_bits);
  const auto mantissa = static_cast<long double>(code & ((1u << f.mantissa_bits) - 1));
  const auto one = static_cast<long double>(1u << f.mantissa_bits);
  if (exponent == 0) return std::ldexp(mantissa, 1 - bias - f.mantissa_bits);
  return std::ldexp(one + mantissa, exponent - bias - f.mantissa_bits);
}

// The value of a code that is not NaN.
inline long double decode(const Format& f, std::uint32_t code) {
  const std::uint32_t bare = code % f.sign();
  const long double value = bare > f.max_finite() ? std::numeric_limits<long double>::infinity() : magnitude(f, bare);
  return code >= f.sign() ? -value : value;
}

// Codes as the elements a conversion reads and writes.
inline std::vector<std::byte> store(const Format& f, const std::vector<std::uint32_t>& codes) {
  const auto bytes = static_cast<std::size_t>(size_bytes(f.dtype));
  std::vector<std::byte> elements(codes.size() * bytes);
  for (std::size_t i = 0; i < codes.size(); ++i) {
    const std::uint32_t stored = codes[i] << f.stored_shift;  // little-endian: the low bytes come first
    std::memcpy(elements.data() + i * bytes, &stored, bytes);
  }
  return elements;
}
inline std::uint32_t load(const Format& f, const std::byte* elements, std::size_t i) {
  const auto bytes = static_cast<std::size_t>(size_bytes(f.dtype));
  std::uint32_t stored = 0;
  std::memcpy(&stored, elements + i * bytes, bytes);
  return stored >> f.stored_shift;
}

template <class Real> struct RoundingCase {
  Real input;
  std::uint32_t code;
};

// For every pair of neighbours a < b of the format, both signs: a, the midpoint, and the Reals just below and just
// above the midpoint, with the codes that round-to-nearest-even demands. The last pair is the largest finite number and
// what would follow it, which is overflow.
template <class Real> std::vector<RoundingCase<Real>> rounding_cases(const Format& f) {
  std::vector<RoundingCase<Real>> cases;
  const Real infinity = std::numeric_limits<Real>::infinity();
  for (std::uint32_t code = 0; code <= f.max_finite(); ++code) {
    const long double a = magnitude(f, code), b = magnitude(f, code + 1);
    const auto midpoint = static_cast<Real>((a + b) / 2);
    for (const std::uint32_t sign : {0u, f.sign()}) {
      const Real s = sign ? Real{-1} : Real{1};
      cases.push_back({s * static_cast<Real>(a), sign | code});
      cases.push_back({s * std::nextafter(midpoint, Real{0}), sign | code});
      cases.push_back({s * midpoint, sign | (code % 2 ? code + 1 : code)});
      cases.push_back({s * std::nextafter(midpoint, infinity), sign | (code + 1)});
    }
  }
  const Real largest = std::numeric_limits<Real>::max();
  for (const Real x : {largest, infinity}) {
    cases.push_back({x, f.overflow()});
    cases.push_back({-x, f.sign() | f.overflow()});
  }
  const Real tiny = std::numeric_limits<Real>::denorm_min();
  cases.push_back({tiny, 0});
  cases.push_back({-tiny, f.sign()});
  return cases;
}

}  // namespace trn::oracle
