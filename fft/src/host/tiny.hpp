// Tiny boxes: one transform over several axes, or a few, of at most some dozen points altogether. What they cost is
// calls and waiting for stores, so each axis is one call of a kernel that is found with the plan, numbers stay pairs in
// vectors of one, two or four, and a vector is never wider than the stores it depends on.
#pragma once

#include <cstdint>
#include <memory>

#include "../kernels.hpp"
#include "line_plan.hpp"

namespace trn::fft::host {

inline constexpr std::int64_t kTinyPoints = 64;
inline constexpr int kTinyAxes = 6;  // 2^6 points

// An axis: `inner` lines, `outer` times. Strides, of points and of lines, in reals.
template <class T> struct TinyAxis {
  using Run = void (*)(const TinyAxis& axis, const T* in, T* out);
  Run run = nullptr;
  std::int64_t in_stride = 0, out_stride = 0;
  std::int64_t inner = 1, in_inner = 0, out_inner = 0;
  std::int64_t outer = 1, in_outer = 0, out_outer = 0;
  T turn = 1, factor = 1;  // turn: 1 forward, -1 inverse
  bool together = false;   // neighbouring lines in one vector: they are neighbours in memory
};
enum class TinyKind : std::uint8_t { Complex, RealToHalf, HalfToReal };
// Compiled once per instruction set. Null if there is none.
template <class T> struct SmallFunctions {
  typename TinyAxis<T>::Run (*tiny)(TinyKind kind, std::int64_t n);
  // Lines begin .. end of a batch whose last distance is 1 on the real side and 2 on the other, which has pairs; of
  // ColumnLengths.
  void (*real_columns)(bool there, std::int64_t n, const EngineCall<T>& call, std::int64_t begin, std::int64_t end);
};
template <class T> [[nodiscard]] const SmallFunctions<T>& small_functions();

// Null if this problem is not a tiny one.
template <class T> [[nodiscard]] std::shared_ptr<const detail::Body> make_tiny_body(const Problem& problem);

}  // namespace trn::fft::host
