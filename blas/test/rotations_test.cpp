// Plane rotations against their definition in __float128.
#include <trn/blas/rotations.hpp>

#include "vector_support.hpp"

namespace trn::blas::test {
namespace {

template <class T> class Rotations : public ::testing::Test {
 protected:
  Executor host_ = Executor::host();
  std::mt19937_64 random_{23};
};
TYPED_TEST_SUITE(Rotations, ScalarTypes);

TYPED_TEST(Rotations, Rot) {
  using T = TypeParam;
  for (const std::int64_t n : {0, 1, 3, 17, 200}) {
    for (const std::int64_t incx : {1, 2, -1}) {
      for (const std::int64_t incy : {1, -3}) {
        for (const T s : {T(Real<T>(0.6)), number<T>(0.36, 0.48)}) {
          const Real<T> c = Real<T>(0.8);
          Vec<T> x(n, incx, this->random_), y(n, incy, this->random_);
          const Vec<T> x0 = x, y0 = y;
          rot(this->host_, x.view(), y.view(), c, s);
          for (std::int64_t i = 0; i < n; ++i) {
            const double scale = size(x0(i)) + size(y0(i));
            expect_close(x.at(i), wide(T(c)) * x0(i) + wide(s) * y0(i), sum_bound<T>(3), scale, "rot x", i);
            expect_close(y.at(i), wide(T(c)) * y0(i) - conj(wide(s)) * x0(i), sum_bound<T>(3), scale, "rot y", i);
          }
          EXPECT_TRUE(x.surroundings_intact(x0) && y.surroundings_intact(y0));
        }
      }
    }
  }
}

// c and s are on the unit circle, and the rotation takes (a, b) to (r, 0), up to a few roundings, also where squares
// leave the range.
TYPED_TEST(Rotations, Rotg) {
  using T = TypeParam;
  using R = Real<T>;
  const R large = std::sqrt(std::numeric_limits<R>::max()) * 1000,
          small = std::sqrt(std::numeric_limits<R>::min()) / 1000;
  for (int round = 0; round < 400; ++round) {
    T a = random_value<T>(this->random_), b = random_value<T>(this->random_);
    if (round % 4 == 1) a *= large, b *= large;
    if (round % 4 == 2) a *= small, b *= small;
    if (round % 4 == 3) a *= small;
    const auto g = rotg(a, b);
    const double u = kUnit<T>, norm = std::hypot(size(wide(a)), size(wide(b)));
    EXPECT_LE(std::abs(double(g.c) * double(g.c) + size(wide(g.s)) * size(wide(g.s)) - 1), 8 * u);
    const Wide r = wide(T(g.c)) * wide(a) + wide(g.s) * wide(b),
               zero = wide(T(g.c)) * wide(b) - conj(wide(g.s)) * wide(a);
    EXPECT_LE(size(r - wide(g.r)), 6 * u * norm) << round;
    EXPECT_LE(size(zero), 6 * u * norm) << round;
    if constexpr (RealScalar<T>) {
      // z recovers both: 1 means c = 0, |z| < 1 is s, otherwise 1 / c.
      const double z = g.z;
      const double c = z == 1 ? 0 : std::abs(z) < 1 ? std::sqrt((1 - z) * (1 + z)) : 1 / z;
      const double s = z == 1 ? 1 : std::abs(z) < 1 ? z : std::sqrt((1 - c) * (1 + c));
      EXPECT_LE(std::abs(c - double(g.c)), 1e-3) << z;
      EXPECT_LE(std::abs(s - double(g.s)), 1e-3) << z;
      EXPECT_EQ(std::signbit(g.r), std::signbit(std::abs(a) > std::abs(b) ? a : b));
    }
  }
}

TYPED_TEST(Rotations, RotgOfZeros) {
  using T = TypeParam;
  const T five = number<T>(3, 4);
  const auto none = rotg(five, T(0));
  EXPECT_TRUE(none.c == 1 && none.s == T(0) && none.r == five && none.z == T(0));
  const auto both = rotg(T(0), T(0));
  EXPECT_TRUE(both.c == 1 && both.s == T(0) && both.r == T(0) && both.z == T(0));
  const auto swap = rotg(T(0), five);
  EXPECT_EQ(swap.c, 0);
  if constexpr (RealScalar<T>) {
    EXPECT_TRUE(swap.s == 1 && swap.r == five && swap.z == 1);
  } else {
    EXPECT_LE(std::abs(swap.s - T(Real<T>(0.6), Real<T>(-0.8))), 2 * kUnit<T>);
    EXPECT_EQ(swap.r, T(5));
  }
}

template <class T> class ModifiedRotations : public ::testing::Test {};
using RealTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(ModifiedRotations, RealTypes);

// H by its flag: [h11 h12; h21 h22] with the implied entries.
template <class T> std::array<double, 4> entries(const ModifiedRotation<T>& h) {
  if (h.flag == -1) return {h.h11, h.h12, h.h21, h.h22};
  if (h.flag == 0) return {1, h.h12, h.h21, 1};
  if (h.flag == 1) return {h.h11, 1, -1, h.h22};
  return {1, 0, 0, 1};
}

TYPED_TEST(ModifiedRotations, Rotm) {
  using T = TypeParam;
  const Executor host = Executor::host();
  std::mt19937_64 random(5);
  for (const T flag : {T(-2), T(-1), T(0), T(1)}) {
    const ModifiedRotation<T> h{flag, T(0.5), T(-0.25), T(0.75), T(1.5)};
    const auto m = entries(h);
    for (const std::int64_t n : {0, 1, 5, 33}) {
      for (const auto& [incx, incy] : {std::pair<std::int64_t, std::int64_t>{1, 1}, {2, -1}, {-1, -2}, {-2, 3}}) {
        Vec<T> x(n, incx, random), y(n, incy, random);
        const Vec<T> x0 = x, y0 = y;
        rotm(host, x.view(), y.view(), h);
        for (std::int64_t i = 0; i < n; ++i) {
          const Wide a = x0(i), b = y0(i);
          const double scale = 2 * (size(a) + size(b));
          expect_close(x.at(i), Wide{m[0]} * a + Wide{m[1]} * b, sum_bound<T>(3), scale, "rotm x", i);
          expect_close(y.at(i), Wide{m[2]} * a + Wide{m[3]} * b, sum_bound<T>(3), scale, "rotm y", i);
        }
        EXPECT_TRUE(x.surroundings_intact(x0) && y.surroundings_intact(y0));
      }
    }
  }
  Vec<T> x(2, 1, random), y(2, 1, random);
  const Vec<T> before = x;
  EXPECT_IN("flag is 3", message_of<InvalidArgument>([&] { rotm(host, x.view(), y.view(), {T(3), 0, 0, 0, 0}); }));
  EXPECT_TRUE(x.same(before));
}

// D^(1/2) H annihilates the second component and keeps the norm: H^T D' H = D and H (x1, y1) = (x1', 0).
TYPED_TEST(ModifiedRotations, Rotmg) {
  using T = TypeParam;
  std::mt19937_64 random(9);
  std::uniform_real_distribution<double> uniform(0.1, 10);
  for (int round = 0; round < 300; ++round) {
    const T scale = round % 3 == 1   ? T(1e9)
                    : round % 3 == 2 ? T(1e-9)
                                     : T(1);  // the factors are rescaled by powers of 4096
    const T d1 = static_cast<T>(uniform(random)) * scale, d2 = static_cast<T>(uniform(random)) * scale;
    const T x1 = static_cast<T>(uniform(random) * (random() % 2 ? 1 : -1)), y1 = static_cast<T>(uniform(random));
    const auto r = rotmg(d1, d2, x1, y1);
    const auto m = entries(r.h);
    const double u = kUnit<T>, size = std::abs(m[0] * x1) + std::abs(m[1] * y1);
    EXPECT_LE(std::abs(m[2] * x1 + m[3] * y1), 16 * u * (std::abs(m[2] * x1) + std::abs(m[3] * y1)));
    EXPECT_LE(std::abs(m[0] * x1 + m[1] * y1 - double(r.x1)), 16 * u * size);
    EXPECT_NEAR((double(r.d1) * m[0] * m[0] + double(r.d2) * m[2] * m[2]) / double(d1), 1, 32 * u);
    EXPECT_NEAR((double(r.d1) * m[1] * m[1] + double(r.d2) * m[3] * m[3]) / double(d2), 1, 32 * u);
  }
  // Entries that the flag implies keep their old values.
  const ModifiedRotation<T> old{T(7), T(11), T(12), T(13), T(14)};
  const auto zero = rotmg<T>(T(2), T(1), T(3), T(1), old);
  EXPECT_EQ(zero.h.flag, 0);
  EXPECT_TRUE(zero.h.h11 == 11 && zero.h.h22 == 14 && zero.h.h21 != 12 && zero.h.h12 != 13);
  const auto one = rotmg<T>(T(1), T(2), T(1), T(3), old);
  EXPECT_EQ(one.h.flag, 1);
  EXPECT_TRUE(one.h.h21 == 12 && one.h.h12 == 13 && one.h.h11 != 11 && one.h.h22 != 14);
  const auto identity = rotmg<T>(T(1), T(2), T(1), T(0), old);
  EXPECT_EQ(identity.h.flag, -2);
  EXPECT_TRUE(identity.h.h11 == 11 && identity.h.h21 == 12 && identity.h.h12 == 13 && identity.h.h22 == 14);
}

// As the reference has it: with d1 = 0 the second element still becomes zero, a d1 below zero or a sum of squares below
// zero has no H.
TYPED_TEST(ModifiedRotations, RotmgAtTheEdges) {
  using T = TypeParam;
  const auto weightless = rotmg<T>(T(0), T(2), T(3), T(-4));
  EXPECT_EQ(weightless.h.flag, 1);
  EXPECT_TRUE(weightless.h.h11 == 0 && weightless.h.h22 == T(-0.75) && weightless.d1 == 2 && weightless.d2 == 0 &&
              weightless.x1 == -4);
  for (const auto& none : {rotmg<T>(T(-1), T(2), T(3), T(4)), rotmg<T>(T(1), T(-2), T(3), T(4))}) {
    EXPECT_TRUE(none.h.flag == -1 && none.h.h11 == 0 && none.h.h12 == 0 && none.h.h21 == 0 && none.h.h22 == 0);
    EXPECT_TRUE(none.d1 == 0 && none.d2 == 0 && none.x1 == 0);
  }
  const T infinity = std::numeric_limits<T>::infinity();
  EXPECT_FALSE(std::isfinite(rotmg<T>(infinity, T(1), T(1), T(1)).d1));  // and it ends
}

}  // namespace
}  // namespace trn::blas::test
