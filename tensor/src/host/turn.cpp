// A matrix turned in squares of registers, in blocks that fit the first-level cache; whole lines leave by streaming
// stores where a result is larger than the caches.
#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3 | HWY_AVX3_DL)
#endif
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "host/turn.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h comes first.
#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>

#include "host/turn-inl.hpp"
#include "host/turn.hpp"

HWY_BEFORE_NAMESPACE();
namespace trn::tensor::host::HWY_NAMESPACE {

template <class U> void turn_plain(const U* a, std::int64_t sa, U* d, std::int64_t sd, std::int64_t i0, std::int64_t i1,
                                   std::int64_t j0, std::int64_t j1) {
  for (std::int64_t i = i0; i < i1; ++i) {
    for (std::int64_t j = j0; j < j1; ++j) d[j + i * sd] = a[i + j * sa];
  }
}

#if HWY_TARGET == HWY_SCALAR

template <class U>
void turn_block(const U* a, std::int64_t sa, U* d, std::int64_t sd, std::int64_t rows, std::int64_t columns, bool) {
  turn_plain(a, sa, d, sd, 0, rows, 0, columns);
}
struct Unit16 {
  double re, im;
};

#else

// Squares in pairs along j: two vectors are a line of d.
template <class U> void turn_block(const U* a, std::int64_t sa, U* d, std::int64_t sd, std::int64_t rows,
                                   std::int64_t columns, bool stream) {
  using M = Move<U>;
  const Vector<M> tag;
  constexpr std::int64_t n = kUnits<U>;
  stream = stream && reinterpret_cast<std::uintptr_t>(d) % 64 == 0 && sd * sizeof(U) % 64 == 0;
  const std::int64_t full_rows = rows / n * n, full_columns = columns / (2 * n) * (2 * n);
  for (std::int64_t i = 0; i < full_rows; i += n) {
    for (std::int64_t j = 0; j < full_columns; j += 2 * n) {
      hn::Vec<Vector<M> > x[n], y[n];
      for (std::int64_t q = 0; q < n; ++q) {
        x[q] = hn::LoadU(tag, reinterpret_cast<const M*>(a + i + (j + q) * sa));
        y[q] = hn::LoadU(tag, reinterpret_cast<const M*>(a + i + (j + n + q) * sa));
      }
      turn<U>(x);
      turn<U>(y);
      for (std::int64_t q = 0; q < n; ++q) {
        M* to = reinterpret_cast<M*>(d + j + (i + q) * sd);
        if (stream) {
          hn::Stream(x[q], tag, to);
          hn::Stream(y[q], tag, to + kLanes<M>);
        } else {
          hn::StoreU(x[q], tag, to);
          hn::StoreU(y[q], tag, to + kLanes<M>);
        }
      }
    }
  }
  turn_plain(a, sa, d, sd, 0, full_rows, full_columns, columns);
  turn_plain(a, sa, d, sd, full_rows, rows, 0, columns);
}

#endif

template <class U> void turn_all(const void* a, std::int64_t sa, void* d, std::int64_t sd, std::int64_t rows,
                                 std::int64_t columns, bool stream) {
  constexpr std::int64_t kBlock = 128 / sizeof(U);  // two lines wide and high
  for (std::int64_t i = 0; i < rows; i += kBlock) {
    for (std::int64_t j = 0; j < columns; j += kBlock) {
      turn_block(static_cast<const U*>(a) + i + j * sa, sa, static_cast<U*>(d) + j + i * sd, sd,
                 std::min(kBlock, rows - i), std::min(kBlock, columns - j), stream);
    }
  }
}

void turn_any(std::int64_t bytes, const void* a, std::int64_t sa, void* d, std::int64_t sd, std::int64_t rows,
              std::int64_t columns, bool stream) {
  if (bytes == 4) return turn_all<float>(a, sa, d, sd, rows, columns, stream);
  if (bytes == 8) return turn_all<double>(a, sa, d, sd, rows, columns, stream);
  if (bytes == 16) return turn_all<Unit16>(a, sa, d, sd, rows, columns, stream);
  turn_plain(static_cast<const std::uint16_t*>(a), sa, static_cast<std::uint16_t*>(d), sd, 0, rows, 0, columns);
}

}  // namespace trn::tensor::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trn::tensor::host {

HWY_EXPORT(turn_any);

void turn_matrix(std::int64_t element_bytes, const void* a, std::int64_t a_stride, void* d, std::int64_t d_stride,
                 std::int64_t rows, std::int64_t columns, bool stream) {
  HWY_DYNAMIC_DISPATCH(turn_any)(element_bytes, a, a_stride, d, d_stride, rows, columns, stream);
}

}  // namespace trn::tensor::host
#endif
