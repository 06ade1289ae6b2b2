// The boxes of boxes.hpp on vectors: codelets between rows, and the sequence of axes.
#if defined(TRN_FFT_BOXES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TRN_FFT_BOXES_INL
#undef TRN_FFT_BOXES_INL
#else
#define TRN_FFT_BOXES_INL
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>

#include "host/boxes.hpp"
#include "host/real_lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trn::fft::host::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR  // boxes are for vectors
// Memory that will be needed: both sides of the next block. Boxes are read and written in turns, which is no stream
// that the processor would recognize, so some cache lines are asked for between butterflies.
struct Ahead {
  const char *in = nullptr, *in_end = nullptr, *out = nullptr, *out_end = nullptr;
  std::int64_t lines = 0;                     // of each, at a time
  static constexpr std::int64_t kAtOnce = 4;  // butterflies
  HWY_INLINE void some(std::int64_t butterflies) {
    for (std::int64_t i = 0; i < butterflies * lines; ++i, out += 64, in += 64) {
      if (out < out_end) __builtin_prefetch(out, 1);
      if (in < in_end) __builtin_prefetch(in);
    }
  }
};

// step(first, count) for ranges of `count` butterflies, memory asked for between them.
template <class F> HWY_INLINE void with_ahead(Ahead& ahead, std::int64_t count, const F& step) {
  const std::int64_t some = ahead.lines > 0 ? Ahead::kAtOnce : count;
  for (std::int64_t i = 0; i < count; i += some) {
    const std::int64_t now = std::min(some, count - i);
    ahead.some(now);
    step(i, now);
  }
}

// One axis of a box of rows, in place. A single pass: butterflies of all inner positions next to each other, or of all
// outer ones. Several: line by line; t0 and t1 hold a line each.
template <class D, class T>
void transform_rows(D d, const BoxAxis<T>& axis, T* re, std::int64_t im, T factor, T* t0, T* t1, Ahead& ahead) {
  constexpr std::int64_t row = 2 * kWidth<D>;
  const std::int64_t leg = axis.inner * row, line = axis.n * leg;
  if (axis.passes.passes.size() == 1) {
    const bool within = axis.inner >= 4;
    const std::int64_t step = within ? row : line, far = within ? line : row;
    PassArgs<T> a = pass_args(axis.passes, 0, Rows<T>{re, re + im, step}, Rows<T>{re, re + im, step});
    a.in_leg = a.out_leg = leg;
    a.swap_in = a.swap_out = false;
    a.scaled = factor != T(1);
    a.factor = factor;
    for (std::int64_t i = 0; i < (within ? axis.outer : axis.inner); ++i) {
      with_ahead(ahead, within ? axis.inner : axis.outer, [&](std::int64_t first, std::int64_t count) HWY_ATTR {
        a.in_re = a.out_re = re + i * far + first * step;
        a.in_im = a.out_im = a.out_re + im;
        a.l = count;
        planar_pass(d, a);
      });
    }
    return;
  }
  for (std::int64_t o = 0; o < axis.outer; ++o)
    for (std::int64_t i = 0; i < axis.inner; ++i) {
      ahead.some(1);
      T* p = re + o * line + i * row;
      const Rows<T> rows{p, p + im, leg};
      run_passes(d, axis.passes, rows, rows, factor, static_cast<const T*>(nullptr), t0, t1);
    }
}

// The halved axis: real lines, n rows of one vector each, to half lines of pairs, or back.
template <bool kThere, class D, class T>
void transform_real_rows(D d, const BoxPlan<T>& plan, T* real, T* half, T factor, T* scratch, Ahead& ahead) {
  constexpr std::int64_t lanes = kWidth<D>, row = 2 * lanes;
  const std::int64_t n = plan.n, half_line = (n / 2 + 1) * row;
  const bool codelet = plan.real_passes.radix == n;
  const auto run = [&](std::int64_t first, std::int64_t count) HWY_ATTR {
    const RealRows<T> a{
        real + first * n * lanes, half + first * half_line, lanes, row, factor, count, n * lanes, half_line};
    run_real_passes<kThere>(d, plan.real_passes, a, scratch);
  };
  if (codelet) return with_ahead(ahead, plan.lines, run);
  for (std::int64_t line = 0; line < plan.lines; ++line) {
    ahead.some(1);
    run(line, 1);
  }
}

// The side of a block, moved to a run.
template <class T> BlockSide<T> at_run(const BlockSide<T>& side, std::int64_t memory, std::int64_t lanes, bool output) {
  BlockSide<T> s = side;
  s.line[0] += memory;
  if (s.distance == 0)
    for (std::int64_t lane = 1; lane < lanes; ++lane) s.line[lane] += !output || lane < s.count ? memory : 0;
  return s;
}
template <bool kToRows, class D, class T>
void move_runs(D d, const BoxSide& side, const BlockSide<T>& lines, T* block, RowKind kind) {
  for (const BoxSide::Run& run : side.runs)
    move_block<kToRows>(d, at_run(lines, run.memory, kWidth<D>, !kToRows), side.points,
                        block + static_cast<std::int64_t>(kind) * kWidth<D> * run.row, kind);
}

template <class D, class T> void transform_box(D d, const BoxPlan<T>& plan, const BlockSide<T>& in,
                                               const BlockSide<T>& out, T factor, T* scratch, Ahead ahead) {
  constexpr std::int64_t lanes = kWidth<D>;
  T *box = scratch, *t0 = box + block_reals(plan.rows, lanes), *t1 = t0 + block_reals(plan.longest, lanes),
    *real = t1 + block_reals(plan.longest, lanes);
  // Exchanged parts make the inverse transform.
  const auto all_axes = [&](bool exchanged, T last) HWY_ATTR {
    for (std::size_t i = 0; i < plan.axes.size(); ++i)
      transform_rows(d, plan.axes[i], exchanged ? box + lanes : box, exchanged ? -lanes : lanes,
                     i + 1 == plan.axes.size() ? last : T(1), t0, t1, ahead);
  };
  if (plan.kind == Kind::ComplexToComplex) {
    move_runs<true>(d, plan.in, in, box, RowKind::Complex);
    all_axes(false, factor);
    return move_runs<false>(d, plan.out, out, box, RowKind::Complex);
  }
  if constexpr (lanes == kWidth<Widest<T>>) {  // real boxes have the widest vectors only: there is much code for them
    T* rest = real + plan.lines * plan.n * lanes;
    if (plan.kind == Kind::RealToComplex) {
      move_runs<true>(d, plan.in, in, real, RowKind::Real);
      transform_real_rows<true>(d, plan, real, box, factor, rest, ahead);
      all_axes(false, T(1));
      return move_runs<false>(d, plan.out, out, box, RowKind::Complex);
    }
    move_runs<true>(d, plan.in, in, box, RowKind::Complex);
    all_axes(true, T(1));
    transform_real_rows<false>(d, plan, real, box, factor, rest, ahead);
    move_runs<false>(d, plan.out, out, real, RowKind::Real);
  }
}

template <class D, class T>
void next_box(D d, const BoxPlan<T>& plan, const BoxCall<T>& call, LineCounter& at, int count, T* scratch) {
  constexpr std::int64_t lanes = kWidth<D>;
  BlockSide<T> in, out;
  in.set(plan.in.stride, call.in_im ? call.in_im - call.in_re : 0, count);
  out.set(plan.out.stride, call.out_im ? call.out_im - call.out_re : 0, count);
  T* dummy = scratch + plan.scratch_reals(lanes) - 2 * std::max(plan.in.points, plan.out.points) - 32;
  const std::int64_t run = at.run();
  next_lines(*call.batch, at, call.in_re, call.out_re, lanes, dummy, in, out);
  Ahead ahead;
  if (in.distance != 0 && plan.ahead_lines > 0) {
    const std::int64_t in_bytes = lanes * in.distance * static_cast<std::int64_t>(sizeof(T)),
                       out_bytes = lanes * out.distance * static_cast<std::int64_t>(sizeof(T));
    const std::int64_t blocks = std::min<std::int64_t>(run / lanes - 1, 1);
    ahead.in = reinterpret_cast<const char*>(in.line[0]) + in_bytes;
    ahead.in_end = ahead.in + blocks * in_bytes;
    ahead.out = reinterpret_cast<const char*>(out.line[0]) + out_bytes;
    ahead.out_end = ahead.out + blocks * out_bytes;
    ahead.lines = plan.ahead_lines;
  }
  transform_box(d, plan, in, out, call.factor, scratch, ahead);
}

// Full blocks of the widest vectors, the rest of complex ones with half ones if they hold it.
template <class T>
void run_boxes_here(const BoxPlan<T>& plan, const BoxCall<T>& call, std::int64_t begin, std::int64_t end, T* scratch) {
  constexpr int widest = kWidest<T>;
  LineCounter at(*call.batch, begin);
  std::int64_t box = begin;
  for (; box + widest <= end; box += widest) next_box(Widest<T>(), plan, call, at, widest, scratch);
  const int rest = static_cast<int>(end - box);
  if (rest == 0) return;
  if constexpr (kHalf<T> < widest)
    if (rest <= kHalf<T> && plan.kind == Kind::ComplexToComplex)
      return next_box(HalfTag<T>(), plan, call, at, rest, scratch);
  next_box(Widest<T>(), plan, call, at, rest, scratch);
}

#endif

}  // namespace trn::fft::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
