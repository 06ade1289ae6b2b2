// Columns into lanes and back: square blocks are transposed in registers, what is left goes number by number.
#include "host/lanes/lanes.hpp"

// AVX-512, AVX2 and plain SSE2: every instruction set more is compiled as well.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "host/lanes/transpose.cpp"
#include <hwy/foreach_target.h>
#include "host/lanes/number-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trn::solver::host::lanes::HWY_NAMESPACE {

#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
#define TRN_TRANSPOSE 1
// Rows of E numbers in each block of 16 bytes: E x E transposes within the blocks, in place.
template <class R> HWY_INLINE void within_blocks(Vec<R>* v) {
  const Tag<R> d;
  if constexpr (sizeof(R) == 8) {
    const auto a = hn::InterleaveLower(d, v[0], v[1]), b = hn::InterleaveUpper(d, v[0], v[1]);
    v[0] = a, v[1] = b;
  } else {
    const hn::Repartition<double, Tag<R>> w;
    const auto a = hn::BitCast(w, hn::InterleaveLower(d, v[0], v[1]));
    const auto b = hn::BitCast(w, hn::InterleaveUpper(d, v[0], v[1]));
    const auto c = hn::BitCast(w, hn::InterleaveLower(d, v[2], v[3]));
    const auto e = hn::BitCast(w, hn::InterleaveUpper(d, v[2], v[3]));
    v[0] = hn::BitCast(d, hn::InterleaveLower(w, a, c));
    v[1] = hn::BitCast(d, hn::InterleaveUpper(w, a, c));
    v[2] = hn::BitCast(d, hn::InterleaveLower(w, b, e));
    v[3] = hn::BitCast(d, hn::InterleaveUpper(w, b, e));
  }
}
// Vectors v[0], v[s], v[2 s], ... of as many blocks as there are vectors: block c of vector b and block b of vector c
// change places.
template <class R> HWY_INLINE void across_blocks(Vec<R>* v, int s) {
  const Tag<R> d;
#if HWY_TARGET == HWY_AVX3
  const auto t0 = hn::OddEvenBlocks(hn::SwapAdjacentBlocks(v[s]), v[0]);
  const auto t1 = hn::OddEvenBlocks(v[s], hn::SwapAdjacentBlocks(v[0]));
  const auto t2 = hn::OddEvenBlocks(hn::SwapAdjacentBlocks(v[3 * s]), v[2 * s]);
  const auto t3 = hn::OddEvenBlocks(v[3 * s], hn::SwapAdjacentBlocks(v[2 * s]));
  v[0] = hn::ConcatLowerLower(d, t2, t0);
  v[s] = hn::ConcatLowerLower(d, t3, t1);
  v[2 * s] = hn::ConcatUpperUpper(d, t2, t0);
  v[3 * s] = hn::ConcatUpperUpper(d, t3, t1);
#else
  const auto a = hn::ConcatLowerLower(d, v[s], v[0]), b = hn::ConcatUpperUpper(d, v[s], v[0]);
  v[0] = a, v[s] = b;
#endif
}
// Number i of vector l and number l of vector i change places.
template <class R> HWY_INLINE void transpose(Vec<R>* v) {
  constexpr int kLanes = static_cast<int>(HWY_MAX_BYTES / sizeof(R)), kInBlock = static_cast<int>(16 / sizeof(R));
  for (int c = 0; c < kLanes; c += kInBlock) within_blocks<R>(v + c);
  for (int e = 0; e < kInBlock; ++e) across_blocks<R>(v + e, kInBlock);
}
#endif

template <class R> void interleave_of(std::int64_t rows, const R* const* from, R* to) {
  const std::int64_t lanes = width<R>();
  std::int64_t i = 0;
#ifdef TRN_TRANSPOSE
  const Tag<R> d;
  constexpr int kLanes = static_cast<int>(HWY_MAX_BYTES / sizeof(R));
  for (; i + kLanes <= rows; i += kLanes) {
    Vec<R> v[kLanes];
    for (int l = 0; l < kLanes; ++l) v[l] = hn::LoadU(d, from[l] + i);
    transpose<R>(v);
    for (int r = 0; r < kLanes; ++r) hn::Store(v[r], d, to + (i + r) * kLanes);
  }
#endif
  for (std::int64_t l = 0; l < lanes; ++l) {
    for (std::int64_t r = i; r < rows; ++r) to[r * lanes + l] = from[l][r];
  }
}
template <class R> void separate_of(std::int64_t rows, const R* from, R* const* to) {
  const std::int64_t lanes = width<R>();
  std::int64_t i = 0;
#ifdef TRN_TRANSPOSE
  const Tag<R> d;
  constexpr int kLanes = static_cast<int>(HWY_MAX_BYTES / sizeof(R));
  for (; i + kLanes <= rows; i += kLanes) {
    Vec<R> v[kLanes];
    for (int r = 0; r < kLanes; ++r) v[r] = hn::Load(d, from + (i + r) * kLanes);
    transpose<R>(v);
    for (int l = 0; l < kLanes; ++l) {
      if (to[l]) hn::StoreU(v[l], d, to[l] + i);
    }
  }
#endif
  for (std::int64_t l = 0; l < lanes; ++l) {
    if (!to[l]) continue;
    for (std::int64_t r = i; r < rows; ++r) to[l][r] = from[r * lanes + l];
  }
}
#undef TRN_TRANSPOSE
void interleave_s(std::int64_t rows, const float* const* from, float* to) { interleave_of(rows, from, to); }
void interleave_d(std::int64_t rows, const double* const* from, double* to) { interleave_of(rows, from, to); }
void separate_s(std::int64_t rows, const float* from, float* const* to) { separate_of(rows, from, to); }
void separate_d(std::int64_t rows, const double* from, double* const* to) { separate_of(rows, from, to); }

}  // namespace trn::solver::host::lanes::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trn::solver::host::lanes {
HWY_EXPORT(interleave_s);
HWY_EXPORT(interleave_d);
HWY_EXPORT(separate_s);
HWY_EXPORT(separate_d);

template <> void interleave<float>(std::int64_t rows, const float* const* from, float* to) {
  HWY_DYNAMIC_DISPATCH(interleave_s)(rows, from, to);
}
template <> void interleave<double>(std::int64_t rows, const double* const* from, double* to) {
  HWY_DYNAMIC_DISPATCH(interleave_d)(rows, from, to);
}
template <> void separate<float>(std::int64_t rows, const float* from, float* const* to) {
  HWY_DYNAMIC_DISPATCH(separate_s)(rows, from, to);
}
template <> void separate<double>(std::int64_t rows, const double* from, double* const* to) {
  HWY_DYNAMIC_DISPATCH(separate_d)(rows, from, to);
}
}  // namespace trn::solver::host::lanes
#endif
