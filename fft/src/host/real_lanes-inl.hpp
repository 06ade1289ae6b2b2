// Many real lines, one in each lane: the levels of real_passes-inl.hpp on blocks of rows, lines loaded and stored as
// lanes-inl.hpp does. A lane's arithmetic does not depend on the others.
#if defined(TRN_FFT_REAL_LANES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TRN_FFT_REAL_LANES_INL
#undef TRN_FFT_REAL_LANES_INL
#else
#define TRN_FFT_REAL_LANES_INL
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>

#include "host/lanes-inl.hpp"
#include "host/real_passes-inl.hpp"
#include "host/real_short-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trn::fft::host::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR  // a plain processor takes real lines one by one
template <bool kThere, class D, class T> HWY_NOINLINE void whole_line(D d, const RealArgs<T>& a) {
  const auto run = [&](auto n) HWY_ATTR {
    if constexpr (kThere)
      real_whole<decltype(n)::value>(d, a);
    else
      half_whole<decltype(n)::value>(d, a);
  };
  if (!with_length(RealLengths(), a.radix, run)) run(std::integral_constant<int, 0>());
}

// The arguments of level i.
template <class D, class T> RealArgs<T> level_args(D, const RealPasses<T>& passes, std::size_t i, T* real,
                                                   std::int64_t real_stride, T* half, std::int64_t half_stride,
                                                   T factor, T* scratch) {
  const auto& level = passes.levels[i];
  return {real,
          half,
          real_stride,
          half_stride,
          level.n,
          level.m,
          level.columns,
          level.radix,
          scratch,
          scratch + level.m * kWidth<D>,
          passes.table.data() + level.twiddles,
          passes.table.data() + level.constants,
          factor};
}

// Real rows to half rows, or back; the two may be the same memory. Level i and those after it.
template <bool kThere, class D, class T> void run_levels(D d, const RealPasses<T>& passes, std::size_t i, T* real,
                                                         std::int64_t real_stride, T* half, std::int64_t half_stride,
                                                         T factor, T* scratch) {
  const auto& level = passes.levels[i];
  RealArgs<T> a = level_args(d, passes, i, real, real_stride, half, half_stride, factor, scratch);
  if (level.m == 1) return whole_line<kThere>(d, a);
  const Passes<T>& inner = level.inner;
  const std::size_t count = inner.passes.size();
  const std::int64_t size = 2 * level.columns * level.m * kWidth<D>;
  T* block[2] = {a.rest, a.rest + size};
  // Complex pass number p, not one of those that mirror, between the two blocks.
  const auto complex_pass = [&](std::size_t p, T* from, T* to) HWY_ATTR {
    constexpr std::int64_t lanes = kWidth<D>;
    planar_pass(d, pass_args(inner, p, Rows<T>{from, from + lanes, 2 * lanes}, Rows<T>{to, to + lanes, 2 * lanes},
                             level.columns));
  };
  if constexpr (kThere) {
    with_radix(level.radix, [&](auto n) HWY_ATTR { real_pass<decltype(n)::value>(d, a); });
    for (std::size_t p = 0; p + 1 < count; ++p) complex_pass(p, block[p % 2], block[(p + 1) % 2]);
    const auto& last = inner.passes[count - 1];
    with_radix(last.radix, [&](auto r) HWY_ATTR {
      mirror_last_pass<decltype(r)::value>(d, a, block[(count - 1) % 2], last.radix,
                                           inner.table.data() + last.constants);
    });
    if (level.radix % 2 == 0 && level.m % 2 != 0)
      hn::StoreU(hn::Zero(d), d, half + level.n / 2 * half_stride + kWidth<D>);
    run_levels<true>(d, passes, i + 1, a.first, kWidth<D>, half, half_stride * level.radix, factor, a.rest);
  } else {
    run_levels<false>(d, passes, i + 1, a.first, kWidth<D>, half, half_stride * level.radix, T(1), a.rest);
    const auto& first = inner.passes[0];
    with_radix(first.radix, [&](auto r) HWY_ATTR {
      mirror_first_pass<decltype(r)::value>(d, a, block[0], first.radix, inner.table.data() + first.twiddles,
                                            inner.table.data() + first.constants);
    });
    for (std::size_t p = 1; p < count; ++p) complex_pass(p, block[(p - 1) % 2], block[p % 2]);
    a.rest = block[(count - 1) % 2];
    with_radix(level.radix, [&](auto n) HWY_ATTR { half_pass<decltype(n)::value>(d, a); });
  }
}

template <class T> struct RealPlace {
  T* block;
  std::int64_t lanes;
  HWY_INLINE T* operator()(std::int64_t j) const { return block + j * lanes; }
};

// Rows of reals from the points of lines, and back.
template <class D, class T> void load_real_block(D d, const BlockSide<T>& s, std::int64_t points, T* block) {
  constexpr std::int64_t lanes = kWidth<D>;
  const RealPlace<T> place{block, lanes};
  if (s.distance == 1) {
    for (std::int64_t j = 0; j < points; ++j) hn::StoreU(hn::LoadU(d, s.line[0] + j * s.stride), d, place(j));
  } else if (s.stride == 1 && points >= kPiece<T>) {
    if (s.distance != 0) return lines_to_rows(d, EvenLines<T>{s.line[0], s.distance}, points, place);
    lines_to_rows(d, ListedLines<T>{s.line}, points, place);
  } else {
    for (std::int64_t j = 0; j < points; ++j)
      for (std::int64_t lane = 0; lane < lanes; ++lane) place(j)[lane] = s.begin(lane)[j * s.stride];
  }
}
template <class D, class T> void store_real_block(D d, const BlockSide<T>& s, std::int64_t points, T* block) {
  constexpr std::int64_t lanes = kWidth<D>;
  const RealPlace<T> place{block, lanes};
  if (s.distance == 1) {
    for (std::int64_t j = 0; j < points; ++j) hn::StoreU(hn::LoadU(d, place(j)), d, s.line[0] + j * s.stride);
  } else if (s.stride == 1 && points >= kPiece<T>) {
    if (s.distance != 0) return rows_to_lines(d, EvenLines<T>{s.line[0], s.distance}, points, place);
    rows_to_lines(d, ListedLines<T>{s.line}, points, place);
  } else {
    for (std::int64_t j = 0; j < points; ++j)
      for (int lane = 0; lane < s.count; ++lane) s.begin(lane)[j * s.stride] = place(j)[lane];
  }
}

template <class D, class T> void transform_real_block(D d, const RealPlan<T>& plan, const BlockSide<T>& in,
                                                      const BlockSide<T>& out, T factor, T* scratch) {
  constexpr std::int64_t lanes = kWidth<D>;
  const std::int64_t n = plan.n, half = n / 2;
  T *block = scratch, *rest = scratch + (n + 2) * lanes;
  if (plan.kind == EngineKind::RealToHalf) {
    const bool rows = in.distance == 1;  // as they lie
    if (!rows) load_real_block(d, in, n, block);
    run_levels<true>(d, plan.passes, 0, rows ? in.line[0] : block, rows ? in.stride : lanes, block, 2 * lanes, factor,
                     rest);
    return store_block(d, out, half + 1, block);
  }
  load_block(d, in, half + 1, block);
  hn::StoreU(hn::Zero(d), d, block + lanes);
  if (n % 2 == 0) hn::StoreU(hn::Zero(d), d, block + (n + 1) * lanes);
  const bool rows = out.distance == 1;
  run_levels<false>(d, plan.passes, 0, rows ? out.line[0] : block, rows ? out.stride : lanes, block, 2 * lanes, factor,
                    rest);
  if (!rows) store_real_block(d, out, n, block);
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
