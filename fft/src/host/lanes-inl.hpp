// Many lines, one in each lane: blocks of `lanes` lines are loaded by transposition (or as they lie, when neighbouring lines are neighbours in memory),
// transformed in a block of rows that stays in cache, and stored likewise. A lane's arithmetic does not depend on the others nor on the width of the vectors.
#if defined(TRN_FFT_LANES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TRN_FFT_LANES_INL
#undef TRN_FFT_LANES_INL
#else
#define TRN_FFT_LANES_INL
#endif

#include <hwy/highway.h>

#include <cstdint>

#include "host/real-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trn::fft::host::HWY_NAMESPACE {

// One side of a block: `count` lines that begin at line[0 .. lanes) (those from `count` on repeat the first, or are a dummy for output). If all lanes are
// there and equally far apart, distance says how far; else it is 0.
template <class T>
struct BlockSide {
  T* line[64 / sizeof(T)];
  std::int64_t distance, stride, im;  // im: from re to im
  int count;
  // Rows as they lie in memory.
  bool rows() const { return distance == 1 || (distance == 2 && (im == 1 || im == -1)); }
  bool pairs() const { return stride == 2 && (im == 1 || im == -1); }
};

template <class T>
Rows<T> direct_rows(const BlockSide<T>& s) {
  return {s.line[0], s.line[0] + s.im, s.stride, s.distance == 2};
}

enum class Parts { Both, Re };

// `points` points of every line into rows [re][im]; with Parts::Re the im stay as they are.
template <Parts kParts, class D, class T>
HWY_NOINLINE void load_block(D d, const BlockSide<T>& s, std::int64_t points, T* block) {
  constexpr std::int64_t lanes = static_cast<std::int64_t>(hn::MaxLanes(D()));
  const auto tiles = [&](std::int64_t reals, std::int64_t offset, const auto& place) HWY_ATTR {
    if (s.distance != 0) return lines_to_rows(d, EvenLines<T>{s.line[0] + offset, s.distance}, reals, place);
    T* line[lanes];
    for (std::int64_t lane = 0; lane < lanes; ++lane) line[lane] = s.line[lane] + offset;
    lines_to_rows(d, ListedLines<T>{line}, reals, place);
  };
  if constexpr (kParts == Parts::Both) {
    if (kTakesInterleaved<D> && s.rows()) return copy_rows(d, points, direct_rows(s), Rows<T>{block, block + lanes, 2 * lanes}, T(1));
    if (s.pairs() && 2 * points >= kPiece<T>) return tiles(2 * points, s.im < 0 ? s.im : 0, PairPlace<T>{block, lanes, s.im < 0});
  }
  for (int part = 0; part < (kParts == Parts::Both ? 2 : 1); ++part) {
    const std::int64_t offset = part == 0 ? 0 : s.im;
    T* to = block + part * lanes;
    if (s.stride == 1 && points >= kPiece<T>) {
      tiles(points, offset, PlanePlace<T>{to, lanes});
    } else {
      for (std::int64_t j = 0; j < points; ++j)
        for (std::int64_t lane = 0; lane < lanes; ++lane) to[2 * j * lanes + lane] = s.line[lane][offset + j * s.stride];
    }
  }
}

template <Parts kParts, class D, class T>
HWY_NOINLINE void store_block(D d, const BlockSide<T>& s, std::int64_t points, T* block) {
  constexpr std::int64_t lanes = static_cast<std::int64_t>(hn::MaxLanes(D()));
  const auto tiles = [&](std::int64_t reals, std::int64_t offset, const auto& place) HWY_ATTR {
    if (s.distance != 0) return rows_to_lines(d, EvenLines<T>{s.line[0] + offset, s.distance}, reals, place);
    T* line[lanes];
    for (std::int64_t lane = 0; lane < lanes; ++lane) line[lane] = s.line[lane] + (lane < s.count ? offset : 0);
    rows_to_lines(d, ListedLines<T>{line}, reals, place);
  };
  if constexpr (kParts == Parts::Both) {
    if (kTakesInterleaved<D> && s.rows()) return copy_rows(d, points, Rows<T>{block, block + lanes, 2 * lanes}, direct_rows(s), T(1));
    if (s.pairs() && 2 * points >= kPiece<T>) return tiles(2 * points, s.im < 0 ? s.im : 0, PairPlace<T>{block, lanes, s.im < 0});
  }
  for (int part = 0; part < (kParts == Parts::Both ? 2 : 1); ++part) {
    const std::int64_t offset = part == 0 ? 0 : s.im;
    T* from = block + part * lanes;
    if (s.stride == 1 && points >= kPiece<T>) {
      tiles(points, offset, PlanePlace<T>{from, lanes});
    } else {
      for (std::int64_t j = 0; j < points; ++j)
        for (int lane = 0; lane < s.count; ++lane) s.line[lane][offset + j * s.stride] = from[2 * j * lanes + lane];
    }
  }
}

inline std::int64_t block_reals(std::int64_t points, std::int64_t lanes) { return rounded(2 * lanes * (points + 1)); }

template <class D, class T>
void transform_block(D d, const EnginePlan<T>& plan, const BlockSide<T>& in, const BlockSide<T>& out, T factor, T* scratch) {
  constexpr std::int64_t lanes = static_cast<std::int64_t>(hn::MaxLanes(D()));
  const std::int64_t n = plan.n, m = plan.complex_n, half = n / 2;
  const bool even = m != n;
  const T* none = nullptr;
  T *t0 = scratch, *t1 = t0 + block_reals(m, lanes);
  const Rows<T> block{t1, t1 + lanes, 2 * lanes}, exchanged{t1 + lanes, t1, 2 * lanes};
  switch (plan.kind) {
    case EngineKind::Complex: {
      const bool rows_in = kTakesInterleaved<D> && in.rows(), rows_out = kTakesInterleaved<D> && out.rows();
      if (!rows_in) load_block<Parts::Both>(d, in, n, t1);
      run_passes(d, plan.passes, rows_in ? direct_rows(in) : block, rows_out ? direct_rows(out) : block, factor, none, none, t0, t1);
      if (!rows_out) store_block<Parts::Both>(d, out, n, t1);
      return;
    }
    case EngineKind::RealToHalf: {
      BlockSide<T> from = in;
      if (even) {  // neighbouring points are one complex number
        from.im = in.stride;
        from.stride = 2 * in.stride;
        load_block<Parts::Both>(d, from, m, t1);
      } else {
        load_block<Parts::Re>(d, from, n, t1);
        for (std::int64_t j = 0; j < n; ++j) hn::StoreU(hn::Zero(d), d, t1 + (2 * j + 1) * lanes);
      }
      run_passes(d, plan.passes, block, block, factor, none, none, t0, t1);
      if (even) half_rows<true>(d, m, t1, plan.real_twiddles.data());
      return store_block<Parts::Both>(d, out, half + 1, t1);
    }
    case EngineKind::HalfToReal: {
      load_block<Parts::Both>(d, in, half + 1, t1);
      if (even) {
        half_rows<false>(d, m, t1, plan.real_twiddles.data());
      } else {
        hn::StoreU(hn::Zero(d), d, t1 + lanes);
        for (std::int64_t k = 1; k <= half; ++k) {
          hn::StoreU(hn::LoadU(d, t1 + 2 * k * lanes), d, t1 + 2 * (n - k) * lanes);
          hn::StoreU(hn::Neg(hn::LoadU(d, t1 + (2 * k + 1) * lanes)), d, t1 + (2 * (n - k) + 1) * lanes);
        }
      }
      run_passes(d, plan.passes, exchanged, exchanged, factor, none, none, t0, t1);
      if (!even) return store_block<Parts::Re>(d, out, n, t1);
      BlockSide<T> to = out;
      to.im = out.stride;
      to.stride = 2 * out.stride;
      return store_block<Parts::Both>(d, to, m, t1);
    }
  }
}

template <class D, class T>
void gather_block(D d, const EnginePlan<T>& plan, const EngineCall<T>& call, std::int64_t first, int count, T* scratch) {
  constexpr std::int64_t lanes = static_cast<std::int64_t>(hn::MaxLanes(D()));
  BlockSide<T> in{{}, 0, call.in_stride, call.in_im ? call.in_im - call.in_re : 0, count};
  BlockSide<T> out{{}, 0, call.out_stride, call.out_im ? call.out_im - call.out_re : 0, count};
  T* dummy = scratch + 2 * block_reals(plan.complex_n, lanes) + 16;
  const std::vector<LineBatch>& batch = *call.batch;
  for (std::int64_t lane = 0; lane < lanes; ++lane) {
    out.line[lane] = dummy;
    if (lane >= count) {
      in.line[lane] = in.line[0];
      continue;
    }
    std::int64_t rest = first + lane, from = 0, to = 0;
    for (std::size_t i = batch.size(); i-- > 0; rest /= batch[i].count) {
      from += rest % batch[i].count * batch[i].input_distance;
      to += rest % batch[i].count * batch[i].output_distance;
    }
    in.line[lane] = call.in_re + from;
    out.line[lane] = call.out_re + to;
  }
  if (count == lanes && !batch.empty() && first % batch.back().count + lanes <= batch.back().count) {
    in.distance = batch.back().input_distance;
    out.distance = batch.back().output_distance;
  }
  transform_block(d, plan, in, out, call.factor, scratch);
}

// Lines begin .. end: full blocks of the widest vectors, the rest with the narrowest that hold it.
template <class T>
void run_lanes_here(const EnginePlan<T>& plan, const EngineCall<T>& call, std::int64_t begin, std::int64_t end, T* scratch) {
  constexpr int widest = static_cast<int>(hn::MaxLanes(Widest<T>()));
  std::int64_t first = begin;
  for (; first + widest <= end; first += widest) gather_block(Widest<T>(), plan, call, first, widest, scratch);
  const int rest = static_cast<int>(end - first);
  if (rest == 0) return;
  if constexpr (widest * sizeof(T) >= 64)
    if (rest <= widest / 4) return gather_block(hn::CappedTag<T, widest / 4>(), plan, call, first, rest, scratch);
  if constexpr (widest * sizeof(T) >= 32)
    if (rest <= widest / 2) return gather_block(hn::CappedTag<T, widest / 2>(), plan, call, first, rest, scratch);
  gather_block(Widest<T>(), plan, call, first, rest, scratch);
}

// Lines begin .. end one after the other.
template <class T>
void run_lines_here(const EnginePlan<T>& plan, const EngineCall<T>& call, std::int64_t begin, std::int64_t end, T* scratch, int threads) {
  const std::int64_t n = plan.n, m = plan.complex_n, half = n / 2, pitch = rounded(n + 32);
  const bool even = m != n;
  T* own = scratch + 2 * pitch;
  const Points<T> planar{scratch, scratch + pitch, 1};
  for (std::int64_t line = begin; line < end; ++line) {
    std::int64_t rest = line, from = 0, to = 0;
    for (std::size_t i = call.batch->size(); i-- > 0; rest /= (*call.batch)[i].count) {
      from += rest % (*call.batch)[i].count * (*call.batch)[i].input_distance;
      to += rest % (*call.batch)[i].count * (*call.batch)[i].output_distance;
    }
    const Points<T> in{call.in_re + from, call.in_im ? call.in_im + from : nullptr, call.in_stride};
    const Points<T> out{call.out_re + to, call.out_im ? call.out_im + to : nullptr, call.out_stride};
    switch (plan.kind) {
      case EngineKind::Complex: run_line(*plan.line, in, out, call.factor, own, threads); break;
      case EngineKind::RealToHalf: {
        if (!even) {
          std::fill(planar.im, planar.im + n, T(0));
          for (std::int64_t j = 0; j < n; ++j) planar.re[j] = in.re[j * in.stride];
          run_line(*plan.line, planar, planar, call.factor, own, threads);
          copy_points(half + 1, planar, out, T(1));
          break;
        }
        const Points<T> z{in.re, in.re + in.stride, 2 * in.stride};
        const bool dense = out.stride == 1 || out.interleaved();
        run_line(*plan.line, z, dense ? out : planar, call.factor, own, threads);
        half_line<true>(m, dense ? out : planar, out, plan.real_twiddles.data());
        break;
      }
      case EngineKind::HalfToReal: {
        if (even) {
          half_line<false>(m, in, planar, plan.real_twiddles.data());
          run_line(*plan.line, planar.swapped(), Points<T>{out.re + out.stride, out.re, 2 * out.stride}, call.factor, own, threads);
          break;
        }
        for (std::int64_t k = 0; k <= half; ++k) {
          planar.re[k] = in.re[k * in.stride];
          planar.im[k] = k == 0 ? T(0) : in.im[k * in.stride];
          if (k > 0) {
            planar.re[n - k] = planar.re[k];
            planar.im[n - k] = -planar.im[k];
          }
        }
        run_line(*plan.line, planar.swapped(), planar.swapped(), call.factor, own, threads);
        for (std::int64_t j = 0; j < n; ++j) out.re[j * out.stride] = planar.re[j];
        break;
      }
    }
  }
}

}  // namespace trn::fft::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
