// The inverse of the normal distribution function on vectors of doubles: Wichura's rational approximations (algorithm
// AS 241, Applied Statistics 37, 1988; relative error about 1e-16 by the author's analysis), evaluated without fused
// operations.
#if defined(TRN_RAND_INVERSE_NORMAL_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TRN_RAND_INVERSE_NORMAL_INL
#undef TRN_RAND_INVERSE_NORMAL_INL
#else
#define TRN_RAND_INVERSE_NORMAL_INL
#endif

#include "host/vector_math-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trn::rand::host::HWY_NAMESPACE {

struct Rational {
  double numerator[8], denominator[8];  // ascending powers
};

// In 0.425^2 - q^2, q = t - 1/2; in r - 1.6 and in r - 5, r = sqrt(-ln t).
inline constexpr Rational kCentre = {
    {3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3, 1.3731693765509461125e4,
     4.5921953931549871457e4, 6.7265770927008700853e4, 3.3430575583588128105e4, 2.5090809287301226727e3},
    {1.0, 4.2313330701600911252e1, 6.8718700749205790830e2, 5.3941960214247511077e3, 2.1213794301586595867e4,
     3.9307895800092710610e4, 2.8729085735721942674e4, 5.2264952788528545610e3}};
inline constexpr Rational kShoulder = {
    {1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0, 3.64784832476320460504e0,
     1.27045825245236838258e0, 2.41780725177450611770e-1, 2.27238449892691845833e-2, 7.74545014278341407640e-4},
    {1.0, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1, 1.48103976427480074590e-1,
     1.51986665636164571966e-2, 5.47593808499534494600e-4, 1.05075007164441684324e-9}};
inline constexpr Rational kTail = {
    {6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0, 2.96560571828504891230e-1,
     2.65321895265761230930e-2, 1.24266094738807843860e-3, 2.71155556874348757815e-5, 2.01033439929228813265e-7},
    {1.0, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2, 7.86869131145613259100e-4,
     1.84631831751005468180e-5, 1.42151175831644588870e-7, 2.04426310338993978564e-15}};

template <class D, class V> HWY_INLINE V evaluate(D d, const Rational& f, V x) {
  const V n = series(d, x, 8, f.numerator);
  return hn::Div(n, series(d, x, 8, f.denominator));
}

// How far below 0 the point lies that has the mass t in (0, 1/2] to its left.
template <class D, class V> HWY_INLINE V normal_distance(D d, V t) {
  const V q = hn::Sub(hn::Set(d, 0.5), t);
  const V centre = hn::Mul(q, evaluate(d, kCentre, hn::Sub(hn::Set(d, 0.180625), hn::Mul(q, q))));
  const V r = hn::Sqrt(hn::Neg(log(d, t)));
  const V shoulder = evaluate(d, kShoulder, hn::Sub(r, hn::Set(d, 1.6)));
  const V tail = evaluate(d, kTail, hn::Sub(r, hn::Set(d, 5.0)));
  const V outside = hn::IfThenElse(hn::Le(r, hn::Set(d, 5.0)), shoulder, tail);
  return hn::IfThenElse(hn::Le(q, hn::Set(d, 0.425)), centre, outside);
}

}  // namespace trn::rand::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
