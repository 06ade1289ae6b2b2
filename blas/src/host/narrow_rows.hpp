// Strided runs of narrow numbers as floats and back, for kernels whose operands have a type known at run time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

#include <trn/core/convert.hpp>

namespace trn::blas::host {

// Room for one run of packed elements.
using Packed = std::vector<std::byte>;

inline void load_run(DType dtype, const void* from, std::int64_t stride, std::int64_t n, float* to, Packed& room) {
  const std::int64_t bytes = size_bytes(dtype);
  if (stride == 1 || n == 1) return to_float(dtype, from, to, n);
  room.resize(static_cast<std::size_t>(n * bytes));
  for (std::int64_t i = 0; i < n; ++i)
    std::memcpy(&room[static_cast<std::size_t>(i * bytes)], static_cast<const std::byte*>(from) + i * stride * bytes,
                static_cast<std::size_t>(bytes));
  to_float(dtype, room.data(), to, n);
}

inline void store_run(const float* from, DType dtype, void* to, std::int64_t stride, std::int64_t n, Packed& room) {
  const std::int64_t bytes = size_bytes(dtype);
  if (stride == 1 || n == 1) return from_float(from, dtype, to, n);
  room.resize(static_cast<std::size_t>(n * bytes));
  from_float(from, dtype, room.data(), n);
  for (std::int64_t i = 0; i < n; ++i)
    std::memcpy(static_cast<std::byte*>(to) + i * stride * bytes, &room[static_cast<std::size_t>(i * bytes)],
                static_cast<std::size_t>(bytes));
}

// C's row = fl(beta C) + sums, or the sums; `only_old`: nothing was multiplied, so C = fl(beta C).
inline void finish_row(DType dtype, void* c, std::int64_t stride, std::int64_t n, float* sums, bool read, float beta,
                       bool only_old) {
  Packed room;
  if (only_old) std::fill_n(sums, n, 0.0F);
  if (read) {
    std::vector<float> old(static_cast<std::size_t>(n));
    load_run(dtype, c, stride, n, old.data(), room);
    for (std::int64_t j = 0; j < n; ++j) {
      const float scaled = beta * old[static_cast<std::size_t>(j)];
      sums[j] = only_old ? scaled : scaled + sums[j];
    }
  }
  store_run(sums, dtype, c, stride, n, room);
}

}  // namespace trn::blas::host
