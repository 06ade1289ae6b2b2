// Stores in 16 or 8 bits on the host: pieces of a row are widened, combined in float and rounded. -ffp-contract=off
// keeps the two roundings of alpha x + y, which the device makes too.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

#include <trn/core/convert.hpp>
#include <trn/core/parallel.hpp>

#include "../kernels/narrow.hpp"

namespace trn::blas::host {

namespace {

constexpr std::int64_t kPiece = 512;  // a multiple of the four words of a block

// out[i] = float(element i of a strided run).
void gather(DType dtype, const void* base, std::int64_t stride, std::int64_t n, float* out) {
  if (stride == 1) return to_float(dtype, base, out, n);
  for (std::int64_t i = 0; i < n; ++i)
    to_float(dtype, static_cast<const std::byte*>(base) + i * stride * size_bytes(dtype), out + i, 1);
}

void piece(const NarrowArgs& g, std::int64_t row, std::int64_t column, std::int64_t n) {
  std::array<float, kPiece> value, other;
  const std::int64_t x_bytes = size_bytes(g.x_type), y_bytes = size_bytes(g.y_type);
  const auto* x = static_cast<const std::byte*>(g.x) + (row * g.xr + column * g.xc) * x_bytes;
  auto* y = static_cast<std::byte*>(g.y) + (row * g.yr + column * g.yc) * y_bytes;
  if (g.x) {
    gather(g.x_type, x, g.xc, n, value.data());
    for (std::int64_t i = 0; i < n; ++i) value[static_cast<std::size_t>(i)] *= g.alpha;
  }
  if (g.beta != 0 || !g.x) {
    gather(g.y_type, y, g.yc, n, other.data());
    for (std::int64_t i = 0; i < n; ++i) other[static_cast<std::size_t>(i)] *= g.beta;
    if (!g.x) value = other;
    for (std::int64_t i = 0; g.x && i < n; ++i)
      value[static_cast<std::size_t>(i)] += other[static_cast<std::size_t>(i)];
  }
  const auto first = static_cast<std::uint64_t>(row * ((g.n + 3) / 4 * 4) + column);
  if (g.yc == 1) return from_float(value.data(), g.y_type, y, n, g.rounding, first);
  std::array<std::uint32_t, kPiece> codes;  // room for every size
  from_float(value.data(), g.y_type, codes.data(), n, g.rounding, first);
  for (std::int64_t i = 0; i < n; ++i)
    std::memcpy(y + i * g.yc * y_bytes, reinterpret_cast<const std::byte*>(codes.data()) + i * y_bytes,
                static_cast<std::size_t>(y_bytes));
}

}  // namespace

void narrow(const Executor&, const NarrowArgs& g) {
  const std::int64_t pieces = (g.n + kPiece - 1) / kPiece;
  parallel_for(g.m * pieces, g.m * g.n > 1 << 14, [&](std::int64_t k) {
    const std::int64_t column = k % pieces * kPiece;
    piece(g, k / pieces, column, std::min(kPiece, g.n - column));
  });
}

}  // namespace trn::blas::host
