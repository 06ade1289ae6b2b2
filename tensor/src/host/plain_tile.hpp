// Panels and tiles without vector instructions: what the vectorised kernel shares (16-bit types, complex columns,
// results that are not neighbours in D), and the whole kernel for processors before AVX2.
#pragma once

#include <algorithm>
#include <complex>
#include <cstdint>
#include <vector>

#include <trn/core/convert.hpp>

#include "blocks.hpp"

namespace trn::tensor::host {

// Where the vector of a group of rows stands in the packed block.
struct PanelPlace {
  std::int64_t base, lanes;  // of k = 0; numbers per (real) k
};
template <class R, bool kComplex> inline PanelPlace place_of(std::int64_t group, std::int64_t groups, std::int64_t ks) {
  constexpr std::int64_t lanes = 32 / sizeof(R);
  const std::int64_t panel = group / kTileVectors, first = panel * kTileVectors;
  const std::int64_t vectors = std::min<std::int64_t>(kTileVectors, groups - first);
  return {first * lanes * ks * (kComplex ? 2 : 1) + (group - first) * lanes, vectors * lanes};
}

// D from the sums of a tile: sums[j * stride + i] of column j and (real) row i.
template <class R, bool kComplex>
inline void write_tile(const TileBlock& t, const R* sums, std::int64_t stride, std::int64_t row, std::int64_t column) {
  constexpr std::int64_t parts = kComplex ? 2 : 1;
  R* const d = static_cast<R*>(t.d);
  const R* const c = static_cast<const R*>(t.c);
  const R ar = static_cast<R>(t.alpha.real()), ai = static_cast<R>(t.alpha.imag());
  const R br = static_cast<R>(t.beta.real()), bi = static_cast<R>(t.beta.imag());
  const bool read_c = !t.accumulate && (br != 0 || bi != 0);
  const std::int64_t rows = std::min(stride / parts, t.row_count - row);
  const std::int64_t columns = std::min<std::int64_t>(kTileColumns, t.column_count - column);
  for (std::int64_t j = 0; j < columns; ++j) {
    for (std::int64_t i = 0; i < rows; ++i) {
      R* to = d + (t.d_rows[row + i] + t.d_columns[column + j]) * parts;
      const R* from = t.accumulate ? to : read_c ? c + (t.c_rows[row + i] + t.c_columns[column + j]) * parts : nullptr;
      if constexpr (kComplex) {
        const R x = sums[j * stride + 2 * i], y = sums[j * stride + 2 * i + 1];
        R re = ai == 0 ? ar * x : ar * x - ai * y, im = ai == 0 ? ar * y : ar * y + ai * x;
        if (t.accumulate) {
          re += from[0], im += from[1];
        } else if (read_c) {
          re += bi == 0 ? br * from[0] : br * from[0] - bi * from[1];
          im += bi == 0 ? br * from[1] : br * from[1] + bi * from[0];
        }
        to[0] = re, to[1] = im;
      } else {
        const R product = ar * sums[j * stride + i];
        to[0] = t.accumulate ? product + from[0] : read_c ? product + br * from[0] : product;
      }
    }
  }
}

namespace plain {

template <class R, bool kComplex> void pack_v(const PackV& p) {
  constexpr std::int64_t parts = kComplex ? 2 : 1, rows = 32 / sizeof(R) / parts;
  const std::int64_t groups = (p.row_count + rows - 1) / rows;
  const R* data = static_cast<const R*>(p.data);
  for (std::int64_t g = 0; g < groups; ++g) {
    const PanelPlace to = place_of<R, kComplex>(g, groups, p.k_count);
    for (std::int64_t k = 0; k < p.k_count; ++k) {
      R* out = static_cast<R*>(p.out) + to.base + k * parts * to.lanes;
      for (std::int64_t i = 0; i < rows; ++i) {
        const bool there = g * rows + i < p.row_count;
        const R* z = there ? data + (p.rows[g * rows + i] + p.ks[k]) * parts : nullptr;
        if constexpr (kComplex) {
          const R re = there ? z[0] : R(0), im = there ? (p.conj ? -z[1] : z[1]) : R(0);
          out[2 * i] = re, out[2 * i + 1] = im;
          out[to.lanes + 2 * i] = -im, out[to.lanes + 2 * i + 1] = re;
        } else {
          out[i] = there ? z[0] : R(0);
        }
      }
    }
  }
}

// 16-bit types: gathered as they are, converted in one run, then laid into the panel.
inline void pack_v_narrow(const PackV& p) {
  constexpr std::int64_t rows = 32 / sizeof(float);
  const std::int64_t ks = p.k_count, groups = (p.row_count + rows - 1) / rows;
  auto* raw = static_cast<std::uint16_t*>(p.scratch);
  float* wide = reinterpret_cast<float*>(raw + ks * rows);
  for (std::int64_t g = 0; g < groups; ++g) {
    const std::int64_t valid = std::min(rows, p.row_count - g * rows);
    const std::int64_t* at = p.rows + g * rows;
    for (std::int64_t k = 0; k < ks; ++k) {
      for (std::int64_t i = 0; i < rows; ++i)
        raw[k * rows + i] = i < valid ? static_cast<const std::uint16_t*>(p.data)[at[i] + p.ks[k]] : std::uint16_t{0};
    }
    to_float(p.type, raw, wide, ks * rows);
    const PanelPlace to = place_of<float, false>(g, groups, ks);
    float* out = static_cast<float*>(p.out) + to.base;
    for (std::int64_t k = 0; k < ks; ++k) std::copy(wide + k * rows, wide + (k + 1) * rows, out + k * to.lanes);
  }
}

template <class R, bool kComplex> void pack_w(const PackW& p) {
  constexpr std::int64_t n = kTileColumns, parts = kComplex ? 2 : 1;
  const R* data = static_cast<const R*>(p.data);
  for (std::int64_t j = 0; j < p.column_count; j += n) {
    R* out = static_cast<R*>(p.out) + j * p.k_count * parts;
    const std::int64_t valid = std::min(n, p.column_count - j);
    for (std::int64_t k = 0; k < p.k_count; ++k, out += parts * n) {
      for (std::int64_t i = 0; i < n; ++i) {
        const R* z = data + parts * (p.columns[i < valid ? j + i : j] + p.ks[k]);
        out[i] = i < valid ? z[0] : R(0);
        if constexpr (kComplex) out[n + i] = i < valid ? (p.conj ? -z[1] : z[1]) : R(0);
      }
    }
  }
}

inline void pack_w_narrow(const PackW& p) {
  constexpr std::int64_t n = kTileColumns, kRun = 64;
  std::uint16_t raw[kRun * n];
  for (std::int64_t j = 0; j < p.column_count; j += n) {
    float* out = static_cast<float*>(p.out) + j * p.k_count;
    const std::int64_t valid = std::min(n, p.column_count - j);
    for (std::int64_t k0 = 0; k0 < p.k_count; k0 += kRun) {
      const std::int64_t run = std::min(kRun, p.k_count - k0);
      for (std::int64_t k = 0; k < run; ++k) {
        for (std::int64_t i = 0; i < n; ++i)
          raw[k * n + i] =
              i < valid ? static_cast<const std::uint16_t*>(p.data)[p.columns[j + i] + p.ks[k0 + k]] : std::uint16_t{0};
      }
      to_float(p.type, raw, out + k0 * n, run * n);
    }
  }
}

template <class R, bool kComplex> void multiply(const TileBlock& t) {
  constexpr std::int64_t lanes = 32 / sizeof(R), parts = kComplex ? 2 : 1, rows = lanes / parts;
  const std::int64_t groups = (t.row_count + rows - 1) / rows, depth = t.k_count * parts;
  for (std::int64_t g = 0; g < groups; g += kTileVectors) {
    const std::int64_t width = std::min<std::int64_t>(kTileVectors, groups - g) * lanes;
    for (std::int64_t j = 0; j < t.column_count; j += kTileColumns) {
      const R *v = static_cast<const R*>(t.v) + g * lanes * depth, *w = static_cast<const R*>(t.w) + j * depth;
      R sums[kTileColumns * kTileVectors * lanes] = {};
      for (std::int64_t k = 0; k < depth; ++k, v += width, w += kTileColumns) {
        for (std::int64_t q = 0; q < kTileColumns; ++q) {
          for (std::int64_t i = 0; i < width; ++i) sums[q * width + i] += v[i] * w[q];
        }
      }
      write_tile<R, kComplex>(t, sums, width, g * rows, j);
    }
  }
}

}  // namespace plain

}  // namespace trn::tensor::host
