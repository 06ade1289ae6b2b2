// Every refusal, with its message; a refused draw changes neither memory nor generator.
#include <limits>
#include <trn/rand/normal.hpp>
#include <trn/rand/raw64.hpp>

#include "rand_support.hpp"

namespace trn::rand::test {
namespace {

TEST(RandArguments, OperandOnAnotherExecutor) {
  const Executor host = Executor::host(), sim = Executor::open("sim:trn2");
  Generator g;
  const Array<std::uint32_t> out(host, {4});
  expect_refusal([&] { raw32(sim, g, out.view()); }, "rand.raw32: out lives on executor 'host'");
  EXPECT_EQ(g.state(), State{});
}

TEST(RandArguments, NullPointer) {
  Generator g;
  const Executor e = Executor::host();
  expect_refusal([&] { uniform(e, g, View<float>(e, nullptr, {3})); },
                 "rand.uniform: out is not empty but its pointer is null");
}

TEST(RandArguments, EmptyDrawsDoNothing) {
  for (const char* name : kExecutors) {
    const Executor e = Executor::open(name);
    Generator g(State{.position = std::numeric_limits<std::uint64_t>::max()});
    const Generator before = g;
    raw32(e, g, View<std::uint32_t>(e, nullptr, {0}));
    uniform(e, g, View<float>(e, nullptr, {5, 0, 3}));
    EXPECT_EQ(g.state(), before.state());
  }
}

TEST(RandArguments, RankZeroIsOneValue) {
  for (const char* name : kExecutors) {
    const Executor e = Executor::open(name);
    Generator g;
    const Array<std::uint32_t> out(e, {});
    raw32(e, g, out.view());
    EXPECT_EQ(out.to_host()[0], 0x6627e8d5u);
  }
}

// Arrays, matrices and their views: the same draw.
TEST(RandArguments, ArraysMatricesAndViewsAlike) {
  for (const char* name : kExecutors) {
    const Executor e = Executor::open(name);
    const Array<float> array(e, {2, 3});
    const Matrix<float> matrix(e, 2, 3);
    const auto draw = [&](const auto& out, const auto& memory) {
      Generator g;
      uniform(e, g, out);
      const std::vector<float> values = memory.to_host();
      normal(e, g, out);
      log_normal(e, g, out);
      EXPECT_EQ(g.state().position, 18u);
      return values;
    };
    const std::vector<float> expected = draw(array.view(), array);
    EXPECT_EQ(draw(array, array), expected) << name;
    EXPECT_EQ(draw(matrix, matrix), expected) << name;
    EXPECT_EQ(draw(matrix.view(), matrix), expected) << name;
    const Array<std::uint32_t> words(e, {4});
    Generator g;
    raw32(e, g, words);
    EXPECT_EQ(words.to_host()[0], 0x6627e8d5u) << name;
  }
}

TEST(RandArguments, OverlappingElements) {
  const Executor e = Executor::host();
  std::vector<float> memory(100, -1.0f);
  for (const Strides& strides : {Strides{0, 1}, Strides{3, 1}, Strides{1, 1}, Strides{-2, 1}}) {
    Generator g;
    expect_refusal(
        [&] {
          uniform(e, g, View<float>(e, memory.data() + 40, {4, 5}, strides));
        },
        "elements share places");
    EXPECT_EQ(g.state().position, 0u);
  }
  EXPECT_EQ(memory, std::vector<float>(100, -1.0f));
}

TEST(RandArguments, DeviceOutputIsContiguous) {
  const Executor e = Executor::open("sim:trn2");
  const Array<float> out(e, {20});
  Generator g;
  expect_refusal([&] { uniform(e, g, View<float>(e, out.data(), {10}, {2})); },
                 "must be contiguous: draw into an Array and copy()");
  EXPECT_EQ(g.state().position, 0u);
}

// The stride of an extent of 1 is never taken, so it may be anything: zero, negative, or so large that a step would
// overflow.
TEST(RandArguments, StridesOfExtentsOfOneDoNotMatter) {
  constexpr std::int64_t kFar = std::numeric_limits<std::int64_t>::max();
  Generator plain(State{.seed = 5});
  const auto expected = draw_uniform(Executor::host(), plain, 12, Interval::OpenClosed);
  const std::pair<Shape, Strides> views[] = {{{1, 12}, {0, 1}},
                                             {{12, 1}, {1, -3}},
                                             {{3, 1, 4}, {4, 17, 1}},
                                             {{1, 3, 1, 4}, {kFar, 4, -kFar, 1}},
                                             {{12, 1, 1}, {1, 12, 0}}};
  for (const char* name : kExecutors) {
    const Executor e = Executor::open(name);
    for (const auto& [shape, strides] : views) {
      SCOPED_TRACE(::testing::Message() << name << " " << to_string(shape) << " " << to_string(strides));
      const Array<float> out(e, {12});
      Generator g(State{.seed = 5});
      uniform(e, g, View<float>(e, out.data(), shape, strides));
      EXPECT_EQ(out.to_host(), expected);
      normal(e, g, View<float>(e, out.data(), shape, strides));
      EXPECT_NE(out.to_host(), expected);
    }
  }
  // Scattered on the host: the odd stride lies beside one that is really taken.
  std::vector<float> memory(24, -1.0f);
  const Executor host = Executor::host();
  Generator g(State{.seed = 5});
  uniform(host, g, View<float>(host, memory.data(), {4, 1, 3}, {6, kFar, 2}));
  for (std::size_t i = 0; i < 12; ++i) EXPECT_EQ(memory[i / 3 * 6 + i % 3 * 2], expected[i]) << i;
}

TEST(RandArguments, PositionsEndAtTwoToThe64) {
  const std::uint64_t last = std::numeric_limits<std::uint64_t>::max();
  for (const char* name : kExecutors) {
    const Executor e = Executor::open(name);
    const Array<std::uint32_t> out(e, {4});
    Generator g(State{.position = last - 3});
    expect_refusal([&] { raw32(e, g, out.view()); }, "exceeds 2^64 - 1");
    EXPECT_EQ(g.state().position, last - 3);
  }
  Generator g(State{.position = last - 3});
  g.skip(3);
  expect_refusal([&] { g.skip(1); }, "another stream or seed");
  EXPECT_EQ(g.state().position, last);
}

TEST(RandArguments, StreamsOfPhilox) {
  expect_refusal([] { Generator g(State{.stream = std::uint64_t{1} << 48}); }, "streams 0 to 2^48 - 1");
  EXPECT_NO_THROW(Generator(State{.algorithm = Algorithm::Threefry4x32_20, .stream = std::uint64_t{1} << 48}));
  expect_refusal([] { Generator g(State{.algorithm = static_cast<Algorithm>(99)}); }, "algorithm 99 does not exist");
}

TEST(RandArguments, StatesThatDoNotExist) {
  expect_refusal([] { Generator g(State{.algorithm = Algorithm::Xorwow, .stream = std::uint64_t{1} << 48}); },
                 "xorwow, which has streams 0 to 2^48 - 1");
  expect_refusal([] { Generator g(State{.algorithm = Algorithm::Mrg32k3a, .stream = std::uint64_t{1} << 40}); },
                 "2^40 - 1");
  expect_refusal([] { Generator g(State{.algorithm = Algorithm::Mt19937, .stream = 1}); },
                 "mt19937, which has stream 0 alone");
  expect_refusal([] { Generator g(State{.algorithm = Algorithm::Threefry4x32_20, .ordering = Ordering::Legacy}); },
                 "has one ordering");
  expect_refusal([] { Generator g(State{.ordering = static_cast<Ordering>(7)}); }, "ordering 7 does not exist");
  expect_refusal([] { Generator g(State{.dimensions = 2}); }, "2 dimensions with philox4x32-10");
  expect_refusal([] { Generator g(State{.position = 4, .origin = 5}); }, "origin 5 lies after position 4");
}

TEST(RandArguments, TwoWordsPerValueCountTwice) {
  const std::uint64_t last = std::numeric_limits<std::uint64_t>::max();
  const Executor e = Executor::host();
  std::vector<std::uint64_t> memory(4, 7);
  Generator g(State{.position = last - 7});
  expect_refusal([&] { raw64(e, g, View<std::uint64_t>(e, memory.data(), {4})); }, "4 values of 2 words exceeds");
  EXPECT_EQ(memory, std::vector<std::uint64_t>(4, 7));
  EXPECT_EQ(g.state().position, last - 7);
  raw64(e, g, View<std::uint64_t>(e, memory.data(), {3}));
  EXPECT_EQ(g.state().position, last - 1);
}

}  // namespace
}  // namespace trn::rand::test
