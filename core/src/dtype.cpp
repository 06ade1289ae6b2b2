// The table of element types: one row per enumerator, in declaration order; every query of dtype.hpp reads it.
#include <array>
#include <cmath>
#include <string>
#include <trn/core/dtype.hpp>
#include <trn/core/error.hpp>

namespace trn {
namespace {

enum class Kind : std::uint8_t { Float, Integer, Complex };

struct Row {
  DType dtype;
  std::string_view name;
  std::string_view short_name;  // "" where there is none
  Kind kind;
  int bytes;
  int mantissa_bits;  // stored ones; 0 for integers
};

constexpr std::array kRows{
    Row{DType::Float64, "float64", "fp64", Kind::Float, 8, 52},
    Row{DType::Float32, "float32", "fp32", Kind::Float, 4, 23},
    Row{DType::TFloat32, "tfloat32", "tf32", Kind::Float, 4, 10},
    Row{DType::BFloat16, "bfloat16", "bf16", Kind::Float, 2, 7},
    Row{DType::Float16, "float16", "fp16", Kind::Float, 2, 10},
    Row{DType::Float8E4M3, "float8_e4m3", "fp8_e4m3", Kind::Float, 1, 3},
    Row{DType::Float8E4M3FN, "float8_e4m3fn", "fp8_e4m3fn", Kind::Float, 1, 3},
    Row{DType::Float8E5M2, "float8_e5m2", "fp8_e5m2", Kind::Float, 1, 2},
    Row{DType::Int32, "int32", "", Kind::Integer, 4, 0},
    Row{DType::Int16, "int16", "", Kind::Integer, 2, 0},
    Row{DType::Int8, "int8", "", Kind::Integer, 1, 0},
    Row{DType::UInt32, "uint32", "", Kind::Integer, 4, 0},
    Row{DType::UInt16, "uint16", "", Kind::Integer, 2, 0},
    Row{DType::UInt8, "uint8", "", Kind::Integer, 1, 0},
    Row{DType::Complex64, "complex64", "c64", Kind::Complex, 8, 23},
    Row{DType::Complex128, "complex128", "c128", Kind::Complex, 16, 52},
    Row{DType::Int64, "int64", "", Kind::Integer, 8, 0},
    Row{DType::UInt64, "uint64", "", Kind::Integer, 8, 0},
};

constexpr auto kAll = [] {
  std::array<DType, kRows.size()> all{};
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = kRows[i].dtype;
  return all;
}();

constexpr bool rows_follow_the_enumeration() {
  for (std::size_t i = 0; i < kRows.size(); ++i) {
    if (static_cast<std::size_t>(kRows[i].dtype) != i) return false;
  }
  return kRows.back().dtype == DType::UInt64;
}
static_assert(rows_follow_the_enumeration());

const Row& row(DType dtype) {
  const auto i = static_cast<std::size_t>(dtype);
  require(i < kRows.size(), "dtype: {} is not one of the {} element types", i, kRows.size());
  return kRows[i];
}

}  // namespace

std::span<const DType> all_dtypes() { return kAll; }

std::string_view name(DType dtype) { return row(dtype).name; }

DType parse_dtype(std::string_view text) {
  std::string known;
  for (const Row& r : kRows) {
    if (text == r.name || (!r.short_name.empty() && text == r.short_name)) return r.dtype;
    if (!known.empty()) known += ", ";
    known += r.name;
    if (!r.short_name.empty()) known.append(" (").append(r.short_name).append(")");
  }
  fail<InvalidArgument>("dtype '{}' is not known; use one of {}", text, known);
}

std::int64_t size_bytes(DType dtype) { return row(dtype).bytes; }

bool is_float(DType dtype) { return row(dtype).kind == Kind::Float; }

bool is_integer(DType dtype) { return row(dtype).kind == Kind::Integer; }

bool is_int64(DType dtype) { return is_integer(dtype) && row(dtype).bytes == 8; }

bool is_fp8(DType dtype) { return is_float(dtype) && row(dtype).bytes == 1; }

bool is_complex(DType dtype) { return row(dtype).kind == Kind::Complex; }

DType real_of(DType dtype) {
  if (dtype == DType::Complex64) return DType::Float32;
  if (dtype == DType::Complex128) return DType::Float64;
  return dtype;
}

double unit_roundoff(DType dtype) { return is_integer(dtype) ? 0.0 : std::ldexp(1.0, -row(dtype).mantissa_bits - 1); }

}  // namespace trn
