// The public conversions: a switch per direction. Narrow floats go through the vectorised runs of float_runs.cpp, the
// rest are loops over native types; any-to-any conversions pass blocks through float where that is exact, else double.
#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <trn/core/convert.hpp>
#include <trn/core/error.hpp>
#include <type_traits>

#include "float_runs.hpp"
#include "rounding.hpp"

namespace trn {
namespace {

// Elements of a block on the stack.
constexpr std::int64_t kBlock = 512;

bool nothing_to_do(const char* operation, DType dtype, std::int64_t n) {
  require(n >= 0, "{}: n = {} elements; n must be >= 0", operation, n);
  require(!is_complex(dtype), "{}: {} is a pair of numbers; convert its parts, as 2 n elements of {}", operation,
          name(dtype), name(real_of(dtype)));
  require(!is_int64(dtype), "{}: {} is copied but not converted; convert its low and high words as uint32 elements",
          operation, name(dtype));
  return n == 0;
}

template <class From, class To> void cast(const void* src, To* dst, std::int64_t n) {
  const auto* in = static_cast<const From*>(src);
  for (std::int64_t i = 0; i < n; ++i) dst[i] = static_cast<To>(in[i]);
}

// Nearest even by adding and subtracting 1.5 * 2^52, whose unit in the last place is 1. The clamp comes first; that
// changes nothing, for its ends are integers.
template <class Integer, class Float> void round_to_integer(const Float* src, void* dst, std::int64_t n) {
  constexpr double lowest = std::numeric_limits<Integer>::min(), highest = std::numeric_limits<Integer>::max();
  constexpr double unit_last_place = 0x1.8p52;
  using Wide = std::conditional_t<std::is_same_v<Integer, std::uint32_t>, std::int64_t, std::int32_t>;
  auto* out = static_cast<Integer*>(dst);
  for (std::int64_t i = 0; i < n; ++i) {
    const double x = src[i];
    double clamped = x > lowest ? x : lowest;
    clamped = clamped < highest ? clamped : highest;
    const auto rounded = static_cast<Wide>((clamped + unit_last_place) - unit_last_place);
    out[i] = static_cast<Integer>(x == x ? rounded : 0);
  }
}

template <class Float> void to_integer(const Float* src, DType dtype, void* dst, std::int64_t n) {
  switch (dtype) {
    case DType::Int32:
      return round_to_integer<std::int32_t>(src, dst, n);
    case DType::Int16:
      return round_to_integer<std::int16_t>(src, dst, n);
    case DType::Int8:
      return round_to_integer<std::int8_t>(src, dst, n);
    case DType::UInt32:
      return round_to_integer<std::uint32_t>(src, dst, n);
    case DType::UInt16:
      return round_to_integer<std::uint16_t>(src, dst, n);
    case DType::UInt8:
      return round_to_integer<std::uint8_t>(src, dst, n);
    default:
      fail<InternalError>("convert: {} is not an integer type", name(dtype));
  }
}

template <class Float> void from_integer(DType dtype, const void* src, Float* dst, std::int64_t n) {
  switch (dtype) {
    case DType::Int32:
      return cast<std::int32_t>(src, dst, n);
    case DType::Int16:
      return cast<std::int16_t>(src, dst, n);
    case DType::Int8:
      return cast<std::int8_t>(src, dst, n);
    case DType::UInt32:
      return cast<std::uint32_t>(src, dst, n);
    case DType::UInt16:
      return cast<std::uint16_t>(src, dst, n);
    case DType::UInt8:
      return cast<std::uint8_t>(src, dst, n);
    default:
      fail<InternalError>("convert: {} is not an integer type", name(dtype));
  }
}

// Every value of the type is a float.
bool fits_float(DType dtype) { return dtype != DType::Float64 && dtype != DType::Int32 && dtype != DType::UInt32; }

template <class Float, class Load, class Store> void through_blocks(std::int64_t n, Load load, Store store) {
  std::array<Float, kBlock> block;
  for (std::int64_t i = 0; i < n; i += kBlock) {
    const std::int64_t m = std::min(kBlock, n - i);
    load(i, block.data(), m);
    store(i, block.data(), m);
  }
}

const void* element(const void* base, DType dtype, std::int64_t i) {
  return static_cast<const std::byte*>(base) + i * size_bytes(dtype);
}
void* element(void* base, DType dtype, std::int64_t i) { return static_cast<std::byte*>(base) + i * size_bytes(dtype); }

void store_code(std::uint32_t code, DType dtype, void* dst, std::int64_t i) {
  if (dtype == DType::TFloat32) {
    static_cast<std::uint32_t*>(dst)[i] = code << (23 - bits::kTFloat32.mantissa_bits);
  } else if (size_bytes(dtype) == 2) {
    static_cast<std::uint16_t*>(dst)[i] = static_cast<std::uint16_t>(code);
  } else {
    static_cast<std::uint8_t*>(dst)[i] = static_cast<std::uint8_t>(code);
  }
}

// SplitMix64's output function.
std::uint64_t splitmix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

template <class Float> void clamp_to_finite(const float* src, void* dst, std::int64_t n) {
  constexpr auto largest = std::numeric_limits<Float>::max();
  auto* out = static_cast<Float*>(dst);
  for (std::int64_t i = 0; i < n; ++i) {
    const auto x = static_cast<Float>(src[i]);
    out[i] = x > largest ? largest : x < -largest ? -largest : x;
  }
}

}  // namespace

void to_float(DType dtype, const void* src, float* dst, std::int64_t n) {
  if (nothing_to_do("to_float", dtype, n)) return;
  if (dtype == DType::Float32 || dtype == DType::TFloat32) {
    std::memcpy(dst, src, static_cast<std::size_t>(n) * sizeof(float));
  } else if (dtype == DType::Float64) {
    cast<double>(src, dst, n);
  } else if (is_float(dtype)) {
    bits::widen_run(dtype, src, dst, n);
  } else {
    from_integer(dtype, src, dst, n);
  }
}

void from_float(const float* src, DType dtype, void* dst, std::int64_t n) {
  if (nothing_to_do("from_float", dtype, n)) return;
  if (dtype == DType::Float32) {
    std::memcpy(dst, src, static_cast<std::size_t>(n) * sizeof(float));
  } else if (dtype == DType::Float64) {
    cast<float>(src, static_cast<double*>(dst), n);
  } else if (is_float(dtype)) {
    bits::narrow_run(src, dtype, bits::overflow_code(bits::format_of(dtype)), dst, n);
  } else {
    to_integer(src, dtype, dst, n);
  }
}

void to_double(DType dtype, const void* src, double* dst, std::int64_t n) {
  if (nothing_to_do("to_double", dtype, n)) return;
  if (dtype == DType::Float64) {
    std::memcpy(dst, src, static_cast<std::size_t>(n) * sizeof(double));
  } else if (dtype == DType::Float32 || dtype == DType::TFloat32) {
    cast<float>(src, dst, n);
  } else if (is_float(dtype)) {
    through_blocks<float>(
        n, [&](std::int64_t i, float* block, std::int64_t m) { to_float(dtype, element(src, dtype, i), block, m); },
        [&](std::int64_t i, const float* block, std::int64_t m) { cast<float>(block, dst + i, m); });
  } else {
    from_integer(dtype, src, dst, n);
  }
}

void from_double(const double* src, DType dtype, void* dst, std::int64_t n) {
  if (nothing_to_do("from_double", dtype, n)) return;
  if (dtype == DType::Float64) {
    std::memcpy(dst, src, static_cast<std::size_t>(n) * sizeof(double));
  } else if (dtype == DType::Float32) {
    cast<double>(src, static_cast<float*>(dst), n);
  } else if (is_float(dtype)) {
    const bits::Format format = bits::format_of(dtype);
    const std::uint32_t overflow = bits::overflow_code(format);
    for (std::int64_t i = 0; i < n; ++i) {
      store_code(bits::round_to(src[i], format, overflow, bits::NearestEven{}), dtype, dst, i);
    }
  } else {
    to_integer(src, dtype, dst, n);
  }
}

void convert(DType from, const void* src, DType to, void* dst, std::int64_t n) {
  if (nothing_to_do("convert", from == to ? DType::Float32 : is_complex(from) || is_int64(from) ? from : to, n)) return;
  if (from == to) {
    std::memcpy(dst, src, static_cast<std::size_t>(n * size_bytes(from)));
  } else if (from == DType::Float32) {
    from_float(static_cast<const float*>(src), to, dst, n);
  } else if (to == DType::Float32) {
    to_float(from, src, static_cast<float*>(dst), n);
  } else if (from == DType::Float64) {
    from_double(static_cast<const double*>(src), to, dst, n);
  } else if (to == DType::Float64) {
    to_double(from, src, static_cast<double*>(dst), n);
  } else if (fits_float(from)) {
    through_blocks<float>(
        n, [&](std::int64_t i, float* block, std::int64_t m) { to_float(from, element(src, from, i), block, m); },
        [&](std::int64_t i, const float* block, std::int64_t m) { from_float(block, to, element(dst, to, i), m); });
  } else {
    through_blocks<double>(
        n, [&](std::int64_t i, double* block, std::int64_t m) { to_double(from, element(src, from, i), block, m); },
        [&](std::int64_t i, const double* block, std::int64_t m) { from_double(block, to, element(dst, to, i), m); });
  }
}

void from_float_saturating(const float* src, DType dtype, void* dst, std::int64_t n) {
  if (nothing_to_do("from_float_saturating", dtype, n)) return;
  if (dtype == DType::Float32) {
    clamp_to_finite<float>(src, dst, n);
  } else if (dtype == DType::Float64) {
    clamp_to_finite<double>(src, dst, n);
  } else if (is_float(dtype)) {
    bits::narrow_run(src, dtype, bits::max_finite(bits::format_of(dtype)), dst, n);
  } else {
    to_integer(src, dtype, dst, n);
  }
}

void from_float_stochastic(const float* src, DType dtype, void* dst, std::int64_t n, std::uint64_t seed,
                           std::uint64_t counter) {
  if (nothing_to_do("from_float_stochastic", dtype, n)) return;
  if (!bits::is_narrow_float(dtype)) return from_float(src, dtype, dst, n);
  const bits::Format format = bits::format_of(dtype);
  const std::uint32_t overflow = bits::overflow_code(format);
  const std::uint64_t stream = splitmix(seed) + counter;
  for (std::int64_t i = 0; i < n; ++i) {
    const std::uint64_t random = splitmix(stream + static_cast<std::uint64_t>(i));
    const auto up = [random](std::uint64_t, std::uint64_t fraction) { return random < fraction; };
    store_code(bits::round_to(src[i], format, overflow, up), dtype, dst, i);
  }
}

}  // namespace trn
