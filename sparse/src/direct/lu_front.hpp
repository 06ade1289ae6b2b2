// One front of the multifrontal LU. f rows and columns, of which the first p are fully summed: nothing later adds to
// them, so they may be pivots. In three blocks, each column-major:
//   panel (f x p): the fully summed columns; after the elimination L with U11 in its upper triangle,
//   right (p x u): the fully summed rows of the other columns; then U12,
//   rest (u x u): what the parent gets, u = f - p.
// eliminate() takes all p pivots by partial pivoting among the fully summed rows and says if every multiplier stayed
// below 1 / threshold. Where one did not, the front is assembled again as one matrix and eliminate_with_delays() takes
// the pivots that are large enough in their whole column; the others wait for the parent.
#pragma once

#include <cmath>

#include "direct/dense.hpp"

namespace trn::sparse::direct {

inline constexpr std::int64_t kLuPanel = 128, kLuTile = 512;

template <Scalar T> Real<T> size_of(T x) {
  if constexpr (ComplexScalar<T>)
    return std::abs(x.real()) + std::abs(x.imag());
  else
    return std::abs(x);
}

// The largest size among count elements; NaN or infinity if one is not finite.
template <Scalar T> Real<T> largest_size(std::int64_t count, const T* x) {
  Real<T> most[4] = {0, 0, 0, 0}, sum = 0;
  std::int64_t i = 0;
  for (; i + 4 <= count; i += 4) {
    for (int l = 0; l < 4; ++l) {
      const Real<T> v = size_of(x[i + l]);
      most[l] = v > most[l] ? v : most[l];
      sum += v * 0;
    }
  }
  for (; i < count; ++i) {
    const Real<T> v = size_of(x[i]);
    most[0] = v > most[0] ? v : most[0];
    sum += v * 0;
  }
  return std::max(std::max(most[0], most[1]), std::max(most[2], most[3])) + sum;
}

// C -= A B by tiles.
template <Scalar T> void subtract_product(std::int64_t m, std::int64_t n, std::int64_t k, const T* a, std::int64_t lda,
                                          const T* b, std::int64_t ldb, T beta, T* c, std::int64_t ldc) {
  if (m == 0 || n == 0 || k == 0) return;
  const std::int64_t down = (m + kLuTile - 1) / kLuTile, across = (n + kLuTile - 1) / kLuTile;
  tiles(down * across, [&](std::int64_t t) {
    const std::int64_t row = t % down * kLuTile, column = t / down * kLuTile;
    Dense<T>::gemm(CblasNoTrans, CblasNoTrans, static_cast<int>(std::min(kLuTile, m - row)),
                   static_cast<int>(std::min(kLuTile, n - column)), static_cast<int>(k), T(-1), a + row,
                   static_cast<int>(lda), b + column * ldb, static_cast<int>(ldb), beta, c + column * ldc + row,
                   static_cast<int>(ldc));
  });
}

template <Scalar T> struct LuFront {
  std::int64_t f, p, u;
  T *panel, *right;
  std::int32_t *rows, *columns;  // labels; rows move with their pivots

  // False: a multiplier is too large, or a pivot is zero or not finite; nothing of the front is then usable.
  bool eliminate(Real<T> threshold, std::vector<int>& swaps) const {
    using D = Dense<T>;
    const int ld = static_cast<int>(f);
    swaps.resize(static_cast<std::size_t>(p));
    for (std::int64_t c = 0; c < p; c += kLuPanel) {
      const std::int64_t w = std::min(kLuPanel, p - c), after = c + w;
      int info = 0;
      int* own = swaps.data() + c;
      tiles(1, [&](std::int64_t) {
        D::getrf(static_cast<int>(p - c), static_cast<int>(w), panel + c * f + c, ld, own, info);
      });
      if (info != 0) return false;
      for (std::int64_t i = 0; i < w; ++i) std::swap(rows[c + i], rows[c + own[i] - 1]);
      // The other columns in strips: rows are swapped, then solved with L of this block. A strip lies on one side.
      const std::int64_t before = (c + kLuTile - 1) / kLuTile, inside = (p - after + kLuTile - 1) / kLuTile,
                         beyond = (u + kLuTile - 1) / kLuTile;
      tiles(before + inside + beyond, [&](std::int64_t t) {
        std::int64_t column, end;
        T* base;
        std::int64_t step;
        if (t < before) {
          column = t * kLuTile, end = std::min(c, column + kLuTile), base = panel, step = f;
        } else if (t < before + inside) {
          column = after + (t - before) * kLuTile, end = std::min(p, column + kLuTile), base = panel, step = f;
        } else {
          column = (t - before - inside) * kLuTile, end = std::min(u, column + kLuTile), base = right, step = p;
        }
        T* block = base + column * step + c;
        D::laswp(static_cast<int>(end - column), block, static_cast<int>(step), 1, static_cast<int>(w), own, 1);
        if (t >= before)
          D::trsm(CblasLeft, CblasLower, CblasNoTrans, CblasUnit, static_cast<int>(w), static_cast<int>(end - column),
                  panel + c * f + c, ld, block, static_cast<int>(step));
      });
      subtract_product(p - after, p - after, w, panel + c * f + after, f, panel + after * f + c, f, T(1),
                       panel + after * f + after, f);
      subtract_product(p - after, u, w, panel + c * f + after, f, right + c, p, T(1), right + after, p);
    }
    const std::int64_t strips = (u + kLuTile - 1) / kLuTile;
    std::vector<char> small(static_cast<std::size_t>(strips), 1);
    tiles(strips, [&](std::int64_t t) {
      const std::int64_t row = p + t * kLuTile, height = std::min(kLuTile, f - row);
      D::trsm(CblasRight, CblasUpper, CblasNoTrans, CblasNonUnit, static_cast<int>(height), static_cast<int>(p), panel,
              ld, panel + row, ld);
      for (std::int64_t j = 0; j < p; ++j) {
        if (!(threshold * largest_size(height, panel + j * f + row) <= 1)) {
          small[static_cast<std::size_t>(t)] = 0;
          break;
        }
      }
    });
    for (std::int64_t j = 0; j < p; ++j) {
      if (!std::isfinite(size_of(panel[j * f + j]))) return false;
    }
    return std::find(small.begin(), small.end(), 0) == small.end();
  }
};

// The whole front as one f x f matrix. Returns the number e of pivots taken: rows and columns are rearranged so that
// they come first; `finite` becomes false when a number is not.
template <Scalar T> std::int64_t eliminate_with_delays(std::int64_t f, std::int64_t p, T* a, std::int32_t* rows,
                                                       std::int32_t* columns, Real<T> threshold, bool& finite) {
  using D = Dense<T>;
  constexpr std::int64_t kWidth = 32;
  const int ld = static_cast<int>(f);
  std::int64_t e = 0, width = kWidth;
  while (e < p) {
    const std::int64_t e0 = e, block = std::min(width, p - e0);
    std::int64_t end = e0 + block;  // columns from here to e0 + block were tried in vain
    while (e < end && e - e0 < kWidth) {
      T* column = a + e * f;
      const Real<T> inside = largest_size(p - e, column + e), outside = largest_size(f - p, column + p);
      if (!std::isfinite(inside) || !std::isfinite(outside)) {
        finite = false;
        return e;
      }
      if (inside == 0 || inside < threshold * outside) {
        --end;
        std::swap_ranges(column, column + f, a + end * f);
        std::swap(columns[e], columns[end]);
        continue;
      }
      std::int64_t r = e;
      while (size_of(column[r]) != inside) ++r;
      if (r != e) {
        for (std::int64_t j = 0; j < f; ++j) std::swap(a[j * f + e], a[j * f + r]);
        std::swap(rows[e], rows[r]);
      }
      const T pivot = column[e];
      for (std::int64_t i = e + 1; i < f; ++i) column[i] /= pivot;
      for (std::int64_t j = e + 1; j < e0 + block; ++j) {
        const T factor = a[j * f + e];
        if (factor == T(0)) continue;
        for (std::int64_t i = e + 1; i < f; ++i) a[j * f + i] -= host::times(factor, column[i]);
      }
      ++e;
    }
    const std::int64_t taken = e - e0, later = e0 + block;
    if (taken == 0) {
      if (block == p - e0) break;  // every column was tried
      width = p - e0;
      continue;
    }
    width = kWidth;
    tiles(1, [&](std::int64_t) {
      D::trsm(CblasLeft, CblasLower, CblasNoTrans, CblasUnit, static_cast<int>(taken), static_cast<int>(f - later),
              a + e0 * f + e0, ld, a + later * f + e0, ld);
    });
    subtract_product(f - e, f - later, taken, a + e0 * f + e, f, a + later * f + e0, f, T(1), a + later * f + e, f);
  }
  return e;
}

}  // namespace trn::sparse::direct
