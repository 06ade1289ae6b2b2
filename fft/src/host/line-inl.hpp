// One line, SIMD within it: four steps, splits, Rader's and Bluestein's convolutions.
//
// FourStep, n = n1 n2, j = j1 n2 + j2, k = k1 + n1 k2:
//   X_k = sum_j2 w_n2^(j2 k2) [ w_n^(j2 k1) sum_j1 x_j w_n1^(j1 k1) ].
// Columns j2 lie beside each other, so `lanes` of them are loaded as they are, transformed in a block that fits the
// first or second cache, turned, and transposed in tiles into blocks of `lanes` rows k1; those are transformed
// likewise, and their results X_(k1 + n1 k2) again lie beside each other. A long line is read once and written once,
// and so is the middle. When lanes does not divide n1 or n2 the last block overlaps the one before; the same thread
// does both.
#if defined(TRN_FFT_LINE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TRN_FFT_LINE_INL
#undef TRN_FFT_LINE_INL
#else
#define TRN_FFT_LINE_INL
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "host/tiles-inl.hpp"
#include "parallel.hpp"

HWY_BEFORE_NAMESPACE();
namespace trn::fft::host::HWY_NAMESPACE {

// A line: point j at re[j * stride], im likewise.
template <class T> struct Points {
  T *re, *im;
  std::int64_t stride;
  bool interleaved() const { return stride == 2 && (im == re + 1 || im == re - 1); }
  bool dense() const { return stride == 1 || interleaved(); }
  Points swapped() const { return {im, re, stride}; }
};

// V neighbours of a dense line, or one point of any.
template <class D, class T> HWY_INLINE C<D> load_points(D d, const Points<T>& p, std::int64_t k) {
  C<D> x;
  if constexpr (hn::MaxLanes(D()) == 1)
    x = {hn::LoadU(d, p.re + k * p.stride), hn::LoadU(d, p.im + k * p.stride)};
  else if (p.stride == 1)
    x = {hn::LoadU(d, p.re + k), hn::LoadU(d, p.im + k)};
  else if (p.im > p.re)
    load_pairs(d, p.re + 2 * k, x.r, x.i);
  else
    load_pairs(d, p.im + 2 * k, x.i, x.r);
  return x;
}
template <class D, class T> HWY_INLINE void store_points(D d, const Points<T>& p, std::int64_t k, C<D> x) {
  if constexpr (hn::MaxLanes(D()) == 1) {
    hn::StoreU(x.r, d, p.re + k * p.stride);
    hn::StoreU(x.i, d, p.im + k * p.stride);
  } else if (p.stride == 1) {
    hn::StoreU(x.r, d, p.re + k);
    hn::StoreU(x.i, d, p.im + k);
  } else if (p.im > p.re) {
    store_pairs(d, p.re + 2 * k, x.r, x.i);
  } else {
    store_pairs(d, p.im + 2 * k, x.i, x.r);
  }
}
template <class T> HWY_NOINLINE void copy_points(std::int64_t n, const Points<T>& in, const Points<T>& out, T factor) {
  std::int64_t j = 0;
  if (in.dense() && out.dense()) {
    const Widest<T> d;
    constexpr std::int64_t lanes = kWidth<Widest<T>>;
    const auto by = hn::Set(d, factor);
    for (; j + lanes <= n; j += lanes) {
      const C<Widest<T>> x = load_points(d, in, j);
      store_points(d, out, j, C<Widest<T>>{hn::Mul(x.r, by), hn::Mul(x.i, by)});
    }
  }
  if (factor == T(1) && in.im == in.re + 1 &&
      out.im == out.re + 1) {  // numbers as they are: what is stored in halves is slow to be loaded whole
    for (; j < n; ++j) std::memcpy(out.re + j * out.stride, in.re + j * in.stride, 2 * sizeof(T));
    return;
  }
  for (; j < n; ++j) {
    const T r = in.re[j * in.stride], i = in.im[j * in.stride];
    out.re[j * out.stride] = r * factor;
    out.im[j * out.stride] = i * factor;
  }
}

// run(begin, end, worker) on all threads, for blocks [begin, end); the last two blocks stay together, for they may
// overlap.
template <class F> void for_runs(std::int64_t blocks, int threads, const F& run) {
  const std::int64_t units = std::max<std::int64_t>(blocks - 1, 1),
                     parts = std::min<std::int64_t>(units, kPartsPerThread * threads);
  for_pieces(parts, threads, [&](std::int64_t part, int worker) {
    run(units * part / parts, part + 1 == parts ? blocks : units * (part + 1) / parts, worker);
  });
}
template <class F> void share_blocks(std::int64_t blocks, int threads, const F& step) {
  for_runs(blocks, threads, [&](std::int64_t begin, std::int64_t end, int worker) {
    for (std::int64_t block = begin; block < end; ++block) step(block, worker);
  });
}

template <class T>
void run_line(const LinePlan<T>& plan, const Points<T>& in, const Points<T>& out, T factor, T* scratch, int threads);

template <class D, class T>
HWY_NOINLINE void columns_step(D d, const LinePlan<T>& plan, const Points<T>& in, T* middle, T* t0, std::int64_t c) {
  constexpr std::int64_t lanes = kWidth<D>;
  const std::int64_t n1 = plan.n1, n2 = plan.n2, j = std::min(c * lanes, n2 - lanes);
  T* t1 = t0 + round_up(2 * lanes * std::max(n1, n2));
  const T* post = plan.twiddles.data() + c * n1 * 2 * lanes;
  if (!plan.block_twiddles
           // w = h + (l + h d): w_n^(j0 k) = h + l of this block, d = w_n^(lane k) - 1 small; rounded about once
           .empty()) {
    T* product = t0 + 2 * round_up(2 * lanes * std::max(n1, n2));
    const T* number = plan.block_twiddles.data() + c * n1 * 4;
    for (std::int64_t k = 0; k < n1; ++k, number += 4) {
      const T* w = plan.twiddles.data() + 2 * k * lanes;
      const C<D> e{hn::LoadU(d, w), hn::LoadU(d, w + lanes)}, h{hn::Set(d, number[0]), hn::Set(d, number[1])};
      const auto re = hn::NegMulAdd(h.i, e.i, hn::MulAdd(h.r, e.r, hn::Set(d, number[2])));
      const auto im = hn::MulAdd(h.i, e.r, hn::MulAdd(h.r, e.i, hn::Set(d, number[3])));
      hn::StoreU(hn::Add(h.r, re), d, product + 2 * k * lanes);
      hn::StoreU(hn::Add(h.i, im), d, product + (2 * k + 1) * lanes);
    }
    post = product;
  }
  run_passes(d, plan.first, Rows<T>{in.re + j * in.stride, in.im + j * in.stride, n2 * in.stride, in.stride == 2},
             Rows<T>{t1, t1 + lanes, 2 * lanes}, T(1), post, t0, t1);
  for (std::int64_t b = 0; b * lanes < n1; ++b) {
    const std::int64_t k = std::min(b * lanes, n1 - lanes);
    T* to = middle + (b * n2 + j) * 2 * lanes;
    for (const std::int64_t part : {std::int64_t{0}, lanes})
      transpose_lines<true>(d, EvenLines<T>{t1 + k * 2 * lanes + part, 2 * lanes}, lanes,
                            RowPlace<T>{to + part, 2 * lanes});
  }
}

template <class D, class T> HWY_NOINLINE void rows_step(D d, const LinePlan<T>& plan, T* middle, const Points<T>& out,
                                                        T factor, T* t0, std::int64_t b) {
  constexpr std::int64_t lanes = kWidth<D>;
  const std::int64_t n1 = plan.n1, n2 = plan.n2, k = std::min(b * lanes, n1 - lanes);
  T* t1 = t0 + round_up(2 * lanes * std::max(n1, n2));
  T* from = middle + b * n2 * 2 * lanes;
  run_passes(d, plan.second, Rows<T>{from, from + lanes, 2 * lanes},
             Rows<T>{out.re + k * out.stride, out.im + k * out.stride, n1 * out.stride, out.stride == 2}, factor,
             static_cast<const T*>(nullptr), t0, t1);
}

template <class D, class T>
void four_step(D d, const LinePlan<T>& plan, Points<T> in, const Points<T>& out, T factor, T* scratch, int threads) {
  constexpr std::int64_t lanes = kWidth<D>;
  const std::int64_t n = plan.n, columns = (plan.n2 + lanes - 1) / lanes, rows = (plan.n1 + lanes - 1) / lanes;
  T* middle = scratch;
  T* line = middle + rows * plan.n2 * 2 * lanes;
  T* own = scratch + plan.shared_reals();
  const Points<T> planar{line, line + round_up(n + 16), 1};
  const auto direct = [&](const Points<T>& p)
                          HWY_ATTR { return p.stride == 1 || (kTakesInterleaved<D> && p.interleaved()); };
  if (!direct(in)) {
    copy_points(n, in, planar, T(1));
    in = planar;
  }
  const Points<T> to = direct(out) ? out : planar;
  if (threads == 1) {
    for (std::int64_t c = 0; c < columns; ++c) columns_step(d, plan, in, middle, own, c);
    for (std::int64_t b = 0; b < rows; ++b) rows_step(d, plan, middle, to, factor, own, b);
  } else {
    const auto mine = [&](int worker) HWY_ATTR { return own + worker * plan.private_reals(); };
    share_blocks(columns, threads,
                 [&](std::int64_t c, int worker) HWY_ATTR { columns_step(d, plan, in, middle, mine(worker), c); });
    share_blocks(rows, threads,
                 [&](std::int64_t b, int worker) HWY_ATTR { rows_step(d, plan, middle, to, factor, mine(worker), b); });
  }
  if (!direct(out)) copy_points(n, planar, out, T(1));
}

// out = in * w; w is planar, the lines may be the same.
template <class T>
HWY_NOINLINE void multiply(std::int64_t n, const Points<T>& in, const Points<T>& out, const T* w_re, const T* w_im) {
  const auto one = [&](auto d, std::int64_t k) HWY_ATTR {
    using N = C<decltype(d)>;
    store_points(d, out, k, times(d, load_points(d, in, k), N{hn::LoadU(d, w_re + k), hn::LoadU(d, w_im + k)}));
  };
  constexpr std::int64_t lanes = kWidth<Widest<T>>;
  std::int64_t k = 0;
  if (in.dense() && out.dense())
    for (; k + lanes <= n; k += lanes) one(Widest<T>(), k);
  for (; k < n; ++k) one(hn::CappedTag<T, 1>(), k);
}

// j = j2 n1 + j1, k = k2 + n2 k1: X_k = sum_j1 w_n1^(j1 k1) [ w_n^(j1 k2) sum_j2 x_j w_n2^(j2 k2) ].
template <class D, class T>
void split(D d, const LinePlan<T>& plan, const Points<T>& in, const Points<T>& out, T factor, T* scratch, int threads) {
  constexpr std::int64_t lanes = kWidth<D>;
  const std::int64_t n = plan.n, n1 = plan.n1, n2 = plan.n2, pitch = round_up(n2);
  T* rows = scratch;
  T* line = rows + 2 * n1 * pitch;
  T* inner = line + 2 * round_up(n + 16);  // the inner plan's shared scratch, then every thread's own
  for (std::int64_t j = 0; j < n1; ++j) {
    T *re = rows + 2 * j * pitch, *im = re + pitch;
    run_line(*plan.inner, Points<T>{in.re + j * in.stride, in.im + j * in.stride, n1 * in.stride}, Points<T>{re, im, 1},
             factor, inner, threads);
    if (j > 0)
      multiply(n2, Points<T>{re, im, 1}, Points<T>{re, im, 1}, plan.twiddles.data() + 2 * j * n2,
               plan.twiddles.data() + (2 * j + 1) * n2);
  }
  const Points<T> planar{line, line + round_up(n + 16), 1};
  const bool direct = out.stride == 1 || (kTakesInterleaved<D> && out.interleaved());
  const Points<T> to = direct ? out : planar;
  T* t0 = scratch + plan.shared_reals();
  T* t1 = t0 + round_up(2 * lanes * n1);
  for (std::int64_t b = 0; b * lanes < n2; ++b) {
    const std::int64_t k = std::min(b * lanes, n2 - lanes);
    run_passes(d, plan.first, Rows<T>{rows + k, rows + pitch + k, 2 * pitch},
               Rows<T>{to.re + k * to.stride, to.im + k * to.stride, n2 * to.stride, to.stride == 2}, T(1),
               static_cast<const T*>(nullptr), t0, t1);
  }
  if (!direct) copy_points(n, planar, out, T(1));
}

// X_(g^-m) = x_0 + sum_q x_(g^q) w^(g^(q-m)): cyclic of length n - 1. x_0 joins through the spectrum's first point,
// whose inverse transform is constant.
template <class T>
void rader(const LinePlan<T>& plan, const Points<T>& in, const Points<T>& out, T factor, T* scratch, int threads) {
  const std::int64_t length = plan.n2, pitch = 2 * round_up(length + 16);
  T *x = scratch, *spectrum = x + pitch, *inner = spectrum + pitch;
  const Points<T> line{x, x + 1, 2}, transformed{spectrum, spectrum + 1, 2};
  const T x_re = in.re[0] * factor, x_im = in.im[0] * factor;
  for (std::int64_t q = 0; q < length; ++q) {
    x[2 * q] = in.re[plan.gather[static_cast<std::size_t>(q)] * in.stride];
    x[2 * q + 1] = in.im[plan.gather[static_cast<std::size_t>(q)] * in.stride];
  }
  run_line(*plan.inner, line, transformed, factor, inner, threads);
  const T sum_re = x_re + spectrum[0], sum_im = x_im + spectrum[1];
  multiply(length, transformed, transformed, plan.spectrum.data(), plan.spectrum.data() + length);
  spectrum[0] += x_re;
  spectrum[1] += x_im;
  run_line(*plan.inner, transformed.swapped(), line.swapped(), T(1), inner, threads);
  out.re[0] = sum_re;
  out.im[0] = sum_im;
  for (std::int64_t q = 0; q < length; ++q) {
    out.re[plan.scatter[static_cast<std::size_t>(q)] * out.stride] = x[2 * q];
    out.im[plan.scatter[static_cast<std::size_t>(q)] * out.stride] = x[2 * q + 1];
  }
}

template <class T>
void bluestein(const LinePlan<T>& plan, const Points<T>& in, const Points<T>& out, T factor, T* scratch, int threads) {
  const std::int64_t n = plan.n, length = plan.n2, pitch = 2 * round_up(length + 16);
  T *x = scratch, *spectrum = x + pitch, *inner = spectrum + pitch;
  const Points<T> line{x, x + 1, 2}, transformed{spectrum, spectrum + 1, 2};
  multiply(n, in, line, plan.chirp.data(), plan.chirp.data() + n);
  std::fill(x + 2 * n, x + 2 * length, T(0));
  run_line(*plan.inner, line, transformed, factor, inner, threads);
  multiply(length, transformed, transformed, plan.spectrum.data(), plan.spectrum.data() + length);
  run_line(*plan.inner, transformed.swapped(), line.swapped(), T(1), inner, threads);
  multiply(n, line, out, plan.chirp.data(), plan.chirp.data() + n);
}

// In double from end to end, and rounded once.
inline void wide_line(const LinePlan<float>& plan, const Points<float>& in, const Points<float>& out, float factor,
                      float* scratch, int threads) {
  const std::int64_t n = plan.n, pitch = round_up(n + 16);
  double *re = reinterpret_cast<double*>(scratch), *im = re + pitch;
  for (std::int64_t j = 0; j < n; ++j) {
    re[j] = static_cast<double>(in.re[j * in.stride]);
    im[j] = static_cast<double>(in.im[j * in.stride]);
  }
  plan.run_wide(*plan.wide, re, im, 1, re, im, 1, static_cast<double>(factor), im + pitch, threads);
  for (std::int64_t k = 0; k < n; ++k) {
    out.re[k * out.stride] = static_cast<float>(re[k]);
    out.im[k * out.stride] = static_cast<float>(im[k]);
  }
}

// Interleaved on both sides and the same way round, so that exchanged parts mean the inverse.
template <class T> bool is_whole(const Points<T>& in, const Points<T>& out) {
  return in.interleaved() && out.interleaved() && (in.im < in.re) == (out.im < out.re);
}
template <class T> void whole_lines(const LinePlan<T>& plan, const Points<T>& in, std::int64_t in_distance,
                                    const Points<T>& out, std::int64_t out_distance, std::int64_t lines, T factor) {
  const bool inverse = in.im < in.re;
  const WholeCall<T> call = plan.whole_call(inverse, factor, lines, in_distance, out_distance);
  plan.run_whole(&call, inverse ? in.im : in.re, inverse ? out.im : out.re);
}
// Any layout: through interleaved copies.
template <class T> void whole_line(const LinePlan<T>& plan, const Points<T>& in, const Points<T>& out, T factor) {
  if (is_whole(in, out)) return whole_lines(plan, in, 0, out, 0, 1, factor);
  alignas(64) T line[2 * kLongestSteps];
  const Points<T> copy{line, line + 1, 2};
  copy_points(plan.n, in, copy, T(1));
  whole_lines(plan, copy, 0, copy, 0, 1, factor);
  copy_points(plan.n, copy, out, T(1));
}

// n1 columns apart, n1 lines where they lie, all of them woven into one; other layouts through interleaved copies.
template <class T>
void woven_line(const LinePlan<T>& plan, const Points<T>& in, const Points<T>& out, T factor, T* scratch, int threads) {
  const Woven<T> line = plan.woven();
  T *middle = scratch, *copy = middle + line.r * line.pitch, *own = scratch + plan.shared_reals();
  if (!is_whole(in, out)) {
    const Points<T> dense{copy, copy + 1, 2};
    copy_points(plan.n, in, dense, T(1));
    woven_line(plan, dense, dense, factor, scratch, threads);
    return copy_points(plan.n, dense, out, T(1));
  }
  const bool inverse = in.im < in.re;
  const T* from = inverse ? in.im : in.re;
  T* to = inverse ? out.im : out.re;
  const std::int64_t numbers = step_functions<T>().numbers, blocks = (line.m + numbers - 1) / numbers;
  const WeaveLines<T> weave = step_functions<T>().weave;
  const auto inner = [&](std::int64_t t, T* memory) {
    T* const first = middle + t * line.pitch;
    const Points<T> points{first, first + 1, 2}, there = inverse ? points.swapped() : points;
    run_line(*plan.inner, there, there, factor, memory, 1);
  };
  if (threads == 1) {
    plan.run_columns(line, inverse, from, middle, 0, blocks);
    for (std::int64_t t = 0; t < line.r; ++t) inner(t, own);
    weave(line, middle, to, 0, blocks);
    return;
  }
  for_runs(blocks, threads, [&](std::int64_t begin, std::int64_t end, int) {
    plan.run_columns(line, inverse, from, middle, begin, end);
  });
  for_pieces(line.r, threads, [&](std::int64_t t, int worker) { inner(t, own + worker * plan.private_reals()); });
  for_runs(blocks, threads, [&](std::int64_t begin, std::int64_t end, int) { weave(line, middle, to, begin, end); });
}

template <class T>
void run_line(const LinePlan<T>& plan, const Points<T>& in, const Points<T>& out, T factor, T* scratch, int threads) {
  // Vectors of this many lanes, of those that this instruction set has.
  const auto with_lanes = [&](auto body) HWY_ATTR {
    if (plan.lanes == kWidest<T>) return body(Widest<T>());
    if constexpr (kHalf<T> < kWidest<T>)
      if (plan.lanes == kHalf<T>) return body(HalfTag<T>());
  };
  switch (plan.kind) {
    case LineKind::Whole:
    case LineKind::Steps:
      return whole_line(plan, in, out, factor);
    case LineKind::Woven:
      return woven_line(plan, in, out, factor, scratch, threads);
    case LineKind::Scalar:
      return run_passes(OneTag<T>(), plan.first, Rows<T>{in.re, in.im, in.stride}, Rows<T>{out.re, out.im, out.stride},
                        factor, static_cast<const T*>(nullptr), scratch + plan.shared_reals(),
                        scratch + plan.shared_reals() + 2 * plan.n);
    case LineKind::FourStep:
      return with_lanes([&](auto d) HWY_ATTR { four_step(d, plan, in, out, factor, scratch, threads); });
    case LineKind::Split:
      return with_lanes([&](auto d) HWY_ATTR { split(d, plan, in, out, factor, scratch, threads); });
    case LineKind::Rader:
      return rader(plan, in, out, factor, scratch, threads);
    case LineKind::Bluestein:
      return bluestein(plan, in, out, factor, scratch, threads);
    case LineKind::Wide:
      if constexpr (sizeof(T) == sizeof(float)) wide_line(plan, in, out, factor, scratch, threads);
      return;
  }
}

}  // namespace trn::fft::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
