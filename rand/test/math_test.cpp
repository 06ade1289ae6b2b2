// The elementary functions of the host kernels against libm's in long double (double for float): errors in ulp over the
// arguments that occur. Their bits are the same on every instruction set, so one is enough here.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "host/inverse_normal-inl.hpp"
#include "host/scalar_math.hpp"
#include "host/vector_math-inl.hpp"
#include "statistics.hpp"

namespace trn::rand::test {
namespace {

namespace v = host::HWY_NAMESPACE;
namespace hn = hwy::HWY_NAMESPACE;

// Distance in units of the last place of the exact value.
template <class T> double ulps(T got, long double exact) {
  if (static_cast<T>(exact) == got) return 0;
  int exponent = 0;
  (void)std::frexp(exact, &exponent);
  const int digits = std::numeric_limits<T>::digits;
  exponent = std::max(exponent, std::numeric_limits<T>::min_exponent);
  return static_cast<double>(std::fabs(static_cast<long double>(got) - exact) / std::ldexp(1.0L, exponent - digits));
}

// f of one number through the vector code.
template <class T, class F> T one(F f, T x) {
  const hn::CappedTag<T, 1> d;
  return hn::GetLane(f(d, hn::Set(d, x)));
}

template <class T> struct Worst {
  double ulp = 0;
  void add(T got, long double exact) { ulp = std::max(ulp, ulps(got, exact)); }
};

template <class T> void check_vector_functions() {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> unit(0, 1);
  Worst<T> log, exp, sine, cosine;
  for (int i = 0; i < 200'000; ++i) {
    const T x = static_cast<T>(std::exp2(-65 * unit(random))), near = static_cast<T>(1 - 0.01 * unit(random));
    log.add(one<T>([](auto d, auto a) { return v::log(d, a); }, x), std::log(static_cast<long double>(x)));
    log.add(one<T>([](auto d, auto a) { return v::log(d, a); }, near), std::log(static_cast<long double>(near)));
    const T y = static_cast<T>((unit(random) - 0.5) * (sizeof(T) == 4 ? 206 : 1480));
    const long double e = std::exp(static_cast<long double>(y));
    if (e < std::numeric_limits<T>::max()) exp.add(one<T>([](auto d, auto a) { return v::exp(d, a); }, y), e);
    const T angle = static_cast<T>(unit(random) * 0.7854);
    sine.add(one<T>([](auto d, auto a) { return v::sine(d, a); }, angle), std::sin(static_cast<long double>(angle)));
    cosine.add(one<T>([](auto d, auto a) { return v::cosine(d, a); }, angle),
               std::cos(static_cast<long double>(angle)));
  }
  EXPECT_LE(log.ulp, 1.5);
  EXPECT_LE(exp.ulp, 1.5);
  EXPECT_LE(sine.ulp, 1.5);
  EXPECT_LE(cosine.ulp, 1.5);
  std::printf("worst ulp: log %.2f exp %.2f sin %.2f cos %.2f\n", log.ulp, exp.ulp, sine.ulp, cosine.ulp);
}

TEST(VectorMath, Float) { check_vector_functions<float>(); }
TEST(VectorMath, Double) { check_vector_functions<double>(); }

TEST(VectorMath, WordsToNumbers) {
  const hn::CappedTag<float, 1> f;
  const hn::CappedTag<double, 1> d;
  std::mt19937_64 random(6);
  for (int i = 0; i < 100'000; ++i) {
    const std::uint64_t x = random() >> (i % 64);
    const auto narrow = static_cast<std::uint32_t>(x);
    EXPECT_EQ(hn::GetLane(v::to_float(f, hn::Set(hn::RebindToUnsigned<decltype(f)>(), narrow))),
              static_cast<float>(narrow));
    EXPECT_EQ(hn::GetLane(v::to_float(d, hn::Set(hn::RebindToUnsigned<decltype(d)>(), x))), static_cast<double>(x));
  }
}

// Phi(-distance) = t: the error of the inverse, seen through erfc in long double and the slope of Phi.
TEST(VectorMath, InverseNormal) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> unit(0, 1);
  double worst = 0;
  for (int i = 0; i < 100'000; ++i) {
    const double t = i % 2 == 0 ? std::exp2(-1 - 64 * unit(random)) : 0.5 * unit(random);
    const double z = one<double>([](auto d, auto a) { return v::normal_distance(d, a); }, t);
    const long double mass = normal_cdf(-static_cast<Real>(z));
    const long double density = std::exp(-static_cast<Real>(z) * z / 2) / std::sqrt(2 * std::numbers::pi_v<Real>);
    worst = std::max(worst, static_cast<double>(std::fabs(mass - t) / density / std::max<Real>(z, 1e-3L)));
  }
  EXPECT_LE(worst, 1e-15);  // the slope's own rounding near 0 is not counted: z is at least 1e-3 there
}

TEST(ScalarMath, AgainstLongDouble) {
  using namespace host::scalar;
  std::mt19937_64 random(8);
  std::uniform_real_distribution<double> unit(0, 1);
  Worst<double> log_, log1p_, exp_, sine_, cosine_, arctan_;
  for (int i = 0; i < 200'000; ++i) {
    const double x = std::exp2(2000 * (unit(random) - 0.5)), p = -unit(random), e = 1400 * (unit(random) - 0.5);
    const double f = unit(random), t = std::exp2(80 * (unit(random) - 0.5));
    log_.add(log(x), std::log(static_cast<Real>(x)));
    log1p_.add(log1p(p), std::log1p(static_cast<Real>(p)));
    log1p_.add(log1p(p * 1e-9), std::log1p(static_cast<Real>(p * 1e-9)));
    exp_.add(exp(e), std::exp(static_cast<Real>(e)));
    const SineCosine sc = quarter_turn(f);
    sine_.add(sc.sine, std::sin(static_cast<Real>(f) * std::numbers::pi_v<Real> / 2));
    cosine_.add(sc.cosine, std::sin((1 - static_cast<Real>(f)) * std::numbers::pi_v<Real> / 2));
    arctan_.add(arctan(t), std::atan(static_cast<Real>(t)));
  }
  EXPECT_LE(log_.ulp, 1.0);
  EXPECT_LE(log1p_.ulp, 2.0);
  EXPECT_LE(exp_.ulp, 1.5);
  EXPECT_LE(sine_.ulp, 2.5);  // f pi/2 rounds first
  EXPECT_LE(cosine_.ulp, 2.5);
  EXPECT_LE(arctan_.ulp, 6.0);
  std::printf("worst ulp: log %.2f log1p %.2f exp %.2f sin %.2f cos %.2f atan %.2f\n", log_.ulp, log1p_.ulp, exp_.ulp,
              sine_.ulp, cosine_.ulp, arctan_.ulp);
  EXPECT_EQ(log(0.0), -INFINITY);
  EXPECT_NEAR(log(5e-324), std::log(5e-324), 1e-12);
  EXPECT_EQ(log1p(-1.0), -INFINITY);
  EXPECT_EQ(exp(-1000), 0);
  EXPECT_EQ(exp(1000), INFINITY);
}

// ln n! and x ln(x / m) + m - x in long double; the second cancels there too, by about x / (x - m)^2 of 1e-19.
TEST(ScalarMath, FactorialsAndDeviances) {
  using namespace host::scalar;
  for (const double n : {1.0, 2.0, 5.0, 15.0, 16.0, 17.0, 100.0, 1000.0}) {
    const Real r = n,
               exact = std::lgamma(r + 1) - (r + 0.5L) * std::log(r) + r - std::log(2 * std::numbers::pi_v<Real>) / 2;
    EXPECT_NEAR(stirling_error(n), static_cast<double>(exact), 2e-15) << n;
  }
  for (const double x : {0.0, 1.0, 90.0, 100.0, 109.0, 200.0, 1e4}) {
    const Real r = x, exact = (x == 0 ? Real(0) : r * std::log(r / 100)) + 100 - r;
    EXPECT_NEAR(deviance(x, 100), static_cast<double>(exact), 1e-15 * static_cast<double>(exact) + 1e-16 * 100) << x;
  }
}

}  // namespace
}  // namespace trn::rand::test
