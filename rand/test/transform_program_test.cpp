// Normals, exponentials and their relatives on devices: the host's values within the stated ulps, any legal order gives
// the same bits, no races, the emitted NKI text agrees, and the modelled speed is the one on record. And the block
// itself, in a kernel that is none of the library's.
#include <cmath>
#include <trn/neuron/nki.hpp>
#include <trn/neuron/sim.hpp>
#include <trn/rand/bernoulli.hpp>
#include <trn/rand/exponential.hpp>
#include <trn/rand/fill_program.hpp>
#include <trn/rand/normal.hpp>
#include <trn/rand/transform_program.hpp>
#include <trn/rand/word_tiles.hpp>

#include "rand_support.hpp"
#include "support/nki_run.hpp"

namespace trn::rand::test {
namespace {

using neuron::Order;
using neuron::SimOptions;

constexpr Law kLaws[] = {Law::Normal,  Law::LogNormal, Law::Exponential, Law::Weibull,
                         Law::Laplace, Law::Cauchy,    Law::Bernoulli};
constexpr const char* kDevices[] = {"sim:trn1", "sim:trn2", "sim:trn3"};
constexpr float kMean = 0.75f, kStddev = 1.5f, kRate = 2, kShape = 2.5f, kScale = 3;

std::string operation(Law law) { return std::string("rand.") + name(law); }

std::vector<float> draw(const Executor& e, Generator& g, Law law, std::int64_t n) {
  const Array<float> out(e, {n});
  if (law == Law::Normal) normal(e, g, out.view(), {kMean, kStddev});
  if (law == Law::LogNormal) log_normal(e, g, out.view(), {kMean, kStddev});
  if (law == Law::Exponential) exponential(e, g, out.view(), {kRate});
  if (law == Law::Weibull) weibull(e, g, out.view(), {kShape, kScale});
  if (law == Law::Laplace) laplace(e, g, out.view(), {kMean, kStddev});
  if (law == Law::Cauchy) cauchy(e, g, out.view(), {kMean, kStddev});
  if (law == Law::Bernoulli) bernoulli(e, g, out.view(), {kMean});
  return out.to_host();
}

Transform parameters_of(Law law) {
  if (law == Law::Bernoulli) return {law, kMean};
  if (law == Law::Exponential) return {law, 0, 1 / kRate};
  if (law == Law::Weibull) return {law, 0, kScale, 1 / kShape};
  return {law, kMean, kStddev};
}

void check(const char* executor, Law law, const State& state, std::int64_t n) {
  const Executor e = Executor::open(executor);
  const Recorder recorder(e);
  Generator g(state), h(state);
  const auto values = draw(e, g, law, n), expected = draw(Executor::host(), h, law, n);
  EXPECT_EQ(recorder.family_of(operation(law)), "device");
  EXPECT_EQ(g.state(), h.state());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double v = expected[i];
    ASSERT_LE(std::fabs(static_cast<double>(values[i]) - v), device_difference_bound(parameters_of(law), v))
        << operation(law) << " " << executor << " n " << n << " value " << i << ": " << values[i] << " and " << v;
  }
}

TEST(TransformDevice, AgreesWithTheHost) {
  for (const Algorithm a : kAlgorithms) {
    for (const char* executor : kDevices) {
      for (const Law law : kLaws) {
        for (const std::int64_t n : {1, 2, 3, 4, 5, 127, 129, 513, 2049, 30011}) {
          check(executor, law, {a, 11, 2, static_cast<std::uint64_t>(3 * n)}, n);
        }
      }
    }
  }
}

// Whole tiles with a first one that begins inside a block, and a rest.
TEST(TransformDevice, SeveralTiles) {
  check("sim:trn2", Law::Normal, {Algorithm::Philox4x32_10, 4, 0, 3}, 2'100'001);
  check("sim:trn1", Law::Exponential, {Algorithm::Threefry4x32_20, 4, 0, 0}, 1'500'000);
  check("sim:trn3", Law::Cauchy, {Algorithm::Threefry4x32_20, 4, 0, 1}, 1'500'000);
}

TEST(TransformDevice, PiecesMakeTheWhole) {
  const Executor e = Executor::open("sim:trn2");
  for (const Law law : kLaws) {
    const State begin{.seed = 5, .position = 9};
    Generator whole(begin);
    const auto expected = draw(e, whole, law, 30);
    for (const std::int64_t piece : {1, 3, 7}) {
      Generator g(begin);
      std::vector<float> values;
      while (values.size() < expected.size()) {
        const auto next = draw(e, g, law, std::min<std::int64_t>(piece, 30 - static_cast<std::int64_t>(values.size())));
        values.insert(values.end(), next.begin(), next.end());
      }
      EXPECT_EQ(values, expected) << operation(law) << " pieces of " << piece;
    }
  }
}

// The threshold decides in any of its four digits: p at the ends, with a word's bits alone, and between two words.
TEST(TransformDevice, BernoulliHasTheHostsBits) {
  for (const char* executor : kDevices) {
    const Executor e = Executor::open(executor);
    for (const double p : {0.0, 0x1p-64, 0x1p-33, 1e-5, 0.25, 0.3, 0.5, 1 - 0x1p-53, 1.0}) {
      Generator g(State{.seed = 3, .position = 1}), h = g;
      const Array<std::uint32_t> out(e, {5000}), expected(Executor::host(), {5000});
      const Recorder recorder(e);
      bernoulli(e, g, out.view(), {p});
      EXPECT_EQ(recorder.family_of("rand.bernoulli"), "device");
      bernoulli(Executor::host(), h, expected.view(), {p});
      EXPECT_EQ(out.to_host(), expected.to_host()) << executor << " p " << p;
      EXPECT_EQ(g.state(), h.state());
    }
  }
}

// Words that agree with the threshold in their leading digits, as random ones hardly ever do: the comparison of the
// last digits decides. The threshold is taken from the words themselves, of value 5 and of the value just below.
TEST(TransformDevice, BernoulliComparesEveryDigit) {
  const Executor e = Executor::open("sim:trn2");
  const State state{.seed = 8};
  const std::uint64_t number = std::uint64_t{oracle(state, 5)} << 32 | oracle(state, 4);
  const tile::Machine& machine = tile::machine("trn2");
  for (const std::int64_t distance : {-65536, -1, 0, 1, 65536}) {
    const std::uint64_t threshold = number + static_cast<std::uint64_t>(distance);
    std::vector<std::uint32_t> parameters = transform_parameters(state, {Law::Bernoulli, 0.5}), out(8);
    for (std::size_t k = 0; k < 4; ++k) {
      parameters[parameters.size() - 4 + k] =
          std::bit_cast<std::uint32_t>(static_cast<float>(threshold >> (48 - 16 * k) & 0xffff));
    }
    const std::vector<tile::Binding> bindings{{"parameters", parameters.data()}, {"out", out.data()}};
    (void)neuron::simulate(transform_program({state.algorithm, Law::Bernoulli, 8, 0, DType::UInt32}, machine), machine,
                           bindings, {.order = Order::in_order()});
    EXPECT_EQ(out[5], number < threshold ? 1u : 0u) << distance;
  }
}

TEST(TransformDevice, WhatHasNoKernel) {
  const Executor e = Executor::open("sim:trn2");
  const State state{.position = 4};
  Generator g(state);
  const Array<float> out(e, {8});
  const Array<double> wide(e, {8});
  EXPECT_THROW(normal(e, g, out.view(), {.method = NormalMethod::Curand}), NotImplemented);
  EXPECT_THROW(normal(e, g, out.view(), {.method = NormalMethod::Inverse}), NotImplemented);
  EXPECT_THROW(normal(e, g, wide.view()), NotImplemented);
  EXPECT_THROW(cauchy(e, g, wide.view()), NotImplemented);
  EXPECT_THROW(laplace(e, g, wide.view()), NotImplemented);
  EXPECT_EQ(g.state(), state);
}

std::vector<float> simulate(const TransformShape& shape, const char* name, const SimOptions& options) {
  const tile::Machine& machine = tile::machine(name);
  const State state{shape.algorithm, 5, 6, static_cast<std::uint64_t>(8 + shape.phase)};
  std::vector<float> out(static_cast<std::size_t>(shape.count));
  std::vector<std::uint32_t> parameters = transform_parameters(state, {shape.law, kMean, kStddev, 1 / kShape});
  const std::vector<tile::Binding> bindings{{"parameters", parameters.data()}, {"out", out.data()}};
  (void)neuron::simulate(transform_program(shape, machine), machine, bindings, options);
  return out;
}

TEST(TransformOrder, ShuffledEqualsInOrder) {
  for (const char* machine : {"trn1", "trn2", "trn3"}) {
    for (const Algorithm a : kAlgorithms) {
      for (const Law law : {Law::LogNormal, Law::Weibull, Law::Laplace, Law::Cauchy, Law::Bernoulli}) {
        if (a != Algorithm::Philox4x32_10 && law != Law::LogNormal) continue;  // the law's part is the same
        const TransformShape shape{a, law, 3001, 1};
        const auto expected = simulate(shape, machine, {.order = Order::in_order(), .check_races = true});
        EXPECT_EQ(simulate(shape, machine, {.order = Order::timed()}), expected);
        for (std::uint64_t seed = 1; seed <= 20; ++seed) {
          EXPECT_EQ(simulate(shape, machine, {.order = Order::shuffled(seed)}), expected)
              << machine << " seed " << seed;
        }
      }
    }
  }
}

// The pipeline over tiles: a transform one tile behind the words.
TEST(TransformOrder, ShuffledEqualsInOrderOverTiles) {
  const TransformShape shape{Algorithm::Philox4x32_10, Law::Normal, 2'100'000, 3};
  const auto expected = simulate(shape, "trn2", {.order = Order::in_order(), .check_races = true});
  EXPECT_TRUE(simulate(shape, "trn2", {.order = Order::shuffled(7)}) == expected);
}

TEST(TransformNki, EmittedKernelAgrees) {
  for (const char* name : {"trn1", "trn2", "trn3"}) {
    SCOPED_TRACE(name);
    for (const Algorithm a : kAlgorithms) {
      for (const Law law : kLaws) {
        if (a != Algorithm::Philox4x32_10 && law != Law::LogNormal) continue;  // the law's part is the same
        const auto parameters =
            transform_parameters({a, 0xfedcba9876543210, 0x123456, 0xdeadbeefcafe1}, {law, 0.5, 2, 0.4});
        neuron::testing::expect_agreement(transform_program({a, law, 1501, 1}, tile::machine(name)),
                                          {{"parameters", [&](std::int64_t i) {
                                              return static_cast<double>(parameters[static_cast<std::size_t>(i)]);
                                            }}});
      }
    }
  }
}

TEST(TransformProgram, OneProgramServesEveryParameter) {
  const Executor e = Executor::open("sim:trn2");
  const Recorder recorder(e);
  Generator g;
  const Array<float> out(e, {64});
  for (int i = 0; i < 3; ++i) normal(e, g, out.view(), {static_cast<double>(i), 1.0 + i});
  EXPECT_EQ(recorder.count(EventKind::Build), 1);
  EXPECT_EQ(recorder.count(EventKind::CacheHit), 2);
}

TEST(TransformProgram, IsAPureFunctionAndChecksItsShape) {
  const tile::Machine& trn2 = tile::machine("trn2");
  const TransformShape shape{Algorithm::Threefry4x32_20, Law::LogNormal, 777, 2};
  EXPECT_EQ(transform_program(shape, trn2), transform_program(shape, trn2));
  EXPECT_THROW((void)transform_program({.count = 0}, trn2), InvalidArgument);
  EXPECT_THROW((void)transform_program({.count = kFillMax + 1}, trn2), InvalidArgument);
  EXPECT_THROW((void)transform_program({.phase = 4}, trn2), InvalidArgument);
  EXPECT_THROW((void)transform_program({.law = Law::NormalCurand}, trn2), InvalidArgument);
  EXPECT_THROW((void)transform_program({.law = Law::Cauchy, .dtype = DType::UInt32}, trn2), InvalidArgument);
  // The text does not grow with the count.
  const auto statements = [&](std::int64_t n) { return transform_program({.count = n}, trn2).statements().size(); };
  EXPECT_EQ(statements(std::int64_t{1} << 30), statements(std::int64_t{1} << 26));
}

// The stated performance on trn2, modelled, launch overhead included.
TEST(TransformModel, ValuesPerSecond) {
  const tile::Machine& trn2 = tile::machine("trn2");
  const std::int64_t n = std::int64_t{1} << 26;
  const auto rate = [&](Algorithm a, Law law) {
    return static_cast<double>(n) / neuron::estimate(transform_program({a, law, n, 0}, trn2), trn2).seconds;
  };
  EXPECT_GE(rate(Algorithm::Philox4x32_10, Law::Normal), 2.42e9);
  EXPECT_GE(rate(Algorithm::Philox4x32_10, Law::Exponential), 2.61e9);
  EXPECT_GE(rate(Algorithm::Philox4x32_10, Law::Laplace), 2.4e9);
  EXPECT_GE(rate(Algorithm::Philox4x32_10, Law::Cauchy), 2.2e9);
  EXPECT_GE(rate(Algorithm::Philox4x32_10, Law::Bernoulli), 2.4e9);
  EXPECT_GE(rate(Algorithm::Threefry4x32_20, Law::Normal), 2.96e9);
  EXPECT_GE(rate(Algorithm::Threefry4x32_20, Law::Exponential), 3.13e9);
}

// The block in another kernel: tiles of words, each plane stored as it is.
TEST(WordTiles, InAnotherKernel) {
  using namespace tile;
  constexpr std::int64_t rows = 100, columns = 37, tiles_made = 3;
  for (const Algorithm a : kAlgorithms) {
    for (const bool hooked : {false, true}) {
      const Machine& machine = tile::machine("trn2");
      Builder b("words", machine);
      const Access input = b.input("parameters", DType::UInt32, {fill_parameter_count(a)});
      const Access out = b.output("out", DType::UInt32, {tiles_made * 4 * rows, columns});
      rand::WordTiles tiles(b, a, input);
      tiles.set_shape(rows, columns);
      int calls = 0;
      b.sequential("tile", tiles_made, [&](const Affine& t) {
        const WordPlanes words = hooked ? tiles.next([&](int k) { EXPECT_EQ(k, calls++); }) : tiles.next();
        for (std::int64_t w = 0; w < 4; ++w)
          b.dma_copy(out(ds((t * 4 + w) * rows, rows), all), words[static_cast<std::size_t>(w)]);
      });
      EXPECT_EQ(calls, hooked ? rand::WordTiles::kBetween : 0);
      const Program program = b.finish();
      const State state{a, 21, 4, 400};
      std::vector<std::uint32_t> parameters = fill_parameters(state), values(tiles_made * 4 * rows * columns);
      (void)neuron::simulate(program, machine,
                             std::vector<Binding>{{"parameters", parameters.data()}, {"out", values.data()}},
                             {.order = Order::shuffled(3)});
      for (std::size_t i = 0; i < values.size(); ++i) {
        const std::size_t block = i / (4 * rows * columns) * rows * columns + i % (rows * columns);
        const std::size_t w = i / (rows * columns) % 4;
        ASSERT_EQ(values[i], oracle(state, 400 + 4 * block + w)) << i;
      }
    }
  }
}

}  // namespace
}  // namespace trn::rand::test
