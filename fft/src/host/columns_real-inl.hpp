// The kernels of columns_real.hpp. The arithmetic is that of the other real codelets, so a column has the same bits
// however it is taken.
#if defined(TRN_FFT_COLUMNS_REAL_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TRN_FFT_COLUMNS_REAL_INL
#undef TRN_FFT_COLUMNS_REAL_INL
#else
#define TRN_FFT_COLUMNS_REAL_INL
#endif

#include <hwy/highway.h>

#include <cstdint>

#include "host/columns-inl.hpp"
#include "host/columns_real.hpp"
#include "host/real_codelets-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trn::fft::host::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR
template <class T> RealColumnsRun<T> column_runs_kernel_here(std::int64_t, bool) { return nullptr; }
#else
// Of every run `blocks` blocks of full vectors, or one with `count` columns in it.
template <int N, bool kThere, bool kAll, class D, class T>
HWY_NOINLINE void real_column_blocks(D d, const RealColumnRuns<T>& args, std::int64_t blocks,
                                     [[maybe_unused]] std::int64_t count, [[maybe_unused]] bool streams) {
  constexpr std::int64_t lanes = kWidth<D>;
  const RealColumnRuns<T> c = args;
  const bool scaled = c.factor != T(1);
  const auto by = hn::Set(d, c.factor);
  for (std::int64_t r = 0; r < c.runs; ++r) {
    T *real = c.real + r * c.real_step, *half = c.half + r * c.half_step;
    for (std::int64_t b = 0; b < blocks; ++b, real += lanes, half += 2 * lanes) {
      hn::Vec<D> x[N];
      C<D> y[N / 2 + 1];
      if constexpr (kThere) {
        HWY_UNROLL(16)
        for (int j = 0; j < N; ++j) {
          if constexpr (kAll)
            x[j] = hn::LoadU(d, real + j * c.real_stride);
          else
            x[j] = load_some(d, real + j * c.real_stride, count);
        }
        real_dft<N>(d, x, y);
        HWY_UNROLL(16)
        for (int k = 0; k <= N / 2; ++k) {
          if (k == 0 || 2 * k == N) y[k].i = hn::Zero(d);
          if (scaled) scale<1>(d, y + k, c.factor);
          T* to = half + k * c.half_stride;
          if constexpr (!kAll)
            store_columns<Store::Some>(d, to, count, y[k]);
          else if (streams)
            store_columns<Store::Past>(d, to, lanes, y[k]);
          else
            store_columns<Store::All>(d, to, lanes, y[k]);
        }
      } else {
        HWY_UNROLL(16)
        for (int k = 0; k <= N / 2; ++k) y[k] = load_columns<kAll>(d, half + k * c.half_stride, count);
        half_dft<N>(d, y, x);
        HWY_UNROLL(16)
        for (int j = 0; j < N; ++j) {
          if (scaled) x[j] = hn::Mul(x[j], by);
          T* to = real + j * c.real_stride;
          if constexpr (!kAll)
            store_some(d, x[j], to, count);
          else if (streams)
            hn::Stream(x[j], d, to);
          else
            hn::StoreU(x[j], d, to);
        }
      }
    }
  }
}

template <int N, bool kThere, class T> void real_columns(const RealColumnRuns<T>& columns, std::int64_t run) {
  const Widest<T> d;
  constexpr std::int64_t lanes = kWidth<Widest<T> >, line = 64 / sizeof(T);
  RealColumnRuns<T> c = columns;
  const std::int64_t blocks = run / lanes, rest = run % lanes;
  const bool rows = reinterpret_cast<std::uintptr_t>(kThere ? c.half : c.real) % 64 == 0 &&
                    (kThere ? c.half_stride : c.real_stride) % line == 0;
  const bool streams = c.stream && rows && (c.runs == 1 || (kThere ? c.half_step : c.real_step) % line == 0);
  if (blocks > 0) real_column_blocks<N, kThere, true>(d, c, blocks, lanes, streams);
  if (streams) hwy::FlushStream();
  if (rest == 0) return;
  c.real += blocks * lanes;
  c.half += 2 * blocks * lanes;
  real_column_blocks<N, kThere, false>(d, c, 1, rest, false);
}

template <class T> RealColumnsRun<T> column_runs_kernel_here(std::int64_t n, bool there) {
  RealColumnsRun<T> run = nullptr;
  with_length(Lengths<2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16>(), n, [&](auto length) {
    constexpr int N = decltype(length)::value;
    run = there ? real_columns<N, true, T> : real_columns<N, false, T>;
  });
  return run;
}
#endif

}  // namespace trn::fft::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
