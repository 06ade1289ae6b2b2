// pair_sums, compiled for every instruction set; the best one of this machine is chosen at the first call.
//
// T is read in 64 x 64 blocks (A, B), A <= B, beside the block (B, A) turned in cache: one division serves T_ab and
// T_ba. Rows of the turned block are 72 apart, so that its columns do not all fall on the same lines of the cache.
#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#endif
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "host/pair_sums.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h comes first.
#include <hwy/highway.h>

#include <algorithm>

#include "host/pair_sums.hpp"

HWY_BEFORE_NAMESPACE();
namespace trn::blas::host::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
constexpr std::int64_t kBlock = 64, kStride = 72;

// Rows [a0, a0 + rows) and columns [b0, b0 + columns) of T, which lie right of the diagonal or, when a0 == b0, on it.
template <class T> PairSums block_sums(const T* t, std::int64_t n, std::int64_t a0, std::int64_t rows, std::int64_t b0,
                                       std::int64_t columns, double pair_energy, const double* virtuals) {
  const hn::CappedTag<double, kBlock> d;
  using V = hn::Vec<decltype(d)>;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  double turned[kBlock * kStride], straight[kBlock];  // turned[a][b] = T(b0 + b, a0 + a)
  for (std::int64_t b = 0; b < columns; ++b) {
    for (std::int64_t a = 0; a < rows; ++a) turned[a * kStride + b] = static_cast<double>(t[(b0 + b) * n + a0 + a]);
  }
  PairSums sums;
  for (std::int64_t a = 0; a < rows; ++a) {
    const T* row = t + (a0 + a) * n + b0;
    for (std::int64_t b = 0; b < columns; ++b) straight[b] = static_cast<double>(row[b]);
    const double from = virtuals[a0 + a] - pair_energy;
    V squares = hn::Zero(d), exchange = hn::Zero(d);
    std::int64_t b = a0 == b0 ? a + 1 : 0;
    for (; b + lanes <= columns; b += lanes) {
      const V x = hn::LoadU(d, straight + b), y = hn::LoadU(d, turned + a * kStride + b), z = hn::Sub(x, y);
      const V weight = hn::Div(hn::Set(d, 1), hn::Add(hn::Set(d, from), hn::LoadU(d, virtuals + b0 + b)));
      squares = hn::MulAdd(hn::MulAdd(x, x, hn::Mul(y, y)), weight, squares);
      exchange = hn::MulAdd(hn::Mul(z, z), weight, exchange);
    }
    double s = hn::GetLane(hn::SumOfLanes(d, squares)), e = hn::GetLane(hn::SumOfLanes(d, exchange));
    for (; b < columns; ++b) {
      const double x = straight[b], y = turned[a * kStride + b], weight = 1 / (from + virtuals[b0 + b]);
      s += (x * x + y * y) * weight;
      e += (x - y) * (x - y) * weight;
    }
    if (a0 == b0) s += straight[a] * straight[a] / (from + virtuals[a0 + a]);
    sums.squares += s;
    sums.exchange += e;
  }
  return sums;
}

template <class T> PairSums sums_here(const T* t, std::int64_t n, double pair_energy, const double* virtuals) {
  PairSums sums;
  for (std::int64_t a0 = 0; a0 < n; a0 += kBlock) {
    for (std::int64_t b0 = a0; b0 < n; b0 += kBlock) {
      const PairSums s =
          block_sums(t, n, a0, std::min(kBlock, n - a0), b0, std::min(kBlock, n - b0), pair_energy, virtuals);
      sums.squares += s.squares;
      sums.exchange += s.exchange;
    }
  }
  return sums;
}
PairSums sums_float(const float* t, std::int64_t n, double pair_energy, const double* virtuals) {
  return sums_here(t, n, pair_energy, virtuals);
}
PairSums sums_double(const double* t, std::int64_t n, double pair_energy, const double* virtuals) {
  return sums_here(t, n, pair_energy, virtuals);
}

}  // namespace trn::blas::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trn::blas::host {

HWY_EXPORT(sums_float);
HWY_EXPORT(sums_double);

template <> PairSums pair_sums(const float* t, std::int64_t n, double pair_energy, const double* virtuals) {
  return HWY_DYNAMIC_DISPATCH(sums_float)(t, n, pair_energy, virtuals);
}
template <> PairSums pair_sums(const double* t, std::int64_t n, double pair_energy, const double* virtuals) {
  return HWY_DYNAMIC_DISPATCH(sums_double)(t, n, pair_energy, virtuals);
}

}  // namespace trn::blas::host
#endif
