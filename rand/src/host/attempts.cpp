// Attempts of rejection samplers on vectors; see attempts.hpp.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "host/attempts.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h comes first.
#include <hwy/highway.h>

#include <numbers>

#include "host/attempts.hpp"
#include "host/scalar_math.hpp"
#include "host/vector_math-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trn::rand::host::HWY_NAMESPACE {

using D = hn::CappedTag<double, kAttemptGrain>;
using DU = hn::RebindToUnsigned<D>;
using V = hn::Vec<D>;
using VU = hn::Vec<DU>;

HWY_INLINE V number(double x) { return hn::Set(D(), x); }

// scalar::log and scalar::quarter_turn have one term more than the functions of transforms.cpp.
HWY_INLINE V log_of(V x) { return log<static_cast<int>(scalar::kLog.size())>(D(), x); }

HWY_INLINE V uniform(VU word) {  // ElementWords::uniform
  return hn::Mul(hn::Add(small_to_float(D(), hn::ShiftRight<12>(word)), number(0.5)), number(0x1p-52));
}

HWY_INLINE V standard_normal(VU x, VU y) {
  const D d;
  const DU du;
  const V fine = hn::Add(hn::Mul(to_float(d, y), number(0x1p-64)), to_float(d, x));
  const V u = hn::Add(hn::Mul(fine, number(0x1p-64)), number(0x1p-129));
  const VU fraction = hn::And(y, hn::Set(du, (std::uint64_t{1} << 51) - 1));
  const V f = hn::Mul(hn::Add(small_to_float(d, fraction), number(0.5)), number(0x1p-51)), rest = hn::Sub(number(1), f);
  const V angle = hn::Mul(hn::Min(f, rest), number(std::numbers::pi / 2));
  const V s = sine(d, angle), c = cosine(d, angle, static_cast<int>(scalar::kCosine.size()));
  const V z = hn::Mul(hn::Sqrt(hn::Mul(number(-2), log_of(u))), hn::IfThenElse(hn::Lt(f, rest), s, c));
  const VU sign = hn::ShiftLeft<63>(hn::ShiftRight<52>(y));
  return hn::BitCast(d, hn::Xor(hn::BitCast(du, z), sign));
}

void gamma_target(const GammaAttempt& by, const std::uint64_t* words, std::int64_t n, double* value,
                  std::uint64_t* accepted) {
  const D d;
  const DU du;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  for (std::int64_t i = 0; i < n; i += lanes) {
    VU x, y, test, last;
    hn::LoadInterleaved4(du, words + 4 * i, x, y, test, last);
    const V z = standard_normal(x, y), root = hn::Add(number(1), hn::Mul(number(by.c), z));
    const auto positive = hn::Gt(root, number(0));
    const V safe = hn::IfThenElse(positive, root, number(1)), v = hn::Mul(hn::Mul(safe, safe), safe);
    const V u = uniform(test), square = hn::Mul(z, z);
    const auto at_once = hn::Lt(u, hn::Sub(number(1), hn::Mul(hn::Mul(number(0.0331), square), square)));
    const V inside = hn::Add(hn::Sub(number(1), v), log_of(v));
    const V limit = hn::Add(hn::Mul(number(0.5), square), hn::Mul(number(by.d), inside));
    auto good = hn::And(positive, hn::Or(at_once, hn::Lt(log_of(u), limit)));
    V result = hn::Mul(number(by.d), v);
    if (by.boost != 0) {
      const V e = hn::Add(hn::Mul(to_float(d, last), number(0x1p-64)), number(0x1p-65));
      const V exponent = hn::Mul(hn::Neg(hn::Max(hn::Neg(log_of(e)), number(0x1p-53))), number(by.boost));
      good = hn::And(good, hn::Gt(exponent, number(-700)));  // no subnormal powers here
      result = hn::Mul(result, exp(d, exponent));
    }
    hn::StoreU(result, d, value + i);
    hn::StoreU(hn::BitCast(du, hn::VecFromMask(d, good)), du, accepted + i);
  }
}

// scalar::stirling_error for n >= 16.
HWY_INLINE V stirling_series(V n) {
  const V i = hn::Div(number(1), n), z = hn::Mul(i, i);
  V sum = hn::Sub(number(1.0 / 1188), hn::Div(hn::Mul(z, number(691.0)), number(360360)));
  for (const double c : {1.0 / 1680, 1.0 / 1260, 1.0 / 360, 1.0 / 12}) sum = hn::Sub(number(c), hn::Mul(z, sum));
  return hn::Mul(i, sum);
}

// scalar::deviance, x > 0. A lane whose sum stands still stays where it is: its terms only shrink.
HWY_INLINE V deviance(V x, V m) {
  const D d;
  const V difference = hn::Sub(x, m), total = hn::Add(x, m);
  const auto near = hn::Lt(hn::Abs(difference), hn::Mul(number(0.1), total));
  const V v = hn::IfThenElseZero(near, hn::Div(difference, total)), z = hn::Mul(v, v);
  V sum = hn::Mul(difference, v), term = hn::Mul(hn::Mul(number(2), x), v);
  for (int j = 1; j < 1000; ++j) {
    term = hn::Mul(term, z);
    const V next = hn::Add(sum, hn::Div(term, number(2 * j + 1)));
    if (hn::AllTrue(d, hn::Eq(next, sum))) break;
    sum = next;
  }
  if (hn::AllTrue(d, near)) return sum;
  const V far = hn::Sub(hn::Add(hn::Mul(x, log_of(hn::Div(x, m))), m), x);
  return hn::IfThenElse(near, sum, far);
}

void poisson_target(const PoissonAttempt& by, const std::uint64_t* words, std::int64_t n, double* value,
                    std::uint64_t* accepted) {
  const D d;
  const DU du;
  const hn::RebindToSigned<D> di;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const V lambda = number(by.lambda);
  for (std::int64_t i = 0; i < n; i += lanes) {
    VU first, second;
    hn::LoadInterleaved2(du, words + 2 * i, first, second);
    const V u = uniform(first), v = uniform(second);
    const V offset = hn::Div(hn::Mul(number(by.width), hn::Sub(v, number(0.5))), u);
    const V k = hn::Floor(hn::Add(number(by.centre), offset));
    const auto inside = hn::Ge(k, number(0)), small = hn::Lt(k, number(16)), zero = hn::Eq(k, number(0));
    const V safe = hn::Max(k, number(1));
    V stirling = stirling_series(hn::Max(k, number(16)));
    if (!hn::AllFalse(d, small)) {
      const auto index = hn::ConvertTo(di, hn::Min(safe, number(15)));
      stirling = hn::IfThenElse(small, hn::GatherIndex(d, by.stirling.data(), index), stirling);
    }
    const V half_log = hn::Mul(number(0.5), log_of(hn::Mul(number(2 * std::numbers::pi), safe)));
    const V log_p = hn::Sub(hn::Sub(hn::Neg(stirling), deviance(safe, lambda)), half_log);
    const V t = hn::Sub(hn::IfThenElse(zero, hn::Neg(lambda), log_p), number(by.log_top));
    const auto at_once = hn::Le(hn::Sub(hn::Mul(u, hn::Sub(number(4), u)), number(3)), t);
    const auto never = hn::Ge(hn::Mul(u, hn::Sub(u, t)), number(1));
    const auto exactly = hn::Le(hn::Mul(number(2), log_of(u)), t);
    const auto good = hn::And(inside, hn::Or(at_once, hn::AndNot(never, exactly)));
    hn::StoreU(k, d, value + i);
    hn::StoreU(hn::BitCast(du, hn::VecFromMask(d, good)), du, accepted + i);
  }
}

}  // namespace trn::rand::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trn::rand::host {

HWY_EXPORT(gamma_target);
HWY_EXPORT(poisson_target);

void gamma_attempts(const GammaAttempt& by, const std::uint64_t* words, std::int64_t n, double* value,
                    std::uint64_t* accepted) {
  HWY_DYNAMIC_DISPATCH(gamma_target)(by, words, n, value, accepted);
}
void poisson_attempts(const PoissonAttempt& by, const std::uint64_t* words, std::int64_t n, double* value,
                      std::uint64_t* accepted) {
  HWY_DYNAMIC_DISPATCH(poisson_target)(by, words, n, value, accepted);
}

}  // namespace trn::rand::host
#endif
