// What the launches of trsm and trsm_batched share.
#pragma once

#include <trn/blas/trsm_program.hpp>

namespace trn::blas::device {

// X = 0, for alpha = 0: outputs "x0", "x1", ... (m x n).
struct ZeroShape {
  DType dtype;
  std::int64_t m, n, bm, bn, count;
  bool operator==(const ZeroShape&) const = default;
};
[[nodiscard]] tile::Program zero_program(const ZeroShape& shape, const tile::Machine& machine);

}  // namespace trn::blas::device
