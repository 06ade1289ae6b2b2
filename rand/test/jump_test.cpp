// Jumps of the recurrences against stepping and against published numbers.
#include <random>

#include "host/mt19937.hpp"
#include "host/sources.hpp"
#include "rand_support.hpp"

namespace trn::rand::test {
namespace {

namespace mt = host::mt19937;

std::uint32_t output(mt::Words state, std::size_t j) {
  for (std::size_t k = 0; k <= j / mt::kWords; ++k) mt::twist(state);
  return mt::temper(state[j % mt::kWords]);
}

// The C++ standard fixes the 10000th output for the default seed 5489; the authors' list begins 3499211612 581869302.
TEST(Mt19937, KnownAnswers) {
  const mt::Words state = mt::seeded(5489);
  EXPECT_EQ(output(state, 0), 3499211612u);
  EXPECT_EQ(output(state, 1), 581869302u);
  EXPECT_EQ(output(state, 9999), 4123659995u);
}

TEST(Mt19937, JumpsEqualSteps) {
  for (const std::uint64_t n : {0u, 1u, 227u, 623u, 624u, 19936u, 19937u, 1'000'003u}) {
    std::mt19937 reference(7);
    reference.discard(n);
    const mt::Words state = mt::jump(mt::seeded(7), mt::power(n));
    for (std::size_t j = 0; j < 1300; ++j) ASSERT_EQ(output(state, j), reference()) << n << " + " << j;
  }
}

TEST(Mt19937, PolynomialsMultiplyAsPowersAdd) {
  EXPECT_EQ(mt::multiply(mt::power(123'456'789), mt::power(987'654'321)), mt::power(1'111'111'110));
  EXPECT_EQ(mt::power_of_two(40), mt::power(std::uint64_t{1} << 40));
  EXPECT_EQ(mt::power_of_two(0), mt::power(1));
}

TEST(Xorwow, JumpsEqualSteps) {
  for (const std::uint64_t n : {1u, 2u, 31u, 1000u}) {
    host::XorwowState s = host::xorwow_state(99, 0, 5);
    for (std::uint64_t k = 0; k < n; ++k) {
      auto& v = s.v;
      const std::uint32_t t = v[0] ^ (v[0] >> 2);
      v = {v[1], v[2], v[3], v[4], v[4] ^ (v[4] << 4) ^ t ^ (t << 1)};
      s.d += 362437;
    }
    const host::XorwowState jumped = host::xorwow_state(99, n, 5);
    EXPECT_EQ(jumped.v, s.v);
    EXPECT_EQ(jumped.d, s.d);
  }
}

// The matrices of L'Ecuyer, Simard, Chen and Kelton's RngStreams package for 2^76 steps, first rows, applied to the
// start 12345, 12345, 12345.
TEST(Mrg32k3a, SubstreamsLieWhereTheAuthorPutsThem) {
  const auto product = [](std::uint64_t a, std::uint64_t b, std::uint64_t c, std::uint64_t m) {
    return static_cast<std::uint32_t>((a * 12345 % m + b * 12345 % m + c * 12345 % m) % m);
  };
  const host::Mrg32k3aState s = host::mrg32k3a_state(0, 0, 1);
  EXPECT_EQ(s.x[0], product(82758667, 1871391091, 4127413238, 4294967087));
  EXPECT_EQ(s.y[0], product(1511326704, 3759209742, 1610795712, 4294944443));
}

TEST(Mrg32k3a, JumpsEqualSteps) {
  host::Mrg32k3aState s = host::mrg32k3a_state(0x123456789abcdef, 0, 3);
  for (int k = 0; k < 1000; ++k) {
    const std::uint64_t m1 = 4294967087, m2 = 4294944443;
    const std::uint64_t p = (1403580 * std::uint64_t{s.x[1]} + 810728 * (m1 - s.x[0])) % m1;
    const std::uint64_t q = (527612 * std::uint64_t{s.y[2]} + 1370589 * (m2 - s.y[0])) % m2;
    s = {{s.x[1], s.x[2], static_cast<std::uint32_t>(p)}, {s.y[1], s.y[2], static_cast<std::uint32_t>(q)}};
  }
  const host::Mrg32k3aState jumped = host::mrg32k3a_state(0x123456789abcdef, 1000, 3);
  EXPECT_EQ(jumped.x, s.x);
  EXPECT_EQ(jumped.y, s.y);
}

}  // namespace
}  // namespace trn::rand::test
