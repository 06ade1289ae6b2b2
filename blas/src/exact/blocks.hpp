// Blocks of C: an exact product is finished block by block, so that what the host keeps does not grow with C.
//
// The cut depends on the shape of the product alone, not on the executor: bits and bounds are the same everywhere.
#pragma once

#include <algorithm>
#include <cstdint>

#include "../exact_integers.hpp"

namespace trn::blas::exact {

struct Block {
  std::int64_t row, rows, column, columns;
};

// The integer product, block by block. A block lies inside one panel of rows and one panel of columns.
class Source {
 public:
  virtual ~Source() = default;
  // planes x rows x columns integers. With `lower` in ExactArgs those above the diagonal are open.
  virtual void fetch(const Block& block, Wide* x) = 0;
};

struct Partition {
  static constexpr std::int64_t kStrip = 256;     // rows of a block
  static constexpr std::int64_t kColumns = 1024;  // columns of a block at most
  static constexpr std::int64_t kLeft = std::int64_t{128} << 20,
                                kRight = std::int64_t{384} << 20;  // bytes of limbs in a panel

  // For m x n elements with real rows of `depth` numbers; planes: real rows per row of op(A).
  // square: blocks (i, j) and (j, i) are wanted together, so panels of rows and of columns are equally large and two of
  // each are kept.
  Partition(std::int64_t m, std::int64_t n, std::int64_t depth, std::int64_t planes, bool square)
      : kept(square ? 2 : 1) {
    constexpr std::int64_t kBytes = 3 * sizeof(double);
    const std::int64_t per_row = kBytes * std::max<std::int64_t>(1, depth);
    rows = std::max(kStrip, kLeft / (per_row * planes) / kStrip * kStrip);
    columns = std::clamp(kRight / per_row / kStrip * kStrip, kStrip, kColumns);
    if (square) rows = columns = std::min(rows, columns);
    rows = std::min(rows, m), columns = std::min(columns, n);
  }
  std::int64_t rows, columns;  // of a panel
  std::size_t kept;            // panels of either operand

  // Calls f with every block of the m x n elements, or of those that touch the lower triangle, panel after panel.
  template <class F> void for_blocks(std::int64_t m, std::int64_t n, bool lower, const F& f) const {
    for (std::int64_t j = 0; j < n; j += columns) {
      for (std::int64_t i = 0; i < m; i += rows) {
        const std::int64_t end = std::min(i + rows, m);
        for (std::int64_t s = i; s < end; s += kStrip) {
          const std::int64_t count = std::min(kStrip, end - s);
          const std::int64_t width = std::min(columns, (lower ? std::min(n, s + count) : n) - j);
          if (width > 0) f(Block{s, count, j, width});
        }
      }
    }
  }
};

}  // namespace trn::blas::exact
