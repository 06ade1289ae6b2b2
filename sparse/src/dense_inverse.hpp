// Inverses of small dense matrices: blocks of block Jacobi, the last level of multigrid.
#pragma once

#include <algorithm>

#include "host/triangle.hpp"

namespace trn::sparse {

// The inverse of a small matrix, row-major, by Gauss-Jordan elimination with partial pivoting; false when singular.
template <Scalar T> bool invert(std::int64_t n, T* a, T* inverse) {
  std::fill_n(inverse, n * n, T(0));
  for (std::int64_t i = 0; i < n; ++i) inverse[i * n + i] = T(1);
  for (std::int64_t c = 0; c < n; ++c) {
    std::int64_t pivot = c;
    for (std::int64_t r = c + 1; r < n; ++r) {
      if (std::abs(a[r * n + c]) > std::abs(a[pivot * n + c])) pivot = r;
    }
    if (!host::usable_pivot(a[pivot * n + c])) return false;
    if (pivot != c) {
      std::swap_ranges(a + pivot * n, a + pivot * n + n, a + c * n);
      std::swap_ranges(inverse + pivot * n, inverse + pivot * n + n, inverse + c * n);
    }
    const T p = a[c * n + c];
    for (std::int64_t j = 0; j < n; ++j) a[c * n + j] /= p, inverse[c * n + j] /= p;
    for (std::int64_t r = 0; r < n; ++r) {
      const T f = a[r * n + c];
      if (r == c || f == T(0)) continue;
      for (std::int64_t j = 0; j < n; ++j)
        a[r * n + j] -= host::times(f, a[c * n + j]), inverse[r * n + j] -= host::times(f, inverse[c * n + j]);
    }
  }
  return true;
}

}  // namespace trn::sparse
