// The generators as cuRAND has them, and what holds for every pseudo-random algorithm: pieces, threads, instruction
// sets, strides, pairs of words.
#include <hwy/targets.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <trn/rand/normal.hpp>
#include <trn/rand/raw64.hpp>

#include "curand_digests.hpp"
#include "curand_draws.hpp"
#include "host/words.hpp"
#include "rand_support.hpp"
#include "support/every_target.hpp"

namespace trn::rand::test {
namespace {

constexpr Algorithm kPseudo[] = {Algorithm::Philox4x32_10, Algorithm::Threefry4x32_20, Algorithm::Xorwow,
                                 Algorithm::Mrg32k3a, Algorithm::Mt19937};

template <class T> std::vector<T> draw(Generator& g, std::int64_t n, Interval interval = Interval::OpenClosed) {
  const Executor e = Executor::host();
  const Array<T> out(e, {n});
  if constexpr (std::is_same_v<T, std::uint32_t>)
    raw32(e, g, out.view());
  else if constexpr (std::is_same_v<T, std::uint64_t>)
    raw64(e, g, out.view());
  else
    uniform(e, g, out.view(), interval);
  return out.to_host();
}

std::string describe(const State& s) {
  return std::string(name(s.algorithm)) + " seed " + std::to_string(s.seed) + " position " + std::to_string(s.position);
}

TEST(CurandGenerators, RawFloatsAndDoubles) {
  for (const CurandDraws& d : kCurandDraws) {
    const State state{
        .algorithm = d.algorithm, .seed = d.seed, .position = d.offset, .ordering = d.ordering, .origin = d.offset};
    SCOPED_TRACE(describe(state));
    Generator raw(state), floats(state), doubles(state);
    const auto r = draw<std::uint32_t>(raw, 16);
    EXPECT_TRUE(std::equal(r.begin(), r.end(), d.raw.begin()));
    EXPECT_EQ(std::memcmp(draw<float>(floats, 8).data(), d.floats.data(), sizeof d.floats), 0);
    EXPECT_EQ(std::memcmp(draw<double>(doubles, 8).data(), d.doubles.data(), sizeof d.doubles), 0);
    EXPECT_EQ(raw.state().position, d.offset + 16);
    const bool pairs = d.algorithm == Algorithm::Xorwow || d.algorithm == Algorithm::Philox4x32_10;
    EXPECT_EQ(doubles.state().position, d.offset + (pairs ? 16 : 8));
  }
}

// Tens of thousands of values, so that a rounding that is done differently in one value of a hundred shows.
TEST(CurandGenerators, LongDrawsBitForBit) {
  for (const CurandDigest& d : kCurandDigests) {
    const State state{.algorithm = d.algorithm, .seed = d.seed, .ordering = d.ordering, .dimensions = d.dimensions};
    SCOPED_TRACE(describe(state));
    Generator floats(state), doubles(state);
    EXPECT_EQ(digest(draw<float>(floats, d.count)), d.floats);
    EXPECT_EQ(digest(draw<double>(doubles, d.count)), d.doubles);
  }
}

// Mt19937's floats are its doubles, rounded once.
TEST(CurandGenerators, FloatsOfMt19937RoundOnce) {
  const State state{.algorithm = Algorithm::Mt19937, .seed = 7, .position = 3};
  Generator words(state), floats(state);
  const auto x = draw<std::uint32_t>(words, 8000);
  const auto f = draw<float>(floats, 8000);
  int twice = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    ASSERT_EQ(f[i], static_cast<float>((static_cast<long double>(x[i]) + 0.5L) * 0x1p-32L)) << i;
    twice += f[i] != oracle_uniform(x[i], Interval::OpenClosed);
  }
  EXPECT_GT(twice, 20);  // 0.8 % differ from float(x) * 2^-32 + 2^-33
  EXPECT_LT(twice, 120);
}

// Column 0 of Xorwow and of both orderings of Mrg32k3a is the plain sequence from the seed.
TEST(Orderings, TheFirstColumnIsThePlainSequence) {
  constexpr std::int64_t kRows = 200;
  std::uint32_t v[5] = {123456789u + 1099087573u * 0xaad26b49u, 362436069u ^ 1099087573u * 0xaad26b49u,
                        521288629u + 2591861531u * 0xf7dcefddu, 88675123u ^ 2591861531u * 0xf7dcefddu,
                        5783321u + 1099087573u * 0xaad26b49u};
  std::uint32_t d = 6615241u + 1099087573u * 0xaad26b49u + 2591861531u * 0xf7dcefddu;
  Generator xorwow(State{.algorithm = Algorithm::Xorwow});
  const auto words = draw<std::uint32_t>(xorwow, 4096 * kRows);
  for (std::size_t r = 0; r < kRows; ++r) {
    const std::uint32_t t = v[0] ^ (v[0] >> 2);
    std::copy(v + 1, v + 5, v);
    v[4] = v[3] ^ (v[3] << 4) ^ t ^ (t << 1);
    d += 362437;
    ASSERT_EQ(words[4096 * r], v[4] + d) << r;
  }
  for (const Ordering ordering : {Ordering::Default, Ordering::Legacy}) {
    const std::size_t period = ordering == Ordering::Default ? 81920 : 4096;
    Generator mrg(State{.algorithm = Algorithm::Mrg32k3a, .ordering = ordering});
    const auto numbers = draw<double>(mrg, static_cast<std::int64_t>(period) * 10);
    std::int64_t x[3] = {12345, 12345, 12345}, y[3] = {12345, 12345, 12345};
    for (std::size_t r = 0; r < 10; ++r) {
      const std::int64_t m1 = 4294967087, m2 = 4294944443;
      const std::int64_t p = ((1403580 * x[1] - 810728 * x[0]) % m1 + m1) % m1;
      const std::int64_t q = ((527612 * y[2] - 1370589 * y[0]) % m2 + m2) % m2;
      x[0] = x[1], x[1] = x[2], x[2] = p, y[0] = y[1], y[1] = y[2], y[2] = q;
      const std::int64_t z = p > q ? p - q : p - q + m1;
      ASSERT_EQ(numbers[period * r], static_cast<double>(z) * 2.3283065498378288e-10) << r;
    }
    // The author's package, seeds 12345: its first two numbers.
    constexpr double kAuthor = 2.328306549295728e-10 / 2.3283065498378288e-10;  // divides by m1 + 1 instead of m1
    EXPECT_NEAR(numbers[0] * kAuthor, 0.127011122046577, 1e-15);
    EXPECT_NEAR(numbers[period] * kAuthor, 0.318527565396794, 1e-15);
  }
}

// Any way to cut a draw gives the same values, also after saving and restoring the state in between, for every kind of
// draw.
template <class T> void check_pieces(const State& begin, Interval interval) {
  SCOPED_TRACE(describe(begin));
  constexpr std::int64_t kTotal = 56;
  Generator whole(begin);
  const auto expected = draw<T>(whole, kTotal, interval);
  for (std::int64_t piece = 1; piece <= 7; ++piece) {
    Generator g(begin);
    std::vector<T> values;
    while (values.size() < expected.size()) {
      const State saved = g.state();
      g = Generator(saved);
      const auto next = draw<T>(g, std::min(piece, kTotal - static_cast<std::int64_t>(values.size())), interval);
      values.insert(values.end(), next.begin(), next.end());
    }
    EXPECT_EQ(values, expected) << "pieces of " << piece;
    EXPECT_EQ(g.state(), whole.state());
  }
}

TEST(PseudoRandom, PiecesMakeTheWhole) {
  for (const Algorithm a : kPseudo) {
    for (const std::uint64_t position : {std::uint64_t{4090}, std::uint64_t{81915}, std::uint64_t{262119}}) {
      const State state{.algorithm = a, .seed = 77, .position = position, .origin = 7};
      check_pieces<std::uint32_t>(state, {});
      check_pieces<std::uint64_t>(state, {});
      for (const Interval i : kIntervals) {
        check_pieces<float>(state, i);
        check_pieces<double>(state, i);
      }
    }
  }
}

// Long draws, cut at every odd place, across rows, columns and groups: pieces of a million words and more.
TEST(PseudoRandom, LongPiecesMakeTheWhole) {
  for (const Algorithm a : kPseudo) {
    const State begin{.algorithm = a, .seed = 3, .position = a == Algorithm::Mt19937 ? 78u * 65536 - 400'001 : 999u};
    SCOPED_TRACE(describe(begin));
    Generator whole(begin), parts(begin), skipped(begin);
    const auto expected = draw<std::uint32_t>(whole, 1'000'003);
    std::vector<std::uint32_t> values;
    for (const std::int64_t n : {300'007, 1, 262'144, 3, 131'071, 306'777}) {
      const auto next = draw<std::uint32_t>(parts, n);
      values.insert(values.end(), next.begin(), next.end());
    }
    EXPECT_TRUE(values == expected);
    skipped.skip(777'777);
    const auto tail = draw<std::uint32_t>(skipped, 100);
    EXPECT_TRUE(std::equal(tail.begin(), tail.end(), expected.begin() + 777'777));
    std::vector<std::uint32_t> again(100);
    host::words(begin, 777'777, 100, again.data());
    EXPECT_EQ(again, tail);
  }
}

// cuRAND's pairs are counted from the origin: a draw of doubles from position p is the tail of the draw from the
// origin.
TEST(PseudoRandom, DoublesContinueFromTheOrigin) {
  for (const Algorithm a : {Algorithm::Xorwow, Algorithm::Philox4x32_10}) {
    for (const std::uint64_t origin : {0u, 5u, 4096u, 262147u}) {
      Generator whole(State{.algorithm = a, .seed = 9, .position = origin, .origin = origin});
      const auto expected = draw<double>(whole, 600'000);
      for (const std::uint64_t i : {1u, 4091u, 262139u, 599'000u}) {
        for (const std::uint64_t odd : {0u, 1u}) {  // half a pair is dropped
          Generator tail(State{.algorithm = a, .seed = 9, .position = origin + 2 * i - odd, .origin = origin});
          const auto values = draw<double>(tail, 1000);
          EXPECT_TRUE(std::equal(values.begin(), values.end(), expected.begin() + static_cast<std::ptrdiff_t>(i)));
          EXPECT_EQ(tail.state().position, origin + 2 * (i + 1000));
        }
      }
    }
  }
}

TEST(PseudoRandom, SixtyFourBitsAndHalfOpenNumbersAreMadeOfWords) {
  for (const Algorithm a : kPseudo) {
    const State state{.algorithm = a, .seed = 5, .position = 4093};
    SCOPED_TRACE(describe(state));
    const std::int64_t n = a == Algorithm::Mt19937 ? 2001 : 70'001;  // Mt19937: what few twisters make
    Generator g(state), g64(state), gf(state), gd(state);
    const auto words = draw<std::uint32_t>(g, 2 * n);
    const auto longs = draw<std::uint64_t>(g64, n);
    const auto floats = draw<float>(gf, n, Interval::HalfOpen);
    const auto doubles = draw<double>(gd, n, Interval::HalfOpen);
    EXPECT_EQ(g64.state(), g.state());
    EXPECT_EQ(gd.state(), g.state());
    for (std::size_t i = 0; i < longs.size(); ++i) {
      const std::uint64_t z = words[2 * i] | std::uint64_t{words[2 * i + 1]} << 32;
      ASSERT_EQ(longs[i], z);
      ASSERT_EQ(floats[i], static_cast<float>(words[i] >> 8) * 0x1p-24f);
      ASSERT_EQ(doubles[i], static_cast<double>(z >> 11) * 0x1p-53);
    }
  }
}

TEST(PseudoRandom, StreamsDiffer) {
  for (const Algorithm a : kPseudo) {
    if (a == Algorithm::Mt19937) continue;
    std::vector<std::vector<std::uint32_t>> seen;
    for (const std::uint64_t stream : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1} << 39}) {
      Generator g(State{.algorithm = a, .seed = 5, .stream = stream});
      seen.push_back(draw<std::uint32_t>(g, 64));
    }
    EXPECT_NE(seen[0], seen[1]);
    EXPECT_NE(seen[0], seen[2]);
    EXPECT_NE(seen[1], seen[2]);
  }
  // Stream 1 of Xorwow begins where the 4096 columns of stream 0 end: column 4096 of the seed's sequence.
  Generator zero(State{.algorithm = Algorithm::Mrg32k3a, .ordering = Ordering::Default});
  Generator one(State{.algorithm = Algorithm::Mrg32k3a, .stream = 1, .ordering = Ordering::Legacy});
  zero.skip(4096);
  EXPECT_EQ(draw<std::uint32_t>(zero, 4096), draw<std::uint32_t>(one, 4096));
}

TEST(PseudoRandom, SameBitsOnEveryInstructionSetAndThreadCount) {
  const int threads = omp_get_max_threads();
  for (const Algorithm a : {Algorithm::Xorwow, Algorithm::Mrg32k3a, Algorithm::Mt19937, Algorithm::Philox4x32_10}) {
    const State state{.algorithm = a, .seed = 11, .position = 4095};
    SCOPED_TRACE(describe(state));
    const std::int64_t n = a == Algorithm::Mt19937 ? 5001 : 150'001;
    omp_set_num_threads(1);
    Generator g(state), gf(state), gd(state), gh(state);
    const auto words = draw<std::uint32_t>(g, n);
    const auto floats = draw<float>(gf, n);
    const auto doubles = draw<double>(gd, n);
    const auto half = draw<double>(gh, n, Interval::HalfOpen);
    (void)testing_support::on_every_target([&] {
      for (const int t : {2, 3, 7}) {
        omp_set_num_threads(t);
        Generator h(state), hf(state), hd(state), hh(state);
        EXPECT_TRUE(draw<std::uint32_t>(h, n) == words) << t;
        EXPECT_TRUE(draw<float>(hf, n) == floats) << t;
        EXPECT_TRUE(draw<double>(hd, n) == doubles) << t;
        EXPECT_TRUE(draw<double>(hh, n, Interval::HalfOpen) == half) << t;
      }
    });
  }
  omp_set_num_threads(threads);
}

// A distribution takes its words from any pseudo-random generator: the normals of Xorwow are those that Philox would
// make of the same words, and pieces make the whole.
TEST(PseudoRandom, DistributionsTakeTheirWords) {
  const Executor e = Executor::host();
  for (const Algorithm a : {Algorithm::Xorwow, Algorithm::Mrg32k3a, Algorithm::Mt19937}) {
    const State state{.algorithm = a, .seed = 8, .position = 5};
    SCOPED_TRACE(describe(state));
    Generator g(state), h(state);
    const Array<float> whole(e, {5000});
    normal(e, g, whole.view());
    double sum = 0, squares = 0;
    for (const float x : whole.to_host()) sum += x, squares += x * x;
    EXPECT_LE(std::abs(sum / 5000), 5 / std::sqrt(5000.0));
    EXPECT_LE(std::abs(squares / 5000 - 1), 5 * std::sqrt(2 / 5000.0));
    std::vector<float> values;
    for (const std::int64_t n : {1, 2, 30, 967, 4000}) {
      const Array<float> part(e, {n});
      normal(e, h, part.view());
      const auto next = part.to_host();
      values.insert(values.end(), next.begin(), next.end());
    }
    EXPECT_EQ(values, whole.to_host());
    EXPECT_EQ(g.state(), h.state());
  }
  Generator sobol(State{.algorithm = Algorithm::Sobol32});
  const Array<float> out(e, {4});
  EXPECT_THROW(normal(e, sobol, out.view()), InvalidArgument);
  EXPECT_EQ(sobol.state().position, 0u);
}

TEST(PseudoRandom, StridedOutputs) {
  const Executor e = Executor::host();
  for (const Algorithm a : {Algorithm::Xorwow, Algorithm::Mt19937}) {
    const State state{.algorithm = a, .seed = 3, .position = 1};
    Generator g(state), flat(state);
    const auto expected = draw<double>(flat, 30);
    std::vector<double> memory(100, -1.0);
    uniform(e, g, View<double>(e, memory.data() + 10, {5, 6}, {1, 7}));
    for (std::size_t i = 0; i < 5; ++i) {
      for (std::size_t j = 0; j < 6; ++j) EXPECT_EQ(memory[10 + i + 7 * j], expected[6 * i + j]);
    }
    EXPECT_EQ(std::count(memory.begin(), memory.end(), -1.0), 70);
  }
}

TEST(PseudoRandom, SixtyFourBitWordsOnEveryExecutor) {
  for (const char* executor : kExecutors) {
    const Executor e = Executor::open(executor);
    for (const Algorithm a : kAlgorithms) {
      const State state{.algorithm = a, .seed = 21, .position = 3};
      Generator g(state);
      const Recorder recorder(e);
      const Array<std::uint64_t> out(e, {3001});
      raw64(e, g, out.view());
      EXPECT_EQ(recorder.family_of("rand.raw64"), name(e.family()));
      EXPECT_EQ(g.state().position, 3u + 6002);
      const auto values = out.to_host();
      for (std::size_t i = 0; i < values.size(); ++i) {
        ASSERT_EQ(values[i], oracle(state, 3 + 2 * i) | std::uint64_t{oracle(state, 4 + 2 * i)} << 32) << executor;
      }
    }
  }
}

TEST(PseudoRandom, DevicesSayWhatTheyDoNotHave) {
  const Executor e = Executor::open("sim:trn2");
  for (const Algorithm a : {Algorithm::Xorwow, Algorithm::Mrg32k3a, Algorithm::Mt19937}) {
    Generator g(State{.algorithm = a});
    const Array<std::uint32_t> out(e, {4});
    EXPECT_THROW(raw32(e, g, out.view()), NotImplemented);
    const Array<float> floats(e, {4});
    EXPECT_THROW(normal(e, g, floats.view()), NotImplemented);
    EXPECT_EQ(g.state().position, 0u);
  }
  Generator g;
  const Array<double> out(e, {4});
  for (const Interval i : kIntervals) EXPECT_THROW(uniform(e, g, out.view(), i), NotImplemented);
  EXPECT_EQ(g.state().position, 0u);
}

}  // namespace
}  // namespace trn::rand::test
