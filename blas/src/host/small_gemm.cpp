// A register tile of C: a few vectors of rows times four or eight columns, held in registers while k runs; per k a vector of A is
// loaded once and used for every column, an element of B broadcast and used for every row. On AVX-512 tiles are up to 3 x 8 or
// 4 x 4 vectors, on AVX2 3 x 4, with 28, 21 and 16 registers in use. Rows that fill no vector take vectors of half the width, and so on
// down to one: nothing outside the matrices is touched.
//
// Every element of C is the sum over k in order, by fused multiply-add where the machine has it.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "host/small_gemm.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h comes first.
#include <hwy/highway.h>

#include "host/small_gemm.hpp"

HWY_BEFORE_NAMESPACE();
namespace trn::blas::host::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// 32 registers or 16: the largest tile, and columns enough to hide the latency of the sums.
constexpr bool kMany = HWY_TARGET <= HWY_AVX3;
constexpr int kVectors = kMany ? 4 : 3;
constexpr int columns_of(int vectors) { return vectors == 1 || (kMany && vectors < 4) ? 8 : 4; }

template <int kRows, int kCols, class D, class T = hn::TFromD<D>>
HWY_INLINE void tile(D d, const SmallProducts<T>& s, const T* HWY_RESTRICT a, const T* HWY_RESTRICT b, T* HWY_RESTRICT c) {
  const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(d));
  hn::Vec<D> sum[kRows][kCols];
  for (int v = 0; v < kRows; ++v) {
    for (int j = 0; j < kCols; ++j) sum[v][j] = hn::Zero(d);
  }
  const T* columns[kCols];
  for (int j = 0; j < kCols; ++j) columns[j] = b + j * s.bn;
  const std::int64_t k = s.k, ak = s.ak, bk = s.bk;
  for (std::int64_t q = 0; q < k; ++q, a += ak) {
    hn::Vec<D> column[kRows];
    for (int v = 0; v < kRows; ++v) column[v] = hn::LoadU(d, a + v * lanes);
    for (int j = 0; j < kCols; ++j) {
      const auto element = hn::Set(d, columns[j][q * bk]);
      for (int v = 0; v < kRows; ++v) sum[v][j] = hn::MulAdd(column[v], element, sum[v][j]);
    }
  }
  const auto alpha = hn::Set(d, s.alpha), beta = hn::Set(d, s.beta);
  for (int j = 0; j < kCols; ++j) {
    for (int v = 0; v < kRows; ++v) {
      T* at = c + v * lanes + j * s.cn;
      const auto product = hn::Mul(alpha, sum[v][j]);
      hn::StoreU(s.beta == 0 ? product : hn::MulAdd(beta, hn::LoadU(d, at), product), d, at);
    }
  }
}

// kRows vectors of rows, all columns.
template <int kRows, class D, class T = hn::TFromD<D>>
HWY_INLINE void strip(D d, const SmallProducts<T>& s, const T* a, const T* b, T* c) {
  constexpr int kWide = columns_of(kRows);
  std::int64_t j = 0;
  for (; j + kWide <= s.n; j += kWide) tile<kRows, kWide>(d, s, a, b + j * s.bn, c + j * s.cn);
  if (kWide == 8 && j + 4 <= s.n) {
    tile<kRows, 4>(d, s, a, b + j * s.bn, c + j * s.cn);
    j += 4;
  }
  for (; j < s.n; ++j) tile<kRows, 1>(d, s, a, b + j * s.bn, c + j * s.cn);
}

// Rows i... with vectors of at most kLanes, then what is left with half of that.
template <int kLanes, class T> HWY_INLINE void rows(const SmallProducts<T>& s, std::int64_t i, const T* a, const T* b, T* c) {
  const hn::CappedTag<T, kLanes> d;
  const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(d));
  if (lanes == kLanes) {
    for (std::int64_t vectors = (s.m - i) / lanes; vectors > 0;) {
      // What is left after this tile should not be a single vector: 4 is 2 + 2, not 3 + 1.
      const std::int64_t take = vectors <= kVectors ? vectors : vectors == kVectors + 1 ? 2 + kMany : kVectors;
      if (kMany && take == 4) {
        strip<kVectors>(d, s, a + i, b, c + i);
      } else if (take == 3) {
        strip<3>(d, s, a + i, b, c + i);
      } else if (take == 2) {
        strip<2>(d, s, a + i, b, c + i);
      } else {
        strip<1>(d, s, a + i, b, c + i);
      }
      i += take * lanes;
      vectors -= take;
    }
  }
  if constexpr (kLanes > 1) {
    if (i < s.m) rows<kLanes / 2>(s, i, a, b, c);
  }
}

template <class T>
void products(const SmallProducts<T>& s, std::int64_t count, const T* const* a, const T* const* b, T* const* c) {
  for (std::int64_t p = 0; p < count; ++p) rows<64 / static_cast<int>(sizeof(T))>(s, 0, a[p], b[p], c[p]);
}

void products_f32(const SmallProducts<float>& s, std::int64_t count, const float* const* a, const float* const* b, float* const* c) {
  products(s, count, a, b, c);
}
void products_f64(const SmallProducts<double>& s, std::int64_t count, const double* const* a, const double* const* b, double* const* c) {
  products(s, count, a, b, c);
}

}  // namespace trn::blas::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trn::blas::host {

HWY_EXPORT(products_f32);
HWY_EXPORT(products_f64);

void small_products(const SmallProducts<float>& s, std::int64_t count, const float* const* a, const float* const* b, float* const* c) {
  HWY_DYNAMIC_DISPATCH(products_f32)(s, count, a, b, c);
}
void small_products(const SmallProducts<double>& s, std::int64_t count, const double* const* a, const double* const* b, double* const* c) {
  HWY_DYNAMIC_DISPATCH(products_f64)(s, count, a, b, c);
}

}  // namespace trn::blas::host
#endif
