// Distributions with a fixed number of words per value on the host: against their formulas in long double on the
// oracle's words, whole tails, pieces, threads and instruction sets, and cuRAND's own normals.
#include <omp.h>

#include <cmath>
#include <numbers>
#include <trn/rand/bernoulli.hpp>
#include <trn/rand/exponential.hpp>
#include <trn/rand/normal.hpp>

#include "distribution_cases.hpp"
#include "host/transforms.hpp"
#include "rand_support.hpp"
#include "support/every_target.hpp"

namespace trn::rand::test {
namespace {

constexpr Real kQuarter = std::numbers::pi_v<Real> / 2;

// The formulas of host/transforms.cpp without their roundings, on words x and y of `bits` bits.
struct Exact {
  int bits, angle_bits;
  Real u(Real x, Real y) const {
    const Real unit = std::ldexp(Real(1), -bits);
    return (x + y * unit) * unit + unit * unit / 2;
  }
  Real exponential(Real x, Real y) const { return -std::log(u(x, y)); }
  // Coordinate 0 or 1.
  Real normal(std::uint64_t x, std::uint64_t y, int which) const {
    const std::uint64_t k = y & ((std::uint64_t{1} << angle_bits) - 1);
    const Real phi = (static_cast<Real>(k) + 0.5L) * std::ldexp(Real(1), -angle_bits) * kQuarter;
    const Real r = std::sqrt(-2 * std::log(u(static_cast<Real>(x), static_cast<Real>(y))));
    const bool negative = (y >> (angle_bits + 1 - which) & 1) != 0;
    return (negative ? -1 : 1) * r * (which == 0 ? std::sin(phi) : std::cos(phi));
  }
};
constexpr Exact kFloat{32, 22}, kDouble{64, 51};

// Word n of 32 or 64 bits.
template <class T> std::uint64_t word(const State& s, std::uint64_t n) {
  if (sizeof(T) == 4) return oracle(s, n);
  return oracle(s, 2 * n) | std::uint64_t{oracle(s, 2 * n + 1)} << 32;
}

// Within `ulp` ulps of the exact value, where an error of the uniform in the last place of a number near 1 counts too:
// -ln u then has four absolute errors of 2^-24 (2^-53): two words, their sum and the factor below 1 round once each.
template <class T> void expect_close(T got, Real exact, double ulp, Real absolute, const char* what, std::uint64_t n) {
  const Real unit = std::ldexp(Real(1), -std::numeric_limits<T>::digits);
  ASSERT_LE(std::fabs(static_cast<Real>(got) - exact), 2 * ulp * unit * std::fabs(exact) + absolute)
      << what << " value " << n;
}

template <class T> std::vector<T> draw(Generator& g, std::int64_t n,
                                       const std::function<void(const Executor&, Generator&, const View<T>&)>& f) {
  const Array<T> out(Executor::host(), {n});
  f(Executor::host(), g, out.view());
  return out.to_host();
}

template <class T> void check_formulas() {
  const Exact exact = sizeof(T) == 4 ? kFloat : kDouble;
  const Real unit = std::ldexp(Real(1), -std::numeric_limits<T>::digits);
  const std::uint64_t width = sizeof(T) / 4;
  for (const Algorithm a : kAlgorithms) {
    for (const std::uint64_t first : {0u, 1u, 262143u}) {
      const State state{a, 17, 3, first * width};
      const auto check = [&](const char* what, auto f, auto truth, double ulp, auto absolute) {
        Generator g(state);
        const auto values = draw<T>(g, 5001, f);
        EXPECT_EQ(g.state().position, state.position + 5001 * width);
        for (std::uint64_t i = 0; i < values.size(); ++i) {
          const std::uint64_t n = first + i, x = word<T>(state, n), y = word<T>(state, n ^ 1);
          expect_close(values[i], truth(n, x, y), ulp, absolute(truth(n, x, y)), what, n);
        }
      };
      const auto real = [](std::uint64_t w) { return static_cast<Real>(w); };
      // r has the error of u over r: half of an ulp of u near 1 over r, but never more than its root.
      check(
          "normal", [](auto& e, auto& g, auto& v) { normal(e, g, v); },
          [&](std::uint64_t n, std::uint64_t x, std::uint64_t y) {
            return n % 2 == 0 ? exact.normal(x, y, 0) : exact.normal(y, x, 1);
          },
          5, [&](Real z) { return std::min(std::sqrt(8 * unit), 4 * unit / std::max(std::fabs(z), 1e-30L)); });
      check(
          "exponential", [](auto& e, auto& g, auto& v) { exponential(e, g, v, {2}); },
          [&](std::uint64_t, std::uint64_t x, std::uint64_t y) { return exact.exponential(real(x), real(y)) / 2; }, 3,
          [&](Real) { return 2 * unit; });
      check(
          "laplace",
          [](auto& e, auto& g, auto& v) {
            laplace(e, g, v, {0, 3});
          },
          [&](std::uint64_t, std::uint64_t x, std::uint64_t y) {
            return ((y & 1) != 0 ? -3 : 3) * exact.exponential(real(x), real(y));
          },
          3, [&](Real) { return 12 * unit; });
      check(
          "cauchy", [](auto& e, auto& g, auto& v) { cauchy(e, g, v); },
          [&](std::uint64_t, std::uint64_t x, std::uint64_t y) {
            return ((y & 1) != 0 ? -1 : 1) / std::tan(kQuarter * exact.u(real(x), real(y)));
          },
          6, [&](Real) { return 8 * unit; });
      // ln(e) / 2 has half the relative error of e, and exp adds its own.
      check(
          "weibull",
          [](auto& e, auto& g, auto& v) {
            weibull(e, g, v, {2, 3});
          },
          [&](std::uint64_t, std::uint64_t x, std::uint64_t y) {
            return 3 * std::sqrt(exact.exponential(real(x), real(y)));
          },
          12, [&](Real w) { return 18 * unit / w; });
      // e^z has the relative error of z's absolute one.
      check(
          "log_normal",
          [](auto& e, auto& g, auto& v) {
            log_normal(e, g, v, {0, 0.5});
          },
          [&](std::uint64_t n, std::uint64_t x, std::uint64_t y) {
            return std::exp((n % 2 == 0 ? exact.normal(x, y, 0) : exact.normal(y, x, 1)) / 2);
          },
          12,
          [&](Real w) {
            const Real z = std::max(2 * std::fabs(std::log(w)), 1e-30L);
            return w * std::min(std::sqrt(8 * unit), 4 * unit / z);
          });
    }
  }
}

TEST(Transform, FormulasInFloat) { check_formulas<float>(); }
TEST(Transform, FormulasInDouble) { check_formulas<double>(); }

// Crafted words: the smallest uniforms, the largest, and both signs. The tail follows the formula to its end.
TEST(Transform, TheTailIsWhole) {
  alignas(64) std::uint32_t words[host::kTransformGrain] = {};
  alignas(64) float values[host::kTransformGrain];
  const std::uint32_t seconds[] = {0, 1, 77, 0x00400000, 0x00800000, 0x01234567, 0x80000000, 0xffffffff};
  for (std::uint32_t x = 0; x < 100; ++x) {
    for (std::size_t k = 0; k < 8; ++k) words[2 * k] = x, words[2 * k + 1] = seconds[k];
    host::transform_values({Law::Normal}, words, host::kTransformGrain, values);
    for (std::size_t k = 0; k < 8; ++k) {
      for (int which : {0, 1}) {
        expect_close(values[2 * k + static_cast<std::size_t>(which)], kFloat.normal(x, seconds[k], which), 5, 0,
                     "normal", x);
      }
    }
  }
  words[0] = words[1] = 0;
  host::transform_values({Law::Normal}, words, host::kTransformGrain, values);
  EXPECT_NEAR(values[1], std::sqrt(130 * std::numbers::ln2), 1e-5);  // r = sqrt(-2 ln 2^-65), the angle nearly 0
  host::transform_values({Law::Exponential}, words, host::kTransformGrain, values);
  EXPECT_NEAR(values[0], 65 * std::numbers::ln2, 1e-5);
  words[0] = words[1] = ~0u;  // u rounds to 1
  host::transform_values({Law::Exponential}, words, host::kTransformGrain, values);
  EXPECT_EQ(values[0], 0x1p-24f);  // -ln(1 - 2^-24), rounded
  host::transform_values({Law::Normal}, words, host::kTransformGrain, values);
  EXPECT_GT(std::fabs(values[0]) + std::fabs(values[1]), 3e-4f);  // the radius is never 0
}

// One value of two words: where the distribution function is (word + 1/2) 2^-64.
TEST(Transform, InverseNormal) {
  const State state{.seed = 4, .position = 7};
  Generator g(state);
  const auto values =
      draw<double>(g, 3000, [](auto& e, auto& gen, auto& v) { normal(e, gen, v, {.method = NormalMethod::Inverse}); });
  EXPECT_EQ(g.state().position, 7u + 6000);
  for (std::uint64_t i = 0; i < values.size(); ++i) {
    const std::uint64_t x = oracle(state, 7 + 2 * i) | std::uint64_t{oracle(state, 8 + 2 * i)} << 32;
    const bool negative = x >> 63 == 0;
    const Real mass = (static_cast<Real>(negative ? x : ~x) + 0.5L) * 0x1p-64L;
    const Real z = std::fabs(static_cast<Real>(values[i]));
    ASSERT_EQ(std::signbit(values[i]), negative);
    // d mass / mass = -z dz near the tail: 1e-14 relative in the mass is less than 1e-14 in z.
    ASSERT_LE(std::fabs(normal_cdf(-z) - mass), 3e-15L * (mass + 0.1L)) << i;
  }
}

TEST(Transform, BernoulliComparesSixtyFourBits) {
  const State state{.seed = 8, .position = 3};
  for (const double p : {0.0, 1e-12, 0.25, 0.3, 0.999, 1.0}) {
    Generator g(state), h(state);
    const auto bits = draw<std::uint32_t>(g, 4000, [&](auto& e, auto& gen, auto& v) { bernoulli(e, gen, v, {p}); });
    const auto floats = draw<float>(h, 4000, [&](auto& e, auto& gen, auto& v) { bernoulli(e, gen, v, {p}); });
    for (std::uint64_t i = 0; i < bits.size(); ++i) {
      const std::uint64_t n = 3 + i, x = std::uint64_t{oracle(state, n)} << 32 | oracle(state, n ^ 1);
      const bool expected = static_cast<Real>(x) < std::ldexp(static_cast<Real>(p), 64);
      ASSERT_EQ(bits[i], expected ? 1u : 0u) << p << " " << i;
      ASSERT_EQ(floats[i], expected ? 1.0f : 0.0f);
    }
  }
  alignas(64) std::uint32_t words[host::kTransformGrain] = {5, 9, 5, 10, 4, 99, 6, 0};
  alignas(64) std::uint32_t out[host::kTransformGrain];
  host::bernoulli_values(std::uint64_t{5} << 32 | 10, false, words, host::kTransformGrain, out);
  EXPECT_EQ(out[0], 1u);  // 5, 9
  EXPECT_EQ(out[2], 0u);  // 5, 10
  EXPECT_EQ(out[4], 1u);
  EXPECT_EQ(out[6], 0u);
}

// Any pseudo-random algorithm: the same formulas on its words, in pieces too.
TEST(Transform, OtherAlgorithms) {
  const Executor e = Executor::host();
  for (const Algorithm a : {Algorithm::Xorwow, Algorithm::Mrg32k3a}) {
    const State state{.algorithm = a, .seed = 3, .position = 4095};
    Generator words(State{.algorithm = a, .seed = 3, .position = 4094}), whole(state), pieces(state);
    const auto raw = draw_raw(e, words, 600);
    const auto normals = [](auto& exec, auto& gen, auto& v) { normal(exec, gen, v); };
    const auto values = draw<float>(whole, 500, normals);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::size_t pair = (i + 1) / 2 * 2;  // the first value is the second half of a pair
      const int which = static_cast<int>((i + 1) % 2);
      const Real exact = kFloat.normal(raw[pair], raw[pair + 1], which);
      expect_close(values[i], exact, 5, std::min(0x1p-10L, 0x1p-22L / std::max(std::fabs(exact), 1e-30L)), "normal", i);
    }
    std::vector<float> joined;
    for (const std::int64_t n : {1, 2, 197, 300}) {
      const auto next = draw<float>(pieces, n, normals);
      joined.insert(joined.end(), next.begin(), next.end());
    }
    EXPECT_EQ(joined, values);
    EXPECT_EQ(pieces.state(), whole.state());
  }
}

// Points of a quasi-random sequence: the inverse at the middle of each step, coordinate by coordinate.
TEST(Transform, NormalsOfPoints) {
  const Executor e = Executor::host();
  for (const Algorithm a : {Algorithm::Sobol32, Algorithm::OwenSobol32, Algorithm::Halton}) {
    const State state{.algorithm = a, .position = 5, .dimensions = 3};
    Generator g(state), h(state);
    const Array<double> z(e, {3, 40}), u(e, {3, 40});
    normal(e, g, z.view(), {.method = NormalMethod::Inverse});
    uniform(e, h, u.view(), Interval::HalfOpen);
    EXPECT_EQ(g.state(), h.state());
    const Real half = a == Algorithm::Halton ? 0x1p-54L : 0x1p-33L;
    for (std::int64_t i = 0; i < 120; ++i) {
      ASSERT_NEAR(static_cast<double>(normal_cdf(z.data()[i])), static_cast<double>(u.data()[i] + half), 1e-15) << i;
    }
    const Array<float> out(e, {3}), some(e, {4});
    EXPECT_THROW(normal(e, g, out.view()), InvalidArgument);
    EXPECT_THROW(exponential(e, g, out.view()), InvalidArgument);
    EXPECT_THROW(normal(e, g, some.view(), {.method = NormalMethod::Inverse}), InvalidArgument);
    EXPECT_EQ(g.state(), h.state());
  }
}

// cuRAND 13.0, host generator, seed 1234: curandGenerateNormal (offsets 0 and 262140 inside one draw) and the first
// pair of curandGenerateNormalDouble. Its sinf and cosf and ours differ by an ulp of 1 now and then, hence 2^-22.
TEST(Transform, CurandNormals) {
  const float first[] = {-0x1.9dd252p+0f, 0x1.3aa9eep+0f,  -0x1.8f7f94p+0f, 0x1.dbc5b4p-2f,  0x1.230c9p-1f,
                         -0x1.24c204p-2f, 0x1.047274p-2f,  0x1.4f8e7cp-1f,  -0x1.053c2cp-1f, 0x1.f4f21ap-1f,
                         0x1.46e962p+0f,  -0x1.0fd87cp-4f, -0x1.d29b12p-1f, -0x1.0401cap-6f, 0x1.02d63ep-1f,
                         -0x1.78e54ep-1f, -0x1.27cff6p+0f, -0x1.204d36p+0f};
  const float later[] = {0x1.4e789cp-1f, 0x1.3ebefep-2f,  -0x1.34f162p-1f, -0x1.aa52acp+0f,
                         0x1.44237p-1f,  0x1.7c9a9cp-1f,  0x1.a86f82p-4f,  0x1.81ac78p-3f,
                         0x1.a2c538p+0f, -0x1.0f967ap+1f, -0x1.6bb37cp-2f, -0x1.06270ep+1f};
  const auto check = [](std::uint64_t position, std::span<const float> expected) {
    Generator g(State{.seed = 1234, .position = position});
    const auto values = draw<float>(g, static_cast<std::int64_t>(expected.size()), [](auto& e, auto& gen, auto& v) {
      normal(e, gen, v, {.method = NormalMethod::Curand});
    });
    for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(values[i], expected[i], 0x1p-22) << i;
  };
  check(0, first);
  check(262140, later);
  Generator g(State{.seed = 1234});
  const auto values =
      draw<double>(g, 2, [](auto& e, auto& gen, auto& v) { normal(e, gen, v, {.method = NormalMethod::Curand}); });
  EXPECT_NEAR(values[0], -0x1.143cd7d47b538p-1, 1e-15);
  EXPECT_NEAR(values[1], 0x1.48fa22ccec992p-3, 1e-15);
}

// Every distribution: pieces make the whole, and the bits do not depend on threads or instruction set. Positions are
// odd on purpose. Rows are whole.
TEST(EveryDistribution, PiecesMakeTheWhole) {
  for (const DistributionCase& c : distribution_cases()) {
    for (const Algorithm a : kAlgorithms) {
      const State begin{a, 77, 1, 65535};
      Generator whole(begin);
      const auto expected = c.draw(whole, 48);
      for (const std::int64_t piece : {1, 2, 3, 5, 7}) {
        Generator g(begin);
        std::vector<double> values;
        while (values.size() < expected.size()) {
          g = Generator(State(g.state()));
          const auto next =
              c.draw(g, std::min<std::int64_t>(piece, static_cast<std::int64_t>(expected.size() - values.size())));
          values.insert(values.end(), next.begin(), next.end());
        }
        EXPECT_EQ(values, expected) << c.name << " pieces of " << piece;
        EXPECT_EQ(g.state(), whole.state()) << c.name;
      }
    }
  }
}

TEST(EveryDistribution, SameBitsOnEveryInstructionSetAndThreadCount) {
  constexpr std::int64_t n = 40'001;
  const auto cases = distribution_cases();
  const int threads = omp_get_max_threads();
  std::vector<std::vector<double>> expected;
  const State state{.seed = 5, .position = 3};
  omp_set_num_threads(1);
  for (const DistributionCase& c : cases) {
    Generator g(state);
    expected.push_back(c.draw(g, n));
  }
  const auto check = [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      Generator g(state);
      EXPECT_TRUE(cases[i].draw(g, n) == expected[i]) << cases[i].name;
    }
  };
  for (const int t : {2, 7}) {
    omp_set_num_threads(t);
    check(0, cases.size());
  }
  omp_set_num_threads(1);
  // The vectorised ones come first, float and double.
  const auto vectorised = static_cast<std::size_t>(
      std::find_if(cases.begin(), cases.end(), [](const auto& c) { return c.name.starts_with("gamma"); }) -
      cases.begin());
  const int targets = testing_support::on_every_target([&] { check(0, vectorised); });
  EXPECT_GE(targets, 2);
  omp_set_num_threads(threads);
}

TEST(Transform, AnyStridesAndDoubles) {
  const Executor e = Executor::host();
  const State state{.seed = 3};
  Generator g(state), h(state);
  std::vector<double> memory(400, -7);
  const Array<double> packed(e, {5, 7});
  normal(e, g, packed.view());
  normal(e, h, View<double>(e, memory.data() + 4 * 70, {5, 7}, {-70, 3}));
  const auto values = packed.to_host();
  for (std::int64_t i = 0; i < 5; ++i) {
    for (std::int64_t j = 0; j < 7; ++j) {
      double& m = memory[static_cast<std::size_t>(280 - 70 * i + 3 * j)];
      EXPECT_EQ(m, values[static_cast<std::size_t>(7 * i + j)]);
      m = -7;
    }
  }
  for (const double m : memory) EXPECT_EQ(m, -7);
}

}  // namespace
}  // namespace trn::rand::test
