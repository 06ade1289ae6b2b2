// The narrow floating-point value types: storage bits plus conversions from and to float.
//
// Conversion from float rounds to nearest, ties to even (RNE), also into the subnormal range; NaN stays NaN (quiet, the
// sign kept, the payload's top bits kept where there is room). What a value too large for the format becomes:
//
//   format         sign/exp/mantissa   largest   overflow        infinities   NaN codes
//   tfloat32       1/8/10 (4 bytes)    3.4e38    infinity        yes          IEEE
//   bfloat16       1/8/7               3.39e38   infinity        yes          IEEE
//   float16        1/5/10              65504     infinity        yes          IEEE
//   float8_e4m3    1/4/3               240       infinity        yes          IEEE   (AWS's "legacy" e4m3)
//   float8_e4m3fn  1/4/3               448       NaN (OCP)       no           S.1111.111 only
//   float8_e5m2    1/5/2               57344     infinity        yes          IEEE
//
// What silicon does on fp8 overflow is not published; the table is the OCP/IEEE rule without saturation, and
// docs/simulator.md lists it among the modelling choices. Saturating conversion is a separate call in convert.hpp.
#pragma once

#include <bit>
#include <complex>
#include <concepts>
#include <cstdint>
#include <type_traits>

#include <trn/core/dtype.hpp>

namespace trn {

namespace bits {
// One routine for every format narrower than float; the table above is its arguments.
struct Format {
  int exponent_bits;
  int mantissa_bits;
  bool has_infinity;  // false: the top exponent is finite except for the all-ones code (OCP "fn" formats)
};
inline constexpr Format kBFloat16{8, 7, true}, kFloat16{5, 10, true}, kTFloat32{8, 10, true};
inline constexpr Format kFloat8E4M3{4, 3, true}, kFloat8E4M3FN{4, 3, false}, kFloat8E5M2{5, 2, true};

// The format's bit pattern of x, right-aligned, rounded to nearest even.
[[nodiscard]] std::uint32_t narrow(float x, Format format);
// The float with exactly the value of the pattern.
[[nodiscard]] float widen(std::uint32_t pattern, Format format);
}  // namespace bits

struct bfloat16 {
  std::uint16_t bits = 0;
  bfloat16() = default;
  explicit bfloat16(float x) {
    const auto u = std::bit_cast<std::uint32_t>(x);
    bits = x != x ? static_cast<std::uint16_t>((u >> 16) | 0x0040u)
                  : static_cast<std::uint16_t>((u + 0x7fffu + ((u >> 16) & 1u)) >> 16);
  }
  operator float() const { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }
};

struct float16 {
  std::uint16_t bits = 0;
  float16() = default;
  explicit float16(float x) : bits(static_cast<std::uint16_t>(bits::narrow(x, bits::kFloat16))) {}
  operator float() const { return bits::widen(bits, bits::kFloat16); }
};

// Stored as a float whose 13 lowest mantissa bits are zero.
struct tfloat32 {
  float value = 0;
  tfloat32() = default;
  explicit tfloat32(float x) {
    const auto u = std::bit_cast<std::uint32_t>(x);
    value = x != x ? std::bit_cast<float>((u | 0x00400000u) & 0xffffe000u)
                   : std::bit_cast<float>((u + 0x0fffu + ((u >> 13) & 1u)) & 0xffffe000u);
  }
  operator float() const { return value; }
};

struct float8_e4m3 {
  std::uint8_t bits = 0;
  float8_e4m3() = default;
  explicit float8_e4m3(float x) : bits(static_cast<std::uint8_t>(bits::narrow(x, bits::kFloat8E4M3))) {}
  operator float() const { return bits::widen(bits, bits::kFloat8E4M3); }
};

struct float8_e4m3fn {
  std::uint8_t bits = 0;
  float8_e4m3fn() = default;
  explicit float8_e4m3fn(float x) : bits(static_cast<std::uint8_t>(bits::narrow(x, bits::kFloat8E4M3FN))) {}
  operator float() const { return bits::widen(bits, bits::kFloat8E4M3FN); }
};

struct float8_e5m2 {
  std::uint8_t bits = 0;
  float8_e5m2() = default;
  explicit float8_e5m2(float x) : bits(static_cast<std::uint8_t>(bits::narrow(x, bits::kFloat8E5M2))) {}
  operator float() const { return bits::widen(bits, bits::kFloat8E5M2); }
};

// dtype_of<T>: the enumerator of a C++ element type.
template <class T> struct DTypeOf;
template <> struct DTypeOf<double> { static constexpr DType value = DType::Float64; };
template <> struct DTypeOf<float> { static constexpr DType value = DType::Float32; };
template <> struct DTypeOf<tfloat32> { static constexpr DType value = DType::TFloat32; };
template <> struct DTypeOf<bfloat16> { static constexpr DType value = DType::BFloat16; };
template <> struct DTypeOf<float16> { static constexpr DType value = DType::Float16; };
template <> struct DTypeOf<float8_e4m3> { static constexpr DType value = DType::Float8E4M3; };
template <> struct DTypeOf<float8_e4m3fn> { static constexpr DType value = DType::Float8E4M3FN; };
template <> struct DTypeOf<float8_e5m2> { static constexpr DType value = DType::Float8E5M2; };
template <> struct DTypeOf<std::int32_t> { static constexpr DType value = DType::Int32; };
template <> struct DTypeOf<std::int16_t> { static constexpr DType value = DType::Int16; };
template <> struct DTypeOf<std::int8_t> { static constexpr DType value = DType::Int8; };
template <> struct DTypeOf<std::uint32_t> { static constexpr DType value = DType::UInt32; };
template <> struct DTypeOf<std::uint16_t> { static constexpr DType value = DType::UInt16; };
template <> struct DTypeOf<std::uint8_t> { static constexpr DType value = DType::UInt8; };
template <> struct DTypeOf<std::complex<float>> { static constexpr DType value = DType::Complex64; };
template <> struct DTypeOf<std::complex<double>> { static constexpr DType value = DType::Complex128; };
template <> struct DTypeOf<std::int64_t> { static constexpr DType value = DType::Int64; };
template <> struct DTypeOf<std::uint64_t> { static constexpr DType value = DType::UInt64; };
template <class T> inline constexpr DType dtype_of = DTypeOf<std::remove_const_t<T>>::value;

// A type that arrays can hold, or that type const: what a view of it can show.
template <class T>
concept Element = requires {
  { DTypeOf<std::remove_const_t<T>>::value } -> std::convertible_to<DType>;
};

}  // namespace trn
