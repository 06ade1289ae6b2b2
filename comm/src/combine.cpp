// Element-by-element reductions of packed host memory. All are exact and independent of the order of ranks: integers
// wrap, a NaN anywhere gives the one quiet NaN, and -0 is below +0.
#include <cmath>
#include <limits>
#include <type_traits>

#include "staging.hpp"

namespace trn::comm::detail {
namespace {

template <class T> bool below(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (a == b) return std::signbit(a) && !std::signbit(b);
  }
  return a < b;
}

template <class T> T settled(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(value)) return std::numeric_limits<T>::quiet_NaN();
  }
  return value;
}

template <class T> T extreme(T a, T b, bool largest) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<T>::quiet_NaN();
  }
  return (largest ? below(a, b) : below(b, a)) ? b : a;
}

template <class T> void combine_as(Reduction reduction, std::int64_t count, void* into, const void* other) {
  T* a = static_cast<T*>(into);
  const T* b = static_cast<const T*>(other);
  if (reduction != Reduction::Sum) {
    const bool largest = reduction == Reduction::Maximum;
    for (std::int64_t i = 0; i < count; ++i) a[i] = extreme(a[i], b[i], largest);
    return;
  }
  if constexpr (std::is_integral_v<T>) {
    using Unsigned = std::make_unsigned_t<T>;
    // Of small types the sum is an int; the conversion back wraps.
    for (std::int64_t i = 0; i < count; ++i) {
      a[i] = static_cast<T>(static_cast<Unsigned>(static_cast<Unsigned>(a[i]) + static_cast<Unsigned>(b[i])));
    }
  } else {
    fail<InternalError>("comm: a sum of floating-point numbers in the order of ranks");
  }
}

template <class F> void with_type(DType dtype, const F& f) {
  switch (dtype) {
    case DType::Float64:
      return f(double{});
    case DType::Float32:
      return f(float{});
    case DType::Int64:
      return f(std::int64_t{});
    case DType::Int32:
      return f(std::int32_t{});
    case DType::Int16:
      return f(std::int16_t{});
    case DType::Int8:
      return f(std::int8_t{});
    case DType::UInt64:
      return f(std::uint64_t{});
    case DType::UInt32:
      return f(std::uint32_t{});
    case DType::UInt16:
      return f(std::uint16_t{});
    case DType::UInt8:
      return f(std::uint8_t{});
    default:
      fail<InternalError>("comm: {} has no order", name(dtype));
  }
}

}  // namespace

void combine(Reduction reduction, DType dtype, std::int64_t count, void* into, const void* other) {
  with_type(dtype, [&](auto zero) { combine_as<decltype(zero)>(reduction, count, into, other); });
}

void settle(Reduction reduction, DType dtype, std::int64_t count, void* values) {
  if (reduction == Reduction::Sum) return;
  with_type(dtype, [&](auto zero) {
    auto* v = static_cast<decltype(zero)*>(values);
    for (std::int64_t i = 0; i < count; ++i) v[i] = settled(v[i]);
  });
}

}  // namespace trn::comm::detail
