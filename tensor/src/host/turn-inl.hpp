// Squares of elements turned in registers, for the files that Highway compiles once per instruction set: 8 x 8 elements
// of 4 bytes, 4 x 4 of 8, 2 x 2 of 16. No #pragma once: each instruction set has its own.
#if defined(TRN_TENSOR_TURN_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TRN_TENSOR_TURN_INL
#undef TRN_TENSOR_TURN_INL
#else
#define TRN_TENSOR_TURN_INL
#endif

#include <hwy/highway.h>

#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace trn::tensor::host::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR

namespace hn = hwy::HWY_NAMESPACE;

template <class T> using Vector = hn::CappedTag<T, 32 / sizeof(T)>;
template <class T> constexpr std::int64_t kLanes = 32 / sizeof(T);

// Elements that are moved without being looked at: 4 and 8 bytes as floats, 16 as pairs of doubles.
struct Unit16 {
  double re, im;
};
template <class U> struct MoveOf { using type = U; };
template <> struct MoveOf<Unit16> { using type = double; };
template <class U> using Move = typename MoveOf<U>::type;
template <class U> constexpr int kUnits = static_cast<int>(kLanes<Move<U> > * sizeof(Move<U>) / sizeof(U));

// Turns a square of kUnits vectors.
template <class U, class V> HWY_INLINE void turn(V* r) {
  const Vector<Move<U> > d;
  constexpr int n = kUnits<U>;
  if constexpr (sizeof(U) == 4) {
    const Vector<double> dd;
    V a[n];
    for (int i = 0; i < n; i += 2) {
      a[i] = hn::InterleaveLower(d, r[i], r[i + 1]);
      a[i + 1] = hn::InterleaveUpper(d, r[i], r[i + 1]);
    }
    V b[n];
    for (int i = 0; i < n; i += 4) {
      for (int j = 0; j < 2; ++j) {
        const auto x = hn::BitCast(dd, a[i + j]), y = hn::BitCast(dd, a[i + j + 2]);
        b[i + 2 * j] = hn::BitCast(d, hn::InterleaveLower(dd, x, y));
        b[i + 2 * j + 1] = hn::BitCast(d, hn::InterleaveUpper(dd, x, y));
      }
    }
    for (int j = 0; j < 4; ++j) {
      r[j] = hn::ConcatLowerLower(d, b[j + 4], b[j]);
      r[j + 4] = hn::ConcatUpperUpper(d, b[j + 4], b[j]);
    }
  } else if constexpr (sizeof(U) == 8) {
    V a[n];
    for (int i = 0; i < n; i += 2) {
      a[i] = hn::InterleaveLower(d, r[i], r[i + 1]);
      a[i + 1] = hn::InterleaveUpper(d, r[i], r[i + 1]);
    }
    for (int j = 0; j < 2; ++j) {
      r[j] = hn::ConcatLowerLower(d, a[j + 2], a[j]);
      r[j + 2] = hn::ConcatUpperUpper(d, a[j + 2], a[j]);
    }
  } else {
    const V low = hn::ConcatLowerLower(d, r[1], r[0]);
    r[1] = hn::ConcatUpperUpper(d, r[1], r[0]);
    r[0] = low;
  }
}

#endif

}  // namespace trn::tensor::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
