// One real line by itself: what has a function for dense lines, halves, Rader's convolution; splits are in
// real_split-inl.hpp.
//
// Rader, n prime, g a primitive root, h = (n-1)/2, so that g^h = -1. With k_e = cos(2 pi g^e/n) + sin(2 pi g^e/n) both
// directions are one real cyclic convolution of n - 1 points, y_m = sum_q v_q k_(m-q):
//   there  v_q = x_(g^-q).  The cosines have the period h, the sines change sign after it, so y_m + y_(m+h) and y_m -
//     y_(m+h) are twice the sums over cosines and
//          sines alone: X_(g^m) = x_0 + (y_m + y_(m+h))/2 - i (y_m - y_(m+h))/2.
//   back   v_q = re X_(g^-q) - im X_(g^-q).  The real parts have the period h, the imaginary parts change sign, and
//     what is not cos times re or sin times im cancels:
//          x_(g^m) = X_0 + y_m.
// x_0, or X_0, joins through the first point of the spectrum, whose inverse transform is constant; the result at 0 is
// it plus the first point of v's spectrum. The kernel's spectrum has modulus sqrt(n), and 1 at 0.
#if defined(TRN_FFT_REAL_LINE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TRN_FFT_REAL_LINE_INL
#undef TRN_FFT_REAL_LINE_INL
#else
#define TRN_FFT_REAL_LINE_INL
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>

#include "host/real_plan.hpp"
#include "host/real_split-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trn::fft::host::HWY_NAMESPACE {

// What has a function for dense lines; sides that are not dense go through copies: the real one of n, the other of n +
// 2 reals.
template <bool kThere, class T>
void dense_real_line(const RealLine<T>& line, const RealSides<T>& s, T factor, T* scratch, int) {
  const std::int64_t n = line.n, count = n / 2 + 1;
  const bool dense = s.real_stride == 1, pairs = s.half_stride == 2 && s.half_im == s.half_re + 1;
  const DenseRealCall<T> call = line.dense_call(factor, 1, 0, 0);
  T* real = dense ? s.real : scratch;
  T* half = pairs ? s.half_re : scratch + round_up(n);
  const Points<T> outside{s.half_re, s.half_im, s.half_stride}, inside{half, half + 1, 2};
  if constexpr (kThere) {
    if (!dense)
      for (std::int64_t j = 0; j < n; ++j) real[j] = s.real[j * s.real_stride];
    line.run_dense(&call, real, half);
    if (!pairs) copy_points(count, inside, outside, T(1));
  } else {
    if (!pairs) copy_points(count, outside, inside, T(1));
    line.run_dense(&call, half, real);
    if (!dense)
      for (std::int64_t j = 0; j < n; ++j) s.real[j * s.real_stride] = real[j];
  }
}

// Neighbours in the real line as one complex number.
template <bool kThere, class T>
void halved_real_line(const RealLine<T>& line, const RealSides<T>& s, T factor, T* scratch, int threads) {
  const std::int64_t m = line.n / 2;
  const Points<T> half{s.half_re, s.half_im, s.half_stride}, copy{scratch, scratch + 1, 2};
  const bool pairs = s.half_stride == 2 && s.half_im == s.half_re + 1;
  T* own = scratch + 2 * round_up(line.n + 32);
  const T* table = line.twiddles.data();
  if constexpr (kThere) {
    // What fits a cache goes through the scratch, which stays there: the result is written once.
    T* const z = pairs && line.n * static_cast<std::int64_t>(sizeof(T)) > (4 << 20) ? s.half_re : scratch;
    line.run_complex(*line.complex, s.real, s.real + s.real_stride, 2 * s.real_stride, z, z + 1, 2, factor, own,
                     threads);
    std::copy_n(z, 2, z + 2 * m);
    part_line<true>(m, table, z, pairs ? s.half_re : z);
    if (!pairs) copy_points(m + 1, copy, half, T(1));
  } else {
    if (!pairs) copy_points(m + 1, half, copy, T(1));
    part_line<false>(m, table, pairs ? s.half_re : scratch, scratch);
    line.run_complex(*line.complex, copy.im, copy.re, 2, s.real + s.real_stride, s.real, 2 * s.real_stride, factor, own,
                     threads);
  }
}

template <bool kThere, class T>
void full_real_line(const RealLine<T>& line, const RealSides<T>& s, T factor, T* scratch, int threads) {
  const std::int64_t n = line.n;
  T *x = scratch, *own = scratch + 2 * round_up(n + 32);
  if constexpr (kThere) {
    for (std::int64_t j = 0; j < n; ++j) {
      x[2 * j] = s.real[j * s.real_stride];
      x[2 * j + 1] = T(0);
    }
    line.run_complex(*line.complex, x, x + 1, 2, x, x + 1, 2, factor, own, threads);
    copy_points(n / 2 + 1, Points<T>{x, x + 1, 2}, Points<T>{s.half_re, s.half_im, s.half_stride}, T(1));
    s.half_im[0] = T(0);
  } else {
    x[0] = s.half_re[0];
    x[1] = T(0);
    for (std::int64_t k = 1; k <= n / 2; ++k) {
      const T re = s.half_re[k * s.half_stride], im = s.half_im[k * s.half_stride];
      x[2 * k] = x[2 * (n - k)] = re;
      x[2 * k + 1] = im;
      x[2 * (n - k) + 1] = -im;
    }
    line.run_complex(*line.complex, x + 1, x, 2, x + 1, x, 2, factor, own, threads);
    for (std::int64_t j = 0; j < n; ++j) s.real[j * s.real_stride] = x[2 * j];
  }
}

template <bool kThere, class T>
void rader_real_line(const RealLine<T>& line, const RealSides<T>& s, T factor, T* scratch, int threads) {
  const std::int64_t n = line.n, h = n / 2, length = line.n2;
  T *v = scratch, *spectrum = v + round_up(length + 16), *own = spectrum + round_up(length + 18);
  const std::int32_t *gather = line.gather.data(), *scatter = line.scatter.data();
  T zero;
  if constexpr (kThere) {
    zero = s.real[0] * factor;
    for (std::int64_t q = 0; q < n - 1; ++q) v[q] = s.real[gather[q] * s.real_stride];
  } else {
    zero = s.half_re[0] * factor;
    for (std::int64_t q = 0; q < h; ++q) {
      const std::int64_t k = gather[q], at = (k <= h ? k : n - k) * s.half_stride;
      const T re = s.half_re[at], im = k <= h ? s.half_im[at] : -s.half_im[at];
      v[q] = re - im;
      v[q + h] = re + im;
    }
  }
  std::fill(v + n - 1, v + length, T(0));
  const RealSides<T> sides{v, 1, spectrum, spectrum + 1, 2};
  line.inner->run(*line.inner, sides, factor, own, threads);
  const T sum = zero + spectrum[0];
  const Points<T> half{spectrum, spectrum + 1, 2};
  multiply(length / 2 + 1, half, half, line.spectrum.data(), line.spectrum.data() + length / 2 + 1);
  spectrum[0] += kThere ? zero / 2 : zero;
  line.back->run(*line.back, sides, T(1), own, threads);
  if constexpr (kThere) {
    s.half_re[0] = sum;
    s.half_im[0] = T(0);
    for (std::int64_t m = 0; m < h; ++m) {
      const std::int64_t k = scatter[m], at = (k <= h ? k : n - k) * s.half_stride;
      const T re = v[m] + v[m + h], im = v[m + h] - v[m];
      s.half_re[at] = re;
      s.half_im[at] = k <= h ? im : -im;
    }
  } else {
    s.real[0] = sum;
    for (std::int64_t m = 0; m < n - 1; ++m) s.real[scatter[m] * s.real_stride] = v[m];
  }
}

template <bool kThere, class T> OneRealLine<T> real_line_function_of(const RealLine<T>& line) {
  if (line.run_dense) return dense_real_line<kThere, T>;
#if HWY_TARGET != HWY_SCALAR
  if (line.kind == RealKind::Columns) return columns_real_line<kThere, T>;
  if (line.kind == RealKind::Split) return split_real_line<kThere, T>;
#endif
  if (line.kind == RealKind::Halved) return halved_real_line<kThere, T>;
  return line.kind == RealKind::Rader ? rader_real_line<kThere, T> : full_real_line<kThere, T>;
}
template <class T> OneRealLine<T> real_line_function(const RealLine<T>& line) {
  return line.direction == EngineKind::RealToHalf ? real_line_function_of<true>(line)
                                                  : real_line_function_of<false>(line);
}

}  // namespace trn::fft::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
