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
#include "host/lanes-inl.hpp"
#include "host/real-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trn::fft::host::HWY_NAMESPACE {

// Lines between rows: point j of line (o, i) at re + o * outer + i * inner + j * leg, its other part `im` further on.
template <class T>
struct RowLines {
  T* re;
  std::int64_t im, leg, inner, outer;
};
template <class T>
struct RowCount {
  std::int64_t outer, inner;
};

// Memory that will be needed: the output of this block and the input of the next. Boxes are read and written in turns, which is no stream that the processor would
// recognize, so a few cache lines are asked for at each butterfly.
struct Ahead {
  const char *in = nullptr, *in_end = nullptr, *out = nullptr, *out_end = nullptr;
  std::int64_t lines = 0;  // of each, at a time
  HWY_INLINE void some() {
    for (std::int64_t i = 0; i < lines; ++i, out += 64, in += 64) {
      if (out < out_end) __builtin_prefetch(out, 1);
      if (in < in_end) __builtin_prefetch(in);
    }
  }
};

// A single codelet on all of them, in place or not.
template <int R, class D, class T>
HWY_NOINLINE void codelet_rows(D d, RowLines<T> from, RowLines<T> to, std::int64_t outer, std::int64_t inner, T factor, Ahead& ahead) {
  PassArgs<T> a{};
  a.l = 1;
  a.scaled = factor != T(1);
  a.factor = factor;
  for (std::int64_t o = 0; o < outer; ++o, from.re += from.outer, to.re += to.outer) {
    const T* p = from.re;
    T* q = to.re;
    for (std::int64_t i = 0; i < inner; ++i, p += from.inner, q += to.inner) {
      ahead.some();
      if constexpr (R == 16) {
        butterfly16<Form::Planar, Form::Planar, Turn::None>(d, a, p, from.leg, from.im, q, to.leg, to.im, static_cast<const T*>(nullptr), 0);
      } else {
        C<D> x[R];
        HWY_UNROLL(16)
        for (int j = 0; j < R; ++j) x[j] = load_row<Form::Planar>(d, p + j * from.leg, from.im);
        dft<R>(d, x);
        if (a.scaled) scale<R>(d, x, factor);
        HWY_UNROLL(16)
        for (int j = 0; j < R; ++j) store_row<Form::Planar>(d, q + j * to.leg, to.im, x[j]);
      }
    }
  }
}

// Any smooth length; t0 and t1 hold a line each.
template <class D, class T>
void transform_rows(D d, const Passes<T>& passes, const RowLines<T>& from, const RowLines<T>& to, std::int64_t outer, std::int64_t inner, T factor, T* t0, T* t1, Ahead& ahead) {
  if (passes.passes.size() == 1) {
    switch (passes.passes[0].radix) {
#define TRN_FFT_CODELET_ROWS(R) \
  case R: return codelet_rows<R>(d, from, to, outer, inner, factor, ahead);
      TRN_FFT_CODELET_ROWS(1)
      TRN_FFT_CODELET_ROWS(2)
      TRN_FFT_CODELET_ROWS(3)
      TRN_FFT_CODELET_ROWS(4)
      TRN_FFT_CODELET_ROWS(5)
      TRN_FFT_CODELET_ROWS(6)
      TRN_FFT_CODELET_ROWS(7)
      TRN_FFT_CODELET_ROWS(8)
      TRN_FFT_CODELET_ROWS(9)
      TRN_FFT_CODELET_ROWS(10)
      TRN_FFT_CODELET_ROWS(11)
      TRN_FFT_CODELET_ROWS(12)
      TRN_FFT_CODELET_ROWS(13)
      TRN_FFT_CODELET_ROWS(15)
      TRN_FFT_CODELET_ROWS(16)
#undef TRN_FFT_CODELET_ROWS
      default: break;
    }
  }
  for (std::int64_t o = 0; o < outer; ++o)
    for (std::int64_t i = 0; i < inner; ++i) {
      ahead.some();
      T *p = from.re + o * from.outer + i * from.inner, *q = to.re + o * to.outer + i * to.inner;
      run_passes(d, passes, Rows<T>{p, p + from.im, from.leg}, Rows<T>{q, q + to.im, to.leg}, factor, static_cast<const T*>(nullptr), t0, t1);
    }
}

// The side of a block, moved to a run.
template <class T>
BlockSide<T> at_run(const BlockSide<T>& side, std::int64_t memory, std::int64_t lanes, bool output) {
  BlockSide<T> s = side;
  s.line[0] += memory;
  if (s.distance == 0)
    for (std::int64_t lane = 1; lane < lanes; ++lane) s.line[lane] += !output || lane < s.count ? memory : 0;
  return s;
}
template <Parts kParts, class D, class T>
void load_runs(D d, const BoxSide& side, const BlockSide<T>& in, T* block) {
  constexpr std::int64_t lanes = static_cast<std::int64_t>(hn::MaxLanes(D()));
  for (const BoxSide::Run& run : side.runs) load_block<kParts>(d, at_run(in, run.memory, lanes, false), side.points, block + 2 * lanes * run.row);
}
template <Parts kParts, class D, class T>
void store_runs(D d, const BoxSide& side, const BlockSide<T>& out, T* block) {
  constexpr std::int64_t lanes = static_cast<std::int64_t>(hn::MaxLanes(D()));
  for (const BoxSide::Run& run : side.runs) store_block<kParts>(d, at_run(out, run.memory, lanes, true), side.points, block + 2 * lanes * run.row);
}

template <class D, class T>
void transform_box(D d, const BoxPlan<T>& plan, const BlockSide<T>& in, const BlockSide<T>& out, T factor, T* scratch, Ahead ahead) {
  constexpr std::int64_t lanes = static_cast<std::int64_t>(hn::MaxLanes(D())), row = 2 * lanes;
  T *box = scratch, *t0 = box + block_reals(plan.rows, lanes), *t1 = t0 + block_reals(plan.longest, lanes), *real = t1 + block_reals(plan.longest, lanes);
  // Exchanged parts make the inverse transform.
  const auto all_axes = [&](bool exchanged, T last) HWY_ATTR {
    for (std::size_t i = 0; i < plan.axes.size(); ++i) {
      const BoxAxis<T>& a = plan.axes[i];
      const RowLines<T> lines{exchanged ? box + lanes : box, exchanged ? -lanes : lanes, a.inner * row, row, a.n * a.inner * row};
      transform_rows(d, a.passes, lines, lines, a.outer, a.inner, i + 1 == plan.axes.size() ? last : T(1), t0, t1, ahead);
    }
  };
  if (plan.kind == Kind::ComplexToComplex) {
    load_runs<Parts::Both>(d, plan.in, in, box);
    all_axes(false, factor);
    return store_runs<Parts::Both>(d, plan.out, out, box);
  }
  const std::int64_t n = plan.n, m = plan.line_rows(), half = n / 2 + 1;
  const bool even = n % 2 == 0;
  const RowLines<T> reals{real, lanes, row, m * row, 0}, halves{box, lanes, row, half * row, 0};
  if (plan.kind == Kind::RealToComplex) {
    if (even) {
      load_runs<Parts::Both>(d, plan.in, in, real);
      transform_rows(d, plan.real_passes, reals, halves, 1, plan.lines, factor, t0, t1, ahead);
      for (std::int64_t i = 0; i < plan.lines; ++i) half_rows<true>(d, m, box + i * half * row, plan.real_twiddles.data());
    } else {
      load_runs<Parts::Re>(d, plan.in, in, real);
      for (std::int64_t j = 0; j < plan.lines * n; ++j) hn::StoreU(hn::Zero(d), d, real + j * row + lanes);
      transform_rows(d, plan.real_passes, reals, reals, 1, plan.lines, factor, t0, t1, ahead);
      for (std::int64_t i = 0; i < plan.lines; ++i) std::copy_n(real + i * n * row, half * row, box + i * half * row);
    }
    all_axes(false, T(1));
    return store_runs<Parts::Both>(d, plan.out, out, box);
  }
  load_runs<Parts::Both>(d, plan.in, in, box);
  all_axes(true, T(1));
  const RowLines<T> back{real + lanes, -lanes, row, m * row, 0};
  if (even) {
    for (std::int64_t i = 0; i < plan.lines; ++i) half_rows<false>(d, m, box + i * half * row, plan.real_twiddles.data());
    transform_rows(d, plan.real_passes, RowLines<T>{box + lanes, -lanes, row, half * row, 0}, back, 1, plan.lines, factor, t0, t1, ahead);
    return store_runs<Parts::Both>(d, plan.out, out, real);
  }
  for (std::int64_t i = 0; i < plan.lines; ++i) {
    const T* x = box + i * half * row;
    T* y = real + i * n * row;
    std::copy_n(x, half * row, y);
    hn::StoreU(hn::Zero(d), d, y + lanes);
    for (std::int64_t k = 1; k < half; ++k) {
      hn::StoreU(hn::LoadU(d, x + k * row), d, y + (n - k) * row);
      hn::StoreU(hn::Neg(hn::LoadU(d, x + k * row + lanes)), d, y + (n - k) * row + lanes);
    }
  }
  transform_rows(d, plan.real_passes, back, back, 1, plan.lines, factor, t0, t1, ahead);
  store_runs<Parts::Re>(d, plan.out, out, real);
}

template <class D, class T>
void next_box(D d, const BoxPlan<T>& plan, const BoxCall<T>& call, LineCounter& at, int count, T* scratch) {
  constexpr std::int64_t lanes = static_cast<std::int64_t>(hn::MaxLanes(D()));
  BlockSide<T> in, out;
  // Of a real side neighbouring points are one complex number, if n is even.
  in.set(plan.in.stride, call.in_im ? call.in_im - call.in_re : plan.in.stride / 2, count);
  out.set(plan.out.stride, call.out_im ? call.out_im - call.out_re : plan.out.stride / 2, count);
  T* dummy = scratch + plan.scratch_reals(lanes) - 2 * std::max(plan.in.points, plan.out.points) - 32;
  in.line[0] = call.in_re + at.from;
  out.line[0] = call.out_re + at.to;
  Ahead ahead;
  if (count == lanes && at.run() >= lanes) {
    in.distance = call.batch->back().input_distance;
    out.distance = call.batch->back().output_distance;
    if (plan.ahead_lines > 0) {
      const std::int64_t in_bytes = lanes * in.distance * static_cast<std::int64_t>(sizeof(T)), out_bytes = lanes * out.distance * static_cast<std::int64_t>(sizeof(T));
      ahead.out = reinterpret_cast<const char*>(out.line[0]);
      ahead.out_end = ahead.out + out_bytes;
      ahead.in = reinterpret_cast<const char*>(in.line[0]) + in_bytes;
      ahead.in_end = at.run() >= 2 * lanes ? ahead.in + in_bytes : ahead.in;
      ahead.lines = plan.ahead_lines;
    }
    at.advance(lanes);
  } else {
    for (std::int64_t lane = 0; lane < lanes; ++lane) {
      in.line[lane] = lane < count ? call.in_re + at.from : in.line[0];
      out.line[lane] = lane < count ? call.out_re + at.to : dummy;
      if (lane < count) at.advance(1);
    }
  }
  transform_box(d, plan, in, out, call.factor, scratch, ahead);
}

// Full blocks of the widest vectors, the rest with half ones if they hold it.
template <class T>
void run_boxes_here(const BoxPlan<T>& plan, const BoxCall<T>& call, std::int64_t begin, std::int64_t end, T* scratch) {
  constexpr int widest = static_cast<int>(hn::MaxLanes(Widest<T>()));
  LineCounter at(*call.batch, begin);
  std::int64_t box = begin;
  for (; box + widest <= end; box += widest) next_box(Widest<T>(), plan, call, at, widest, scratch);
  const int rest = static_cast<int>(end - box);
  if (rest == 0) return;
  if constexpr (widest * sizeof(T) >= 32)
    if (rest <= widest / 2) return next_box(hn::CappedTag<T, widest / 2>(), plan, call, at, rest, scratch);
  next_box(Widest<T>(), plan, call, at, rest, scratch);
}

}  // namespace trn::fft::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
