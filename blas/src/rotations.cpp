// The entry points of rot and rotm, and the scalar routines rotg and rotmg, which need no executor.
#include <cmath>
#include <trn/blas/rotations.hpp>

#include "checks.hpp"
#include "kernels.hpp"

namespace trn::blas {

namespace {

// Two vectors that are both written: one size, elements apart, no common memory.
template <class T>
void check_pair(const char* operation, const Executor& executor, const VectorView<T>& x, const VectorView<T>& y) {
  checks::operand(operation, "x", executor, x);
  checks::operand(operation, "y", executor, y);
  require(x.size() == y.size(), "{}: x has {} elements, y has {}; give both the same", operation, x.size(), y.size());
  if (x.size() == 0) return;
  checks::distinct_elements(operation, "x", checks::extent(x));
  checks::distinct_elements(operation, "y", checks::extent(y));
  checks::no_overlap(operation, "x", checks::extent(x), "y", checks::extent(y));
}

}  // namespace

template <Scalar T>
void rot(const Executor& executor, const VectorView<T>& x, const VectorView<T>& y, Real<T> c, Number<T> s) {
  check_pair("blas.rot", executor, x, y);
  if (x.size() == 0) return;
  const std::complex<double> sine(s);
  dispatch(kRot, executor,
           {dtype_of<T>, x.size(), x.data(), x.stride(), y.data(), y.stride(), c, sine, sine.imag() == 0});
}

template <RealScalar T> void rotm(const Executor& executor, const VectorView<T>& x, const VectorView<T>& y,
                                  const ModifiedRotation<std::type_identity_t<T>>& h) {
  check_pair("blas.rotm", executor, x, y);
  require(h.flag == -2 || h.flag == -1 || h.flag == 0 || h.flag == 1,
          "blas.rotm: flag is {}; it must be -2, -1, 0 or 1", h.flag);
  if (x.size() == 0 || h.flag == -2) return;
  dispatch(kRotm, executor,
           {dtype_of<T>, x.size(), x.data(), x.stride(), y.data(), y.stride(), h.flag, h.h11, h.h21, h.h12, h.h22});
}

// Everything in long double, whose exponent range holds the squares of all doubles: no scaling, and every result within
// a rounding or two. Real: r = +-sqrt(a^2 + b^2) with the sign of the larger of a and b. Complex: r has the phase of a,
// c is real.
template <Scalar T> Rotation<T> rotg(T a, T b) {
  using R = Real<T>;
  using Wide = long double;
  if (b == T(0)) return {1, 0, a, 0};
  if constexpr (RealScalar<T>) {
    if (a == 0) return {0, 1, b, 1};
    const bool first = std::abs(a) > std::abs(b);
    const Wide r = std::copysign(std::sqrt(Wide(a) * a + Wide(b) * b), Wide(first ? a : b));
    const R c = static_cast<R>(a / r), s = static_cast<R>(b / r);
    return {c, s, static_cast<R>(r), first ? s : c != 0 ? static_cast<R>(1 / (a / r)) : R(1)};
  } else {
    const Wide ar = a.real(), ai = a.imag(), br = b.real(), bi = b.imag();
    const Wide g = std::sqrt(br * br + bi * bi);
    if (a == T(0)) return {0, T(static_cast<R>(br / g), static_cast<R>(-bi / g)), T(static_cast<R>(g)), 0};
    const Wide f = std::sqrt(ar * ar + ai * ai), h = std::sqrt(f * f + g * g);
    const Wide pr = ar / f, pi = ai / f;  // the phase of a
    // s = phase(a) conj(b) / h
    const T s(static_cast<R>((pr * br + pi * bi) / h), static_cast<R>((pi * br - pr * bi) / h));
    return {static_cast<R>(f / h), s, T(static_cast<R>(pr * h), static_cast<R>(pi * h)), 0};
  }
}

// sqrt(D) (x1, y1) is turned onto the first axis and the square roots are moved out of the rotation: H^T D' H = D and H
// (x1, y1) = (x1', 0). With p = D (x1, y1) and q = p (x1, y1), the larger |q| decides which entries of H are 1, so that
// |h12 h21| or h11 h22 is at most 1. D' is kept between 4096^-2 and 4096^2 by powers of 4096 that move into H, exactly.
// OpenBLAS 0.3.21 returns a swap for d1 = 0 or x1 = 0, which leaves a second element.
template <RealScalar T> ModifiedRotationSetup<T> rotmg(T d1, T d2, T x1, T y1, ModifiedRotation<T> previous) {
  ModifiedRotationSetup<T> r{d1, d2, x1, previous};
  ModifiedRotation<T>& h = r.h;
  const ModifiedRotationSetup<T> none{0, 0, 0, {-1, 0, 0, 0, 0}};  // no such H
  if (d1 < 0) return none;
  const T p1 = d1 * x1, p2 = d2 * y1, q1 = p1 * x1, q2 = p2 * y1;
  if (p2 == 0) {
    h.flag = -2;
    return r;
  }
  if (std::abs(q1) > std::abs(q2)) {
    h.flag = 0, h.h21 = -y1 / x1, h.h12 = p2 / p1;
    const T u = 1 - h.h12 * h.h21;
    if (!(u > 0)) return none;
    r.d1 /= u, r.d2 /= u, r.x1 *= u;
  } else {
    if (q2 < 0) return none;
    h.flag = 1, h.h11 = p1 / p2, h.h22 = x1 / y1;
    const T u = 1 + h.h11 * h.h22;
    r.d1 = d2 / u, r.d2 = d1 / u, r.x1 = y1 * u;
  }
  constexpr T kGamma = 4096, kLargest = kGamma * kGamma, kSmallest = 1 / kLargest;
  const auto spell_out = [&] {
    if (h.flag == 0) h.h11 = h.h22 = 1;
    if (h.flag == 1) h.h12 = 1, h.h21 = -1;
    h.flag = -1;
  };
  const auto scale = [&](T& d, auto by) {
    while (d != 0 && std::isfinite(d) && (std::abs(d) <= kSmallest || std::abs(d) >= kLargest)) {
      const bool small = std::abs(d) <= kSmallest;
      spell_out();
      d *= small ? kLargest : kSmallest;
      by(small ? 1 / kGamma : kGamma);
    }
  };
  scale(r.d1, [&](T f) { r.x1 *= f, h.h11 *= f, h.h12 *= f; });
  scale(r.d2, [&](T f) { h.h21 *= f, h.h22 *= f; });
  return r;
}

#define TRN_ROT(T)                                                                                       \
  template void rot<T>(const Executor&, const VectorView<T>&, const VectorView<T>&, Real<T>, Number<T>); \
  template Rotation<T> rotg<T>(T, T);
TRN_ROT(float)
TRN_ROT(double)
TRN_ROT(std::complex<float>)
TRN_ROT(std::complex<double>)
#undef TRN_ROT
#define TRN_ROTM(T)                                                                                               \
  template void rotm<T>(const Executor&, const VectorView<T>&, const VectorView<T>&, const ModifiedRotation<T>&); \
  template ModifiedRotationSetup<T> rotmg<T>(T, T, T, T, ModifiedRotation<T>);
TRN_ROTM(float)
TRN_ROTM(double)
#undef TRN_ROTM

}  // namespace trn::blas
