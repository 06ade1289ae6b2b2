// A matrix turned in squares of registers, in blocks that fit the first-level cache; whole lines leave by streaming
// stores where a result is larger than the caches.
#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3 | HWY_AVX3_DL)
#endif
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "host/turn.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h comes first.
#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>

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

template <class U> void turn_block(const U* a, std::int64_t sa, U* d, std::int64_t sd, std::int64_t rows,
                                   std::int64_t columns, bool, std::int64_t) {
  turn_plain(a, sa, d, sd, 0, rows, 0, columns);
}
struct Unit16 {
  double re, im;
};

#else

// Bands of n rows of d, each written from left to right, a line a step: two squares. Lines leave past the caches where
// all rows start at the same place of a line; rows that start in the middle of one begin and end with half a step.
// (Rows that start at different places would share their first and last lines with others, which costs more than it
// saves.) `ahead`: elements from those that are read to those that come next along a's rows, which are asked for; 0:
// they are not, because a is read in a row anyway.
template <class U> void turn_block(const U* a, std::int64_t sa, U* d, std::int64_t sd, std::int64_t rows,
                                   std::int64_t columns, bool stream, std::int64_t ahead) {
  using M = Move<U>;
  using V = hn::Vec<Vector<M> >;
  const Vector<M> tag;
  constexpr std::int64_t n = kUnits<U>, half = kLanes<M>;
  const std::uintptr_t past = reinterpret_cast<std::uintptr_t>(d) % 64;
  stream = stream && past % 32 == 0 && sd * static_cast<std::int64_t>(sizeof(U)) % 64 == 0;
  const std::int64_t head = stream && past == 32 && columns >= n ? n : 0;
  const std::int64_t full_rows = rows / n * n, full_columns = head + (columns - head) / (2 * n) * (2 * n);
  const std::int64_t tail = columns - full_columns >= n ? n : 0;
  const auto square = [&](std::int64_t i, std::int64_t j, V* x) {
    for (std::int64_t q = 0; q < n; ++q) {
      const U* from = a + i + (j + q) * sa;
      if (ahead > 0) hwy::Prefetch(from + ahead);
      x[q] = hn::LoadU(tag, reinterpret_cast<const M*>(from));
    }
    turn<U>(x);
  };
  for (std::int64_t i = 0; i < full_rows; i += n) {
    const auto to = [&](std::int64_t q, std::int64_t j) { return reinterpret_cast<M*>(d + j + (i + q) * sd); };
    V x[n], y[n];
    if (head > 0) {
      square(i, 0, x);
      for (std::int64_t q = 0; q < n; ++q) hn::StoreU(x[q], tag, to(q, 0));
    }
    for (std::int64_t j = head; j < full_columns; j += 2 * n) {
      square(i, j, x);
      square(i, j + n, y);
      for (std::int64_t q = 0; q < n; ++q) {
        if (stream) {
          hn::Stream(x[q], tag, to(q, j));
          hn::Stream(y[q], tag, to(q, j) + half);
        } else {
          hn::StoreU(x[q], tag, to(q, j));
          hn::StoreU(y[q], tag, to(q, j) + half);
        }
      }
    }
    if (tail > 0) {
      square(i, full_columns, x);
      for (std::int64_t q = 0; q < n; ++q) hn::StoreU(x[q], tag, to(q, full_columns));
    }
  }
  turn_plain(a, sa, d, sd, 0, full_rows, full_columns + tail, columns);
  turn_plain(a, sa, d, sd, full_rows, rows, 0, columns);
}

#endif

template <class U> void turn_all(const void* a, std::int64_t sa, void* d, std::int64_t sd, std::int64_t rows,
                                 std::int64_t columns, bool stream) {
  constexpr std::int64_t kRows = 128 / sizeof(U), kColumns = 512 / sizeof(U);  // of d: 16 KiB are read at a time
  const std::int64_t ahead = std::abs(sa) * static_cast<std::int64_t>(sizeof(U)) > 512 ? std::min(kRows, rows) : 0;
  for (std::int64_t i = 0; i < rows; i += kRows) {
    for (std::int64_t j = 0; j < columns; j += kColumns) {
      turn_block(static_cast<const U*>(a) + i + j * sa, sa, static_cast<U*>(d) + j + i * sd, sd,
                 std::min(kRows, rows - i), std::min(kColumns, columns - j), stream, ahead);
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
