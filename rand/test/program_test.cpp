// The device programs: any legal order gives the same bits, no races, the emitted NKI text agrees, one program serves a
// loop of calls, and the modelled speed is the one on record.
#include <algorithm>
#include <trn/neuron/nki.hpp>
#include <trn/neuron/sim.hpp>
#include <trn/rand/fill_program.hpp>

#include "rand_support.hpp"
#include "support/nki_run.hpp"

namespace trn::rand::test {
namespace {

using neuron::Order;
using neuron::SimOptions;

std::vector<std::uint32_t> simulate(const FillShape& shape, const State& state, const char* name,
                                    const SimOptions& options) {
  const tile::Machine& machine = tile::machine(name);
  std::vector<std::uint32_t> out(static_cast<std::size_t>(shape.count)), parameters = fill_parameters(state);
  const std::vector<tile::Binding> bindings{{"parameters", parameters.data()}, {"out", out.data()}};
  (void)neuron::simulate(fill_program(shape, machine), machine, bindings, options);
  return out;
}

constexpr Draw kDraws[] = {Draw::Raw32, Draw::OpenClosed, Draw::HalfOpen};

TEST(FillOrder, ShuffledEqualsInOrder) {
  for (const char* machine : {"trn1", "trn2", "trn3"}) {
    for (const Algorithm a : kAlgorithms) {
      const FillShape shape{a, Draw::OpenClosed, 3001, 1};
      const State state{a, 5, 6, 9};
      const auto expected = simulate(shape, state, machine, {.order = Order::in_order()});
      EXPECT_EQ(simulate(shape, state, machine, {.order = Order::timed()}), expected);
      for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        EXPECT_EQ(simulate(shape, state, machine, {.order = Order::shuffled(seed)}), expected)
            << machine << " seed " << seed;
      }
    }
  }
}

// Whole tiles in a loop, a first tile that begins inside a block, and a rest.
TEST(FillOrder, ShuffledEqualsInOrderOverTiles) {
  for (const Algorithm a : kAlgorithms) {
    const FillShape shape{a, Draw::Raw32, 2'500'000, 3};
    const State state{a, 5, 6, 7};
    const bool races = a == Algorithm::Philox4x32_10;  // no parallel loops in either; once is enough
    const auto expected = simulate(shape, state, "trn2", {.order = Order::in_order(), .check_races = races});
    EXPECT_TRUE(simulate(shape, state, "trn2", {.order = Order::shuffled(1)}) == expected);
  }
}

// Wide storage keeps values instead of bits: whole words come out the same, halves of words do not exist there.
TEST(FillOrder, WideStorage) {
  const SimOptions wide{.storage = neuron::Storage::Wide, .order = Order::in_order()};
  const State threefry{.algorithm = Algorithm::Threefry4x32_20, .seed = 5};
  EXPECT_EQ(simulate({threefry.algorithm, Draw::Raw32, 500, 0}, threefry, "trn2", wide),
            simulate({threefry.algorithm, Draw::Raw32, 500, 0}, threefry, "trn2", {.order = Order::in_order()}));
  EXPECT_THROW((void)simulate({.count = 500}, {}, "trn2", wide), Error);
}

TEST(FillNki, EmittedKernelGivesTheSimulatorsBits) {
  for (const char* name : {"trn1", "trn2", "trn3"}) {
    SCOPED_TRACE(name);
    for (const Algorithm a : kAlgorithms) {
      for (const Draw draw : kDraws) {
        const auto parameters = fill_parameters({a, 0xfedcba9876543210, 0x123456, 0xdeadbeefcafe1});
        neuron::testing::expect_agreement(fill_program({a, draw, 1501, 1}, tile::machine(name)),
                                          {{"parameters", [&](std::int64_t i) {
                                              return static_cast<double>(parameters[static_cast<std::size_t>(i)]);
                                            }}});
      }
    }
  }
}

TEST(FillNki, TheTextDoesNotGrowWithTheCount) {
  const auto lines = [](std::int64_t n) {
    const std::string text =
        neuron::emit_nki(fill_program({Algorithm::Philox4x32_10, Draw::Raw32, n, 0}, tile::machine("trn2")));
    return std::count(text.begin(), text.end(), '\n');
  };
  EXPECT_EQ(lines(std::int64_t{1} << 30), lines(std::int64_t{1} << 26));
}

TEST(FillProgram, OneProgramServesALoopOfCalls) {
  const Executor e = Executor::open("sim:trn2");
  const Recorder recorder(e);
  Generator g(State{.seed = 1});
  for (int i = 0; i < 5; ++i) (void)draw_raw(e, g, 64);
  Generator other(State{.seed = 2, .stream = 8, .position = 1 << 20});
  (void)draw_raw(e, other, 64);
  EXPECT_EQ(recorder.count(EventKind::Build), 1);
  EXPECT_EQ(recorder.count(EventKind::CacheHit), 5);
}

TEST(FillProgram, IsAPureFunctionAndChecksItsShape) {
  const tile::Machine& trn2 = tile::machine("trn2");
  const FillShape shape{Algorithm::Threefry4x32_20, Draw::HalfOpen, 777, 2};
  EXPECT_EQ(fill_program(shape, trn2), fill_program(shape, trn2));
  EXPECT_THROW((void)fill_program({.count = 0}, trn2), InvalidArgument);
  EXPECT_THROW((void)fill_program({.count = kFillMax + 1}, trn2), InvalidArgument);
  EXPECT_THROW((void)fill_program({.phase = 4}, trn2), InvalidArgument);
  EXPECT_THROW((void)fill_program({.algorithm = Algorithm::Xorwow}, trn2), InvalidArgument);
  EXPECT_THROW((void)fill_program({.draw = Draw::HalfOpenDouble}, trn2), InvalidArgument);
}

// A program never runs over the end of the counter word it counts in.
TEST(FillProgram, RunsEndWhereTheCountingWordWraps) {
  EXPECT_EQ(fill_run_length({Algorithm::Threefry4x32_20, 0, 0, (std::uint64_t{1} << 34) - 5}), 5u);
  EXPECT_EQ(fill_run_length({Algorithm::Threefry4x32_20, 0, 0, std::uint64_t{1} << 34}),
            static_cast<std::uint64_t>(kFillMax));
  EXPECT_EQ(fill_run_length({Algorithm::Philox4x32_10, 0, 0, (std::uint64_t{1} << 50) - 7}), 7u);
}

// The stated performance on trn2, modelled, launch overhead included.
TEST(FillModel, ValuesPerSecond) {
  const tile::Machine& trn2 = tile::machine("trn2");
  const std::int64_t n = std::int64_t{1} << 26;
  const auto rate = [&](Algorithm a, Draw draw) {
    return static_cast<double>(n) / neuron::estimate(fill_program({a, draw, n, 0}, trn2), trn2).seconds;
  };
  for (const Draw draw : kDraws) {
    EXPECT_GE(rate(Algorithm::Philox4x32_10, draw), 2.65e9);
    EXPECT_GE(rate(Algorithm::Threefry4x32_20, draw), 3.05e9);
  }
}

}  // namespace
}  // namespace trn::rand::test
