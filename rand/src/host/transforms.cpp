// What becomes of random words: normals, exponentials and their relatives, on vectors.
//
// Values come in pairs with two words x, y (32 bits for float, 64 bits for double). A uniform number in (0, 1) is made
// of both, u = (x + y 2^-B) c 2^-B + 2^-(2B + 1), B = 32 or 64, rounded as written: near 0, where logarithms have their
// tail, it has 2 B bits. c = 1 - 2^-24 or 1 - 2^-53 keeps it below 1, at the price of an absolute error of that size in
// ln u. The pair's other value exchanges x and y. So every value is distributed as from 2 B bits; that the two share
// them shows only when a word's leading B bits are all 0, once in 2^B pairs.
//
//   exponential     e = -ln u, at least 2^-24 or 2^-53
//   normal          r = sqrt(-2 ln u); z0 = +- r sin phi, z1 = +- r cos phi (Box and Muller 1958) with phi in the first
//                   quadrant and the signs from the last A + 2 bits of y: phi = (k + 1/2) 2^-A pi/2, A = 22 or 51. The
//                   first 8 or 11 bits of y belong to u alone. |z| ends at 9.49 (13.37 for double).
//   inverse         z where the distribution function is (word + 1/2) 2^-64, from the nearer end: |z| ends at 9.1.
//   cuRAND          u = x 2^-B + 2^-(B + 1), angle = 2 pi (y 2^-B + 2^-(B + 1)), B = 32 or 53, rounded as cuRAND does.
//   Laplace         +- e; Weibull scale e^(1/k); Cauchy +- cot(pi/2 u). The sign is the last bit of the partner's word.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "host/transforms.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h comes first.
#include <hwy/highway.h>

#include <cstddef>

#include "host/inverse_normal-inl.hpp"
#include "host/transforms.hpp"
#include "host/vector_math-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trn::rand::host::HWY_NAMESPACE {

template <class T> using Tag = hn::CappedTag<T, 64 / sizeof(T)>;

// Constants of the two word sizes.
template <class T> struct Words;
template <> struct Words<float> {
  static constexpr int kBits = 32, kAngleBits = 22;
  static constexpr float kScale = 0x1.fffffep-33f, kHalf = 0x1p-65f, kQuarterTurn = 0x1.921fb6p0f;
};
template <> struct Words<double> {
  static constexpr int kBits = 64, kAngleBits = 51;
  static constexpr double kScale = 0x1.fffffffffffffp-65, kHalf = 0x1p-129, kQuarterTurn = 0x1.921fb54442d18p0;
};

template <class T> struct Kernel {
  using D = Tag<T>;
  using DU = hn::RebindToUnsigned<D>;
  using V = hn::Vec<D>;
  using VU = hn::Vec<DU>;
  using Bits = typename Format<T>::Bits;
  using W = Words<T>;
  static constexpr int kHalfWord = W::kBits / 2;
  static constexpr std::size_t kPairs = 2;  // vectors of pairs at a time: of floats at most kTransformGrain values

  static HWY_INLINE V uniform(VU x, VU y) {
    const D d;
    const V sum = hn::Add(to_float<-W::kBits>(d, y), to_float(d, x));
    return hn::Add(hn::Mul(sum, hn::Set(d, W::kScale)), hn::Set(d, W::kHalf));
  }

  static HWY_INLINE void exponentials(VU x, VU y, V& e0, V& e1) {
    const D d;
    V u[2] = {uniform(x, y), uniform(y, x)};
    logs(d, u);
    e0 = hn::Neg(u[0]);
    e1 = hn::Neg(u[1]);
  }

  // Bit number `bit` of y becomes the sign of a positive v.
  template <int kBit> static HWY_INLINE V with_sign(V v, VU y) {
    const D d;
    const DU du;
    const VU sign = hn::And(hn::ShiftLeft<W::kBits - 1 - kBit>(y), hn::Set(du, Bits{1} << (W::kBits - 1)));
    return hn::BitCast(d, hn::Or(hn::BitCast(du, v), sign));
  }

  // N pairs: what waits longest, the logarithms and roots, is done for all of them side by side.
  template <std::size_t N>
  static HWY_INLINE void normal_pairs(const VU (&x)[N], const VU (&y)[N], V (&z0)[N], V (&z1)[N]) {
    const D d;
    const DU du;
    V r[N];
    each<N>([&](std::size_t i) { r[i] = uniform(x[i], y[i]); });
    logs(d, r);
    each<N>([&](std::size_t i) { r[i] = hn::Sqrt(hn::Mul(r[i], hn::Set(d, T(-2)))); });
    const VU mask = hn::Set(du, (Bits{1} << W::kAngleBits) - 1);
    const V step = hn::Set(d, static_cast<T>(W::kQuarterTurn / static_cast<T>(Bits{1} << W::kAngleBits)));
    const V half = hn::Mul(step, hn::Set(d, T(0.5)));
    const auto angle = [&](VU k) { return hn::Add(hn::Mul(small_to_float(d, k), step), half); };
    each<N>([&](std::size_t i) {
      const V phi = angle(hn::And(y[i], mask)), rest = angle(hn::AndNot(y[i], mask));  // together pi/2
      const V smaller = hn::Min(phi, rest);
      const V s = sine(d, smaller), c = cosine(d, smaller);
      const auto first = hn::Lt(phi, rest);
      z0[i] = with_sign<W::kAngleBits + 1>(hn::Mul(r[i], hn::IfThenElse(first, s, c)), y[i]);
      z1[i] = with_sign<W::kAngleBits>(hn::Mul(r[i], hn::IfThenElse(first, c, s)), y[i]);
    });
  }

  // A turn of cuRAND's as whole quarters and an angle of at most an eighth.
  static HWY_INLINE V curand_quarters(VU y, V& angle) {
    const D d;
    const V whole = hn::Set(d, Format<T>::kRound);
    const auto round = [&](V v) { return hn::Sub(hn::Add(v, whole), whole); };
    if constexpr (sizeof(T) == 4) {
      const V turn = hn::Set(d, 0x1.921fb6p-30f);  // 2 pi 2^-32 in float
      const V v = hn::Add(hn::Mul(to_float(d, y), turn), hn::Mul(turn, hn::Set(d, 0.5f)));
      const V q = round(hn::Mul(v, hn::Set(d, 0x1.45f306p-1f)));  // 2 / pi
      angle = hn::Sub(v, hn::Mul(q, hn::Set(d, 0x1.92p0f)));      // pi/2 in three parts; q times the first two is exact
      angle = hn::Sub(angle, hn::Mul(q, hn::Set(d, 0x1.fb5p-12f)));
      angle = hn::Sub(angle, hn::Mul(q, hn::Set(d, 0x1.110b46p-26f)));
      return q;
    } else {
      const V v = hn::Add(hn::Mul(curand_whole(y), hn::Set(d, 0x1p-52)), hn::Set(d, 0x1p-53));  // in units of pi
      const V q = round(hn::Mul(v, hn::Set(d, 2.0)));
      angle = hn::Mul(hn::Sub(v, hn::Mul(q, hn::Set(d, 0.5))), hn::Set(d, 0x1.921fb54442d18p1));
      return q;
    }
  }

  // 53 bits of a 64-bit word as cuRAND takes them: the low half xor 2^21 times the high half.
  static HWY_INLINE V curand_whole(VU x) {
    const D d;
    const DU du;
    const VU mixed =
        hn::Xor(hn::And(x, hn::Set(du, Bits(0xffffffff))), hn::ShiftLeft<21>(hn::ShiftRight<kHalfWord>(x)));
    return to_float(d, mixed);
  }

  static HWY_INLINE void curand_pair(VU x, VU y, V& z0, V& z1) {
    const D d;
    V u;
    if constexpr (sizeof(T) == 4) {
      u = hn::Add(to_float<-32>(d, x), hn::Set(d, 0x1p-33f));
    } else {
      u = hn::Add(hn::Mul(curand_whole(x), hn::Set(d, 0x1p-53)), hn::Set(d, 0x1p-54));
    }
    const V r = hn::Sqrt(hn::Mul(log(d, u), hn::Set(d, T(-2))));
    V angle;
    const V q = curand_quarters(y, angle);
    const V s = sine(d, angle), c = cosine(d, angle);
    const auto is = [&](V v, double n) { return hn::Eq(v, hn::Set(d, static_cast<T>(n))); };
    const auto odd = hn::Or(is(q, 1), is(q, 3));  // q is 0 .. 4
    const auto sine_negative = hn::Or(is(q, 2), is(q, 3)), cosine_negative = hn::Or(is(q, 1), is(q, 2));
    const auto negate_if = [&](auto m, V v) { return hn::IfThenElse(m, hn::Neg(v), v); };
    z0 = hn::Mul(r, negate_if(sine_negative, hn::IfThenElse(odd, c, s)));
    z1 = hn::Mul(r, negate_if(cosine_negative, hn::IfThenElse(odd, s, c)));
  }

  // cot(pi/2 u): the sine and cosine of whichever of u and 1 - u is smaller.
  static HWY_INLINE V cotangent(V u) {
    const D d;
    const V rest = hn::Sub(hn::Set(d, T(1)), u);
    const V angle = hn::Mul(hn::Min(u, rest), hn::Set(d, W::kQuarterTurn));
    const V s = sine(d, angle), c = cosine(d, angle);
    const auto first = hn::Lt(u, rest);
    return hn::Div(hn::IfThenElse(first, c, s), hn::IfThenElse(first, s, c));
  }

  template <Law L, std::size_t N>
  static HWY_INLINE void pairs(const Transform& t, const VU (&x)[N], const VU (&y)[N], V (&z0)[N], V (&z1)[N]) {
    const D d;
    if constexpr (L == Law::Normal || L == Law::LogNormal) {
      normal_pairs(x, y, z0, z1);
      const V location = hn::Set(d, static_cast<T>(t.location)), scale = hn::Set(d, static_cast<T>(t.scale));
      each<N>([&](std::size_t i) {
        for (V* z : {&z0[i], &z1[i]}) {
          *z = hn::Add(hn::Mul(*z, scale), location);
          if constexpr (L == Law::LogNormal) *z = exp(d, *z);
        }
      });
    } else {
      each<N>([&](std::size_t i) { pair<L>(t, x[i], y[i], z0[i], z1[i]); });
    }
  }

  template <Law L> static HWY_INLINE void pair(const Transform& t, VU x, VU y, V& z0, V& z1) {
    const D d;
    const V location = hn::Set(d, static_cast<T>(t.location)), scale = hn::Set(d, static_cast<T>(t.scale));
    const auto affine = [&](V v) { return hn::Add(hn::Mul(v, scale), location); };
    if constexpr (L == Law::NormalCurand) {
      curand_pair(x, y, z0, z1);
      z0 = affine(z0);
      z1 = affine(z1);
    } else if constexpr (L == Law::Cauchy) {
      z0 = affine(with_sign<0>(cotangent(uniform(x, y)), y));
      z1 = affine(with_sign<0>(cotangent(uniform(y, x)), x));
    } else {
      exponentials(x, y, z0, z1);
      if constexpr (L == Law::Laplace) {
        z0 = affine(with_sign<0>(z0, y));
        z1 = affine(with_sign<0>(z1, x));
      } else if constexpr (L == Law::Weibull) {
        const V shape = hn::Set(d, static_cast<T>(t.shape));
        z0 = hn::Mul(exp(d, hn::Mul(log(d, z0), shape)), scale);
        z1 = hn::Mul(exp(d, hn::Mul(log(d, z1), shape)), scale);
      } else {
        z0 = hn::Mul(z0, scale);
        z1 = hn::Mul(z1, scale);
      }
    }
  }

  template <Law L> static void run(const Transform& law, const std::uint32_t* words, std::int64_t count, T* out) {
    const Transform t = law;  // of our own, so that the stores do not make the compiler read it again
    const D d;
    const DU du;
    const auto values = static_cast<std::int64_t>(2 * hn::Lanes(d));
    const auto* w = reinterpret_cast<const Bits*>(words);
    for (std::int64_t i = 0; i < count; i += kPairs * values) {
      VU x[kPairs], y[kPairs];
      each<kPairs>(
          [&](std::size_t p) { hn::LoadInterleaved2(du, w + i + static_cast<std::int64_t>(p) * values, x[p], y[p]); });
      V z0[kPairs], z1[kPairs];
      pairs<L>(t, x, y, z0, z1);
      each<kPairs>([&](std::size_t p) {
        hn::StoreInterleaved2(z0[p], z1[p], d, out + i + static_cast<std::int64_t>(p) * values);
      });
    }
  }
};

// One 64-bit word makes one value.
template <class T> void run_inverse(const Transform& t, const std::uint32_t* words, std::int64_t count, T* out) {
  const Tag<double> d;
  const hn::RebindToUnsigned<decltype(d)> du;
  const hn::Rebind<T, decltype(d)> dt;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto* w = reinterpret_cast<const std::uint64_t*>(words);
  for (std::int64_t i = 0; i < count; i += lanes) {
    const auto x = hn::Load(du, w + i);
    const auto first_bit = hn::Set(du, std::uint64_t{1} << 63);
    const auto upper = hn::Eq(hn::And(x, first_bit), first_bit);
    const auto mass = hn::IfThenElse(upper, hn::Not(x), x);  // beyond: counted from the nearer end
    const auto share = hn::Add(to_float<-64>(d, mass), hn::Set(d, 0x1p-65));
    const auto distance = normal_distance(d, share);
    const auto z = hn::BitCast(d, hn::Xor(hn::BitCast(du, distance), hn::AndNot(x, first_bit)));
    if constexpr (sizeof(T) == 8) {
      hn::StoreU(hn::Add(hn::Mul(z, hn::Set(d, t.scale)), hn::Set(d, t.location)), d, out + i);
    } else {
      const auto narrow = hn::DemoteTo(dt, z);
      const auto scale = hn::Set(dt, static_cast<T>(t.scale)), location = hn::Set(dt, static_cast<T>(t.location));
      hn::StoreU(hn::Add(hn::Mul(narrow, scale), location), dt, out + i);
    }
  }
}

template <class T> void transform_target(const Transform& t, const std::uint32_t* words, std::int64_t count, T* out) {
  switch (t.law) {
    case Law::LogNormal:
      return Kernel<T>::template run<Law::LogNormal>(t, words, count, out);
    case Law::Exponential:
      return Kernel<T>::template run<Law::Exponential>(t, words, count, out);
    case Law::Laplace:
      return Kernel<T>::template run<Law::Laplace>(t, words, count, out);
    case Law::Weibull:
      return Kernel<T>::template run<Law::Weibull>(t, words, count, out);
    case Law::Cauchy:
      return Kernel<T>::template run<Law::Cauchy>(t, words, count, out);
    case Law::NormalCurand:
      return Kernel<T>::template run<Law::NormalCurand>(t, words, count, out);
    case Law::NormalInverse:
      return run_inverse<T>(t, words, count, out);
    case Law::Normal:
    case Law::Bernoulli:  // has an entry of its own below
      return Kernel<T>::template run<Law::Normal>(t, words, count, out);
  }
}

void transform_float(const Transform& t, const std::uint32_t* words, std::int64_t count, float* out) {
  transform_target<float>(t, words, count, out);
}
void transform_double(const Transform& t, const std::uint32_t* words, std::int64_t count, double* out) {
  transform_target<double>(t, words, count, out);
}

// The 64-bit number (x, y), x leading, below the threshold.
void bernoulli_target(std::uint64_t threshold, bool always, const std::uint32_t* words, std::int64_t count,
                      std::uint32_t* out) {
  const Tag<std::uint32_t> d;
  const auto values = static_cast<std::int64_t>(2 * hn::Lanes(d));
  const auto high = hn::Set(d, static_cast<std::uint32_t>(threshold >> 32));
  const auto low = hn::Set(d, static_cast<std::uint32_t>(threshold));
  const auto every = hn::Set(d, std::uint32_t{always});
  const auto below = [&](auto x, auto y) {
    const auto less = hn::Or(hn::Lt(x, high), hn::And(hn::Eq(x, high), hn::Lt(y, low)));
    return hn::Or(hn::IfThenElseZero(less, hn::Set(d, 1u)), every);
  };
  for (std::int64_t i = 0; i < count; i += values) {
    hn::Vec<decltype(d)> x, y;
    hn::LoadInterleaved2(d, words + i, x, y);
    hn::StoreInterleaved2(below(x, y), below(y, x), d, out + i);
  }
}

}  // namespace trn::rand::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trn::rand::host {

HWY_EXPORT(transform_float);
HWY_EXPORT(transform_double);
HWY_EXPORT(bernoulli_target);

void transform_values(const Transform& t, const std::uint32_t* words, std::int64_t count, float* out) {
  HWY_DYNAMIC_DISPATCH(transform_float)(t, words, count, out);
}
void transform_values(const Transform& t, const std::uint32_t* words, std::int64_t count, double* out) {
  HWY_DYNAMIC_DISPATCH(transform_double)(t, words, count, out);
}
void bernoulli_values(std::uint64_t threshold, bool always, const std::uint32_t* words, std::int64_t count,
                      std::uint32_t* out) {
  HWY_DYNAMIC_DISPATCH(bernoulli_target)(threshold, always, words, count, out);
}

}  // namespace trn::rand::host
#endif
