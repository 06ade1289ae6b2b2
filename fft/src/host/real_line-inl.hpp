// One real line, SIMD within it.
#if defined(TRN_FFT_REAL_LINE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TRN_FFT_REAL_LINE_INL
#undef TRN_FFT_REAL_LINE_INL
#else
#define TRN_FFT_REAL_LINE_INL
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>

#include "host/real_codelets-inl.hpp"
#include "host/real-inl.hpp"
#include "host/real_plan.hpp"

HWY_BEFORE_NAMESPACE();
namespace trn::fft::host::HWY_NAMESPACE {

template <int N, bool kThere, class T>
HWY_NOINLINE void codelet_real_line(const RealLine<T>&, const RealSides<T>& s, T factor, T*, int) {
  using D = hn::CappedTag<T, 1>;
  const D d;
  hn::Vec<D> x[N];
  C<D> y[N / 2 + 1];
  const auto by = hn::Set(d, factor);
  if constexpr (kThere) {
    HWY_UNROLL(32)
    for (int j = 0; j < N; ++j) x[j] = hn::LoadU(d, s.real + j * s.real_stride);
    real_dft<N>(d, x, y);
    HWY_UNROLL(32)
    for (int k = 0; k <= N / 2; ++k) {
      hn::StoreU(hn::Mul(y[k].r, by), d, s.half_re + k * s.half_stride);
      hn::StoreU(k == 0 || 2 * k == N ? hn::Zero(d) : hn::Mul(y[k].i, by), d, s.half_im + k * s.half_stride);
    }
  } else {
    HWY_UNROLL(32)
    for (int k = 0; k <= N / 2; ++k) y[k] = {hn::LoadU(d, s.half_re + k * s.half_stride), hn::LoadU(d, s.half_im + k * s.half_stride)};
    half_dft<N>(d, y, x);
    HWY_UNROLL(32)
    for (int j = 0; j < N; ++j) hn::StoreU(hn::Mul(x[j], by), d, s.real + j * s.real_stride);
  }
}

// Two complex points, neighbours in the real line, as one; planar is n reals and their pitch.
template <bool kThere, class T>
void halved_real_line(const RealLine<T>& line, const RealSides<T>& s, T factor, T* scratch, int threads) {
  const std::int64_t m = line.n / 2, pitch = rounded(line.n + 32);
  const Points<T> half{s.half_re, s.half_im, s.half_stride}, planar{scratch, scratch + pitch, 1};
  T* own = scratch + 2 * pitch;
  const T* w = line.twiddles.data();
  if constexpr (kThere) {
    const Points<T> to = half.dense() ? half : planar;
    if (m == 1) {
      to.re[0] = s.real[0] * factor;
      to.im[0] = s.real[s.real_stride] * factor;
    } else {
      line.run_complex(*line.complex, s.real, s.real + s.real_stride, 2 * s.real_stride, to.re, to.im, to.stride, factor, own, threads);
    }
    half_line<true>(m, to, half, w);
  } else {
    half_line<false>(m, half, planar, w);
    line.run_complex(*line.complex, planar.im, planar.re, 1, s.real + s.real_stride, s.real, 2 * s.real_stride, factor, own, threads);
  }
}

template <bool kThere, class T>
void full_real_line(const RealLine<T>& line, const RealSides<T>& s, T factor, T* scratch, int threads) {
  const std::int64_t n = line.n, pitch = rounded(n + 32);
  T *re = scratch, *im = re + pitch, *own = im + pitch;
  if constexpr (kThere) {
    for (std::int64_t j = 0; j < n; ++j) re[j] = s.real[j * s.real_stride];
    std::fill(im, im + n, T(0));
    line.run_complex(*line.complex, re, im, 1, re, im, 1, factor, own, threads);
    copy_points(n / 2 + 1, Points<T>{re, im, 1}, Points<T>{s.half_re, s.half_im, s.half_stride}, T(1));
    s.half_im[0] = T(0);
  } else {
    re[0] = s.half_re[0];
    im[0] = T(0);
    for (std::int64_t k = 1; k <= n / 2; ++k) {
      re[k] = re[n - k] = s.half_re[k * s.half_stride];
      im[k] = s.half_im[k * s.half_stride];
      im[n - k] = -im[k];
    }
    line.run_complex(*line.complex, im, re, 1, im, re, 1, factor, own, threads);
    for (std::int64_t j = 0; j < n; ++j) s.real[j * s.real_stride] = re[j];
  }
}

template <bool kThere, class T>
OneRealLine<T> real_line_function(const RealLine<T>& line) {
  if (line.kind == RealKind::Halved) return halved_real_line<kThere, T>;
  if (line.kind == RealKind::Full) return full_real_line<kThere, T>;
  switch (line.n) {
#define TRN_FFT_CASE(N) \
  case N: return codelet_real_line<N, kThere, T>
    TRN_FFT_CASE(1);
    TRN_FFT_CASE(2);
    TRN_FFT_CASE(3);
    TRN_FFT_CASE(4);
    TRN_FFT_CASE(5);
    TRN_FFT_CASE(6);
    TRN_FFT_CASE(7);
    TRN_FFT_CASE(8);
    TRN_FFT_CASE(9);
    TRN_FFT_CASE(10);
    TRN_FFT_CASE(11);
    TRN_FFT_CASE(12);
    TRN_FFT_CASE(13);
    TRN_FFT_CASE(14);
    TRN_FFT_CASE(15);
    TRN_FFT_CASE(16);
    TRN_FFT_CASE(18);
    TRN_FFT_CASE(20);
    TRN_FFT_CASE(22);
    TRN_FFT_CASE(24);
    TRN_FFT_CASE(26);
    TRN_FFT_CASE(28);
    TRN_FFT_CASE(30);
    TRN_FFT_CASE(32);
#undef TRN_FFT_CASE
    default: return nullptr;
  }
}

}  // namespace trn::fft::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
