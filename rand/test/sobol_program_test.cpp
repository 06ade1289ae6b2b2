// Sobol points on devices: the host's bits at every position, count and number of dimensions, cuRAND's among them; any
// legal order gives the same bits, no races, the emitted NKI text agrees, two programs serve a loop of calls, and the
// modelled speed is the one on record.
#include <limits>
#include <trn/neuron/nki.hpp>
#include <trn/neuron/sim.hpp>
#include <trn/rand/normal.hpp>
#include <trn/rand/quasi.hpp>
#include <trn/rand/raw64.hpp>
#include <trn/rand/sobol_program.hpp>

#include "curand_points.hpp"
#include "rand_support.hpp"
#include "support/nki_run.hpp"

namespace trn::rand::test {
namespace {

using neuron::Order;
using neuron::SimOptions;

constexpr const char* kDevices[] = {"sim:trn1", "sim:trn2", "sim:trn3"};
constexpr Algorithm kSobol[] = {Algorithm::Sobol32, Algorithm::ScrambledSobol32, Algorithm::Sobol64,
                                Algorithm::ScrambledSobol64};
constexpr std::uint64_t kLast32 = std::uint64_t{1} << 32;

bool wide(Algorithm a) { return a == Algorithm::Sobol64 || a == Algorithm::ScrambledSobol64; }

template <class T>
std::vector<T> draw(const Executor& e, Generator& g, std::int64_t points, Interval interval = Interval::OpenClosed) {
  const Array<T> out(e, {g.state().dimensions, points});
  if constexpr (std::is_same_v<T, std::uint32_t>)
    raw32(e, g, out.view());
  else if constexpr (std::is_same_v<T, std::uint64_t>)
    raw64(e, g, out.view());
  else
    uniform(e, g, out.view(), interval);
  return out.to_host();
}

template <class T> void check(const Executor& e, const char* operation, const State& state, std::int64_t points,
                              Interval interval = Interval::OpenClosed) {
  const Recorder recorder(e);
  Generator g(state), h(state);
  const auto values = draw<T>(e, g, points, interval);
  EXPECT_TRUE(values == draw<T>(Executor::host(), h, points, interval))
      << operation << " " << e.name() << " " << name(state.algorithm) << " position " << state.position
      << " dimensions " << state.dimensions << " points " << points;
  EXPECT_EQ(recorder.family_of(operation), "device");
  EXPECT_EQ(g.state(), h.state());
}

void check_all(const Executor& e, const State& state, std::int64_t points) {
  if (wide(state.algorithm)) {
    check<std::uint64_t>(e, "rand.raw64", state, points);
  } else {
    check<std::uint32_t>(e, "rand.raw32", state, points);
  }
  for (const Interval interval : kIntervals) check<float>(e, "rand.uniform", state, points, interval);
}

TEST(SobolDevice, HostsBits) {
  struct Case {
    std::uint32_t dimensions;
    std::int64_t points;
    std::uint64_t position;
  };
  // A part of a run, whole runs with and without a rest, one group of dimensions and several, the last points there
  // are.
  // clang-format off
  const Case cases[] = {
      {1, 1, 0}, {1, 1, 63}, {1, 63, 5}, {1, 64, 128}, {1, 65, 1}, {1, 8192, 0}, {1, 8200, 77}, {3, 5000, 4095},
      {2, 20001, 1 << 20}, {42, 200, 3}, {64, 300, 64}, {65, 129, 64}, {128, 100, 3}, {129, 70, 0}, {300, 700, 12345},
      {200, 3, 999}, {7, 40, kLast32 - 40}, {1, 10000, kLast32 - 10000}};
  // clang-format on
  for (const char* executor : kDevices) {
    const Executor e = Executor::open(executor);
    for (const Algorithm a : kSobol) {
      if (e.name() != "sim:trn2" && (a == Algorithm::ScrambledSobol32 || a == Algorithm::Sobol64)) continue;
      for (const Case& c : cases)
        check_all(e, {.algorithm = a, .position = c.position, .dimensions = c.dimensions}, c.points);
    }
  }
}

// Runs of full length, several tiles of them, more than one load of row words.
TEST(SobolDevice, ManyTiles) {
  const Executor e = Executor::open("sim:trn2");
  check_all(e, {.algorithm = Algorithm::Sobol32, .position = 4096 * 5}, 1'600'000);
  check_all(e, {.algorithm = Algorithm::ScrambledSobol32, .position = 4095, .dimensions = 2}, 800'001);
  check_all(e, {.algorithm = Algorithm::Sobol64, .position = (std::uint64_t{1} << 40) + 3, .dimensions = 3}, 300'001);
  check<std::uint32_t>(e, "rand.raw32", {.algorithm = Algorithm::Sobol32, .position = 1, .dimensions = 100}, 33'000);
  check<std::uint32_t>(e, "rand.raw32", {.algorithm = Algorithm::Sobol32, .position = 0, .dimensions = 1}, 17'500'000);
}

TEST(SobolDevice, AllDimensionsAndTheLastPoints) {
  const Executor e = Executor::open("sim:trn2");
  check<std::uint32_t>(e, "rand.raw32", {.algorithm = Algorithm::Sobol32, .position = 1002, .dimensions = 21201}, 3);
  check<std::uint64_t>(e, "rand.raw64", {.algorithm = Algorithm::Sobol64, .position = 4, .dimensions = 20000}, 2);
  constexpr std::uint64_t kEnd = std::numeric_limits<std::uint64_t>::max();
  check<std::uint64_t>(e, "rand.raw64", {.algorithm = Algorithm::Sobol64, .position = kEnd - 5000, .dimensions = 5},
                       5000);
}

TEST(SobolDevice, CurandsPoints) {
  const Executor e = Executor::open("sim:trn3");
  for (const CurandPoints& c : kCurandPoints) {
    Generator g(State{.algorithm = c.algorithm, .position = c.position, .dimensions = 1000}), h = g;
    const auto floats = draw<float>(e, g, 4);
    std::vector<std::uint64_t> raw;
    if (wide(c.algorithm)) {
      raw = draw<std::uint64_t>(e, h, 4);
    } else {
      const auto words = draw<std::uint32_t>(e, h, 4);
      raw.assign(words.begin(), words.end());
    }
    for (std::size_t k = 0; k < std::size(kCurandCoordinates); ++k) {
      for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_EQ(raw[4 * kCurandCoordinates[k] + i], c.raw[k][i]);
        EXPECT_EQ(std::bit_cast<std::uint32_t>(floats[4 * kCurandCoordinates[k] + i]), c.floats[k][i]);
      }
    }
  }
}

TEST(SobolDevice, WhatHasNoKernel) {
  const Executor e = Executor::open("sim:trn2");
  const Array<std::uint32_t> words(e, {8});
  const Array<double> doubles(e, {8});
  const Array<float> floats(e, {8});
  Generator owen(State{.algorithm = Algorithm::OwenSobol32}), sobol(State{.algorithm = Algorithm::Sobol32}),
      halton(State{.algorithm = Algorithm::Halton});
  EXPECT_THROW(raw32(e, owen, words.view()), NotImplemented);
  EXPECT_THROW(uniform(e, halton, floats.view()), NotImplemented);
  EXPECT_THROW(uniform(e, sobol, doubles.view()), NotImplemented);
  EXPECT_THROW(normal(e, sobol, floats.view(), {.method = NormalMethod::Inverse}), NotImplemented);
  EXPECT_EQ(owen.state().position + sobol.state().position + halton.state().position, 0u);
}

std::vector<std::uint32_t> simulate(const State& state, Draw draw, std::int64_t points, const char* name,
                                    const SimOptions& options) {
  const tile::Machine& machine = tile::machine(name);
  const SobolShape shape = sobol_shape(state, draw, points, machine);
  auto inputs = sobol_inputs(state, shape, machine);
  std::vector<std::uint32_t> out(static_cast<std::size_t>(shape.dimensions * points * (draw == Draw::Raw64 ? 2 : 1)));
  std::vector<tile::Binding> bindings{{"out", out.data()}};
  for (auto& [input, words] : inputs) bindings.push_back({input, words.data()});
  (void)neuron::simulate(sobol_program(shape, machine), machine, bindings, options);
  return out;
}

TEST(SobolOrder, ShuffledEqualsInOrder) {
  struct Case {
    State state;
    Draw draw;
    std::int64_t points;
  };
  const Case cases[] = {
      {{.algorithm = Algorithm::Sobol32, .position = 99, .dimensions = 130}, Draw::OpenClosed, 200},
      {{.algorithm = Algorithm::ScrambledSobol64, .position = 4096, .dimensions = 3}, Draw::Raw64, 90000}};
  for (const char* machine : {"trn1", "trn2", "trn3"}) {
    for (const Case& c : cases) {
      const auto expected =
          simulate(c.state, c.draw, c.points, machine, {.order = Order::in_order(), .check_races = true});
      EXPECT_TRUE(simulate(c.state, c.draw, c.points, machine, {.order = Order::timed()}) == expected);
      for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        EXPECT_TRUE(simulate(c.state, c.draw, c.points, machine, {.order = Order::shuffled(seed)}) == expected)
            << machine << " seed " << seed;
      }
    }
  }
}

// Words only, no part of any: Wide storage has the same.
TEST(SobolOrder, WideStorage) {
  const State state{.algorithm = Algorithm::Sobol32, .position = 5, .dimensions = 3};
  EXPECT_EQ(simulate(state, Draw::Raw32, 700, "trn2", {.storage = neuron::Storage::Wide, .order = Order::in_order()}),
            simulate(state, Draw::Raw32, 700, "trn2", {.order = Order::in_order()}));
}

TEST(SobolNki, EmittedKernelGivesTheSimulatorsBits) {
  for (const char* machine : {"trn1", "trn2", "trn3"}) {
    SCOPED_TRACE(machine);
    for (const Draw draw : {Draw::Raw32, Draw::Raw64, Draw::OpenClosed, Draw::HalfOpen}) {
      for (const std::uint64_t position : {1000, 1024}) {
        const State state{.algorithm = draw == Draw::Raw64 ? Algorithm::Sobol64 : Algorithm::ScrambledSobol32,
                          .position = position,
                          .dimensions = 3};
        const SobolShape shape = sobol_shape(state, draw, 3000, tile::machine(machine));
        neuron::testing::Inputs inputs;
        for (const auto& [input, words] : sobol_inputs(state, shape, tile::machine(machine))) {
          inputs[input] = [words = words](std::int64_t i) {
            return static_cast<double>(words[static_cast<std::size_t>(i)]);
          };
        }
        neuron::testing::expect_agreement(sobol_program(shape, tile::machine(machine)), inputs);
      }
    }
  }
}

TEST(SobolProgram, TwoProgramsServeALoopOfCalls) {
  const Executor e = Executor::open("sim:trn2");
  const Recorder recorder(e);
  Generator g(State{.algorithm = Algorithm::Sobol32, .dimensions = 2});
  for (int i = 0; i < 10; ++i) (void)draw<std::uint32_t>(e, g, 1000);
  Generator scrambled(State{.algorithm = Algorithm::ScrambledSobol32, .position = 77, .dimensions = 2});
  (void)draw<std::uint32_t>(e, scrambled, 1000);
  EXPECT_EQ(recorder.count(EventKind::Build), 2);
  EXPECT_EQ(recorder.count(EventKind::CacheHit), 9);
}

TEST(SobolProgram, IsAPureFunctionAndChecksItsShape) {
  const tile::Machine& trn2 = tile::machine("trn2");
  const SobolShape shape{Draw::HalfOpen, 5, 777, false};
  EXPECT_EQ(sobol_program(shape, trn2), sobol_program(shape, trn2));
  EXPECT_THROW((void)sobol_program({.points = 0}, trn2), InvalidArgument);
  EXPECT_THROW((void)sobol_program({.dimensions = 21202}, trn2), InvalidArgument);
  EXPECT_THROW((void)sobol_program({.draw = Draw::HalfOpenDouble}, trn2), InvalidArgument);
  EXPECT_THROW((void)sobol_inputs({.algorithm = Algorithm::OwenSobol32}, {}, trn2), InvalidArgument);
  EXPECT_THROW((void)sobol_inputs({.algorithm = Algorithm::Sobol32, .position = 1}, {}, trn2),
               InvalidArgument);  // not aligned
  // The text does not grow with the count.
  const auto statements = [&](std::int64_t n) { return sobol_program({.points = n}, trn2).statements().size(); };
  EXPECT_EQ(statements(std::int64_t{1} << 30), statements(std::int64_t{1} << 28));
}

// The stated performance on trn2, modelled, launch overhead included.
TEST(SobolModel, ValuesPerSecond) {
  const tile::Machine& trn2 = tile::machine("trn2");
  const std::int64_t n = std::int64_t{1} << 26;
  const auto rate = [&](Draw draw, bool aligned) {
    return static_cast<double>(n) / neuron::estimate(sobol_program({draw, 1, n, aligned}, trn2), trn2).seconds;
  };
  EXPECT_GE(rate(Draw::Raw32, true), 90e9);
  EXPECT_GE(rate(Draw::OpenClosed, true), 90e9);
  EXPECT_GE(rate(Draw::Raw32, false), 70e9);
}

}  // namespace
}  // namespace trn::rand::test
