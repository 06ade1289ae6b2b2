// A register tile of C: a few vectors of rows times four or eight columns, held in registers while k runs; per k a
// vector of A is loaded once and used for every column, an element of B broadcast and used for every row. On AVX-512
// tiles are up to 3 x 8 or 4 x 4 vectors, on AVX2 3 x 4, with 28, 21 and 16 registers in use. Rows that fill no vector
// take vectors of half the width, and so on down to one: nothing outside the matrices is touched.
//
// Packed squares of 8, 16 and 32 have tiles of their own with every stride known to the compiler, so that an element of
// B is an address and a constant: whole columns of C (up to four vectors) by eight or four of them. A batch comes from
// memory, and so few columns at a time that B and C are read and written almost line after line beats larger tiles,
// which are faster in the cache only. alpha = 1 and beta = 0 are not multiplied.
//
// Every element of C is the sum over k in order, by fused multiply-add where the machine has it.
#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS \
  (HWY_SSSE3 | HWY_SSE4)  // AVX-512, AVX2 and plain C++: each one more is a copy of every tile
#endif
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
HWY_INLINE void tile(D d, const SmallProducts<T>& s, const T* HWY_RESTRICT a, const T* HWY_RESTRICT b,
                     T* HWY_RESTRICT c) {
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
template <int kLanes, class T>
HWY_INLINE void rows(const SmallProducts<T>& s, std::int64_t i, const T* a, const T* b, T* c) {
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

#if HWY_TARGET <= HWY_AVX2  // older machines take the tiles above

// Columns kJ... of kRows vectors of rows of a packed kN x kN product. kAcross: B is read along its rows, B(q, j) at b[q
// kN + j].
template <int kN, int kRows, int kCols, bool kAcross, bool kPlain, class D, class T = hn::TFromD<D>>
HWY_INLINE void square_tile(D d, T alpha, T beta, const T* HWY_RESTRICT a, const T* HWY_RESTRICT b, T* HWY_RESTRICT c) {
  constexpr int kLanes = static_cast<int>(hn::MaxLanes(d));
  hn::Vec<D> sum[kRows][kCols];
  for (int v = 0; v < kRows; ++v) {
    for (int j = 0; j < kCols; ++j) sum[v][j] = hn::Zero(d);
  }
  for (int q = 0; q < kN; ++q) {
    hn::Vec<D> column[kRows];
    for (int v = 0; v < kRows; ++v) column[v] = hn::LoadU(d, a + q * kN + v * kLanes);
    for (int j = 0; j < kCols; ++j) {
      const auto element = hn::Set(d, kAcross ? b[q * kN + j] : b[q + j * kN]);
      for (int v = 0; v < kRows; ++v) sum[v][j] = hn::MulAdd(column[v], element, sum[v][j]);
    }
  }
  for (int j = 0; j < kCols; ++j) {
    for (int v = 0; v < kRows; ++v) {
      T* at = c + v * kLanes + j * kN;
      if constexpr (kPlain) {
        hn::StoreU(sum[v][j], d, at);
      } else {
        const auto product = hn::Mul(hn::Set(d, alpha), sum[v][j]);
        hn::StoreU(beta == 0 ? product : hn::MulAdd(hn::Set(d, beta), hn::LoadU(d, at), product), d, at);
      }
    }
  }
}

template <int kN, int kRows, bool kAcross, bool kPlain, int kJ, class D, class T = hn::TFromD<D>>
HWY_INLINE void square_strip(D d, T alpha, T beta, const T* a, const T* b, T* c) {
  if constexpr (kJ < kN) {
    constexpr int kMost = kRows == 1 ? 8 : 4, kCols = kN - kJ < kMost ? kN - kJ : kMost;
    square_tile<kN, kRows, kCols, kAcross, kPlain>(d, alpha, beta, a, b + (kAcross ? kJ : kJ * kN), c + kJ * kN);
    square_strip<kN, kRows, kAcross, kPlain, kJ + kCols>(d, alpha, beta, a, b, c);
  }
}

template <int kN, bool kAcross, bool kPlain, class T>
HWY_NOINLINE void squares(T alpha, T beta, const SmallBatch<T>& batch, std::int64_t begin, std::int64_t end) {
  constexpr int kWidest = 64 / static_cast<int>(sizeof(T));
  const hn::CappedTag<T, (kN < kWidest ? kN : kWidest)> d;
  constexpr int kLanes = static_cast<int>(hn::MaxLanes(d)), kTall = kN / kLanes,
                kRows = !kMany && kTall > 2 ? 2 : kTall;
  for (std::int64_t p = begin; p < end; ++p) {
    const T *a = batch.a_of(p), *b = batch.b_of(p);
    T* c = batch.c_of(p);
    for (int v = 0; v < kTall; v += kRows)
      square_strip<kN, kRows, kAcross, kPlain, 0>(d, alpha, beta, a + v * kLanes, b, c + v * kLanes);
  }
}

template <int kN, class T>
HWY_INLINE void squares(const SmallProducts<T>& s, const SmallBatch<T>& batch, std::int64_t begin, std::int64_t end) {
  const bool across = s.bn == 1, plain = s.alpha == 1 && s.beta == 0;
  if (across) {
    plain ? squares<kN, true, true>(s.alpha, s.beta, batch, begin, end)
          : squares<kN, true, false>(s.alpha, s.beta, batch, begin, end);
  } else {
    plain ? squares<kN, false, true>(s.alpha, s.beta, batch, begin, end)
          : squares<kN, false, false>(s.alpha, s.beta, batch, begin, end);
  }
}

#endif

template <class T>
void products(const SmallProducts<T>& s, const SmallBatch<T>& batch, std::int64_t begin, std::int64_t end) {
#if HWY_TARGET <= HWY_AVX2
  const bool square = s.m == s.n && s.n == s.k && s.ak == s.m && s.cn == s.m &&
                      ((s.bk == 1 && s.bn == s.k) || (s.bn == 1 && s.bk == s.n));
  if (square && s.m == 8) return squares<8>(s, batch, begin, end);
  if (square && s.m == 16) return squares<16>(s, batch, begin, end);
  if (square && s.m == 32) return squares<32>(s, batch, begin, end);
#endif
  for (std::int64_t p = begin; p < end; ++p)
    rows<64 / static_cast<int>(sizeof(T))>(s, 0, batch.a_of(p), batch.b_of(p), batch.c_of(p));
}

void products_f32(const SmallProducts<float>& s, const SmallBatch<float>& batch, std::int64_t begin, std::int64_t end) {
  products(s, batch, begin, end);
}
void products_f64(const SmallProducts<double>& s, const SmallBatch<double>& batch, std::int64_t begin,
                  std::int64_t end) {
  products(s, batch, begin, end);
}

}  // namespace trn::blas::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trn::blas::host {

HWY_EXPORT(products_f32);
HWY_EXPORT(products_f64);

void small_products(const SmallProducts<float>& s, const SmallBatch<float>& batch, std::int64_t begin,
                    std::int64_t end) {
  HWY_DYNAMIC_DISPATCH(products_f32)(s, batch, begin, end);
}
void small_products(const SmallProducts<double>& s, const SmallBatch<double>& batch, std::int64_t begin,
                    std::int64_t end) {
  HWY_DYNAMIC_DISPATCH(products_f64)(s, batch, begin, end);
}

}  // namespace trn::blas::host
#endif
