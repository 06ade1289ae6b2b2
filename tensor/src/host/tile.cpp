// Packing into panels and the register tile: three vectors of V rows times four columns of W, held in registers while k
// runs. Compiled once per instruction set.
//
// A panel of V has three vectors (the last one fewer) per k, a panel of W four numbers. Rows come into a vector in four
// ways: a load where V's own unit stride is D's; a square of registers turned over (row, k) where it is in K; a square
// turned over (row, x) where it is another index x of V, which fills as many panels at once; one by one otherwise.
//
// Complex numbers are real ones to the tile. With a = ar + i ai, the rows (ar, ai) times br plus the rows (-ai, ar)
// times bi are the real and imaginary parts of a b, side by side as memory has them: per complex k, V has two vectors
// and W two rows.
//
// Every element is one chain of multiply-adds over k in order (fused where the machine can), so bits do not depend on
// where in a tile an element stands.
#ifndef HWY_DISABLED_TARGETS
// AVX2 and plain C++. On AVX-512 machines AVX2 runs: registers are enough for this tile.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3 | HWY_AVX3_DL)
#endif
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "host/tile.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h comes first.
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "host/blocks.hpp"
#include "host/plain_tile.hpp"
#include "host/turn-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trn::tensor::host::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR

// Processors before 2013: the same panels, one number at a time.
template <class R, bool kComplex> void pack_rows(const PackV& p) { plain::pack_v<R, kComplex>(p); }
template <class R> void pack_columns(const PackW& p) { plain::pack_w<R, false>(p); }
template <class R, bool kComplex> void multiply_block(const TileBlock& t) { plain::multiply<R, kComplex>(t); }

#else

namespace hn = hwy::HWY_NAMESPACE;

// How a vector of rows becomes numbers of the panel: as it is, or the two vectors of complex rows.
template <class R, bool kComplex> struct Emit {
  bool conj;
  template <class V> HWY_INLINE void operator()(V raw, R* to, std::int64_t lanes) const {
    const Vector<R> d;
    auto v = hn::BitCast(d, raw);
    if constexpr (kComplex) {
      const auto minus = hn::Set(d, R(-0.0)), zero = hn::Zero(d);
      if (conj) v = hn::Xor(v, hn::OddEven(minus, zero));
      hn::StoreU(v, d, to);
      hn::StoreU(hn::Xor(hn::Reverse2(d, v), hn::OddEven(zero, minus)), d, to + lanes);
    } else {
      hn::StoreU(v, d, to);
    }
  }
};

template <class R, bool kComplex, class U> void pack_v_units(const PackV& p) {
  using M = Move<U>;
  const Vector<M> d;
  constexpr std::int64_t rows = kUnits<U>, parts = sizeof(U) / sizeof(M), twice = kComplex ? 2 : 1;
  const Emit<R, kComplex> emit{p.conj};
  R* const out = static_cast<R*>(p.out);
  const auto load = [&](std::int64_t offset) { return hn::LoadU(d, static_cast<const M*>(p.data) + offset * parts); };
  const std::int64_t ks = p.k_count, groups = (p.row_count + rows - 1) / rows;
  // Whether the next `rows` values of k are neighbours in memory.
  const auto run_at = [&](std::int64_t k) {
    if (k + rows > ks) return false;
    for (std::int64_t i = 1; i < rows; ++i) {
      if (p.ks[k + i] != p.ks[k] + i) return false;
    }
    return true;
  };
  const std::int64_t step = p.turned, square = step * rows;  // groups of one square of (row, x)
  static_assert(rows * sizeof(U) == 32);
  for (std::int64_t g = 0; g < groups; ++g) {
    const std::int64_t* at = p.rows + g * rows;
    const bool full = (g + 1) * rows <= p.row_count;
    bool across = step > 0 && g % square == 0 && (g + square) * rows <= p.row_count;
    for (std::int64_t s = 0; across && s < square; ++s) {
      for (std::int64_t i = 0; across && i < rows; ++i) across = at[s * rows + i] == at[s % step * rows + i] + s / step;
    }
    if (across) {
      for (std::int64_t s = 0; s < step; ++s) {
        PanelPlace to[kUnits<U>];
        for (std::int64_t x = 0; x < rows; ++x) to[x] = place_of<R, kComplex>(g + s + x * step, groups, ks);
        for (std::int64_t k = 0; k < ks; ++k) {
          hn::Vec<Vector<M> > r[kUnits<U>];
          for (std::int64_t i = 0; i < rows; ++i) r[i] = load(at[s * rows + i] + p.ks[k]);
          turn<U>(r);
          for (std::int64_t x = 0; x < rows; ++x) emit(r[x], out + to[x].base + k * twice * to[x].lanes, to[x].lanes);
        }
      }
      g += square - 1;
      continue;
    }
    const PanelPlace to = place_of<R, kComplex>(g, groups, ks);
    R* const base = out + to.base;
    bool contiguous = full;
    for (std::int64_t i = 1; contiguous && i < rows; ++i) contiguous = at[i] == at[0] + i;
    if (contiguous) {
      for (std::int64_t k = 0; k < ks; ++k) emit(load(at[0] + p.ks[k]), base + k * twice * to.lanes, to.lanes);
      continue;
    }
    const std::int64_t valid = std::min(rows, p.row_count - g * rows);
    for (std::int64_t k = 0; k < ks;) {
      hn::Vec<Vector<M> > r[kUnits<U>];
      if (full && run_at(k)) {
        for (std::int64_t i = 0; i < rows; ++i) r[i] = load(at[i] + p.ks[k]);
        turn<U>(r);
        for (std::int64_t i = 0; i < rows; ++i) emit(r[i], base + (k + i) * twice * to.lanes, to.lanes);
        k += rows;
        continue;
      }
      U values[kUnits<U>] = {};
      for (std::int64_t i = 0; i < valid; ++i) values[i] = static_cast<const U*>(p.data)[at[i] + p.ks[k]];
      emit(hn::LoadU(d, reinterpret_cast<const M*>(values)), base + k * twice * to.lanes, to.lanes);
      ++k;
    }
  }
}

// W: four columns side by side per k.
template <class R> void pack_columns(const PackW& p) {
  const hn::CappedTag<R, 4> d;
  constexpr std::int64_t n = kTileColumns;
  const std::int64_t ks = p.k_count;
  const R* data = static_cast<const R*>(p.data);
  for (std::int64_t j = 0; j < p.column_count; j += n) {
    R* out = static_cast<R*>(p.out) + j * ks;
    const std::int64_t* at = p.columns + j;
    const std::int64_t valid = std::min(n, p.column_count - j);
    const bool full = valid == n;
    if (full && at[1] == at[0] + 1 && at[2] == at[0] + 2 && at[3] == at[0] + 3) {
      for (std::int64_t k = 0; k < ks; ++k) std::memcpy(out + k * n, data + at[0] + p.ks[k], n * sizeof(R));
      continue;
    }
    for (std::int64_t k = 0; k < ks;) {
      {
        if (full && k + n <= ks && p.ks[k + 1] == p.ks[k] + 1 && p.ks[k + 2] == p.ks[k] + 2 &&
            p.ks[k + 3] == p.ks[k] + 3) {
          hn::Vec<decltype(d)> r[4], a[4];
          for (int i = 0; i < 4; ++i) r[i] = hn::LoadU(d, data + at[i] + p.ks[k]);
          for (int i = 0; i < 4; i += 2) {
            a[i] = hn::InterleaveLower(d, r[i], r[i + 1]);
            a[i + 1] = hn::InterleaveUpper(d, r[i], r[i + 1]);
          }
          if constexpr (sizeof(R) == 8) {
            for (int i = 0; i < 2; ++i) {
              r[i] = hn::ConcatLowerLower(d, a[i + 2], a[i]);
              r[i + 2] = hn::ConcatUpperUpper(d, a[i + 2], a[i]);
            }
          } else {
            const hn::CappedTag<double, 2> dd;
            for (int i = 0; i < 2; ++i) {
              const auto x = hn::BitCast(dd, a[i]), y = hn::BitCast(dd, a[i + 2]);
              r[2 * i] = hn::BitCast(d, hn::InterleaveLower(dd, x, y));
              r[2 * i + 1] = hn::BitCast(d, hn::InterleaveUpper(dd, x, y));
            }
          }
          for (int i = 0; i < 4; ++i) hn::StoreU(r[i], d, out + (k + i) * n);
          k += n;
          continue;
        }
      }
      for (std::int64_t i = 0; i < n; ++i) out[k * n + i] = i < valid ? data[at[i] + p.ks[k]] : R(0);
      ++k;
    }
  }
}

// One tile of sums, then D: straight from registers where the rows are neighbours in D, else by way of a small buffer.
template <class R, bool kComplex, int kVectors> HWY_INLINE void tile(const TileBlock& t, const R* HWY_RESTRICT v,
                                                                     const R* HWY_RESTRICT w, std::int64_t row,
                                                                     std::int64_t column, bool straight) {
  const Vector<R> d;
  constexpr std::int64_t lanes = kLanes<R>, parts = kComplex ? 2 : 1, rows = lanes / parts;
  const std::int64_t depth = t.k_count * parts;
  hn::Vec<Vector<R> > sum[kVectors][kTileColumns];
  for (int i = 0; i < kVectors; ++i) {
    for (int j = 0; j < kTileColumns; ++j) sum[i][j] = hn::Zero(d);
  }
  for (std::int64_t k = 0; k < depth; ++k, v += kVectors * lanes, w += kTileColumns) {
    hn::Vec<Vector<R> > x[kVectors];
    for (int i = 0; i < kVectors; ++i) x[i] = hn::LoadU(d, v + i * lanes);
    for (int j = 0; j < kTileColumns; ++j) {
      const auto y = hn::Set(d, w[j]);
      for (int i = 0; i < kVectors; ++i) sum[i][j] = hn::MulAdd(x[i], y, sum[i][j]);
    }
  }
  const std::int64_t columns = std::min<std::int64_t>(kTileColumns, t.column_count - column);
  R* const out = static_cast<R*>(t.d);
  if (straight) {
    const auto alpha = hn::Set(d, static_cast<R>(t.alpha.real()));
    for (int j = 0; j < kTileColumns; ++j) {
      if (j >= columns) break;
      for (int i = 0; i < kVectors; ++i) {
        R* to = out + (t.d_rows[row + i * rows] + t.d_columns[column + j]) * parts;
        hn::StoreU(t.accumulate ? hn::MulAdd(alpha, sum[i][j], hn::LoadU(d, to)) : hn::Mul(alpha, sum[i][j]), d, to);
      }
    }
    return;
  }
  alignas(32) R values[kTileColumns][kVectors * lanes];
  for (int j = 0; j < kTileColumns; ++j) {
    for (int i = 0; i < kVectors; ++i) hn::StoreU(sum[i][j], d, values[j] + i * lanes);
  }
  write_tile<R, kComplex>(t, &values[0][0], kVectors * lanes, row, column);
}

template <class R, bool kComplex> void multiply_block(const TileBlock& t) {
  constexpr std::int64_t lanes = kLanes<R>, parts = kComplex ? 2 : 1, rows = lanes / parts;
  const std::int64_t groups = (t.row_count + rows - 1) / rows, depth = t.k_count * parts;
  const R *const v = static_cast<const R*>(t.v), *const w = static_cast<const R*>(t.w);
  const bool plain = t.alpha.imag() == 0 && (t.accumulate || t.beta == std::complex<double>(0));
  for (std::int64_t g = 0; g < groups; g += kTileVectors) {
    const std::int64_t vectors = std::min<std::int64_t>(kTileVectors, groups - g), row = g * rows;
    bool straight = plain && row + vectors * rows <= t.row_count;
    for (std::int64_t i = 0; straight && i < vectors * rows; ++i)
      straight = t.d_rows[row + i] == t.d_rows[row + i / rows * rows] + i % rows;
    const R* panel = v + g * lanes * depth;
    for (std::int64_t j = 0; j < t.column_count; j += kTileColumns) {
      const R* columns = w + j * depth;
      if (vectors == 3) {
        tile<R, kComplex, 3>(t, panel, columns, row, j, straight);
      } else if (vectors == 2) {
        tile<R, kComplex, 2>(t, panel, columns, row, j, straight);
      } else {
        tile<R, kComplex, 1>(t, panel, columns, row, j, straight);
      }
    }
  }
}

// Complex rows are moved as 8 or 16 bytes.
template <class R, bool kComplex> void pack_rows(const PackV& p) {
  using U = std::conditional_t<!kComplex, R, std::conditional_t<sizeof(R) == 4, double, Unit16> >;
  pack_v_units<R, kComplex, U>(p);
}

#endif

void pack_v_any(const PackV& p) {
  if (p.type != p.compute) return plain::pack_v_narrow(p);
  if (p.compute == DType::Float32) return pack_rows<float, false>(p);
  if (p.compute == DType::Float64) return pack_rows<double, false>(p);
  if (p.compute == DType::Complex64) return pack_rows<float, true>(p);
  pack_rows<double, true>(p);
}
void pack_w_any(const PackW& p) {
  if (p.type != p.compute) return plain::pack_w_narrow(p);
  if (p.compute == DType::Float32) return pack_columns<float>(p);
  if (p.compute == DType::Float64) return pack_columns<double>(p);
  if (p.compute == DType::Complex64) return plain::pack_w<float, true>(p);
  plain::pack_w<double, true>(p);
}
void multiply_any(const TileBlock& t) {
  if (t.compute == DType::Float32) return multiply_block<float, false>(t);
  if (t.compute == DType::Float64) return multiply_block<double, false>(t);
  if (t.compute == DType::Complex64) return multiply_block<float, true>(t);
  multiply_block<double, true>(t);
}

}  // namespace trn::tensor::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trn::tensor::host {

HWY_EXPORT(pack_v_any);
HWY_EXPORT(pack_w_any);
HWY_EXPORT(multiply_any);

std::int64_t group_rows(DType compute) { return 32 / size_bytes(compute); }
std::int64_t packed_v_bytes(DType compute, std::int64_t rows, std::int64_t ks) {
  const std::int64_t group = group_rows(compute);
  return (rows + group - 1) / group * group * ks * size_bytes(compute) * (is_complex(compute) ? 2 : 1);
}
std::int64_t packed_w_bytes(DType compute, std::int64_t columns, std::int64_t ks) {
  return (columns + kTileColumns - 1) / kTileColumns * kTileColumns * ks * size_bytes(compute);
}
void pack_v(const PackV& p) { HWY_DYNAMIC_DISPATCH(pack_v_any)(p); }
void pack_w(const PackW& p) { HWY_DYNAMIC_DISPATCH(pack_w_any)(p); }
void multiply(const TileBlock& t) { HWY_DYNAMIC_DISPATCH(multiply_any)(t); }

}  // namespace trn::tensor::host
#endif
