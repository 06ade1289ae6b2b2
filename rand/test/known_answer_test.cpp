// Against published facts: Random123's known answers for both algorithms, and values that cuRAND returned.
#include <cstring>
#include <trn/core/philox.hpp>
#include <trn/neuron/sim.hpp>
#include <trn/rand/fill_program.hpp>
#include <trn/rand/raw32.hpp>

#include "curand_vectors.hpp"
#include "device/rounds.hpp"
#include "host/blocks.hpp"
#include "rand_support.hpp"

namespace trn::rand::test {
namespace {

// Random123's kat_vectors: counter, key, answer. Zeros, ones, and the digits of pi.
struct KnownAnswer {
  Algorithm algorithm;
  Quad counter, key, answer;
};
constexpr Quad kZeros{0, 0, 0, 0}, kOnes{~0u, ~0u, ~0u, ~0u}, kPi{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344};
constexpr KnownAnswer kKnownAnswers[] = {
    {Algorithm::Philox4x32_10, kZeros, {0, 0, 0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
    {Algorithm::Philox4x32_10, kOnes, {~0u, ~0u, 0, 0}, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
    {Algorithm::Philox4x32_10, kPi, {0xa4093822, 0x299f31d0, 0, 0}, {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    {Algorithm::Threefry4x32_20, kZeros, kZeros, {0x9c6ca96a, 0xe17eae66, 0xfc10ecd4, 0x5256a7d8}},
    {Algorithm::Threefry4x32_20, kOnes, kOnes, {0x2a881696, 0x57012287, 0xf6c7446e, 0xa16a6732}},
    {Algorithm::Threefry4x32_20,
     kPi,
     {0xa4093822, 0x299f31d0, 0x082efa98, 0xec4e6c89},
     {0x59cd1dbb, 0xb8879579, 0x86b5d00c, 0xac8b6d84}},
};

TEST(KnownAnswers, TheTestsOwnOracle) {
  for (const KnownAnswer& k : kKnownAnswers) {
    EXPECT_EQ(k.algorithm == Algorithm::Philox4x32_10 ? oracle_philox(k.counter, k.key[0], k.key[1])
                                                      : oracle_threefry(k.counter, k.key),
              k.answer);
  }
}

// Stochastic rounding draws its words through trn/core/philox.hpp: they are this generator's.
TEST(KnownAnswers, TheWordsOfStochasticRounding) {
  for (const std::uint64_t seed : {std::uint64_t{0}, (std::uint64_t{7} << 40) + 3}) {
    for (const std::uint64_t stream : {std::uint64_t{0}, (std::uint64_t{1} << 48) - 1}) {
      for (const std::uint64_t first : {std::uint64_t{0}, std::uint64_t{4} * 65536 - 8, std::uint64_t{1} << 50}) {
        Generator generator({.seed = seed, .stream = stream, .position = first});
        std::vector<std::uint32_t> drawn(64);
        raw32(Executor::host(), generator, View<std::uint32_t>(Executor::host(), drawn.data(), {64}));
        for (std::uint64_t i = 0; i < 64; ++i)
          EXPECT_EQ(drawn[i],
                    trn::philox::block(trn::philox::counter((first + i) / 4, stream), trn::philox::key(seed))[i % 4]);
      }
    }
  }
}

TEST(KnownAnswers, HostBlocks) {
  for (const KnownAnswer& k : kKnownAnswers) {
    Words4 out;
    host::encrypt(k.algorithm, &k.counter, 1, k.key, &out);
    EXPECT_EQ(out, k.answer);
  }
}

// The program's parameters hold counter and key schedule, so any counter and key can be fed to it.
TEST(KnownAnswers, DevicePrograms) {
  for (const KnownAnswer& k : kKnownAnswers) {
    for (const char* name : {"trn1", "trn2", "trn3"}) {
      const tile::Machine& machine = tile::machine(name);
      auto parameters = k.algorithm == Algorithm::Philox4x32_10 ? device::philox_parameters(k.counter, k.key)
                                                                : device::threefry_parameters(k.counter, k.key);
      Quad out{};
      const std::vector<tile::Binding> bindings{{"parameters", parameters.data()}, {"out", out.data()}};
      (void)neuron::simulate(fill_program({k.algorithm, Draw::Raw32, 4, 0}, machine), machine, bindings);
      EXPECT_EQ(out, k.answer) << name;
    }
  }
}

TEST(Curand, RawValues) {
  for (const char* name : kExecutors) {
    const Executor e = Executor::open(name);
    for (const CurandRun& run : kCurandRaw) {
      Generator g(State{.seed = run.seed, .position = run.position});
      const auto values = draw_raw(e, g, 16);
      EXPECT_TRUE(std::equal(values.begin(), values.end(), run.values.begin()))
          << name << " seed " << run.seed << " position " << run.position;
    }
  }
}

TEST(Curand, UniformValues) {
  for (const char* name : kExecutors) {
    const Executor e = Executor::open(name);
    for (const CurandRun& run : kCurandUniform) {
      Generator g(State{.seed = run.seed, .position = run.position});
      const auto values = draw_uniform(e, g, 16, Interval::OpenClosed);
      EXPECT_EQ(std::memcmp(values.data(), run.values.data(), sizeof run.values), 0)
          << name << " seed " << run.seed << " position " << run.position;
    }
  }
}

TEST(Curand, UniformRoundsAsCurandDoes) {
  for (const char* name : kExecutors) {
    const Executor e = Executor::open(name);
    for (const CurandTie& tie : kCurandTies) {
      const State state{.seed = 0x0123456789abcdef, .position = tie.position};
      Generator raw(state), floats(state);
      EXPECT_EQ(draw_raw(e, raw, 1)[0], tie.raw);
      EXPECT_EQ(std::bit_cast<std::uint32_t>(draw_uniform(e, floats, 1, Interval::OpenClosed)[0]), tie.uniform) << name;
    }
  }
}

}  // namespace
}  // namespace trn::rand::test
