// Quasi-random points: cuRAND's and SciPy's values, evenness, scrambling, pieces, refusals; Latin hypercubes.
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>
#include <trn/rand/quasi.hpp>
#include <trn/rand/raw64.hpp>

#include "curand_points.hpp"
#include "directions.hpp"
#include "host/permutation.hpp"
#include "rand_support.hpp"

namespace trn::rand::test {
namespace {

template <class T> std::vector<T> points(const State& state, std::int64_t n, Interval interval = Interval::OpenClosed) {
  const Executor e = Executor::host();
  Generator g(state);
  const Array<T> out(e, {state.dimensions, n});
  if constexpr (std::is_same_v<T, std::uint32_t>)
    raw32(e, g, out.view());
  else if constexpr (std::is_same_v<T, std::uint64_t>)
    raw64(e, g, out.view());
  else
    uniform(e, g, out.view(), interval);
  EXPECT_EQ(g.state().position, state.position + static_cast<std::uint64_t>(n));
  return out.to_host();
}

TEST(Sobol, CurandsPoints) {
  for (const CurandPoints& c : kCurandPoints) {
    const State state{.algorithm = c.algorithm, .position = c.position, .dimensions = 1000};
    SCOPED_TRACE(::testing::Message() << name(c.algorithm) << " from point " << c.position);
    const auto floats = points<float>(state, 4);
    const auto doubles = points<double>(state, 4);
    const bool wide = c.algorithm == Algorithm::Sobol64 || c.algorithm == Algorithm::ScrambledSobol64;
    std::vector<std::uint64_t> raw;
    if (wide) {
      raw = points<std::uint64_t>(state, 4);
    } else {
      const auto words = points<std::uint32_t>(state, 4);
      raw.assign(words.begin(), words.end());
    }
    for (std::size_t k = 0; k < std::size(kCurandCoordinates); ++k) {
      for (std::size_t i = 0; i < 4; ++i) {
        const std::size_t at = 4 * kCurandCoordinates[k] + i;
        EXPECT_EQ(raw[at], c.raw[k][i]);
        EXPECT_EQ(std::bit_cast<std::uint32_t>(floats[at]), c.floats[k][i]);
        EXPECT_EQ(std::bit_cast<std::uint64_t>(doubles[at]), c.doubles[k][i]);
      }
    }
  }
  const auto far = points<std::uint32_t>({.algorithm = Algorithm::Sobol32, .position = 5, .dimensions = 20000}, 1);
  for (std::size_t k = 0; k < std::size(kCurandFar); ++k) EXPECT_EQ(far[4999 * k], kCurandFar[k]);
}

// scipy.stats.qmc.Sobol(21201, scramble=False), 30 bits, point 1002: the dimensions beyond cuRAND's.
TEST(Sobol, ScipysPoint) {
  const auto p = points<std::uint32_t>({.algorithm = Algorithm::Sobol32, .position = 1002, .dimensions = 21201}, 1);
  constexpr std::pair<std::size_t, std::uint32_t> kScipy[] = {
      {0, 1041235968}, {19999, 661651456}, {20000, 258998272}, {20700, 292552704}, {21200, 894435328}};
  for (const auto& [dimension, value] : kScipy) EXPECT_EQ(p[dimension] >> 2, value) << dimension;
}

// scipy.stats.qmc.Halton(6, scramble=False), points 5 and 7, and exact fractions.
TEST(Halton, RadicalInverses) {
  const auto p =
      points<double>({.algorithm = Algorithm::Halton, .position = 5, .dimensions = 6}, 3, Interval::HalfOpen);
  const double fifth[] = {5.0 / 8, 7.0 / 9, 1.0 / 25, 5.0 / 7, 5.0 / 11, 5.0 / 13};
  const double seventh[] = {7.0 / 8, 5.0 / 9, 11.0 / 25, 1.0 / 49, 7.0 / 11, 7.0 / 13};
  for (std::size_t j = 0; j < 6; ++j) {  // rounded down to 53 bits
    EXPECT_GE(fifth[j], p[3 * j]);
    EXPECT_NEAR(p[3 * j], fifth[j], 0x1p-52);
    EXPECT_GE(seventh[j], p[3 * j + 2]);
    EXPECT_NEAR(p[3 * j + 2], seventh[j], 0x1p-52);
  }
  // The 21201st prime is 239737: its digit n alone, as 64 bits rounded down.
  const auto last = points<std::uint64_t>({.algorithm = Algorithm::Halton, .position = 17, .dimensions = 21201}, 1);
  EXPECT_EQ(last[21200], static_cast<std::uint64_t>(17 * (0x1p64L / 239737)));
}

// Any 2^k points from a multiple of 2^k on have one point in each of the 2^k slices of every coordinate.
TEST(Sobol, EverySliceOfEveryCoordinateOnce) {
  for (const Algorithm a : {Algorithm::Sobol32, Algorithm::ScrambledSobol32, Algorithm::OwenSobol32}) {
    for (const std::uint64_t seed : {0u, 1u, 77u}) {
      if (seed != 0 && a != Algorithm::OwenSobol32) continue;
      const auto p = points<std::uint32_t>({.algorithm = a, .seed = seed, .position = 3 << 10, .dimensions = 50}, 1024);
      for (std::size_t j = 0; j < 50; ++j) {
        std::set<std::uint32_t> slices;
        for (std::size_t i = 0; i < 1024; ++i) slices.insert(p[1024 * j + i] >> 22);
        EXPECT_EQ(slices.size(), 1024u) << name(a) << " coordinate " << j;
      }
    }
  }
}

// Coordinates 0 and 1 form a (0, 2)-sequence: every elementary interval of area 2^-10 holds one of 2^10 points, also
// after nested scrambling.
TEST(Sobol, ElementaryIntervalsOfTwoCoordinates) {
  for (const Algorithm a : {Algorithm::Sobol32, Algorithm::ScrambledSobol32, Algorithm::OwenSobol32}) {
    const std::uint64_t seed = a == Algorithm::OwenSobol32 ? 5 : 0;
    const auto p = points<std::uint32_t>({.algorithm = a, .seed = seed, .dimensions = 2}, 1024);
    for (int bits = 0; bits <= 10; ++bits) {
      std::set<std::pair<std::uint64_t, std::uint64_t>> cells;
      for (std::size_t i = 0; i < 1024; ++i) {
        cells.insert({std::uint64_t{p[i]} >> (32 - bits), std::uint64_t{p[1024 + i]} >> (22 + bits)});
      }
      EXPECT_EQ(cells.size(), 1024u) << name(a) << " " << bits;
    }
  }
}

// Nested: two fractions that agree in their first k bits and differ in the next still do so after scrambling. And over
// many seeds every point is uniform: each of its first bits is one half of the time.
TEST(Owen, IsNestedAndUniform) {
  const std::uint32_t d = 3;
  const auto plain = points<std::uint32_t>({.algorithm = Algorithm::Sobol32, .dimensions = d}, 200);
  std::array<int, 32> ones{};
  constexpr int kSeeds = 4000;
  for (int seed = 1; seed <= kSeeds; ++seed) {
    const auto owen = points<std::uint32_t>(
        {.algorithm = Algorithm::OwenSobol32, .seed = static_cast<std::uint64_t>(seed), .dimensions = d},
        seed <= 20 ? 200 : 1);
    for (std::size_t b = 0; b < 32; ++b) ones[b] += static_cast<int>(owen[0] >> b & 1);
    if (seed > 20) continue;
    for (std::size_t i = 1; i < 200; ++i) {
      ASSERT_EQ(std::countl_zero(owen[i] ^ owen[i - 1]), std::countl_zero(plain[i] ^ plain[i - 1]));
    }
  }
  for (const int count : ones) EXPECT_NEAR(count, kSeeds / 2, 5 * std::sqrt(kSeeds / 4.0));
}

// The mean of a product over 2^12 points: the error of scrambled points is far below that of random ones.
TEST(Quasi, IntegratesBetterThanChance) {
  constexpr std::int64_t n = 4096;
  constexpr std::uint32_t d = 5;
  for (const Algorithm a : {Algorithm::Sobol32, Algorithm::ScrambledSobol32, Algorithm::OwenSobol32, Algorithm::Sobol64,
                            Algorithm::ScrambledSobol64, Algorithm::Halton, Algorithm::ScrambledHalton}) {
    const auto x = points<double>({.algorithm = a, .dimensions = d}, n, Interval::HalfOpen);
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) {
      double f = 1;
      for (std::size_t j = 0; j < d; ++j) f *= 1 + (x[j * n + i] - 0.5);
      sum += f;
    }
    // The standard deviation of f is sqrt((1 + 1/12)^5 - 1) = 0.70; of a mean of 4096 random values 0.011; half of it.
    EXPECT_NEAR(sum / n, 1.0, 0.0055) << name(a);
  }
}

TEST(Quasi, PiecesAndThreadsMakeTheWhole) {
  const int threads = omp_get_max_threads();
  for (const Algorithm a : {Algorithm::Sobol32, Algorithm::ScrambledSobol32, Algorithm::OwenSobol32, Algorithm::Sobol64,
                            Algorithm::ScrambledSobol64, Algorithm::Halton, Algorithm::ScrambledHalton}) {
    const State state{.algorithm = a, .position = 250, .dimensions = 3};
    constexpr std::size_t n = 40'000;
    omp_set_num_threads(1);
    const auto whole = points<float>(state, n);
    omp_set_num_threads(3);
    EXPECT_TRUE(points<float>(state, n) == whole);
    State at = state;
    for (const std::size_t m : {1u, 6u, 300u, 20'000u}) {
      const auto part = points<float>(at, static_cast<std::int64_t>(m));
      const std::size_t from = at.position - state.position;
      for (std::size_t j = 0; j < 3; ++j) {
        EXPECT_TRUE(std::equal(part.begin() + static_cast<std::ptrdiff_t>(j * m),
                               part.begin() + static_cast<std::ptrdiff_t>((j + 1) * m),
                               whole.begin() + static_cast<std::ptrdiff_t>(j * n + from)));
      }
      at.position += m;
    }
    Generator skipped(state);
    skipped.skip(307);
    EXPECT_EQ(points<float>(skipped.state(), 1)[1], whole[n + 307]);
  }
  omp_set_num_threads(threads);
}

TEST(QuasiArguments, Refusals) {
  const Executor e = Executor::host();
  expect_refusal([] { Generator g(State{.algorithm = Algorithm::Sobol32, .dimensions = 0}); },
                 "0 dimensions with sobol32, which has 1 to 21201");
  expect_refusal([] { Generator g(State{.algorithm = Algorithm::Halton, .dimensions = 21202}); },
                 "which has 1 to 21201");
  expect_refusal([] { Generator g(State{.algorithm = Algorithm::ScrambledSobol64, .dimensions = 1025}); },
                 "which has 1 to 1024");
  expect_refusal([] { Generator g(State{.algorithm = Algorithm::Sobol64, .seed = 1}); }, "not seeded");
  expect_refusal([] { Generator g(State{.algorithm = Algorithm::Sobol32, .stream = 1}); }, "stream 0 alone");
  expect_refusal([] { Generator g(State{.algorithm = Algorithm::Sobol32, .position = (std::uint64_t{1} << 32) + 1}); },
                 "which has points 0 to 4294967295");
  std::vector<std::uint32_t> memory(7, 9);
  std::vector<std::uint64_t> longs(6, 9);
  Generator g(State{.algorithm = Algorithm::Sobol32, .position = (std::uint64_t{1} << 32) - 1, .dimensions = 3});
  const State before = g.state();
  expect_refusal([&] { raw32(e, g, View<std::uint32_t>(e, memory.data(), {7})); },
                 "7 values are not a multiple of 3 dimensions");
  expect_refusal([&] { raw32(e, g, View<std::uint32_t>(e, memory.data(), {6})); }, "+ 2 points exceeds 4294967296");
  expect_refusal([&] { raw64(e, g, View<std::uint64_t>(e, longs.data(), {3})); }, "32-bit fractions; use raw32");
  EXPECT_EQ(g.state(), before);
  EXPECT_EQ(memory, std::vector<std::uint32_t>(7, 9));
  raw32(e, g, View<std::uint32_t>(e, memory.data(), {3}));
  expect_refusal([&] { g.skip(1); }, "exceeds 2^32");
  Generator wide(State{.algorithm = Algorithm::Sobol64});
  expect_refusal([&] { raw32(e, wide, View<std::uint32_t>(e, memory.data(), {3})); }, "64-bit fractions; use raw64");
}

TEST(LatinHypercube, EverySliceOnceAndPieceIndependent) {
  const Executor e = Executor::host();
  for (const std::int64_t n : {1, 2, 3, 17, 1000, 65536}) {
    for (const Algorithm a : {Algorithm::Philox4x32_10, Algorithm::Xorwow}) {
      const State state{.algorithm = a, .seed = 4, .position = 10};
      Generator g(state), h(state);
      const Array<double> out(e, {4, n});
      const Array<float> floats(e, {4, n});
      latin_hypercube(e, g, out.view());
      latin_hypercube(e, h, floats.view());
      EXPECT_EQ(g.state().position, 10u + static_cast<std::uint64_t>(4 * n));
      for (std::int64_t j = 0; j < 4; ++j) {
        std::vector<bool> seen(static_cast<std::size_t>(n), false);
        for (std::int64_t i = 0; i < n; ++i) {
          const double x = out.data()[j * n + i];
          ASSERT_TRUE(x >= 0 && x < 1);
          const auto slice = static_cast<std::size_t>(x * static_cast<double>(n));
          ASSERT_FALSE(seen[slice]);
          seen[slice] = true;
          ASSERT_NEAR(floats.data()[j * n + i], x, 0x1p-24);
          ASSERT_LT(floats.data()[j * n + i], 1.0f);
        }
      }
    }
  }
  Generator quasi(State{.algorithm = Algorithm::Sobol32});
  const Array<float> out(e, {2, 8});
  expect_refusal([&] { latin_hypercube(e, quasi, out.view()); }, "give a pseudo-random generator");
  Generator g;
  expect_refusal([&] { latin_hypercube(e, g, View<float>(e, out.data(), {16})); }, "give it (dimensions, points)");
}

// Shuffled uniformly: every place of five goes everywhere equally often over keys.
TEST(Permutation, IsOneAndIsFair) {
  for (const std::uint64_t size : {1u, 2u, 3u, 5u, 64u, 1000u}) {
    const host::Permutation p(size, 99);
    std::set<std::uint64_t> seen;
    for (std::uint64_t x = 0; x < size; ++x) seen.insert(p(x));
    EXPECT_EQ(seen.size(), size);
    EXPECT_LT(*seen.rbegin(), size);
  }
  constexpr int kKeys = 20'000;
  int to[5][5] = {};
  for (std::uint64_t key = 0; key < kKeys; ++key) {
    const host::Permutation p(5, host::mix(key));
    for (std::uint64_t x = 0; x < 5; ++x) ++to[x][p(x)];
  }
  for (const auto& row : to) {
    for (const int count : row) EXPECT_NEAR(count, kKeys / 5, 5 * std::sqrt(kKeys * 0.16));
  }
}

}  // namespace
}  // namespace trn::rand::test
