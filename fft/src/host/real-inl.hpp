// Real transforms of even length n = 2 m through one complex transform of m points.
//
// z_j = x_(2j) + i x_(2j+1) has the DFT Z, and with w = exp(-2 pi i/n)
//   X_k = E + P,  X_(m-k) = conj(E - P),  E = (Z_k + conj Z_(m-k))/2,  P = w^k (Z_k - conj Z_(m-k))/(2i);
//   back:  Z_k = E' + Q,  Z_(m-k) = conj(E' - Q),  E' = X_k + conj X_(m-k),  Q = i conj(w^k) (X_k - conj X_(m-k)).
// Z_m = Z_0 makes k = 0 a pair like the others. The tables hold w^k/(2i), or i conj(w^k).
#if defined(TRN_FFT_REAL_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TRN_FFT_REAL_INL
#undef TRN_FFT_REAL_INL
#else
#define TRN_FFT_REAL_INL
#endif

#include <hwy/highway.h>

#include <cstdint>

#include "host/whole_line-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trn::fft::host::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR
template <bool kThere, class T> void part_line(std::int64_t m, const T* table, const T* in, T* out) {
  for (std::int64_t k = 0; 2 * k <= m; ++k, table += 4) {
    const T *a = in + 2 * k, *b = in + 2 * (m - k);
    const T a_im = kThere || k > 0 ? a[1] : 0, b_im = kThere || k > 0 ? b[1] : 0, half = kThere ? T(0.5) : T(1);
    const T sum_re = half * (a[0] + b[0]), sum_im = half * (a_im - b_im), re = a[0] - b[0], im = a_im + b_im;
    const T p_re = re * table[0] - im * table[3], p_im = re * table[3] + im * table[0];
    T *x = out + 2 * k, *image = out + 2 * (m - k);
    image[0] = sum_re - p_re;
    image[1] = p_im - sum_im;
    x[0] = sum_re + p_re;
    x[1] = sum_im + p_im;
  }
  if constexpr (kThere) out[1] = out[2 * m + 1] = T(0);
}
#else
template <class T> using DenseTag = hn::CappedTag<T, 64 / sizeof(T)>;

// (a, b) = (Z_k, Z_(m-k)) to (X_k, X_(m-k)), or, back, the other way round; w, turned: the table's number as it has it:
// re, re and -im, im.
template <bool kThere, class D> HWY_INLINE void part(const Pairs<D>& d, hn::Vec<D>& a, hn::Vec<D>& b, hn::Vec<D> w,
                                                     hn::Vec<D> turned, hn::Vec<D> conjugate) {
  const auto sum = hn::MulAdd(b, conjugate, a);
  const PairVector<D> difference = {hn::NegMulAdd(b, conjugate, a)};
  const auto p = hn::MulAdd(exchanged(d, difference), turned, hn::Mul(difference.v, w));
  if constexpr (kThere) {
    const auto half = hn::Set(d.tag, hn::TFromD<D>(0.5));
    a = hn::MulAdd(half, sum, p);
    b = hn::Mul(hn::MulSub(half, sum, p), conjugate);
  } else {
    a = hn::Add(sum, p);
    b = hn::Mul(hn::Sub(sum, p), conjugate);
  }
}

// m + 1 numbers to m + 1 numbers, at least a vector of them, in place or not: Z with Z_m = Z_0 to X, or back X to Z.
// Vectors from both ends inwards; in the middle they may overlap, for both formulas hold for every k, and the next pair
// is loaded before one is stored. The imaginary parts of X_0 and X_m are written as zeros, and not used.
template <bool kThere, class T> HWY_INLINE void part_line(std::int64_t m, const T* table, const T* in, T* out) {
  using D = DenseTag<T>;
  const D tag;
  const Pairs<D> d = pairs_of(tag, T(1));
  constexpr std::int64_t numbers = kNumbers<D>, lanes = 2 * numbers;
  const auto conjugate = hn::OddEven(hn::Set(tag, T(-1)), hn::Set(tag, T(1)));
  const auto imaginary = hn::AndNot(hn::FirstN(tag, 1), hn::FirstN(tag, 2));  // of the first number
  std::int64_t k = 0, image = 2 * (m - numbers + 1);
  auto a = hn::LoadU(tag, in), b = reverse_numbers(tag, hn::LoadU(tag, in + image));
  if constexpr (!kThere) a = hn::IfThenZeroElse(imaginary, a), b = hn::IfThenZeroElse(imaginary, b);
  for (bool last = false; !last; k += lanes, image -= lanes, table += 2 * lanes) {
    last = k + lanes >= image;
    part<kThere>(d, a, b, hn::LoadU(tag, table), hn::LoadU(tag, table + lanes), conjugate);
    const auto low = a, high = reverse_numbers(tag, b);
    if (!last) {
      a = hn::LoadU(tag, in + k + lanes);
      b = reverse_numbers(tag, hn::LoadU(tag, in + image - lanes));
    }
    hn::StoreU(high, tag, out + image);
    hn::StoreU(low, tag, out + k);
  }
  if constexpr (kThere) out[1] = out[2 * m + 1] = T(0);
}
#endif

}  // namespace trn::fft::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
