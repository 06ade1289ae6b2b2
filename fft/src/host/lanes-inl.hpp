// Many lines, one in each lane: blocks of `lanes` lines are loaded by transposition (or as they lie, when neighbouring
// lines are neighbours in memory), transformed in a block of rows that stays in cache, and stored likewise. A lane's
// arithmetic does not depend on the others nor on the width of the vectors.
#if defined(TRN_FFT_LANES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TRN_FFT_LANES_INL
#undef TRN_FFT_LANES_INL
#else
#define TRN_FFT_LANES_INL
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>

#include "host/short_lines-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trn::fft::host::HWY_NAMESPACE {

// One side of a block: `count` lines that begin at line[0 .. lanes) (those from `count` on repeat the first, or are a
// dummy for output). If all lanes are there and equally far apart, distance says how far, and line has the first only;
// else, or if they lie on each other, it is 0 and line has them all.
template <class T> struct BlockSide {
  T* line[64 / sizeof(T)];
  std::int64_t distance, stride, im;  // im: from re to im
  int count;
  void set(std::int64_t points_apart, std::int64_t parts_apart, int lines) {
    distance = 0;
    stride = points_apart;
    im = parts_apart;
    count = lines;
  }
  // Rows as they lie in memory.
  T* begin(std::int64_t lane) const { return distance != 0 ? line[0] + lane * distance : line[lane]; }
  bool rows() const { return distance == 1 || (distance == 2 && (im == 1 || im == -1)); }
  bool pairs() const { return stride == 2 && (im == 1 || im == -1); }
};

template <class T> Rows<T> direct_rows(const BlockSide<T>& s) {
  return {s.line[0], s.line[0] + s.im, s.stride, s.distance == 2};
}

// `points` points of every line into rows, or back: rows of re and im by turns, or of real lines.
enum class RowKind : std::int64_t { Real = 1, Complex = 2 };
template <bool kToRows, class D, class T>
HWY_NOINLINE void move_block(D d, const BlockSide<T>& s, std::int64_t points, T* block, RowKind kind) {
  constexpr std::int64_t lanes = kWidth<D>;
  const bool complex = kind == RowKind::Complex;
  const std::int64_t parts = complex ? 2 : 1, pitch = parts * lanes;
  const auto tiles = [&](std::int64_t reals, std::int64_t offset, const auto& place) HWY_ATTR {
    if (s.distance != 0) return transpose_lines<kToRows>(d, EvenLines<T>{s.line[0] + offset, s.distance}, reals, place);
    T* line[lanes];
    for (std::int64_t lane = 0; lane < lanes; ++lane)
      line[lane] = s.line[lane] + (kToRows || lane < s.count ? offset : 0);
    transpose_lines<kToRows>(d, ListedLines<T>{line}, reals, place);
  };
  if (complex && kTakesInterleaved<D> && s.rows()) {
    const Rows<T> lines = direct_rows(s), rows{block, block + lanes, pitch};
    return copy_rows(d, points, kToRows ? lines : rows, kToRows ? rows : lines, T(1));
  }
  if (complex && s.pairs() && 2 * points >= kPiece<T>)
    return tiles(2 * points, s.im < 0 ? s.im : 0, PairPlace<T>{block, lanes, s.im < 0});
  for (std::int64_t part = 0; part < parts; ++part) {
    const std::int64_t offset = part == 0 ? 0 : s.im;
    const RowPlace<T> row{block + part * lanes, pitch};
    if (s.stride == 1 && points >= kPiece<T>) {
      tiles(points, offset, row);
      continue;
    }
    for (std::int64_t j = 0; j < points; ++j) {
      if (!complex && s.distance == 1) {  // as they lie
        T* const p = s.line[0] + j * s.stride;
        hn::StoreU(hn::LoadU(d, kToRows ? p : row(j)), d, kToRows ? row(j) : p);
        continue;
      }
      for (std::int64_t lane = 0; lane < (kToRows ? lanes : s.count); ++lane) {
        T& point = s.begin(lane)[offset + j * s.stride];
        (kToRows ? row(j)[lane] : point) = kToRows ? point : row(j)[lane];
      }
    }
  }
}

inline std::int64_t block_reals(std::int64_t points, std::int64_t lanes) { return round_up(2 * lanes * (points + 1)); }

template <class D, class T> void transform_block(D d, const EnginePlan<T>& plan, const BlockSide<T>& in,
                                                 const BlockSide<T>& out, T factor, T* scratch) {
  constexpr std::int64_t lanes = kWidth<D>;
  const std::int64_t n = plan.n;
  const T* none = nullptr;
  T *t0 = scratch, *t1 = t0 + block_reals(n, lanes);
  const Rows<T> block{t1, t1 + lanes, 2 * lanes};
  const bool rows_in = kTakesInterleaved<D> && in.rows(), rows_out = kTakesInterleaved<D> && out.rows();
  if (!rows_in) move_block<true>(d, in, n, t1, RowKind::Complex);
  run_passes(d, plan.passes, rows_in ? direct_rows(in) : block, rows_out ? direct_rows(out) : block, factor, none, t0,
             t1);
  if (!rows_out) move_block<false>(d, out, n, t1, RowKind::Complex);
}

// The next lines of a batch as the two sides of a block; lanes without a line write to `dummy`.
template <class T> void next_lines(const std::vector<LineBatch>& batch, LineCounter& at, T* from, T* to,
                                   std::int64_t lanes, T* dummy, BlockSide<T>& in, BlockSide<T>& out) {
  in.line[0] = from + at.from;
  out.line[0] = to + at.to;
  if (in.count == lanes && at.run() >= lanes && !batch.empty()) {
    in.distance = batch.back().input_distance;
    out.distance = batch.back().output_distance;
    if (in.distance == 0) std::fill_n(in.line, lanes, in.line[0]);  // every line is the same one: listed
    return at.advance(lanes);
  }
  for (std::int64_t lane = 0; lane < lanes; ++lane) {
    in.line[lane] = lane < in.count ? from + at.from : in.line[0];
    out.line[lane] = lane < in.count ? to + at.to : dummy;
    if (lane < in.count) at.advance(1);
  }
}

template <class D, class T>
void run_block(D d, const EnginePlan<T>& plan, const EngineCall<T>& call, LineCounter& at, int count, T* scratch) {
  constexpr std::int64_t lanes = kWidth<D>;
  BlockSide<T> in, out;
  in.set(call.in_stride, call.in_im - call.in_re, count);
  out.set(call.out_stride, call.out_im - call.out_re, count);
  next_lines(*call.batch, at, call.in_re, call.out_re, lanes, scratch + 2 * block_reals(plan.n, lanes) + 16, in, out);
  transform_block(d, plan, in, out, call.factor, scratch);
}

template <class T> bool pairs(const T* re, const T* im, std::int64_t stride) {
  return stride == 2 && (im == re + 1 || im == re - 1);
}

// Lines begin .. end: full blocks of the widest vectors, the rest with half ones if they hold it.
template <class T> void run_lanes_here(const EnginePlan<T>& plan, const EngineCall<T>& call, std::int64_t begin,
                                       std::int64_t end, T* scratch) {
  constexpr int widest = kWidest<T>;
  LineCounter at(*call.batch, begin);
  [[maybe_unused]] const bool codelet = is_listed(LaneLengths<T>(), plan.n) && !call.batch->empty() &&
                                        pairs(call.in_re, call.in_im, call.in_stride) &&
                                        pairs(call.out_re, call.out_im, call.out_stride);
  std::int64_t line = begin;
  while (line + widest <= end) {
#if HWY_TARGET != HWY_SCALAR
    if (const std::int64_t blocks = std::min(at.run(), end - line) / widest; codelet && blocks > 0) {
      with_length(LaneLengths<T>(), plan.n, [&](auto n) HWY_ATTR {
        codelet_blocks<decltype(n)::value>(Widest<T>(), call, at.from, at.to, blocks);
      });
      at.advance(blocks * widest);
      line += blocks * widest;
      continue;
    }
#endif
    run_block(Widest<T>(), plan, call, at, widest, scratch);
    line += widest;
  }
  const int rest = static_cast<int>(end - line);
  if (rest == 0) return;
  if constexpr (kHalf<T> < widest)
    if (rest <= kHalf<T>) return run_block(HalfTag<T>(), plan, call, at, rest, scratch);
  run_block(Widest<T>(), plan, call, at, rest, scratch);
}

// Lines begin .. end one after the other.
template <class T> void run_lines_here(const EnginePlan<T>& plan, const EngineCall<T>& call, std::int64_t begin,
                                       std::int64_t end, T* scratch, int threads) {
  LineCounter at(*call.batch, begin);
  for (std::int64_t line = begin; line < end;) {
    const Points<T> in{call.in_re + at.from, call.in_im + at.from, call.in_stride},
        out{call.out_re + at.to, call.out_im + at.to, call.out_stride};
    std::int64_t lines = 1;
    if (plan.line->is_whole() && is_whole(in, out)) {
      lines = std::min(at.run(), end - line);
      const std::int64_t in_distance = call.batch->empty() ? 0 : call.batch->back().input_distance;
      const std::int64_t out_distance = call.batch->empty() ? 0 : call.batch->back().output_distance;
      whole_lines(*plan.line, in, in_distance, out, out_distance, lines, call.factor);
    } else {
      run_line(*plan.line, in, out, call.factor, scratch, threads);
    }
    line += lines;
    at.advance(lines);
  }
}

}  // namespace trn::fft::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
