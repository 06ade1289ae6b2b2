// The element types of the suite: one enumerator each, with its size, its name and the facts a kernel asks about.
// The C++ value types behind the enumerators are in float_types.hpp.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace trn {

enum class DType : std::uint8_t {
  Float64,
  Float32,
  TFloat32,
  BFloat16,
  Float16,
  Float8E4M3,
  Float8E4M3FN,
  Float8E5M2,
  Int32,
  Int16,
  Int8,
  UInt32,
  UInt16,
  UInt8,
  Complex64,
  Complex128,  // pairs (re, im) of Float32, of Float64: for host memory; no engine knows them
  Int64,
  UInt64,  // for memory; no engine knows them and convert() only copies them
};

// Every DType, in declaration order.
[[nodiscard]] std::span<const DType> all_dtypes();

// "float32", "bfloat16", ...: the names NKI uses.
[[nodiscard]] std::string_view name(DType dtype);

// Accepts the NKI names and the short ones (fp32, bf16, fp16, tf32, fp64, fp8_e4m3, ...). Throws InvalidArgument that
// lists the known names.
[[nodiscard]] DType parse_dtype(std::string_view text);

[[nodiscard]] std::int64_t size_bytes(DType dtype);

[[nodiscard]] bool is_float(DType dtype);
[[nodiscard]] bool is_integer(DType dtype);
[[nodiscard]] bool is_int64(DType dtype);  // Int64 or UInt64
[[nodiscard]] bool is_fp8(DType dtype);
[[nodiscard]] bool is_complex(DType dtype);  // is_float and is_integer are false then

// Float32 for Complex64, Float64 for Complex128, itself for every other type.
[[nodiscard]] DType real_of(DType dtype);

// u = half the distance from 1 to the next number: the bound of one rounding to nearest. 0 for integers. Of a complex
// type: that of its parts.
[[nodiscard]] double unit_roundoff(DType dtype);

}  // namespace trn
