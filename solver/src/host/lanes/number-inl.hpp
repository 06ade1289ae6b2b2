// A number in each lane, real or complex: what the kernels of lanes.hpp compute with. Read once per instruction set.
#if defined(TRN_SOLVER_LANES_NUMBER) == defined(HWY_TARGET_TOGGLE)
#ifdef TRN_SOLVER_LANES_NUMBER
#undef TRN_SOLVER_LANES_NUMBER
#else
#define TRN_SOLVER_LANES_NUMBER
#endif

#include <complex>
#include <cstdint>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace trn::solver::host::lanes::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class R> using Tag = hn::ScalableTag<R>;
template <class R> using Vec = hn::Vec<Tag<R>>;
template <class R> HWY_INLINE std::int64_t width() { return static_cast<std::int64_t>(hn::Lanes(Tag<R>())); }

template <class R_> struct Real1 {
  using R = R_;
  static constexpr bool kComplex = false;
  static constexpr std::int64_t kParts = 1;
  Vec<R> re;
  static HWY_INLINE Real1 load(const R* p) { return {hn::Load(Tag<R>(), p)}; }
  HWY_INLINE void store(R* p) const { hn::Store(re, Tag<R>(), p); }
  HWY_INLINE Vec<R> size() const { return hn::Abs(re); }  // what pivots are compared by
  HWY_INLINE Vec<R> square() const { return hn::Mul(re, re); }
  HWY_INLINE Real1 conj() const { return *this; }
  HWY_INLINE Real1 times_real(Vec<R> x) const { return {hn::Mul(re, x)}; }
};
template <class R_> struct Complex1 {
  using R = R_;
  static constexpr bool kComplex = true;
  static constexpr std::int64_t kParts = 2;
  Vec<R> re, im;
  static HWY_INLINE Complex1 load(const R* p) { return {hn::Load(Tag<R>(), p), hn::Load(Tag<R>(), p + width<R>())}; }
  HWY_INLINE void store(R* p) const {
    hn::Store(re, Tag<R>(), p);
    hn::Store(im, Tag<R>(), p + width<R>());
  }
  HWY_INLINE Vec<R> size() const { return hn::Add(hn::Abs(re), hn::Abs(im)); }
  HWY_INLINE Vec<R> square() const { return hn::MulAdd(re, re, hn::Mul(im, im)); }
  HWY_INLINE Complex1 conj() const { return {re, hn::Neg(im)}; }
  HWY_INLINE Complex1 times_real(Vec<R> x) const { return {hn::Mul(re, x), hn::Mul(im, x)}; }
};

// c + a b, c - a b, a b
template <class R> HWY_INLINE Real1<R> add_mul(Real1<R> c, Real1<R> a, Real1<R> b) {
  return {hn::MulAdd(a.re, b.re, c.re)};
}
template <class R> HWY_INLINE Real1<R> sub_mul(Real1<R> c, Real1<R> a, Real1<R> b) {
  return {hn::NegMulAdd(a.re, b.re, c.re)};
}
template <class R> HWY_INLINE Complex1<R> add_mul(Complex1<R> c, Complex1<R> a, Complex1<R> b) {
  return {hn::NegMulAdd(a.im, b.im, hn::MulAdd(a.re, b.re, c.re)),
          hn::MulAdd(a.im, b.re, hn::MulAdd(a.re, b.im, c.im))};
}
template <class R> HWY_INLINE Complex1<R> sub_mul(Complex1<R> c, Complex1<R> a, Complex1<R> b) {
  return {hn::MulAdd(a.im, b.im, hn::NegMulAdd(a.re, b.re, c.re)),
          hn::NegMulAdd(a.im, b.re, hn::NegMulAdd(a.re, b.im, c.im))};
}
template <class N> HWY_INLINE N zero() {
  const auto z = hn::Zero(Tag<typename N::R>());
  if constexpr (N::kComplex) {
    return {z, z};
  } else {
    return {z};
  }
}
template <class R> HWY_INLINE Real1<R> mul(Real1<R> a, Real1<R> b) { return {hn::Mul(a.re, b.re)}; }
template <class R> HWY_INLINE Complex1<R> mul(Complex1<R> a, Complex1<R> b) {
  return {hn::NegMulAdd(a.im, b.im, hn::Mul(a.re, b.re)), hn::MulAdd(a.im, b.re, hn::Mul(a.re, b.im))};
}
// 1 / a for |a| within the square roots of the range.
template <class R> HWY_INLINE Real1<R> reciprocal(Real1<R> a) { return {hn::Div(hn::Set(Tag<R>(), R(1)), a.re)}; }
template <class R> HWY_INLINE Complex1<R> reciprocal(Complex1<R> a) {
  const auto s = a.square();
  return {hn::Div(a.re, s), hn::Neg(hn::Div(a.im, s))};
}
// The group of lanes as a matrix of numbers.
template <class N> struct Grid {
  using R = typename N::R;
  R* data;
  std::int64_t rows, step;  // step: from element to element
  HWY_INLINE Grid(R* d, std::int64_t m) : data(d), rows(m), step(N::kParts * width<R>()) {}
  HWY_INLINE R* at(std::int64_t i, std::int64_t j) const { return data + (j * rows + i) * step; }
  HWY_INLINE N load(std::int64_t i, std::int64_t j) const { return N::load(at(i, j)); }
  HWY_INLINE void store(std::int64_t i, std::int64_t j, N x) const { x.store(at(i, j)); }
};

// 0 in every lane, NaN once a number that was looked at is not finite.
template <class N> HWY_INLINE void look(N x, Vec<typename N::R>& sum) {
  const auto z = hn::Zero(Tag<typename N::R>());
  sum = hn::MulAdd(x.re, z, sum);
  if constexpr (N::kComplex) sum = hn::MulAdd(x.im, z, sum);
}

// Squares of numbers between these neither overflow nor lose digits, and 1 / x does not either.
template <class R> constexpr R kSmall = sizeof(R) == 4 ? R(1e-15f) : R(1e-140);
template <class R> constexpr R kLarge = sizeof(R) == 4 ? R(1e15f) : R(1e140);

// bad[l] = 1 where `good` is not set.
template <class R, class M> HWY_INLINE void tell(M good, unsigned char* bad) {
  const Tag<R> d;
  HWY_ALIGN R flags[HWY_MAX_BYTES / sizeof(R)];
  hn::Store(hn::IfThenElse(good, hn::Zero(d), hn::Set(d, R(1))), d, flags);
  for (std::int64_t l = 0; l < width<R>(); ++l) bad[l] = static_cast<unsigned char>(bad[l] | (flags[l] != 0));
}

}  // namespace trn::solver::host::lanes::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
