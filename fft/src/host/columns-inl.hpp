// Columns: lines whose neighbours are neighbours in memory, as the outer axes of a dense array have them. Points of as
// many lines as fill a vector are loaded as they lie, a run of lines at a time; the rest of a run has vectors that are
// partly filled, of half width where that is enough, so that no line is gathered point by point.
//
// Columns that do not fit the caches are a matter of bytes: rows are read and written in runs of kWideBytes
// (block_column_passes), and what is written elsewhere than read and too large to be found in a cache again is written
// past them (Columns::stream), which spares reading it first.
//
// Columns of real lines of a codelet's length: rows of reals on one side, rows of pairs on the other, both as they lie
// in memory; nothing leaves the registers in between. The arithmetic is that of the other real codelets, so a column
// has the same bits however it is taken.
#if defined(TRN_FFT_COLUMNS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TRN_FFT_COLUMNS_INL
#undef TRN_FFT_COLUMNS_INL
#else
#define TRN_FFT_COLUMNS_INL
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>

#include "host/columns.hpp"
#include "host/lanes-inl.hpp"
#include "host/real_codelets-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trn::fft::host::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR  // a plain processor takes lines one by one
// The first `count` elements, zeros behind them; nothing else is read or written. Count may be negative or more than a
// vector.
template <class D, class T> HWY_INLINE hn::Vec<D> load_some(D d, const T* p, std::int64_t count) {
  constexpr std::int64_t lanes = kWidth<D>;
  const std::int64_t some = HWY_MIN(HWY_MAX(count, 0), lanes);
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
  return hn::MaskedLoad(hn::FirstN(d, static_cast<std::size_t>(some)), d, p);
#else
  T all[lanes] = {};
  std::copy_n(p, some, all);
  return hn::LoadU(d, all);
#endif
}
template <class D, class T> HWY_INLINE void store_some(D d, hn::Vec<D> v, T* p, std::int64_t count) {
  constexpr std::int64_t lanes = kWidth<D>;
  const std::int64_t some = HWY_MIN(HWY_MAX(count, 0), lanes);
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
  hn::BlendedStore(v, hn::FirstN(d, static_cast<std::size_t>(some)), d, p);
#else
  T all[lanes];
  hn::StoreU(v, d, all);
  std::copy_n(all, some, p);
#endif
}

// A row of `count` pairs at p, at most a vector of each part.
template <bool kAll, class D, class T>
HWY_INLINE C<D> load_columns(D d, const T* p, [[maybe_unused]] std::int64_t count) {
  C<D> x;
  if constexpr (kAll) {
    load_pairs(d, p, x.r, x.i);
  } else {
    constexpr std::int64_t lanes = kWidth<D>;
    const auto a = load_some(d, p, 2 * count), b = load_some(d, p + lanes, 2 * count - lanes);
    x = {hn::ConcatEven(d, b, a), hn::ConcatOdd(d, b, a)};
  }
  return x;
}
enum class Store {
  All,
  Some,
  Past
};  // a whole vector, part of one, a whole one past the caches to an address that is a multiple of 64 bytes
template <Store kStore, class D, class T>
HWY_INLINE void store_columns(D d, T* p, [[maybe_unused]] std::int64_t count, C<D> x) {
  constexpr std::int64_t lanes = kWidth<D>;
  if constexpr (kStore == Store::All) {
    store_pairs(d, p, x.r, x.i);
  } else {
    hn::Vec<D> lower, upper;
    join_pairs(d, x.r, x.i, lower, upper);
    if constexpr (kStore == Store::Past) {
      hn::Stream(lower, d, p);
      hn::Stream(upper, d, p + lanes);
    } else {
      store_some(d, lower, p, 2 * count);
      store_some(d, upper, p + lanes, 2 * count - lanes);
    }
  }
}

// Runs of columns: the lower address of the first point of the first line on each side, `runs` of them that are in_step
// and out_step apart.
template <class T> struct Columns {
  const T* in;
  T* out;
  std::int64_t runs, in_step, out_step;
  std::int64_t in_stride, out_stride;
  bool in_swapped, out_swapped;
  T factor;
  bool stream = false;  // write past the caches where that can be done
  // Whether rows of the result begin with cache lines.
  [[nodiscard]] bool streams() const {
    constexpr std::int64_t line = 64 / sizeof(T);
    return stream && reinterpret_cast<std::uintptr_t>(out) % 64 == 0 && out_stride % line == 0 &&
           (runs == 1 || out_step % line == 0);
  }
};

// Of every run `blocks` blocks of full vectors, or one with `count` lines in it. A single codelet: nothing leaves the
// registers.
template <int R, Store kStore, class D, class T>
HWY_NOINLINE void column_codelets(D d, const Columns<T>& args, std::int64_t blocks, std::int64_t count) {
  const Columns<T> c = args;
  const bool scaled = c.factor != T(1), streams = kStore == Store::All && c.streams();
  [[maybe_unused]] PassArgs<T> a{};
  a.l = 1;
  a.swap_in = c.in_swapped;
  a.swap_out = c.out_swapped;
  a.scaled = scaled;
  a.factor = c.factor;
  const T* in = c.in;
  T* out = c.out;
  const std::int64_t width = 2 * static_cast<std::int64_t>(hn::MaxLanes(d)), in_jump = c.in_step - blocks * width,
                     out_jump = c.out_step - blocks * width;
  for (std::int64_t left = c.runs * blocks, b = blocks; left > 0; --left, in += width, out += width) {
    if (b-- == 0) {  // the next run
      b = blocks - 1;
      in += in_jump;
      out += out_jump;
    }
    if constexpr (R == 16 && kStore == Store::All) {
      if (!streams) {
        butterfly16<Form::Interleaved, Form::Interleaved, Turn::None>(d, a, in, c.in_stride, 0, out, c.out_stride, 0,
                                                                      static_cast<const T*>(nullptr), 0);
        continue;
      }
    }
    C<D> x[R];
    const T* p = in;
    HWY_UNROLL(16)
    for (int j = 0; j < R; ++j, p += c.in_stride) x[j] = load_columns<kStore == Store::All>(d, p, count);
    if (HWY_UNLIKELY(c.in_swapped)) exchange<R>(d, x);
    dft<R>(d, x);
    if (scaled) scale<R>(d, x, c.factor);
    if (HWY_UNLIKELY(c.out_swapped)) exchange<R>(d, x);
    T* q = out;
    if (HWY_UNLIKELY(streams)) {
      HWY_UNROLL(16)
      for (int j = 0; j < R; ++j, q += c.out_stride) store_columns<Store::Past>(d, q, count, x[j]);
    } else {
      HWY_UNROLL(16)
      for (int j = 0; j < R; ++j, q += c.out_stride) store_columns<kStore>(d, q, count, x[j]);
    }
  }
}
template <Store kStore, class D, class T>
HWY_INLINE void any_column_codelets(D d, int radix, const Columns<T>& c, std::int64_t blocks, std::int64_t count) {
  with_length(Radices(), radix,
              [&](auto r) HWY_ATTR { column_codelets<decltype(r)::value, kStore>(d, c, blocks, count); });
}

// Several passes: from memory through a block in scratch and back.
template <class D, class T>
void column_passes(D d, const EnginePlan<T>& plan, const Columns<T>& c, std::int64_t blocks, T* scratch) {
  constexpr std::int64_t lanes = kWidth<D>;
  T *t0 = scratch, *t1 = t0 + block_reals(plan.n, lanes);
  for (std::int64_t b = 0; b < blocks; ++b) {
    T* in = const_cast<T*>(c.in) + 2 * lanes * b;
    T* out = c.out + 2 * lanes * b;
    run_passes(d, plan.passes, Rows<T>{in + (c.in_swapped ? 1 : 0), in + (c.in_swapped ? 0 : 1), c.in_stride, true},
               Rows<T>{out + (c.out_swapped ? 1 : 0), out + (c.out_swapped ? 0 : 1), c.out_stride, true}, c.factor,
               static_cast<const T*>(nullptr), t0, t1);
  }
}
// The same for rows far apart in memory: groups of blocks, so that kWideBytes of each row are read and written at a
// time, and the next group is asked for meanwhile. A block by itself, two cache lines of each row, would wait for every
// one of them, and rows a power of two apart share so few sets of the caches that they would be gone before they are
// written. And, kAll being false, for one block with `count` lines in it.
template <bool kAll, class D, class T> HWY_NOINLINE void block_column_passes(D d, const EnginePlan<T>& plan,
                                                                             const Columns<T>& c, std::int64_t blocks,
                                                                             std::int64_t count, T* scratch) {
  constexpr std::int64_t lanes = kWidth<D>, row = 2 * lanes, line = 64 / sizeof(T);
  const std::int64_t size = block_reals(plan.n, lanes), most = kAll ? wide_group<T>(lanes) : 1;
  const bool streams = kAll && c.streams();
  T *t0 = scratch, *t1 = t0 + size, *wide = kAll ? t1 + size : t1;
  for (std::int64_t b = 0; b < blocks; b += most) {
    const std::int64_t group = std::min(most, blocks - b), next = std::min(most, blocks - b - group);
    const T* in = c.in + row * b;
    for (std::int64_t j = 0; j < plan.n; ++j, in += c.in_stride)
      for (std::int64_t g = 0; g < group; ++g) {
        C<D> x = load_columns<kAll>(d, in + row * g, count);
        if (c.in_swapped) exchange<1>(d, &x);
        store_row<Form::Planar>(d, wide + g * size + row * j, lanes, x);
      }
    for (std::int64_t g = 0; g < group; ++g) {
      const T* ahead = c.in + row * (b + group);
      for (std::int64_t j = g * plan.n / group; next > 0 && j < (g + 1) * plan.n / group; ++j)
        for (std::int64_t i = 0; i < row * next; i += line) __builtin_prefetch(ahead + j * c.in_stride + i, 0, 2);
      const Rows<T> block{wide + g * size, wide + g * size + lanes, row};
      run_passes(d, plan.passes, block, block, c.factor, static_cast<const T*>(nullptr), t0, t1);
    }
    T* out = c.out + row * b;
    for (std::int64_t j = 0; j < plan.n; ++j, out += c.out_stride)
      for (std::int64_t g = 0; g < group; ++g) {
        C<D> x = load_row<Form::Planar>(d, wide + g * size + row * j, lanes);
        if (c.out_swapped) exchange<1>(d, &x);
        if (streams)
          store_columns<Store::Past>(d, out + row * g, lanes, x);
        else
          store_columns<kAll ? Store::All : Store::Some>(d, out + row * g, count, x);
      }
  }
}

// Whether the lines of a call are columns of pairs on both sides.
template <class T> bool are_columns(const EngineCall<T>& call) {
  const auto pair = [](const T* re, const T* im) { return im - re == 1 || re - im == 1; };
  return !call.batch->empty() && call.batch->back().input_distance == 2 && call.batch->back().output_distance == 2 &&
         pair(call.in_re, call.in_im) && pair(call.out_re, call.out_im);
}

// Lines begin .. end of a batch of columns: calls each(from, to, run, runs) for runs of `run` lines, `runs` of them the
// distances of the last dimension but one apart.
template <class F>
HWY_INLINE void each_columns(const std::vector<LineBatch>& batch, std::int64_t begin, std::int64_t end, const F& each) {
  const std::int64_t length = batch.back().count, outer = batch.size() > 1 ? batch[batch.size() - 2].count : 1;
  for (std::int64_t line = begin; line < end;) {
    const LineCounter at(batch, line);
    const std::int64_t run = std::min(at.run(), end - line);
    const std::int64_t runs = run < length ? 1 : std::min(outer - line / length % outer, (end - line) / length);
    each(at.from, at.to, run, runs);
    line += run * runs;
  }
}

// Runs of columns of a codelet's length.
template <class T> HWY_INLINE void codelet_runs(int radix, Columns<T>& c, std::int64_t run) {
  constexpr std::int64_t widest = kWidest<T>, half = kHalf<T>;
  const std::int64_t blocks = run / widest, rest = run % widest;
  if (blocks > 0) any_column_codelets<Store::All>(Widest<T>(), radix, c, blocks, widest);
  if (rest == 0) return;
  c.in += 2 * blocks * widest;
  c.out += 2 * blocks * widest;
  if (rest == half)
    any_column_codelets<Store::All>(HalfTag<T>(), radix, c, 1, half);
  else if (rest < half)
    any_column_codelets<Store::Some>(HalfTag<T>(), radix, c, 1, rest);
  else
    any_column_codelets<Store::Some>(Widest<T>(), radix, c, 1, rest);
}

template <class T> Columns<T> columns_of(const std::vector<LineBatch>& batch, std::int64_t in_stride,
                                         std::int64_t out_stride, bool in_swapped, bool out_swapped, T factor) {
  const LineBatch outer = batch.size() > 1 ? batch[batch.size() - 2] : LineBatch{};
  return {nullptr,     nullptr, 1,    outer.input_distance, outer.output_distance, in_stride, out_stride, in_swapped,
          out_swapped, factor,  false};
}

template <class T> void columns_at_once_here(const void* context, const void* in, void* out) {
  const auto& call = *static_cast<const ColumnsCall<T>*>(context);
  Columns<T> c = columns_of<T>(call.batch, call.in_stride, call.out_stride, call.inverse, call.inverse, call.factor);
  c.stream = in != out && 2 * call.lines * call.radix * static_cast<std::int64_t>(sizeof(T)) >= kStreamBytes;
  if (call.batch.size() <= 2) {
    c.in = static_cast<const T*>(in);
    c.out = static_cast<T*>(out);
    c.runs = call.batch.size() == 2 ? call.batch.front().count : 1;
    codelet_runs(call.radix, c, call.batch.back().count);
    if (c.stream) hwy::FlushStream();
    return;
  }
  each_columns(call.batch, 0, call.lines,
               [&](std::int64_t from, std::int64_t to, std::int64_t run, std::int64_t runs) HWY_ATTR {
                 c.in = static_cast<const T*>(in) + from;
                 c.out = static_cast<T*>(out) + to;
                 c.runs = runs;
                 codelet_runs(call.radix, c, run);
               });
  if (c.stream) hwy::FlushStream();
}

template <class T> void run_columns_here(const EnginePlan<T>& plan, const EngineCall<T>& call, std::int64_t begin,
                                         std::int64_t end, T* scratch) {
  constexpr std::int64_t widest = kWidest<T>, half = kHalf<T>;
  const int radix = plan.passes.passes.back().radix;
  const bool codelet = plan.passes.passes.size() == 1 && radix > 1 && radix <= 16;
  Columns<T> c = columns_of<T>(*call.batch, call.in_stride, call.out_stride, call.in_im < call.in_re,
                               call.out_im < call.out_re, call.factor);
  const T* in = HWY_MIN(call.in_re, call.in_im);
  T* out = HWY_MIN(call.out_re, call.out_im);
  const std::int64_t bytes = 2 * call.lines * plan.n * static_cast<std::int64_t>(sizeof(T));
  c.stream = in != out && bytes >= kStreamBytes;
  const bool wide = plan.wide && is_wide<T>(plan.n, bytes, call.in_stride, call.out_stride, in == out);
  each_columns(*call.batch, begin, end,
               [&](std::int64_t from, std::int64_t to, std::int64_t run, std::int64_t runs) HWY_ATTR {
                 c.in = in + from;
                 c.out = out + to;
                 c.runs = runs;
                 if (codelet) return codelet_runs(radix, c, run);
                 const std::int64_t blocks = run / widest, rest = run % widest;
                 for (std::int64_t i = 0; i < runs; ++i) {
                   c.in = in + from + i * c.in_step;
                   c.out = out + to + i * c.out_step;
                   if (wide)
                     block_column_passes<true>(Widest<T>(), plan, c, blocks, widest, scratch);
                   else
                     column_passes(Widest<T>(), plan, c, blocks, scratch);
                   c.in += 2 * blocks * widest;
                   c.out += 2 * blocks * widest;
                   if (rest > half)
                     block_column_passes<false>(Widest<T>(), plan, c, 1, rest, scratch);
                   else if (rest > 0)
                     block_column_passes<false>(HalfTag<T>(), plan, c, 1, rest, scratch);
                 }
               });
  if (c.stream) hwy::FlushStream();
}

// Of every run `blocks` blocks of full vectors, or one with `count` columns in it.
template <int N, bool kThere, bool kAll, class D, class T>
HWY_NOINLINE void real_column_blocks(D d, const Columns<T>& args, std::int64_t blocks,
                                     [[maybe_unused]] std::int64_t count, [[maybe_unused]] bool streams) {
  constexpr std::int64_t lanes = kWidth<D>;
  const Columns<T> c = args;
  const auto by = hn::Set(d, c.factor);
  for (std::int64_t r = 0; r < c.runs; ++r) {
    const T* in = c.in + r * c.in_step;
    T* out = c.out + r * c.out_step;
    for (std::int64_t b = 0; b < blocks; ++b, in += kThere ? lanes : 2 * lanes, out += kThere ? 2 * lanes : lanes) {
      const auto load = [&](int j) HWY_ATTR {
        const T* p = in + j * c.in_stride;
        if constexpr (!kThere)
          return load_columns<kAll>(d, p, count);
        else if constexpr (kAll)
          return hn::LoadU(d, p);
        else
          return load_some(d, p, count);
      };
      const auto store = [&](int k, auto y) HWY_ATTR {
        T* to = out + k * c.out_stride;
        if constexpr (kThere) {
          y = {hn::Mul(y.r, by), hn::Mul(y.i, by)};
          if constexpr (!kAll)
            store_columns<Store::Some>(d, to, count, y);
          else if (streams)
            store_columns<Store::Past>(d, to, lanes, y);
          else
            store_columns<Store::All>(d, to, lanes, y);
        } else {
          y = hn::Mul(y, by);
          if constexpr (!kAll)
            store_some(d, y, to, count);
          else if (streams)
            hn::Stream(y, d, to);
          else
            hn::StoreU(y, d, to);
        }
      };
      real_codelet<N, kThere>(d, load, store);
    }
  }
}

template <int N, bool kThere, class T> void real_columns(Columns<T> c, std::int64_t run) {
  const Widest<T> d;
  constexpr std::int64_t lanes = kWidth<Widest<T> >;
  const std::int64_t blocks = run / lanes, rest = run % lanes;
  const bool streams = c.streams();
  if (blocks > 0) real_column_blocks<N, kThere, true>(d, c, blocks, lanes, streams);
  if (streams) hwy::FlushStream();
  if (rest == 0) return;
  c.in += (kThere ? 1 : 2) * blocks * lanes;
  c.out += (kThere ? 2 : 1) * blocks * lanes;
  real_column_blocks<N, kThere, false>(d, c, 1, rest, false);
}

template <class T>
void real_columns_here(bool there, std::int64_t n, const EngineCall<T>& call, std::int64_t begin, std::int64_t end) {
  Columns<T> c = columns_of<T>(*call.batch, call.in_stride, call.out_stride, false, false, call.factor);
  c.stream = call.lines * (there ? n + 2 : n) * static_cast<std::int64_t>(sizeof(T)) >= kStreamBytes;
  with_length(ColumnLengths(), n, [&](auto length) HWY_ATTR {
    constexpr int N = decltype(length)::value;
    each_columns(*call.batch, begin, end,
                 [&](std::int64_t from, std::int64_t to, std::int64_t run, std::int64_t runs) HWY_ATTR {
                   c.in = call.in_re + from;
                   c.out = call.out_re + to;
                   c.runs = runs;
                   there ? real_columns<N, true>(c, run) : real_columns<N, false>(c, run);
                 });
  });
}
#endif

}  // namespace trn::fft::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
