// An output cut into pieces that threads share: make(first, count, to) writes elements first .. first + count - 1, in
// row-major order, to `to`. A contiguous output is written in place; a strided one through a buffer, then scattered.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include <trn/core/parallel.hpp>
#include <trn/core/row_major.hpp>
#include <trn/core/shape.hpp>

namespace trn::rand::host {

inline constexpr std::int64_t kPieceBytes = 1 << 17;  // some 30 us of work, and a strided buffer stays in cache

// values[i] to element number first + i.
template <class T>
void scatter(T* out, Shape shape, Strides strides, std::int64_t first, std::int64_t count, const T* values) {
  std::size_t rank = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) {  // an extent of 1 may have any stride, also one that would overflow
    if (shape[d] == 1) continue;
    shape[rank] = shape[d];
    strides[rank++] = strides[d];
  }
  std::vector<std::int64_t> index(rank);
  std::int64_t rest = first, offset = 0;
  for (std::size_t d = rank; d-- > 0; rest /= shape[d]) {
    index[d] = rest % shape[d];
    offset += index[d] * strides[d];
  }
  for (std::int64_t i = 0; i < count; ++i) {
    out[offset] = values[i];
    for (std::size_t d = rank; d-- > 0;) {
      offset += strides[d];
      if (++index[d] < shape[d]) break;
      offset -= shape[d] * strides[d];
      index[d] = 0;
    }
  }
}

// Pieces are multiples of `unit` elements.
template <class T, class Make>
void for_pieces(void* data, const Shape& shape, const Strides& strides, std::int64_t unit, const Make& make) {
  auto* out = static_cast<T*>(data);
  const std::int64_t count = element_count(shape);
  const std::int64_t wanted = kPieceBytes / static_cast<std::int64_t>(sizeof(T));
  const std::int64_t piece = std::max<std::int64_t>(1, wanted / unit) * unit, pieces = (count + piece - 1) / piece;
  const bool contiguous = is_row_major(shape, strides);
  for_ranges(pieces, loop_threads(pieces > 1), [&](std::int64_t begin, std::int64_t end, int) {
    std::vector<T> buffer(contiguous ? 0 : static_cast<std::size_t>(std::min(count, piece)));
    for (std::int64_t p = begin; p < end; ++p) {
      const std::int64_t first = p * piece, size = std::min(piece, count - first);
      make(first, size, contiguous ? out + first : buffer.data());
      if (!contiguous) scatter(out, shape, strides, first, size, static_cast<const T*>(buffer.data()));
    }
  });
}

}  // namespace trn::rand::host
