// A blocked matrix product whose result does not depend on the blocking. Plan, with K <= 256, M <= 128, N <= 512:
//   a is packed once into panels of R columns, (K, R) each: 64 KiB in all, read from L2;
//   b is packed panel by panel, (K, C) each: 16 KiB, stays in L1 while all panels of a pass over it;
//   the innermost block keeps R x C sums in registers: per k it loads C values of b and broadcasts R values of a.
// Packing moves K * (M + N) values for K * M * N multiply-adds. Threads take whole panels of b.
#include "sim/matmul_kernel.hpp"

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include <trn/core/team.hpp>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sim/matmul_kernel.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

// Once for all targets: what the per-target code and its caller share.
#ifndef TRN_MATMUL_KERNEL_ONCE
#define TRN_MATMUL_KERNEL_ONCE
namespace trn::neuron::sim {
namespace {

struct BlockShape {
  std::int64_t rows, columns;
};

// One packed panel of b (K, columns) against all packed panels of a: fills columns [0, width) of the M rows of c.
template <class Real> struct PanelTask {
  const Real* a_panels;
  const Real* b_panel;
  std::int64_t k, m, width;
  Real* c;
  std::int64_t pitch;
  bool accumulate;
};

// Copies or adds the valid corner of a block of sums.
template <class Real> void put_corner(const Real* sums, std::int64_t sums_pitch, std::int64_t rows, std::int64_t width,
                                      Real* c, std::int64_t pitch, bool accumulate) {
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < width; ++j) {
      const Real sum = sums[i * sums_pitch + j];
      c[i * pitch + j] = accumulate ? c[i * pitch + j] + sum : sum;
    }
  }
}

}  // namespace
}  // namespace trn::neuron::sim
#endif

HWY_BEFORE_NAMESPACE();
namespace trn::neuron::sim {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Registers: AVX-512 and Arm have 32, AVX2 has 16; sums + one row of b + one broadcast must fit. 8 x 32 with AVX-512
// divides a 128 x 512 product without a remainder, into pieces that two threads share evenly.
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
#define TRN_FUSED 1
constexpr int kRows = 8, kVectors = 2;
#elif HWY_TARGET == HWY_AVX2
#define TRN_FUSED 1
constexpr int kRows = 6, kVectors = 2;
#elif HWY_TARGET == HWY_NEON && HWY_ARCH_ARM_A64
#define TRN_FUSED 1
constexpr int kRows = 6, kVectors = 4;
#else
#define TRN_FUSED 0
constexpr int kRows = 4;
#endif

template <class Real> constexpr std::int64_t columns() {
#if TRN_FUSED
  return kVectors * static_cast<std::int64_t>(HWY_MAX_BYTES / sizeof(Real));
#else
  return 16;
#endif
}

#if TRN_FUSED

// sums(i, j) = sum_k a(k, i) * b(k, j) for one (kRows, C) block.
template <class Real> HWY_ATTR void block(const Real* HWY_RESTRICT a, const Real* HWY_RESTRICT b, std::int64_t k_end,
                                          Real* HWY_RESTRICT c, std::int64_t pitch, bool accumulate) {
  const hn::CappedTag<Real, HWY_MAX_BYTES / sizeof(Real)> d;
  using V = hn::Vec<decltype(d)>;
  constexpr std::int64_t kLanes = HWY_MAX_BYTES / sizeof(Real);
  V sums[kRows][kVectors];
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) sums[i][v] = hn::Zero(d);
  }
  for (std::int64_t k = 0; k < k_end; ++k) {
    V row[kVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) row[v] = hn::Load(d, b + v * kLanes);
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) {
      const V factor = hn::Set(d, a[i]);
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) sums[i][v] = hn::MulAdd(factor, row[v], sums[i][v]);
    }
    a += kRows;
    b += kVectors * kLanes;
  }
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      Real* at = c + i * pitch + v * kLanes;
      hn::StoreU(accumulate ? hn::Add(hn::LoadU(d, at), sums[i][v]) : sums[i][v], d, at);
    }
  }
}

#else

// The same chain without a fused instruction: std::fma is exact by definition.
template <class Real>
void block(const Real* a, const Real* b, std::int64_t k_end, Real* c, std::int64_t pitch, bool accumulate) {
  constexpr std::int64_t kColumns = columns<Real>();
  Real sums[kRows * kColumns] = {};
  for (std::int64_t k = 0; k < k_end; ++k, a += kRows, b += kColumns) {
    for (std::int64_t i = 0; i < kRows; ++i) {
      for (std::int64_t j = 0; j < kColumns; ++j) sums[i * kColumns + j] = std::fma(a[i], b[j], sums[i * kColumns + j]);
    }
  }
  put_corner(sums, kColumns, kRows, kColumns, c, pitch, accumulate);
}

#endif
#undef TRN_FUSED

template <class Real> HWY_ATTR void panel(const PanelTask<Real>& t) {
  constexpr std::int64_t kColumns = columns<Real>();
  const Real* a = t.a_panels;
  Real* c = t.c;
  for (std::int64_t i = 0; i < t.m; i += kRows, a += t.k * kRows, c += kRows * t.pitch) {
    if (i + kRows <= t.m && t.width == kColumns) {
      block(a, t.b_panel, t.k, c, t.pitch, t.accumulate);
      continue;
    }
    Real sums[kRows * kColumns];
    block(a, t.b_panel, t.k, sums, kColumns, false);
    put_corner(sums, kColumns, t.m - i < kRows ? t.m - i : kRows, t.width, c, t.pitch, t.accumulate);
  }
}

void panel_float(const PanelTask<float>& t) { panel(t); }
void panel_double(const PanelTask<double>& t) { panel(t); }
BlockShape shape_float() { return {kRows, columns<float>()}; }
BlockShape shape_double() { return {kRows, columns<double>()}; }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace trn::neuron::sim
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trn::neuron::sim {
namespace {

HWY_EXPORT(panel_float);
HWY_EXPORT(panel_double);
HWY_EXPORT(shape_float);
HWY_EXPORT(shape_double);

BlockShape block_shape(float) { return HWY_DYNAMIC_DISPATCH(shape_float)(); }
BlockShape block_shape(double) { return HWY_DYNAMIC_DISPATCH(shape_double)(); }
void run_panel(const PanelTask<float>& t) { HWY_DYNAMIC_DISPATCH(panel_float)(t); }
void run_panel(const PanelTask<double>& t) { HWY_DYNAMIC_DISPATCH(panel_double)(t); }

// Values of one thread from a 64-byte boundary on.
template <class Real, int kUse> Real* aligned(std::int64_t n) {
  static thread_local std::vector<Real> storage;
  const auto wanted = static_cast<std::size_t>(n) + 64 / sizeof(Real);
  if (storage.size() < wanted) storage.resize(wanted);
  const auto address = reinterpret_cast<std::uintptr_t>(storage.data());
  return reinterpret_cast<Real*>((address + 63) / 64 * 64);
}

// panel(k, j) = rows(k, first + j) for j < width, zero for the rest of the panel.
template <class Real> void pack_panel(const Real* const* rows, std::int64_t k_end, std::int64_t first,
                                      std::int64_t width, std::int64_t columns, Real* panel) {
  for (std::int64_t k = 0; k < k_end; ++k, panel += columns) {
    const Real* row = rows[k] + first;
    for (std::int64_t j = 0; j < width; ++j) panel[j] = row[j];
    for (std::int64_t j = width; j < columns; ++j) panel[j] = 0;
  }
}

}  // namespace

template <class Real> void multiply(const MatmulOperands<Real>& o) {
  static constexpr std::int64_t kWorthThreads = 1 << 20;  // multiply-adds
  const BlockShape shape = block_shape(Real{});
  const std::int64_t a_panels = (o.m + shape.rows - 1) / shape.rows,
                     b_panels = (o.n + shape.columns - 1) / shape.columns;
  Real* const packed_a = aligned<Real, 0>(a_panels * shape.rows * o.k);
  for (std::int64_t p = 0; p < a_panels; ++p) {
    const std::int64_t first = p * shape.rows;
    pack_panel(o.a, o.k, first, std::min(shape.rows, o.m - first), shape.rows, packed_a + first * o.k);
  }
  const auto columns = [&](std::int64_t p, int) {
    Real* const packed_b = aligned<Real, 1>(shape.columns * o.k);
    const std::int64_t first = p * shape.columns, width = std::min(shape.columns, o.n - first);
    pack_panel(o.b, o.k, first, width, shape.columns, packed_b);
    run_panel(PanelTask<Real>{packed_a, packed_b, o.k, o.m, width, o.c + first, o.pitch, o.accumulate});
  };
  if (o.k * o.m * o.n >= kWorthThreads) return for_pieces(b_panels, omp_get_max_threads(), columns);
  for (std::int64_t p = 0; p < b_panels; ++p) columns(p, 0);
}

template void multiply<float>(const MatmulOperands<float>&);
template void multiply<double>(const MatmulOperands<double>&);

}  // namespace trn::neuron::sim
#endif
