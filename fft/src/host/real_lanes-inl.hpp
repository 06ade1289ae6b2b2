// Many real lines, one in each lane: real_passes-inl.hpp on blocks of rows, lines loaded and stored as lanes-inl.hpp
// does. A lane's arithmetic does not depend on the others.
//
// Many short real lines of one codelet each: a block of lines is loaded, transformed and stored without leaving the
// registers. The arithmetic is that of real_codelet_rows, so a line has the same bits in an incomplete block, which
// goes through those.
//
// Most of the time goes into loads, stores and shuffles. With 64-byte vectors the units are, longest first: 64 bytes of
// every line (tiles-inl.hpp), 32 bytes, 16 bytes. Lines of 2 or 3 floats, or 16 bytes, without gaps between them are
// taken as whole vectors.
#if defined(TRN_FFT_REAL_LANES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TRN_FFT_REAL_LANES_INL
#undef TRN_FFT_REAL_LANES_INL
#else
#define TRN_FFT_REAL_LANES_INL
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "host/lanes-inl.hpp"
#include "host/real_codelets-inl.hpp"
#include "host/real_passes-inl.hpp"
#include "host/real_plan.hpp"
#include "host/short_lines-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trn::fft::host::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR  // a plain processor takes real lines one by one
// Lane i holds line 4 (i mod 4) + i/4 (float), 2 (i mod 2) + i/2 (double, four lanes), ...: what transposing whole
// vectors of lines of 16 bytes leaves.
template <class T> struct TurnedLines {
  T* base;
  std::int64_t distance, lanes;
  HWY_INLINE T* operator()(std::int64_t lane) const {
    constexpr std::int64_t piece = 16 / sizeof(T);
    return base + (lane % piece * (lanes / piece) + lane / piece) * distance;
  }
};

// The real side without gaps: N = 2 or 3 floats, or 16 bytes (then the lanes are turned).
template <int N, class D, class T> HWY_INLINE void load_packed(D d, const T* p, hn::Vec<D>* x) {
  if constexpr (N == kPiece<T>) {
    HWY_UNROLL(4)
    for (int i = 0; i < N; ++i) x[i] = hn::LoadU(d, p + i * static_cast<std::int64_t>(hn::MaxLanes(d)));
    transpose_parts(d, x);
  } else if constexpr (N == 2) {
    hn::LoadInterleaved2(d, p, x[0], x[1]);
  } else {
    hn::LoadInterleaved3(d, p, x[0], x[1], x[2]);
  }
}
template <int N, class D, class T> HWY_INLINE void store_packed(D d, T* p, hn::Vec<D>* x) {
  if constexpr (N == kPiece<T>) {
    transpose_parts(d, x);
    HWY_UNROLL(4)
    for (int i = 0; i < N; ++i) hn::StoreU(x[i], d, p + i * static_cast<std::int64_t>(hn::MaxLanes(d)));
  } else if constexpr (N == 2) {
    hn::StoreInterleaved2(x[0], x[1], d, p);
  } else {
    hn::StoreInterleaved3(x[0], x[1], x[2], d, p);
  }
}

// One block: real and half are where its first lines begin.
template <int N, bool kThere, bool kPacked, class D, class T>
HWY_INLINE void short_real_block(D d, T* real, std::int64_t real_distance, T* half, std::int64_t half_distance,
                                 bool scaled, hn::Vec<D> by) {
  constexpr int kHalf = 2 * (N / 2 + 1);
  using HalfLines = std::conditional_t<kPacked && N == kPiece<T>, TurnedLines<T>, EvenLines<T>>;
  HalfLines lines;
  if constexpr (kPacked && N == kPiece<T>)
    lines = {half, half_distance, static_cast<std::int64_t>(hn::MaxLanes(d))};
  else
    lines = {half, half_distance};
  hn::Vec<D> x[N], z[kHalf];
  C<D> y[N / 2 + 1];
  if constexpr (kThere) {
    if constexpr (kPacked)
      load_packed<N>(d, real, x);
    else
      load_short<N>(d, EvenLines<T>{real, real_distance}, x);
    real_dft<N>(d, x, y);
    HWY_UNROLL(32)
    for (int k = 0; k <= N / 2; ++k) {
      z[2 * k] = scaled ? hn::Mul(y[k].r, by) : y[k].r;
      if (k == 0 || 2 * k == N)
        z[2 * k + 1] = hn::Zero(d);
      else
        z[2 * k + 1] = scaled ? hn::Mul(y[k].i, by) : y[k].i;
    }
    store_short<kHalf>(d, lines, z);
  } else {
    load_short<kHalf>(d, lines, z);
    HWY_UNROLL(32)
    for (int k = 0; k <= N / 2; ++k) y[k] = {z[2 * k], z[2 * k + 1]};
    half_dft<N>(d, y, x);
    if (scaled) {
      HWY_UNROLL(32)
      for (int j = 0; j < N; ++j) x[j] = hn::Mul(x[j], by);
    }
    if constexpr (kPacked)
      store_packed<N>(d, real, x);
    else
      store_short<N>(d, EvenLines<T>{real, real_distance}, x);
  }
}

// `blocks` blocks of equally distant dense lines.
template <int N, bool kThere, class D, class T>
HWY_NOINLINE void short_real_blocks(D d, T* real, std::int64_t real_distance, T* half, std::int64_t half_distance,
                                    std::int64_t blocks, T factor) {
  const std::int64_t lanes = static_cast<std::int64_t>(hn::MaxLanes(d));
  const bool scaled = factor != T(1);
  const auto by = hn::Set(d, factor);
  for (std::int64_t block = 0; block < blocks; ++block, real += lanes * real_distance, half += lanes * half_distance) {
    if constexpr (N <= kPiece<T>) {
      if (N < kPiece<T> || real_distance == N) {
        short_real_block<N, kThere, true>(d, real, real_distance, half, half_distance, scaled, by);
        continue;
      }
    }
    if constexpr (N >= kPiece<T>)
      short_real_block<N, kThere, false>(d, real, real_distance, half, half_distance, scaled, by);
  }
}
// Up to 16 points they fit the registers; of the longer ones those lengths that are in use.
using ShortLengths = Lengths<2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 18, 20, 24, 30, 32>;
template <class D, class T> void any_short_real_blocks(D d, const RealPlan<T>& plan, const EngineCall<T>& call,
                                                       std::int64_t from, std::int64_t to, std::int64_t blocks) {
  const LineBatch& batch = call.batch->back();
  with_length(ShortLengths(), plan.n, [&](auto n) HWY_ATTR {
    constexpr int N = decltype(n)::value;
    if (plan.kind == EngineKind::RealToHalf)
      short_real_blocks<N, true>(d, call.in_re + from, batch.input_distance, call.out_re + to, batch.output_distance,
                                 blocks, call.factor);
    else
      short_real_blocks<N, false>(d, call.out_re + to, batch.output_distance, call.in_re + from, batch.input_distance,
                                  blocks, call.factor);
  });
}

// Whether they serve: a codelet, the half side pairs, the real side dense.
template <class T> bool short_blocks(const RealPlan<T>& plan, const EngineCall<T>& call) {
  if (!is_listed(ShortLengths(), plan.n) || call.batch->empty()) return false;
  const bool there = plan.kind == EngineKind::RealToHalf;
  const LineBatch& batch = call.batch->back();
  if (plan.n < kPiece<T> && (there ? batch.input_distance : batch.output_distance) != plan.n) return false;
  return there ? call.in_stride == 1 && call.out_stride == 2 && call.out_im == call.out_re + 1
               : call.out_stride == 1 && call.in_stride == 2 && call.in_im == call.in_re + 1;
}

template <class D, class T> void transform_real_block(D d, const RealPlan<T>& plan, const BlockSide<T>& in,
                                                      const BlockSide<T>& out, T factor, T* scratch) {
  constexpr std::int64_t lanes = kWidth<D>;
  const std::int64_t n = plan.n, half = n / 2 + 1;
  T *block = scratch, *rest = scratch + (n + 2) * lanes;
  const bool there = plan.kind == EngineKind::RealToHalf;
  const BlockSide<T>& real = there ? in : out;
  const bool rows = real.distance == 1;  // as they lie
  const RealRows<T> a{rows ? real.line[0] : block, block, rows ? real.stride : lanes, 2 * lanes, factor};
  if (there) {
    if (!rows) move_block<true>(d, in, n, block, RowKind::Real);
    run_real_passes<true>(d, plan.passes, a, rest);
    return move_block<false>(d, out, half, block, RowKind::Complex);
  }
  move_block<true>(d, in, half, block, RowKind::Complex);
  run_real_passes<false>(d, plan.passes, a, rest);
  if (!rows) move_block<false>(d, out, n, block, RowKind::Real);
}

template <class D, class T>
void run_real_block(D d, const RealPlan<T>& plan, const EngineCall<T>& call, LineCounter& at, int count, T* scratch) {
  constexpr std::int64_t lanes = kWidth<D>;
  BlockSide<T> in, out;
  in.set(call.in_stride, call.in_im ? call.in_im - call.in_re : 0, count);
  out.set(call.out_stride, call.out_im ? call.out_im - call.out_re : 0, count);
  T* dummy = scratch + (plan.n + 2 + plan.passes.scratch_rows()) * lanes + 64;
  next_lines(*call.batch, at, call.in_re, call.out_re, lanes, dummy, in, out);
  transform_real_block(d, plan, in, out, call.factor, scratch);
}

// Lines begin .. end: blocks of the widest vectors. The last one may have empty lanes: code for narrower ones would
// double the time to compile.
template <class T> void run_real_lanes_here(const RealPlan<T>& plan, const EngineCall<T>& call, std::int64_t begin,
                                            std::int64_t end, T* scratch) {
  constexpr int widest = kWidest<T>;
  LineCounter at(*call.batch, begin);
  const bool codelet = short_blocks(plan, call);
  std::int64_t line = begin;
  while (line + widest <= end) {
    if (const std::int64_t blocks = std::min(at.run(), end - line) / widest; codelet && blocks > 0) {
      any_short_real_blocks(Widest<T>(), plan, call, at.from, at.to, blocks);
      at.advance(blocks * widest);
      line += blocks * widest;
    } else {
      run_real_block(Widest<T>(), plan, call, at, widest, scratch);
      line += widest;
    }
  }
  if (line < end) run_real_block(Widest<T>(), plan, call, at, static_cast<int>(end - line), scratch);
}

#endif

}  // namespace trn::fft::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
