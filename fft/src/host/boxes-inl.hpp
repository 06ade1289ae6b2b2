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

// Lines between rows: point j of line (o, i) at re + o * outer + i * inner + j * leg, its other part `im` further on.
template <class T> struct RowLines {
  T* re;
  std::int64_t im, leg, inner, outer;
};
template <class T> struct RowCount { std::int64_t outer, inner; };

// Memory that will be needed: both sides of the next block. Boxes are read and written in turns, which is no stream
// that the processor would recognize, so a few cache lines are asked for at each butterfly.
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
template <int R, class D, class T> HWY_NOINLINE void codelet_rows(D d, RowLines<T> from, RowLines<T> to,
                                                                  std::int64_t outer, std::int64_t inner, T factor,
                                                                  Ahead& ahead) {
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
        butterfly16<Form::Planar, Form::Planar, Turn::None>(d, a, p, from.leg, from.im, q, to.leg, to.im,
                                                            static_cast<const T*>(nullptr), 0);
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
template <class D, class T> void transform_rows(D d, const Passes<T>& passes, const RowLines<T>& from,
                                                const RowLines<T>& to, std::int64_t outer, std::int64_t inner, T factor,
                                                T* t0, T* t1, Ahead& ahead) {
  if (passes.passes.size() == 1) {
    switch (passes.passes[0].radix) {
#define TRN_FFT_CODELET_ROWS(R) \
  case R:                       \
    return codelet_rows<R>(d, from, to, outer, inner, factor, ahead);
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
      default:
        break;
    }
  }
  for (std::int64_t o = 0; o < outer; ++o)
    for (std::int64_t i = 0; i < inner; ++i) {
      ahead.some();
      T *p = from.re + o * from.outer + i * from.inner, *q = to.re + o * to.outer + i * to.inner;
      run_passes(d, passes, Rows<T>{p, p + from.im, from.leg}, Rows<T>{q, q + to.im, to.leg}, factor,
                 static_cast<const T*>(nullptr), t0, t1);
    }
}

// Real lines of one codelet, N rows of one vector each, to half lines of pairs, or back.
template <int N, bool kThere, class D, class T>
HWY_NOINLINE void real_codelet_rows(D d, T* real, T* half, std::int64_t lines, T factor, Ahead& ahead) {
  constexpr std::int64_t lanes = kWidth<D>;
  const bool scaled = factor != T(1);
  for (std::int64_t line = 0; line < lines; ++line, real += N * lanes, half += (N / 2 + 1) * 2 * lanes) {
    ahead.some();
    hn::Vec<D> x[N];
    C<D> y[N / 2 + 1];
    if constexpr (kThere) {
      HWY_UNROLL(16)
      for (int j = 0; j < N; ++j) x[j] = hn::LoadU(d, real + j * lanes);
      real_dft<N>(d, x, y);
      y[0].i = hn::Zero(d);
      if constexpr (N % 2 == 0) y[N / 2].i = hn::Zero(d);
      if (scaled) scale<N / 2 + 1>(d, y, factor);
      HWY_UNROLL(16)
      for (int k = 0; k <= N / 2; ++k) store_pair(d, half + 2 * k * lanes, y[k]);
    } else {
      HWY_UNROLL(16)
      for (int k = 0; k <= N / 2; ++k) y[k] = load_pair(d, half + 2 * k * lanes);
      half_dft<N>(d, y, x);
      const auto by = hn::Set(d, factor);
      HWY_UNROLL(16)
      for (int j = 0; j < N; ++j) hn::StoreU(scaled ? hn::Mul(x[j], by) : x[j], d, real + j * lanes);
    }
  }
}
template <bool kThere, class D, class T>
void transform_real_rows(D d, const BoxPlan<T>& plan, T* real, T* half, T factor, T* scratch, Ahead& ahead) {
  constexpr std::int64_t lanes = kWidth<D>;
  switch (plan.n) {
#define TRN_FFT_REAL_ROWS(N) \
  case N:                    \
    return real_codelet_rows<N, kThere>(d, real, half, plan.lines, factor, ahead);
    TRN_FFT_REAL_ROWS(2)
    TRN_FFT_REAL_ROWS(3)
    TRN_FFT_REAL_ROWS(4)
    TRN_FFT_REAL_ROWS(5)
    TRN_FFT_REAL_ROWS(6)
    TRN_FFT_REAL_ROWS(7)
    TRN_FFT_REAL_ROWS(8)
    TRN_FFT_REAL_ROWS(9)
    TRN_FFT_REAL_ROWS(10)
    TRN_FFT_REAL_ROWS(12)
    TRN_FFT_REAL_ROWS(16)
#undef TRN_FFT_REAL_ROWS
    default:
      break;
  }
  const std::int64_t n = plan.n, row = 2 * lanes;
  for (std::int64_t line = 0; line < plan.lines; ++line, real += n * lanes, half += (n / 2 + 1) * row) {
    ahead.some();
    if constexpr (!kThere) {  // what a half line does not use
      hn::StoreU(hn::Zero(d), d, half + lanes);
      if (n % 2 == 0) hn::StoreU(hn::Zero(d), d, half + (n + 1) * lanes);
    }
    run_levels<kThere>(d, plan.real_passes, 0, real, lanes, half, row, factor, scratch);
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
template <class D, class T> void load_runs(D d, const BoxSide& side, const BlockSide<T>& in, T* block) {
  for (const BoxSide::Run& run : side.runs)
    load_block(d, at_run(in, run.memory, kWidth<D>, false), side.points, block + 2 * kWidth<D> * run.row);
}
template <class D, class T> void store_runs(D d, const BoxSide& side, const BlockSide<T>& out, T* block) {
  for (const BoxSide::Run& run : side.runs)
    store_block(d, at_run(out, run.memory, kWidth<D>, true), side.points, block + 2 * kWidth<D> * run.row);
}
// The same for rows of reals.
template <class D, class T> void load_real_runs(D d, const BoxSide& side, const BlockSide<T>& in, T* block) {
  constexpr std::int64_t lanes = kWidth<D>;
  for (const BoxSide::Run& run : side.runs) {
    const BlockSide<T> s = at_run(in, run.memory, lanes, false);
    T* to = block + lanes * run.row;
    if (s.distance == 1) {
      for (std::int64_t j = 0; j < side.points; ++j)
        hn::StoreU(hn::LoadU(d, s.line[0] + j * s.stride), d, to + j * lanes);
    } else if (s.stride == 1 && side.points >= kPiece<T>) {
      if (s.distance != 0)
        lines_to_rows(d, EvenLines<T>{s.line[0], s.distance}, side.points, RealPlace<T>{to, lanes});
      else
        lines_to_rows(d, ListedLines<T>{s.line}, side.points, RealPlace<T>{to, lanes});
    } else {
      for (std::int64_t j = 0; j < side.points; ++j)
        for (std::int64_t lane = 0; lane < lanes; ++lane) to[j * lanes + lane] = s.begin(lane)[j * s.stride];
    }
  }
}
template <class D, class T> void store_real_runs(D d, const BoxSide& side, const BlockSide<T>& out, T* block) {
  constexpr std::int64_t lanes = kWidth<D>;
  for (const BoxSide::Run& run : side.runs) {
    const BlockSide<T> s = at_run(out, run.memory, lanes, true);
    T* from = block + lanes * run.row;
    if (s.distance == 1) {
      for (std::int64_t j = 0; j < side.points; ++j)
        hn::StoreU(hn::LoadU(d, from + j * lanes), d, s.line[0] + j * s.stride);
    } else if (s.stride == 1 && side.points >= kPiece<T>) {
      if (s.distance != 0)
        rows_to_lines(d, EvenLines<T>{s.line[0], s.distance}, side.points, RealPlace<T>{from, lanes});
      else
        rows_to_lines(d, ListedLines<T>{s.line}, side.points, RealPlace<T>{from, lanes});
    } else {
      for (std::int64_t j = 0; j < side.points; ++j)
        for (int lane = 0; lane < s.count; ++lane) s.begin(lane)[j * s.stride] = from[j * lanes + lane];
    }
  }
}

template <class D, class T> void transform_box(D d, const BoxPlan<T>& plan, const BlockSide<T>& in,
                                               const BlockSide<T>& out, T factor, T* scratch, Ahead ahead) {
  constexpr std::int64_t lanes = kWidth<D>, row = 2 * lanes;
  T *box = scratch, *t0 = box + block_reals(plan.rows, lanes), *t1 = t0 + block_reals(plan.longest, lanes),
    *real = t1 + block_reals(plan.longest, lanes);
  // Exchanged parts make the inverse transform.
  const auto all_axes = [&](bool exchanged, T last) HWY_ATTR {
    for (std::size_t i = 0; i < plan.axes.size(); ++i) {
      const BoxAxis<T>& a = plan.axes[i];
      const RowLines<T> lines{exchanged ? box + lanes : box, exchanged ? -lanes : lanes, a.inner * row, row,
                              a.n * a.inner * row};
      transform_rows(d, a.passes, lines, lines, a.outer, a.inner, i + 1 == plan.axes.size() ? last : T(1), t0, t1,
                     ahead);
    }
  };
  if (plan.kind == Kind::ComplexToComplex) {
    load_runs(d, plan.in, in, box);
    all_axes(false, factor);
    return store_runs(d, plan.out, out, box);
  }
  if constexpr (lanes == kWidth<Widest<T>>) {  // real boxes have the widest vectors only: there is much code for them
    T* rest = real + plan.lines * plan.n * lanes;
    if (plan.kind == Kind::RealToComplex) {
      load_real_runs(d, plan.in, in, real);
      transform_real_rows<true>(d, plan, real, box, factor, rest, ahead);
      all_axes(false, T(1));
      return store_runs(d, plan.out, out, box);
    }
    load_runs(d, plan.in, in, box);
    all_axes(true, T(1));
    transform_real_rows<false>(d, plan, real, box, factor, rest, ahead);
    store_real_runs(d, plan.out, out, real);
  }
}

template <class D, class T>
void next_box(D d, const BoxPlan<T>& plan, const BoxCall<T>& call, LineCounter& at, int count, T* scratch) {
  constexpr std::int64_t lanes = kWidth<D>;
  BlockSide<T> in, out;
  in.set(plan.in.stride, call.in_im ? call.in_im - call.in_re : 0, count);
  out.set(plan.out.stride, call.out_im ? call.out_im - call.out_re : 0, count);
  T* dummy = scratch + plan.scratch_reals(lanes) - 2 * std::max(plan.in.points, plan.out.points) - 32;
  in.line[0] = call.in_re + at.from;
  out.line[0] = call.out_re + at.to;
  Ahead ahead;
  if (count == lanes && at.run() >= lanes) {
    in.distance = call.batch->back().input_distance;
    out.distance = call.batch->back().output_distance;
    if (plan.ahead_lines > 0) {
      const std::int64_t in_bytes = lanes * in.distance * static_cast<std::int64_t>(sizeof(T)),
                         out_bytes = lanes * out.distance * static_cast<std::int64_t>(sizeof(T));
      const std::int64_t blocks = std::min<std::int64_t>(at.run() / lanes - 1, 1);
      ahead.in = reinterpret_cast<const char*>(in.line[0]) + in_bytes;
      ahead.in_end = ahead.in + blocks * in_bytes;
      ahead.out = reinterpret_cast<const char*>(out.line[0]) + out_bytes;
      ahead.out_end = ahead.out + blocks * out_bytes;
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

// Full blocks of the widest vectors, the rest of complex ones with half ones if they hold it.
template <class T>
void run_boxes_here(const BoxPlan<T>& plan, const BoxCall<T>& call, std::int64_t begin, std::int64_t end, T* scratch) {
  constexpr int widest = static_cast<int>(hn::MaxLanes(Widest<T>()));
  LineCounter at(*call.batch, begin);
  std::int64_t box = begin;
  for (; box + widest <= end; box += widest) next_box(Widest<T>(), plan, call, at, widest, scratch);
  const int rest = static_cast<int>(end - box);
  if (rest == 0) return;
  if constexpr (widest * sizeof(T) >= 32)
    if (rest <= widest / 2 && plan.kind == Kind::ComplexToComplex)
      return next_box(hn::CappedTag<T, widest / 2>(), plan, call, at, rest, scratch);
  next_box(Widest<T>(), plan, call, at, rest, scratch);
}

}  // namespace trn::fft::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
